// Observation/$lastn. https://hl7.org/fhir/R4/observation-operation-lastn.html
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, linkOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const get = (query: string, token?: string) =>
  call('GET', `Observation/$lastn${query}`, token === undefined ? {} : { token })

const coded = (...codes: string[]) => ({ coding: codes.map(code => ({ system: 'http://loinc.org', code })) })
const vital = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
]

const resources = [
  { id: 'pulse-1', code: coded('pulse'), effectiveDateTime: '2024-01-01', category: vital },
  { id: 'pulse-3', code: coded('pulse'), effectiveDateTime: '2024-01-03', category: vital },
  { id: 'pulse-2', code: coded('pulse'), effectiveDateTime: '2024-01-02', category: vital },
  { id: 'sugar-1', code: coded('sugar'), effectiveDateTime: '2024-02-01' },
  // Coded by two systems of which each of the next two has one: all three are of one kind.
  { id: 'both', code: coded('weight-a', 'weight-b'), effectiveDateTime: '2023-01-01' },
  { id: 'left', code: coded('weight-a'), effectiveDateTime: '2023-01-02' },
  { id: 'right', code: coded('weight-b'), effectiveDateTime: '2023-01-03' },
  { id: 'text-1', code: { text: 'mood' }, effectiveDateTime: '2022-01-01' },
  { id: 'text-2', code: { text: 'mood' }, effectiveDateTime: '2022-01-02' },
  { id: 'text-3', code: { text: 'sleep' }, effectiveDateTime: '2022-01-03' },
  { id: 'undated', code: coded('pulse') },
  { id: 'other', code: coded('pulse'), effectiveDateTime: '2024-05-01', subject: { reference: 'Patient/bea' } },
]

beforeAll(async () => {
  service = await startService()
  for (const each of resources) {
    const body = { resourceType: 'Observation', status: 'final', subject: { reference: 'Patient/ada' }, ...each }
    const { status, text } = await call('PUT', `Observation/${each.id}`, { body })
    expect(status, text).toBe(201)
  }
})

describe('Observation/$lastn', () => {
  test('answers the newest observation of each kind, the newest kind first', async () => {
    const { status, body } = await get('?patient=ada')
    expect(status).toBe(200)
    expect(matchIds(body)).toEqual(['sugar-1', 'pulse-3', 'right', 'text-3', 'text-2'])
    expect(body).toMatchObject({ type: 'searchset', total: 5 })
    expect(linkOf(body, 'self')).toContain('/Observation/$lastn?patient=ada&max=1')
  })

  test('answers as many of each kind as max says, each kind together and newest first', async () => {
    const two = ['sugar-1', 'pulse-3', 'pulse-2', 'right', 'left', 'text-3', 'text-2', 'text-1']
    expect(matchIds((await get('?patient=Patient/ada&max=2')).body)).toEqual(two)
    const five = matchIds((await get('?patient=ada&max=5&code=pulse')).body)
    expect(five).toEqual(['pulse-3', 'pulse-2', 'pulse-1', 'undated'])
  })

  test('takes the search parameters of Observation', async () => {
    expect(matchIds((await get('?subject=Patient/ada&category=vital-signs')).body)).toEqual(['pulse-3'])
    expect(matchIds((await get('?patient=ada&code=http://loinc.org|sugar,http://loinc.org|pulse')).body)).toEqual([
      'sugar-1',
      'pulse-3',
    ])
    expect(matchIds((await get('?patient=ada&code=pulse&date=lt2024-01-03')).body)).toEqual(['pulse-2'])
    expect(matchIds((await get('?code=pulse')).body)).toEqual(['other'])
    expect((await get('?patient=nobody')).body.entry).toBeUndefined()
  })

  test('works by POST with Parameters', async () => {
    const parameter = [
      { name: 'patient', valueString: 'ada' },
      { name: 'category', valueString: 'vital-signs' },
      { name: 'max', valuePositiveInt: 2 },
    ]
    const { status, body } = await call('POST', 'Observation/$lastn', {
      body: { resourceType: 'Parameters', parameter },
    })
    expect([status, matchIds(body)]).toEqual([200, ['pulse-3', 'pulse-2']])
    expect((await call('POST', 'Observation/$lastn', { body: { resourceType: 'Patient' } })).status).toBe(400)
  })

  test('works as an entry of a batch and of a transaction', async () => {
    for (const type of ['batch', 'transaction']) {
      const entry = [{ request: { method: 'GET', url: 'Observation/$lastn?patient=bea' } }]
      const { body }: Answer = await call('POST', '', { body: { resourceType: 'Bundle', type, entry } })
      expect(matchIds(body.entry[0].resource)).toEqual(['other'])
    }
  })

  test('warns of a parameter that it does not know, and refuses it where it must not be left out', async () => {
    const { body } = await get('?patient=bea&colour=red')
    expect(body.entry.at(-1)).toMatchObject({
      search: { mode: 'outcome' },
      resource: { resourceType: 'OperationOutcome' },
    })
    const strict = await call('GET', 'Observation/$lastn?colour=red', { headers: { prefer: 'handling=strict' } })
    expect(strict.status).toBe(400)
  })

  test.each([
    'max=0',
    'max=-1',
    'max=few',
    'max=1&max=2',
    '_sort=date',
    '_count=5',
    '_include=Observation:patient',
    'date=x',
  ])('refuses %s', async query => {
    expect((await get(`?${query}`)).status).toBe(400)
  })

  test('is refused to callers that may not search what it looks at', async () => {
    const mint = (...scopes: string[]) =>
      service.application.identity.tokens.mint(
        { clientId: 'demo', organizationId: 'demo', consentExempt: true },
        scopes,
      )
    expect((await get('?patient=ada', await mint('system/Observation.r'))).status).toBe(403)
    const observations = await mint('system/Observation.s')
    expect((await get('?patient=ada', observations)).status).toBe(200)
    expect((await get('?patient.name=x', observations)).status).toBe(403)
  })

  test('is on the type Observation only', async () => {
    expect((await call('GET', 'Observation/pulse-1/$lastn')).status).toBe(404)
    expect((await call('GET', 'Condition/$lastn')).status).toBe(404)
    const { body } = await call('GET', 'metadata')
    const holders = body.rest[0].resource.filter((each: { operation: { name: string }[] }) =>
      each.operation.some(({ name }) => name === 'lastn'),
    )
    expect(holders.map((each: { type: string }) => each.type)).toEqual(['Observation'])
  })
})
