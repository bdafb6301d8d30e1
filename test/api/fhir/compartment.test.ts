// Searches within a compartment. https://hl7.org/fhir/R4/http.html#vsearch, https://hl7.org/fhir/R4/compartmentdefinition-patient.html
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf, linkOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const get = (path: string, token?: string) => call('GET', path, token === undefined ? {} : { token })
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const about = (id: string) => ({ subject: { reference: `Patient/${id}` } })
const loinc = (code: string) => ({ code: { coding: [{ system: 'http://loinc.org', code }] } })
const observation = (id: string, day: number, rest: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  effectiveDateTime: `2024-01-0${day}`,
  ...rest,
})

const resources = [
  { resourceType: 'Patient', id: 'ada' },
  { resourceType: 'Patient', id: 'bea', link: [{ other: { reference: 'Patient/ada' }, type: 'seealso' }] },
  { resourceType: 'Organization', id: 'org', name: 'O' },
  observation('o1', 1, { ...loinc('a'), ...about('ada') }),
  observation('o2', 2, { ...loinc('b'), ...about('ada') }),
  observation('o3', 3, { ...loinc('a'), ...about('bea') }),
  // Not about Ada, but she did it herself.
  observation('o4', 4, { ...loinc('a'), ...about('bea'), performer: [{ reference: 'Patient/ada' }] }),
  { resourceType: 'Condition', id: 'c1', ...about('ada'), ...loinc('a') },
  // The patient of an appointment is found by postings alone.
  {
    resourceType: 'Appointment',
    id: 'a1',
    status: 'booked',
    participant: [{ actor: { reference: 'Patient/ada' }, status: 'accepted' }],
    start: '2024-01-05T00:00:00Z',
    end: '2024-01-05T01:00:00Z',
  },
  // A device has a patient, but R4 puts devices in no patient's compartment.
  { resourceType: 'Device', id: 'd1', patient: { reference: 'Patient/ada' } },
]

beforeAll(async () => {
  service = await startService()
  for (const body of resources) await call('PUT', `${body.resourceType}/${body.id}`, { body })
})

const names = (body: Answer['body']): string[] =>
  (body.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).sort()

describe('a search within a compartment', () => {
  test('finds what is about the patient and what the patient did', async () => {
    const { status, body } = await get('Patient/ada/Observation')
    expect(status).toBe(200)
    expect(matchIds(body)).toEqual(['o4', 'o2', 'o1'])
    expect(matchIds((await get('Patient/bea/Observation')).body)).toEqual(['o4', 'o3'])
  })

  test('finds types whose patient is held by no column', async () => {
    expect(matchIds((await get('Patient/ada/Appointment')).body)).toEqual(['a1'])
    expect(matchIds((await get('Patient/bea/Appointment')).body)).toEqual([])
  })

  test('is one criterion among others', async () => {
    expect(matchIds((await get('Patient/ada/Observation?code=a')).body)).toEqual(['o4', 'o1'])
    expect(matchIds((await get('Patient/ada/Observation?code:not=a')).body)).toEqual(['o2'])
    expect(matchIds((await get('Patient/ada/Observation?date=lt2024-01-03&_sort=date')).body)).toEqual(['o1', 'o2'])
    expect(matchIds((await get('Patient/ada/Observation?patient=bea')).body)).toEqual(['o4'])
    expect(matchIds((await get('Patient/ada/Observation?subject:Patient._id=bea')).body)).toEqual(['o4'])
  })

  test('counts, includes and cuts as every search does', async () => {
    const { body } = await get('Patient/ada/Condition?_include=Condition:patient&_total=accurate&_elements=id')
    expect(body.total).toBe(1)
    expect(body.entry.map((each: { search: { mode: string } }) => each.search.mode)).toEqual(['match', 'include'])
    expect(body.entry[0].resource.meta.tag[0].code).toBe('SUBSETTED')
  })

  test('goes from page to page within the compartment', async () => {
    const first = await get('Patient/ada/Observation?_count=2')
    expect(matchIds(first.body)).toEqual(['o4', 'o2'])
    expect(linkOf(first.body, 'next')).toContain('/Patient/ada/Observation?')
    const second = await get(linkOf(first.body, 'next')!)
    expect(matchIds(second.body)).toEqual(['o1'])
    expect(linkOf(second.body, 'next')).toBeUndefined()
    expect(matchIds((await get(linkOf(second.body, 'previous')!)).body)).toEqual(['o4', 'o2'])
  })

  test('over all types finds the patient and everything in the compartment, but no device', async () => {
    const { body } = await get('Patient/ada/*')
    expect(names(body)).toEqual(['a1', 'ada', 'bea', 'c1', 'o1', 'o2', 'o4'])
    expect(linkOf(body, 'self')).toMatch(/\/Patient\/ada\/\*$/)
    expect(names((await get('Patient/ada/*?_type=Condition,Appointment')).body)).toEqual(['a1', 'c1'])
    expect(names((await get('Patient/ada/*?_id=o1,o3,org')).body)).toEqual(['o1'])
  })

  test('over all types goes from page to page without losing or repeating any', async () => {
    const seen: string[] = []
    let next: string | undefined = 'Patient/ada/*?_count=2'
    while (next) {
      const { body } = await get(next)
      seen.push(...matchIds(body))
      next = linkOf(body, 'next')
    }
    expect(seen.sort()).toEqual(['a1', 'ada', 'bea', 'c1', 'o1', 'o2', 'o4'])
  })

  test('works by POST, for one type and for all', async () => {
    const one = await call('POST', 'Patient/ada/Observation/_search?_sort=date', { body: 'code=a', headers: form })
    expect([one.status, matchIds(one.body)]).toEqual([200, ['o1', 'o4']])
    const all = await call('POST', 'Patient/ada/_search', { body: '_type=Condition', headers: form })
    expect([all.status, matchIds(all.body)]).toEqual([200, ['c1']])
  })

  test('works as an entry of a batch and of a transaction', async () => {
    for (const type of ['batch', 'transaction']) {
      const entry = ['Patient/ada/Condition', 'Patient/ada/*?_type=Appointment'].map(url => ({
        request: { method: 'GET', url },
      }))
      const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type, entry } })
      const found = body.entry.map((each: { resource: Answer['body'] }) => matchIds(each.resource))
      expect(found).toEqual([['c1'], ['a1']])
    }
  })

  test('of a patient that is not known finds nothing', async () => {
    const { status, body } = await get('Patient/nobody/*')
    expect([status, body.entry]).toEqual([200, undefined])
  })

  test('over a type that is in no compartment is refused', async () => {
    for (const path of ['Patient/ada/Organization', 'Patient/ada/*?_type=Observation,Device']) {
      const { status, body } = await get(path)
      expect([status, issueOf(body).code], path).toEqual([400, 'not-supported'])
    }
  })

  test('by addresses that make no compartment is not found', async () => {
    for (const path of [
      'Organization/org/Observation',
      'Patient/ada/Nothing',
      'Patient/ada/Observation/o1',
      'Patient/a b/*',
    ])
      expect((await get(path)).status, path).toBe(404)
    expect((await call('POST', 'Patient/ada/Observation', { body: {} })).status).toBe(405)
  })

  test('leaves out of * what the caller may not search, and refuses it where it is named', async () => {
    const tokens = service.application.identity.tokens
    const token = await tokens.mint({ clientId: 'demo', organizationId: 'demo', consentExempt: true }, [
      'system/Condition.s',
    ])
    expect(names((await get('Patient/ada/*', token)).body)).toEqual(['c1'])
    expect((await get('Patient/ada/Observation', token)).status).toBe(403)
    expect((await get('Patient/ada/*?_type=Condition,Observation', token)).status).toBe(403)
    const none = await tokens.mint({ clientId: 'demo', organizationId: 'demo', consentExempt: true }, [
      'webhooks:manage',
    ])
    expect((await get('Patient/ada/*', none)).status).toBe(403)
  })

  test('is in the CapabilityStatement', async () => {
    const { body } = await get('metadata')
    const names = ['device', 'encounter', 'patient', 'practitioner', 'relatedperson']
    expect(body.rest[0].compartment).toEqual(names.map(name => `http://hl7.org/fhir/CompartmentDefinition/${name}`))
  })
})

describe('the compartments of R4 beside that of a patient', () => {
  const reference = (name: string) => ({ reference: name })
  const more = [
    { resourceType: 'Encounter', id: 'e1', status: 'finished', class: { code: 'AMB' }, ...about('ada') },
    { resourceType: 'Practitioner', id: 'doc' },
    { resourceType: 'RelatedPerson', id: 'mum', patient: reference('Patient/ada') },
    observation('in-e1', 6, { ...loinc('a'), ...about('ada'), encounter: reference('Encounter/e1') }),
    observation('by-doc', 7, { ...loinc('a'), ...about('ada'), performer: [reference('Practitioner/doc')] }),
    observation('by-mum', 8, { ...loinc('a'), ...about('ada'), performer: [reference('RelatedPerson/mum')] }),
    observation('with-d1', 9, { ...loinc('a'), ...about('ada'), device: reference('Device/d1') }),
    { resourceType: 'PractitionerRole', id: 'role', practitioner: reference('Practitioner/doc') },
    // Another resource of the same id is another resource.
    { resourceType: 'Practitioner', id: 'd1' },
  ]
  beforeAll(async () => {
    for (const body of more) {
      const { status, text } = await call('PUT', `${body.resourceType}/${body.id}`, { body })
      expect(status, text).toBe(201)
    }
  })

  const members = {
    Encounter: ['e1', ['e1', 'in-e1'], ['in-e1']],
    Practitioner: ['doc', ['by-doc', 'doc', 'role'], ['by-doc']],
    RelatedPerson: ['mum', ['by-mum', 'mum'], ['by-mum']],
    Device: ['d1', ['d1', 'with-d1'], ['with-d1']],
  } as const

  test.each(Object.entries(members))('%s', async (type, [id, all, observations]) => {
    expect(names((await get(`${type}/${id}/*`)).body)).toEqual(all)
    expect(names((await get(`${type}/${id}/Observation`)).body)).toEqual(observations)
    expect(names((await get(`${type}/${id}/Observation?patient=bea`)).body)).toEqual([])
    const body = new URLSearchParams({ code: 'a' })
    expect(names((await call('POST', `${type}/${id}/Observation/_search`, { body, headers: form })).body)).toEqual(
      observations,
    )
    expect((await get(`${type}/${id}/Organization`)).status).toBe(400)
  })

  test('one that is not known finds nothing', async () => {
    for (const type of Object.keys(members)) expect((await get(`${type}/nobody/*`)).body.entry).toBeUndefined()
  })
})
