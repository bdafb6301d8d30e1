// Events about patients and their Health IDs: interface §2.1 and §6.1.

import { parse } from '../lib/health-id.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { Type } from '../lib/schema.ts'
import { id, text } from '../shapes/fields.ts'
import { objects } from '../store/values.ts'
import { changedElements, type LifecycleStep, type Surroundings } from './claims.ts'
import { described, type EventContent, orNull } from './content.ts'
import { facilityIn, latest } from './elements.ts'

const patientId = id('The patient.')
const healthId = text('The Health ID in canonical form.')

export const patientEvents = {
  'patient.created': described(
    'New patient registered',
    { patient_id: patientId },
    { health_id: 'CM-TQYE-6SRK-YQ6S', patient_id: '3f2b8c1e-9d47-4a6b-8e15-2c7f0a9b4d31' },
  ),
  'patient.updated': described(
    'Patient demographics updated',
    {
      patient_id: patientId,
      changed: Type.Array(text('An element of Patient, such as telecom.'), {
        description: 'The names of the changed FHIR elements, without their values.',
      }),
    },
    {
      health_id: 'CM-TQYE-6SRK-YQ6S',
      patient_id: '3f2b8c1e-9d47-4a6b-8e15-2c7f0a9b4d31',
      changed: ['address', 'telecom'],
    },
  ),
  'health_id.created': described(
    'New Health ID issued',
    {
      health_id: healthId,
      patient_id: patientId,
      country_code: Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'The country that issued the Health ID, ISO 3166-1.',
      }),
    },
    { health_id: 'CM-9C1T-3NR9-A9HC', patient_id: 'b81d6f04-52ce-4f3a-9b70-61e8d2c5a913', country_code: 'CM' },
  ),
  'health_id.verified': described(
    'Health ID verified by a facility',
    {
      health_id: healthId,
      patient_id: patientId,
      organization_id: orNull(id('The organisation that verified the Health ID.')),
    },
    {
      health_id: 'CM-9C1T-3NR9-A9HC',
      patient_id: 'b81d6f04-52ce-4f3a-9b70-61e8d2c5a913',
      organization_id: 'hopital-central-yaounde',
    },
  ),
}

/** A patient, by id alone. */
export const patient = (step: LifecycleStep): EventContent => about(step, {})

/** Which demographics have changed; nothing if none have. */
export function demographics(step: LifecycleStep): EventContent[] {
  const { now, before, around } = step
  if (!now || !before) return []
  const names = changedElements(now, before).filter(
    name => name !== 'identifier' || changedNumbers(now, before, around),
  )
  const changed = [...new Set(names.map(elementOf))].sort()
  return changed.length > 0 ? [about(step, { changed })] : []
}

/** Every Health ID that was issued: one that a former version had, current or old, comes back without being issued again. */
export function healthIds(step: LifecycleStep): EventContent[] {
  const { now, before, around } = step
  const former = new Set(healthIdentifiers(before, around).map(({ value }) => value))
  const current = healthIdentifiers(now, around).filter(({ use }) => use !== 'old')
  const issued = [...new Set(current.map(({ value }) => value))].filter(value => !former.has(value))
  return issued.filter(isHealthId).map(value => about(step, { health_id: value, country_code: value.slice(0, 2) }))
}

function about(step: LifecycleStep, data: JsonObject): EventContent {
  const { id: patient, around } = step
  const resource = latest(step)
  const facility = facilityIn(resource, around, resource['managingOrganization'])
  return { patient, facility, data: { patient_id: patient, ...data } }
}

/** `_birthDate` is about birthDate, and deceasedBoolean and deceasedDateTime are both about deceased. */
const elementOf = (name: string): string => name.replace(/^_/, '').replace(/^(deceased|multipleBirth).*/, '$1')

/** Without Health IDs, which have events of their own. */
function changedNumbers(now: JsonObject, before: JsonObject, around: Surroundings): boolean {
  const numbers = ({ identifier }: JsonObject) => ({
    identifier: objects(identifier).filter(each => !isOfHealthIds(each, around)),
  })
  return changedElements(numbers(now), numbers(before)).length > 0
}

const healthIdentifiers = (resource: JsonObject | undefined, around: Surroundings): JsonObject[] =>
  isObject(resource) ? objects(resource['identifier']).filter(each => isOfHealthIds(each, around)) : []

const isOfHealthIds = ({ system }: JsonObject, { base }: Surroundings): boolean =>
  typeof system === 'string' && base.system(system) === base.naming('health-id')

function isHealthId(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const reading = parse(value)
  return 'healthId' in reading && reading.healthId === value
}
