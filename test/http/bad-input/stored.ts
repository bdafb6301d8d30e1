// What is stored before the first request, beside the demo set, and what is known of all that.
import { expect } from 'vitest'
import { isResourceType, resourceTypes } from '../../../src/definitions/r4.ts'
import { fhirCaller } from '../../support/fhir.ts'
import type { Service } from '../../support/service.ts'
import { add, harvest, type Pool } from './values.ts'

const [colours, words] = ['http://example.org/colours', 'http://example.org/words']
const [status, usual] = ['active', { red: 'rouge' }]
const navy = { code: 'blue', concept: [{ code: 'navy' }] }

/** What operations of terminology, and those about lists of patients, look for. */
const definitions = [
  {
    resourceType: 'CodeSystem',
    id: 'colours',
    url: colours,
    status,
    content: 'complete',
    concept: [{ code: 'red' }, navy],
  },
  { resourceType: 'ValueSet', id: 'warm', url: `${colours}/warm`, status, compose: { include: [{ system: colours }] } },
  {
    resourceType: 'ConceptMap',
    id: 'spoken',
    url: `${colours}/spoken`,
    status,
    group: Object.entries(usual).map(([code, other]) => ({
      source: colours,
      target: words,
      element: [{ code, target: [{ code: other, equivalence: 'equal' }] }],
    })),
  },
  {
    resourceType: 'Group',
    id: 'some',
    type: 'person',
    actual: true,
    member: [{ entity: { reference: 'Patient/amina-bello' } }],
  },
] as const

const types = ['Patient', 'Observation', 'Condition', 'Consent', 'Task', 'MedicationRequest', 'Basic', 'Encounter']

export interface Known {
  readonly pool: Pool
  readonly searchNames: readonly string[]
  readonly patient: { readonly id: string; readonly healthId: string }
}

/** Stores it in a service that has the demo set, and asks for what there is. */
export async function store(service: Service): Promise<Known> {
  const call = fhirCaller(() => service)
  for (const resource of definitions) {
    const { status, text } = await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
    expect(status, text).toBe(201)
  }
  const pool: Pool = new Map()
  const all = [...types, ...definitions.map(each => each.resourceType)]
  for (const type of all) harvest(pool, (await call('GET', `${type}?_count=8`)).body.entry)
  const people = (await call('GET', 'Patient?_count=8')).body.entry.map((each: { resource: unknown }) => each.resource)
  for (const { identifier } of people) add(pool, 'health_id', identifier[0].value)
  const stored = [...pool.keys()].filter(name => isResourceType(name))
  pool.set('type', [...Array.from({ length: 20 }, () => stored).flat(), ...resourceTypes])
  pool.set('compartment', ['Patient', 'Encounter', 'Practitioner', 'Device', 'RelatedPerson'])
  const searchNames = await namesOf((await call('GET', 'metadata')).body.rest[0].resource)
  return { pool, searchNames, patient: { id: people[0].id, healthId: people[0].identifier[0].value } }
}

const common =
  '_has:Observation:patient:code _filter _include _revinclude _sort _count _elements _summary _total _format _content _since x'

const namesOf = (resources: readonly { searchParam?: readonly { name: string }[] }[]): string[] => [
  ...new Set(resources.flatMap(each => each.searchParam ?? []).map(each => each.name)),
  ...common.split(' '),
]
