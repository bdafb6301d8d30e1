// `:not` and its kin find what has no such code, also what has no code at all, or several.
import { beforeAll, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const unknown = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
}
const ambulatory = { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' }
const active = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
}
const encounters: Readonly<Record<string, object>> = {
  finished: { status: 'finished', period: { start: '2024-05-01' } },
  planned: { status: 'planned', period: { start: '2025-05-01' } },
  cancelled: { status: 'cancelled' },
  silent: { _status: unknown },
}
const allergies: Readonly<Record<string, object>> = {
  food: { category: ['food'] },
  both: { category: ['food', 'medication'] },
  medication: { category: ['medication'] },
  neither: {},
}
const questionnaires: Readonly<Record<string, object>> = { draft: { status: 'draft' }, active: { status: 'active' } }
const taking = (...statuses: string[]) => ({
  participant: statuses.map(status => ({ actor: { display: 'somebody' }, status })),
})
const appointments: Readonly<Record<string, object>> = {
  accepted: taking('accepted'),
  disputed: taking('accepted', 'declined'),
  declined: taking('declined'),
}
const compartments: Readonly<Record<string, object>> = {
  patients: { code: 'Patient' },
  devices: { code: 'Device' },
  unknown: { _code: unknown },
}
const url = 'http://example.org/compartment'

const named = (resourceType: string, resources: Readonly<Record<string, object>>, shared: object = {}) =>
  Object.entries(resources).map(([id, more]) => ({ resourceType, id, ...shared, ...more }))

beforeAll(async () => {
  service = await startService()
  const inside = { resourceType: 'Encounter', id: 'inside', class: ambulatory, status: 'planned' }
  const containing = { status: 'requested', intent: 'order', focus: { reference: '#inside' }, contained: [inside] }
  const resources = [
    ...named('Patient', { one: { gender: 'female' } }),
    ...named('Encounter', encounters, { class: ambulatory }),
    ...named('AllergyIntolerance', allergies, { patient: { reference: 'Patient/one' }, clinicalStatus: active }),
    ...named('Questionnaire', questionnaires),
    ...named('Appointment', appointments, { status: 'proposed' }),
    ...named('CompartmentDefinition', compartments, { url, name: 'Sample', status: 'draft', search: true }),
    ...named('Task', { containing }),
  ]
  const entry = resources.map(resource => ({
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    resource,
  }))
  const reply = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(reply.status, reply.text).toBe(200)
})

const idsOf = ({ entry = [] }: { entry?: readonly { resource: { id: string } }[] }): string[] =>
  entry.map(each => each.resource.id).sort()

test.each<[query: string, ids: string[]]>([
  ['Encounter?status:not=finished', ['cancelled', 'planned', 'silent']],
  ['Encounter?status:not=finished,planned', ['cancelled', 'silent']],
  ['Encounter?status:not=finished&status:not=planned', ['cancelled', 'silent']],
  ['Encounter?status:not=finished&status=planned', ['planned']],
  ['Encounter?status:not=finished&status:missing=false', ['cancelled', 'planned']],
  ['Encounter?status:not=finished&status:missing=true', ['silent']],
  ['Encounter?status:not=http://hl7.org/fhir/encounter-status|finished', ['cancelled', 'planned', 'silent']],
  ['Encounter?status:not=http://example.org|finished', ['cancelled', 'finished', 'planned', 'silent']],
  ['Encounter?status:not=|finished', ['cancelled', 'planned', 'silent']],
  ['Encounter?status:not=Finished', ['cancelled', 'finished', 'planned', 'silent']],
  ['Encounter?status:not=unheard-of', ['cancelled', 'finished', 'planned', 'silent']],
  [
    'Encounter?status:not=planned,arrived,triaged,in-progress,onleave,finished,cancelled,entered-in-error,unknown',
    ['silent'],
  ],
  ['Encounter?status:not=finished&date=ge2025', ['planned']],
  ['Encounter?status:not=finished&_sort=date', ['cancelled', 'planned', 'silent']],
  ['Encounter?status:not=finished&_id=planned,finished', ['planned']],
  ['Encounter?class:not=AMB', []],
  ['Encounter?_filter=not (status eq finished)', ['cancelled', 'planned', 'silent']],
  ['Encounter?_filter=status ne finished', ['cancelled', 'planned']],
  ['Encounter?_filter=status ne finished and date ge 2025', ['planned']],
  ['Encounter?_filter=status ne finished or date ge 2024', ['cancelled', 'finished', 'planned']],
  ['Encounter?_filter=not (status ne finished)', ['finished', 'silent']],
  ['AllergyIntolerance?category:not=food', ['medication', 'neither']],
  ['AllergyIntolerance?_filter=not (category eq food)', ['medication', 'neither']],
  ['Questionnaire?status:not=draft', ['active']],
  ['Appointment?part-status:not=accepted', ['declined']],
  ['CompartmentDefinition?code:not=Patient', ['devices', 'unknown']],
  ['CompartmentDefinition?code:not=Patient,Device', ['unknown']],
  ['Patient?gender:not=male', ['one']],
  ['Task?focus:Encounter.status:not=finished', ['containing']],
  ['Task?focus:Encounter.status:not=planned', []],
])('%s finds %j, and counts as many', async (query, ids) => {
  const found = await call('GET', query)
  expect(found.status, found.text).toBe(200)
  expect(idsOf(found.body)).toEqual(ids)
  expect((await call('GET', `${query}&_summary=count`)).body.total).toBe(ids.length)
})
