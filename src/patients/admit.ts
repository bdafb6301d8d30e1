// Finds or registers the person whom a Patient resource of a facility describes: by Health ID, by the facility's own number, by
// demographics (decisions §2). The demographics of a patient change only for the organisation that manages the record.

import { type Caller, onBehalfOf } from '../access/caller.ts'
import type { Transaction } from '../db/statement.ts'
import { saidOver, withoutElements } from '../definitions/said.ts'
import { isObject, type JsonObject, objectsIn, parseJson } from '../lib/json.ts'
import { type Features, featuresOf } from '../mpi/matching/person.ts'
import { freeHealthId, holderOf, readHealthId, survivorOf } from '../mpi/register/health-ids.ts'
import { healthIdsOf, isHealthId, type OwnNumber, personOf } from '../mpi/register/patient.ts'
import { inOperation } from '../store/operation.ts'
import { inUnitOfWork } from '../store/unit-of-work.ts'
import { mustBeAlike, unlike } from './alike.ts'
import { complete } from './complete.ts'
import { isNumber, isOther, isTaken, numbersFrom, serviceIdIn, withoutNumbers } from './numbers.ts'
import type { ResolveParts } from './resolve.ts'
import { reviewed, theOne } from './verdict.ts'

export interface Admitted {
  /** Id of the Patient. */
  readonly id: string
  readonly isNew: boolean
}

const usualCountry = 'CM'

export interface AdmitOptions {
  /** True if what the resource says of a known person replaces what is stored, where the caller's organisation manages it. */
  readonly updates?: boolean
  /** Elements of a known person's Patient that are to be removed before, such as `deceased`. */
  readonly removes?: readonly string[]
  /** True of a stored Patient that says what is newer: it stays, and gets the number only. */
  readonly isNewer?: ((stored: JsonObject) => Promise<boolean>) | undefined
}

/**
 * Returns the registered patient that a Patient resource describes; registers it if there is none.
 * @throws Failure INVALID_HEALTH_ID; VALIDATION_FAILED if the Health ID is another person's, or the number is and little else is said; what
 * the store says of a Patient that is not valid.
 */
export async function admit(
  parts: ResolveParts,
  caller: Caller,
  patient: JsonObject,
  options: AdmitOptions = {},
): Promise<Admitted> {
  return inUnitOfWork(parts.unitOfWork, caller, async (inner, on) => {
    const [number, ...further] = numbersFrom(patient, inner, parts.addresses).filter(parts.register.isReal)
    const given = serviceIdIn(patient, inner, parts.addresses)
    const known = await found(parts, on, patient, { given, number })
    const patientId = 'id' in known ? known.id : undefined
    const taken = [...(known.isTaken ? [number!] : []), ...(given ? [given] : [])]
    for (const each of further) if (await isTaken(parts.register, on, each, patientId)) taken.push(each)
    const stated = withoutNumbers(patient, taken)
    if ('id' in known) {
      await brought(parts, inner, known.id, stated, known.isTaken ? undefined : number, options)
      return { id: known.id, isNew: false }
    }
    const healthId = await freeHealthId(on, countryIn(patient) ?? usualCountry)
    const identifiers = objectsIn(stated['identifier']).filter(each => !isHealthId(each, parts.addresses))
    const { id } = await parts.storeFor(onBehalfOf(inner, { Patient: 'c' })).create('Patient', {
      ...withoutPlace(patient),
      identifier: [{ use: 'official', system: parts.addresses.healthIds, value: healthId }, ...identifiers],
      managingOrganization: { reference: `Organization/${inner.organizationId}` },
    })
    await reviewed(parts, inner, id, known.verdict)
    return { id, isNew: true }
  })
}

type Search = (
  | { readonly id: string }
  | { readonly verdict: Awaited<ReturnType<ResolveParts['register']['find']>> }
) & {
  /** True if another patient has the number: it stays with that one alone. */
  readonly isTaken: boolean
}

async function found(
  { register, addresses }: ResolveParts,
  on: Transaction,
  patient: JsonObject,
  { given, number }: { readonly given: OwnNumber | undefined; readonly number: OwnNumber | undefined },
): Promise<Search> {
  const [stated] = healthIdsOf(patient, addresses).current
  const holder =
    stated === undefined ? undefined : await holderOf(on, await readHealthId(on, stated, 'Patient.identifier'))
  const person = featuresOf(personOf(patient))
  const own = holder || !given ? undefined : await survivorOf(on, given.value)
  const isRegistered = own !== undefined && (await register.compare(on, person, own)) !== undefined
  const sure = holder?.patient ?? (isRegistered ? own : undefined)
  if (sure !== undefined) {
    await mustBeAlike(register, on, person, sure, { field: 'Patient.identifier', what: holder ? 'Health ID' : 'id' })
    return { id: sure, isTaken: number !== undefined && (await isTaken(register, on, number, sure)) }
  }
  const early = await register.find(on, person, number)
  const soon = theOne(early)
  // A number that is to be added needs the lock.
  if (soon !== undefined && (number === undefined || early.numbered.size > 0))
    return { id: soon, isTaken: isOther(early.numbered, soon) }
  // Another request that registers the same person at the same moment comes first, or waits.
  await register.lock(on, person, number)
  const verdict = await register.find(on, person, number)
  const one = theOne(verdict)
  if (one !== undefined) return { id: one, isTaken: isOther(verdict.numbered, one) }
  const isNumbered = verdict.numbered.size > 0
  if (isNumbered && !isFound(person))
    throw unlike(
      'The number belongs to a person with another name, birth date or sex: compare it with the file.',
      'Patient.identifier',
    )
  return { verdict, isTaken: isNumbered }
}

/** False for a person whom the next message would not find again without a number. */
const isFound = ({ names, birth }: Features): boolean =>
  birth !== undefined && names.some(({ given }) => given.length > 0)

/** Brings a found patient up to date: the Health ID and the own number, and the demographics if the caller's organisation manages it. */
async function brought(
  parts: ResolveParts,
  caller: Caller,
  id: string,
  patient: JsonObject,
  number: OwnNumber | undefined,
  { updates = false, removes = [], isNewer }: AdmitOptions,
): Promise<void> {
  const read = () => parts.storeFor(onBehalfOf(inOperation(caller), { Patient: 'r' })).read('Patient', id)
  let { body, version } = await read()
  if (healthIdsOf(parseJson(body) as JsonObject, parts.addresses).current.length === 0) {
    await complete(parts, caller, id, { number: undefined, country: countryIn(patient) ?? usualCountry })
    ;({ body, version } = await read())
  }
  const current = parseJson(body) as JsonObject
  const identifiers = objectsIn(current['identifier'])
  const isKnown = (each: JsonObject): boolean =>
    identifiers.some(({ system, value }) => system === each['system'] && value === each['value'])
  const isManaged = managerOf(current) === `Organization/${caller.organizationId}`
  const given = objectsIn(patient['identifier']).filter(each => !isHealthId(each, parts.addresses))
  const added = (isManaged ? given : given.filter(each => isNumber(each, number))).filter(each => !isKnown(each))
  const { identifier: _own, ...demographics } = withoutPlace(patient)
  const isUpdated = isManaged && updates && !(await isNewer?.(current))
  const next: JsonObject = {
    ...(isUpdated
      ? saidOver(withoutElements(current, new Set(removes)), parts.register.known(demographics, current))
      : current),
    identifier: [...identifiers, ...added],
  }
  const isSame = JSON.stringify(next) === JSON.stringify(current)
  if (isSame) return
  const meta = isObject(patient['meta']) ? { ...(current['meta'] as object), ...patient['meta'] } : current['meta']
  await parts
    .storeFor(onBehalfOf(caller, { Patient: 'u' }))
    .update('Patient', id, { ...next, meta }, { ifMatch: version })
}

/** Returns the reference to the organisation that manages the record of a patient. */
export const managerOf = ({ managingOrganization: manager }: JsonObject): unknown =>
  isObject(manager) ? manager['reference'] : undefined

/** The members that a facility states of a person: not the id, the links and the manager, which are the register's. */
function withoutPlace(patient: JsonObject): JsonObject {
  const { id: _id, meta: _meta, link: _link, managingOrganization: _manager, ...rest } = patient
  return rest
}

function countryIn(patient: JsonObject): string | undefined {
  const countries = objectsIn(patient['address']).map(({ country }) => country)
  return countries.find((each): each is string => typeof each === 'string' && /^[A-Z]{2}$/.test(each))
}
