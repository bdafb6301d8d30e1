// What a Patient states about its identity: the person to compare, its Health IDs, its numbers elsewhere, and the
// patient that replaces it. https://hl7.org/fhir/R4/patient.html

import { Failure } from '../../lib/failure.ts'
import { parse } from '../../lib/health-id.ts'
import { isObject, type JsonObject, objectsIn } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import { referenceTarget } from '../../store/values.ts'
import type { Person } from '../matching/person.ts'
import { mostOfOnePerson } from './merged.ts'

/** Names of the systems of identifiers, and where references lead. */
export interface Addresses {
  /** System of the Health IDs that are given out. */
  readonly healthIds: string
  /** What the systems of organisations' own numbers begin with; the organisation's id follows. */
  readonly numbers: string
  /** Of the data set. */
  readonly base: Base
}

/** The addresses of a data set. */
export function addressesOf(base: Base): Addresses {
  return {
    healthIds: base.naming('health-id'),
    numbers: base.naming('external-reference/'),
    base,
  }
}

/** The number of a person at an organisation. */
export interface OwnNumber {
  readonly system: string
  readonly value: string
}

/**
 * Returns the person, with every name that it has had. Temporary names of newborns and names that hide a person tell nobody apart.
 * https://hl7.org/fhir/R4/valueset-name-use.html
 */
export function personOf(patient: JsonObject): Person {
  const lasting = objectsIn(patient['name']).filter(({ use }) => use !== 'temp' && use !== 'anonymous')
  const names = lasting.map(name => ({
    given: textsIn(name, 'given').join(' ') || undefined,
    family: textOf(name['family']) ?? (name['given'] === undefined ? textOf(name['text']) : undefined),
  }))
  const phones = objectsIn(patient['telecom']).filter(({ system }) => system === 'phone' || system === 'sms')
  return {
    names,
    birthDate: textOf(patient['birthDate']),
    birthOrder: orderOf(patient['multipleBirthInteger']),
    sex: textOf(patient['gender']),
    phones: phones.flatMap(({ value }) => textOf(value) ?? []),
  }
}

/** True of an identifier that is a Health ID, under whichever address of the data set it was written. */
export const isHealthId = ({ system }: JsonObject, { healthIds, base }: Addresses): boolean =>
  typeof system === 'string' && base.system(system) === healthIds

/** The Health IDs of a patient: those that hold, the first of which is shown, and former ones. */
export function healthIdsOf(patient: JsonObject, addresses: Addresses): { current: string[]; former: string[] } {
  const own = objectsIn(patient['identifier']).filter(each => isHealthId(each, addresses))
  const values = (isFormer: boolean): string[] => [
    ...new Set(own.filter(({ use }) => (use === 'old') === isFormer).flatMap(({ value }) => textOf(value) ?? [])),
  ]
  const current = values(false)
  return { current, former: values(true).filter(each => !current.includes(each)) }
}

/** @throws Failure INVALID_HEALTH_ID if the patient has a Health ID that cannot be one, or is not in canonical form. */
export function mustHoldHealthIds(patient: JsonObject, addresses: Addresses): void {
  const { current, former } = healthIdsOf(patient, addresses)
  for (const value of [...current, ...former]) {
    const reading = parse(value)
    if ('healthId' in reading && reading.healthId === value) continue
    const message =
      'healthId' in reading
        ? 'A Health ID in Patient.identifier must have the canonical form CC-XXXX-XXXX-XXXX, in capitals.'
        : 'A Health ID in Patient.identifier has wrong check symbols, so it was never issued: compare it with the card.'
    throw new Failure('INVALID_HEALTH_ID', message, {
      details: [{ field: 'Patient.identifier', code: 'value', message }],
    })
  }
}

/** @throws Failure VALIDATION_FAILED if the patient names more other Patients as the same person than are taken as one. */
export function mustNameFew(patient: JsonObject): void {
  const links = objectsIn(patient['link']).filter(({ type }) => type === 'replaces' || type === 'replaced-by')
  if (links.length < mostOfOnePerson) return
  const message = `A Patient can name at most ${mostOfOnePerson - 1} others that it replaces or that replace it, not ${links.length}.`
  throw new Failure('VALIDATION_FAILED', message, {
    issue: 'too-costly',
    details: [{ field: 'Patient.link', code: 'too-costly', message }],
  })
}

/** The numbers that organisations have for the patient. */
export function ownNumbersOf(patient: JsonObject, { numbers, base }: Addresses): OwnNumber[] {
  return objectsIn(patient['identifier']).flatMap(each => {
    const system = base.system(String(each['system']))
    const value = textOf(each['value'])
    return system.startsWith(numbers) && value !== undefined ? [{ system, value }] : []
  })
}

/** Returns the id of the patient that this one was merged into. */
export function replacementOf(patient: JsonObject, { base }: Addresses): string | undefined {
  for (const { type, other } of objectsIn(patient['link'])) {
    if (type !== 'replaced-by' || !isObject(other) || typeof other['reference'] !== 'string') continue
    const target = referenceTarget(other['reference'], base)
    if (target?.startsWith('Patient/')) return target.slice('Patient/'.length)
  }
  return undefined
}

const orderOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

function textsIn(object: JsonObject, name: string): string[] {
  const value = object[name]
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
