// Resolve: returns the Health ID of a person, who is found or registered (interface §2.2, decisions §2). Of a found
// person it discloses only the Health ID.

import { type Caller, onBehalfOf } from '../access/caller.ts'
import type { Queryable } from '../db/statement.ts'
import type { Translator } from '../mapping/translator.ts'
import { featuresOf } from '../mpi/matching/person.ts'
import { freeHealthId, holderOf, readHealthId } from '../mpi/register/health-ids.ts'
import type { OwnNumber } from '../mpi/register/patient.ts'
import type { MatchVerdict, Register } from '../mpi/register/register.ts'
import { asOperation } from '../store/operation.ts'
import { type Acting, inUnitOfWork } from '../store/unit-of-work.ts'
import { mustBeAlike } from './alike.ts'
import { type CompletingParts, complete } from './complete.ts'
import { isTaken } from './numbers.ts'
import {
  asPerson,
  checkBody,
  countryOf,
  type Demographics,
  demographicsIn,
  type ResolveBody,
  referenceIn,
} from './resolve-body.ts'
import { reviewed, theOne } from './verdict.ts'

export interface ResolveParts extends Acting, CompletingParts {
  readonly translator: Translator
  readonly register: Register
  readonly now: () => Date
}

export interface ResolveRequest {
  readonly body: ResolveBody
  readonly caller: Caller
  readonly requestId: string
}

export interface Resolved {
  readonly status: 'found' | 'created' | 'not_found'
  readonly healthId: string
  readonly patient: string | undefined
  readonly matchedBy: 'health_id' | 'demographics' | null
  readonly possibleDuplicates: number
  /** For a merged Health ID: the one that replaces it. */
  readonly currentHealthId?: string
}

/**
 * Finds or registers the person, as one operation in the audit trail; a registration is recorded in addition.
 * @throws Failure VALIDATION_FAILED, INVALID_HEALTH_ID.
 */
export async function resolve(parts: ResolveParts, request: ResolveRequest): Promise<Resolved> {
  // First of all: until then the body is unchecked.
  checkBody(request.body, parts.now())
  return asOperation(request.caller, { type: 'Patient', query: queryOf(request.body) }, async caller => {
    const result = await resolved(parts, { ...request, caller })
    const patients = result.patient === undefined ? [] : [result.patient]
    return { result, id: result.patient, patients, resources: patients.length }
  })
}

/** Returns the request as the audit trail names it: why, and by which number of the organisation. */
function queryOf(body: ResolveBody): string {
  const named = new URLSearchParams()
  for (const name of ['purpose', 'external_reference'] as const) {
    const value = body[name]
    if (value !== undefined) named.set(name, value)
  }
  return `connect/patients/resolve${named.size > 0 ? `?${named}` : ''}`
}

async function resolved(parts: ResolveParts, request: ResolveRequest): Promise<Resolved> {
  const { body, caller } = request
  const on = parts.databaseFor(caller)
  const asked = body.health_id === undefined ? undefined : await readHealthId(on, body.health_id, 'health_id')
  const known = asked === undefined ? undefined : await byHealthId(parts, request, on, asked)
  if (known) return known
  const demographics = demographicsIn(body)
  if (!demographics)
    return { status: 'not_found', healthId: asked!, patient: undefined, matchedBy: null, possibleDuplicates: 0 }
  return byDemographics(parts, request, on, demographics)
}

async function byHealthId(
  parts: ResolveParts,
  request: ResolveRequest,
  on: Queryable,
  asked: string,
): Promise<Resolved | undefined> {
  const holder = await holderOf(on, asked)
  if (!holder) return undefined
  await mustBeAlike(parts.register, on, featuresOf(asPerson(request.body)), holder.patient, {
    what: 'Health ID',
    field: 'health_id',
  })
  const number = numberOf(parts, request)
  const isComplete = holder.current !== undefined && number === undefined
  const current = isComplete
    ? holder.current!
    : await inUnitOfWork(parts.unitOfWork, request.caller, async (caller, within) => {
        const isAnothers = number !== undefined && (await isTaken(parts.register, within, number, holder.patient))
        const addition = { number: isAnothers ? undefined : number, country: asked.slice(0, 2), asked }
        return complete(parts, caller, holder.patient, addition)
      })
  return {
    status: 'found',
    healthId: current,
    patient: holder.patient,
    matchedBy: 'health_id',
    possibleDuplicates: 0,
    ...(current === asked ? {} : { currentHealthId: current }),
  }
}

/**
 * Searches first. Only a request that finds no match waits for others that look for the same person, and registers the
 * person.
 */
async function byDemographics(
  parts: ResolveParts,
  request: ResolveRequest,
  on: Queryable,
  demographics: Demographics,
): Promise<Resolved> {
  const person = featuresOf(asPerson(demographics))
  const number = numberOf(parts, request)
  const look = (where: Queryable): Promise<MatchVerdict> => parts.register.find(where, person, number)
  const verdict = await look(on)
  const found = theOne(verdict)
  if (found !== undefined && isComplete(verdict, found, number)) return foundAs(verdict, found)
  return inUnitOfWork(parts.unitOfWork, request.caller, async (caller, within) => {
    await parts.register.lock(within, person, number)
    // Sent together: the statements after the locks are answered once the locks are held.
    const [now, healthId] = await Promise.all([look(within), freeHealthId(within, countryOf(request.body))])
    const one = theOne(now)
    if (one === undefined) return register(parts, { ...request, caller }, healthId, demographics, now)
    if (isComplete(now, one, number)) return foundAs(now, one)
    const current = await complete(parts, caller, one, {
      number: now.numbered.size === 0 ? number : undefined,
      country: countryOf(request.body),
    })
    return { ...foundAs(now, one), healthId: current }
  })
}

/** Returns true if there is nothing to add: a Health ID is present, and the number is present or belongs to another patient. */
function isComplete({ healthIds, numbered }: MatchVerdict, id: string, number: OwnNumber | undefined): boolean {
  return healthIds.has(id) && (number === undefined || numbered.size > 0)
}

function foundAs({ healthIds }: MatchVerdict, id: string): Resolved {
  const healthId = healthIds.get(id) ?? ''
  return { status: 'found', healthId, patient: id, matchedBy: 'demographics', possibleDuplicates: 0 }
}

/** Registers a person; possible duplicates need review. A number that another patient has is left out. */
async function register(
  parts: ResolveParts,
  request: ResolveRequest,
  healthId: string,
  demographics: Demographics,
  { decision, numbered }: MatchVerdict,
): Promise<Resolved> {
  const { caller, body } = request
  const reference = numbered.size === 0 ? numberOf(parts, request)?.value : undefined
  const record = {
    ...demographics,
    health_id: healthId,
    country_code: countryOf(body),
    ...(reference === undefined ? {} : { external_reference: reference }),
  }
  const patient = parts.translator.toFhir('patient-to-fhir', known(record), parts.translator.contextOf(request))
  const { id } = await parts.storeFor(onBehalfOf(caller, { Patient: 'c' })).create('Patient', patient)
  const possibleDuplicates = await reviewed(parts, caller, id, { decision, numbered })
  return { status: 'created', healthId, patient: id, matchedBy: null, possibleDuplicates }
}

/** Returns the number of the person at the caller's organisation, if it is one. */
function numberOf({ addresses, register }: ResolveParts, { body, caller }: ResolveRequest): OwnNumber | undefined {
  const value = referenceIn(body)
  const number = value === undefined ? undefined : { system: `${addresses.numbers}${caller.organizationId}`, value }
  return number && register.isReal(number) ? number : undefined
}

function known(record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
