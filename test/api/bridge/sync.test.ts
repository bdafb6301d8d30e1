// POST bridge/sync: every item is stored once, in order; what is refused says why and leaves nothing behind.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { mostPeople } from '../../../src/bridge/bounded.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { eventsOfRequest } from '../../support/webhooks.ts'
import { storeRecord } from '../sdk/support.ts'
import { agentOf, type TestAgent } from './support.ts'

let service: Service
let agent: TestAgent
const fhir = fhirCaller(() => service)
const clinic = 'clinique-bastos'

beforeAll(async () => {
  service = await startService()
  await storeRecord(service)
  await fhir('PUT', `Organization/${clinic}`, {
    body: { resourceType: 'Organization', id: clinic, name: 'Clinique Bastos' },
  })
  agent = await agentOf(service, clinic)
})

const person = { first_name: 'Ngo', last_name: 'Biyong', date_of_birth: '1984-03-02', external_reference: 'B-77' }
const numbers = async () =>
  `${(await fhir('GET', 'metadata')).body.implementation.url}`.replace(
    /\/R4$/,
    `/NamingSystem/external-reference/${clinic}`,
  )
const potassium = (healthId: string, value = '4.1 mmol/L') => ({
  type: 'lab_result',
  payload: { health_id: healthId, test_name: 'Serum potassium', result_value: value, flagged: false },
})
const amina = 'CM-TQYE-6SRK-YQ6S'

test('a person of a clinic is registered, and a record about them carries its source', async () => {
  const item = randomUUID()
  const { status, body } = await agent.sync([
    { type: 'patient', payload: person },
    { ...potassium(amina), item_id: item },
  ])
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ accepted: 2, duplicates: 0, rejected: [], acked_through_seq: 2, next_expected_seq: 3 })
  const found = await fhir('GET', `Observation?_source=urn:health-interop:bridge:${agent.id}%23${item}`)
  expect(found.body.entry).toHaveLength(1)
  expect(found.body.entry[0].resource.meta.source).toBe(`urn:health-interop:bridge:${agent.id}#${item}`)
})

test('an item is stored once, however often and in whichever batch it comes', async () => {
  const item = { ...potassium(amina, '5.5 mmol/L'), item_id: randomUUID(), seq: 3 }
  const first = await agent.sync([item])
  const again = await agent.sync([item, { ...item, seq: 4 }])
  expect([first.body.accepted, again.body.accepted, again.body.duplicates]).toEqual([1, 0, 2])
  const events = await eventsOfRequest(service, again.headers.get('x-request-id')!)
  expect(events).toEqual([])
  expect(again.body.acked_through_seq).toBe(4)
})

test('the same batch again gets the same answer, and another body under its id is refused', async () => {
  const batch = { batch_id: randomUUID(), items: [{ seq: 5, item_id: 'five', ...potassium(amina, '3.9 mmol/L') }] }
  const first = await agent.sync([], batch)
  const again = await agent.sync([], batch)
  expect(again.body).toEqual(first.body)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const other = await agent.sync([], { ...batch, items: [] })
  expect([other.status, other.body.error_code, other.body.details[0].field]).toEqual([409, 'CONFLICT', 'batch_id'])
})

test('what is refused is told item by item, and the others are stored', async () => {
  const { status, body } = await agent.sync([], {
    items: [
      {
        seq: 6,
        item_id: 'bad',
        type: 'lab_result',
        payload: { health_id: 'CM-TQYE-6SRK-YQ6T', test_name: 'x', result_value: '1' },
      },
      { seq: 7, item_id: 'good', ...potassium(amina, '4.4 mmol/L') },
      { seq: 8, item_id: 'odd', type: 'lab_results', payload: {} },
      { seq: 9, item_id: 'none', type: 'fhir', payload: 'text' },
      { seq: 10, item_id: 'shape', type: 'stock_level', payload: { facility_id: clinic } },
    ],
  })
  expect(status).toBe(200)
  expect(body.accepted).toBe(1)
  expect(body.acked_through_seq).toBe(10)
  expect(
    body.rejected.map((each: { item_id: string; error_code: string; field: string; retryable: boolean }) => [
      each.item_id,
      each.error_code,
      each.field,
      each.retryable,
    ]),
  ).toEqual([
    ['bad', 'INVALID_HEALTH_ID', 'health_id', false],
    ['odd', 'VALIDATION_FAILED', 'type', false],
    ['none', 'VALIDATION_FAILED', 'payload', false],
    ['shape', 'VALIDATION_FAILED', expect.any(String), false],
  ])
  expect(body.rejected[1].message).toContain('did you mean lab_result?')
})

test('an item of type fhir that says If-Match: * is stored, though nothing is known of it', async () => {
  const weight = (value: string) => ({
    resourceType: 'Observation',
    identifier: [{ system: 'urn:clinic:obs', value }],
    status: 'final',
    code: { text: 'Weight' },
  })
  const entry = [
    { resource: weight('m1'), request: { method: 'POST', url: 'Observation', ifMatch: '*' } },
    {
      resource: weight('m2'),
      request: { method: 'PUT', url: 'Observation?identifier=urn:clinic:obs|m2', ifMatch: '*' },
    },
  ]
  const { body } = await agent.sync([{ type: 'fhir', payload: { resourceType: 'Bundle', type: 'transaction', entry } }])
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: 1, rejected: [] })
  for (const value of ['m1', 'm2'])
    expect((await fhir('GET', `Observation?identifier=urn:clinic:obs|${value}`)).body.total).toBe(1)
})

test('a refused item leaves nothing behind and may come again, mended', async () => {
  const bundle = (status: string) => ({
    type: 'fhir',
    payload: {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [
        {
          resource: {
            resourceType: 'Patient',
            id: 'p1',
            identifier: [{ system: 'urn:clinic', value: 'x1' }],
            name: [{ family: 'Eyenga', given: ['Ruth'] }],
            birthDate: '1990-12-01',
            gender: 'female',
          },
        },
        {
          resource: {
            resourceType: 'Observation',
            identifier: [{ system: 'urn:clinic:obs', value: 'o1' }],
            status,
            code: { text: 'Weight' },
            subject: { reference: 'Patient/p1' },
            valueQuantity: { value: 61, unit: 'kg' },
          },
        },
      ],
    },
  })
  const refused = await agent.sync([], { items: [{ seq: 11, item_id: 'bundle', ...bundle('finished') }] })
  expect(refused.body.rejected).toMatchObject([{ item_id: 'bundle', retryable: false }])
  expect((await fhir('GET', 'Patient?family=Eyenga')).body.total).toBe(0)
  const mended = await agent.sync([], { items: [{ seq: 12, item_id: 'bundle', ...bundle('final') }] })
  expect(mended.body, JSON.stringify(mended.body)).toMatchObject({ accepted: 1, rejected: [] })
  const [patient] = (await fhir('GET', 'Patient?family=Eyenga')).body.entry
  expect(patient.resource.identifier[0].value).toMatch(/^CM-/)
  const seen = (await fhir('GET', 'Observation?identifier=urn:clinic:obs|o1')).body.entry
  expect(seen).toHaveLength(1)
  expect(seen[0].resource.subject.reference).toBe(`Patient/${patient.resource.id}`)
})

test('a resource is found again by its identifier, and corrected', async () => {
  const weight = (value: number) => ({
    type: 'fhir',
    payload: {
      resourceType: 'Observation',
      identifier: [{ system: 'urn:clinic:obs', value: 'w|2' }],
      status: 'final',
      code: { text: 'Weight' },
      subject: { reference: 'Patient/amina' },
      valueQuantity: { value, unit: 'kg' },
    },
  })
  const { body } = await agent.sync([], {
    items: [
      { seq: 13, item_id: 'w1', ...weight(60) },
      { seq: 14, item_id: 'w2', ...weight(61) },
    ],
  })
  expect(body.accepted, JSON.stringify(body)).toBe(2)
  const found = (await fhir('GET', 'Observation?identifier=urn:clinic:obs|w\\|2')).body.entry
  expect(found).toHaveLength(1)
  expect(found[0].resource).toMatchObject({ valueQuantity: { value: 61 }, meta: { versionId: '2' } })
})

test('an entry that names a resource by an id is refused, whosever it is', async () => {
  const { body } = await agent.sync([], {
    items: [
      {
        ...{ seq: 15, item_id: 'byid', type: 'fhir' },
        payload: {
          resourceType: 'Bundle',
          type: 'transaction',
          entry: [
            {
              resource: { resourceType: 'Organization', id: clinic, name: 'Mine' },
              request: { method: 'PUT', url: `Organization/${clinic}` },
            },
          ],
        },
      },
    ],
  })
  expect(body.rejected).toMatchObject([{ error_code: 'VALIDATION_FAILED', field: 'payload.entry[0].request.url' }])
})

test('consents and what is not of care cannot be written', async () => {
  const consent = {
    resourceType: 'Consent',
    status: 'active',
    patient: { reference: 'Patient/amina' },
    scope: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/consentscope', code: 'patient-privacy' }] },
    category: [{ text: 'x' }],
    policyRule: { text: 'x' },
  }
  const { body } = await agent.sync([], { items: [{ seq: 16, item_id: 'consent', type: 'fhir', payload: consent }] })
  expect(body.rejected).toMatchObject([
    { error_code: 'FORBIDDEN', field: 'payload', message: 'payload is a Consent, which agents cannot store.' },
  ])
})

test('a gap in the sequence is told, filled, or declared', async () => {
  const other = await agentOf(service, clinic)
  const send = (seqs: number[], skipped: number[] = []) =>
    other.sync([], {
      items: seqs.map(seq => ({ seq, item_id: `i${seq}`, ...potassium(amina, `${seq} mmol/L`) })),
      skipped,
    })
  expect((await send([1, 2, 5])).body).toMatchObject({ accepted: 3, acked_through_seq: 2, next_expected_seq: 3 })
  expect((await send([3])).body).toMatchObject({ acked_through_seq: 3, next_expected_seq: 4 })
  expect((await send([], [4])).body).toMatchObject({ acked_through_seq: 5, next_expected_seq: 6 })
})

test('two batches of one agent at once are done one after the other, each item once', async () => {
  const other = await agentOf(service, clinic)
  const items = [1, 2, 3].map(seq => ({ seq, item_id: `same${seq}`, ...potassium(amina, `${seq} mmol/L`) }))
  const answers = await Promise.all([1, 2, 3, 4].map(() => other.sync([], { items })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const sum = (name: string) => answers.reduce((total, { body }) => total + body[name], 0)
  expect([sum('accepted'), sum('duplicates')]).toEqual([3, 9])
})

test('failures make one Task and one event for an episode, which ends with the first good sync', async () => {
  const other = await agentOf(service, clinic)
  const bad = { type: 'lab_result', payload: {} }
  const first = await other.sync([bad, bad])
  expect(await eventsOfRequest(service, first.headers.get('x-request-id')!)).toEqual(['bridge_agent.sync_failed'])
  const second = await other.sync([bad])
  expect(await eventsOfRequest(service, second.headers.get('x-request-id')!)).toEqual([])
  const tasks = async () => (await fhir('GET', `Task?requester:identifier=${encodeURIComponent('|')}`)).body
  await tasks()
  const found = (
    await fhir('GET', 'Task?code=https://health-interop.org/fhir/CodeSystem/task|bridge-sync&_sort=-_lastUpdated')
  ).body.entry[0].resource
  expect(found).toMatchObject({
    status: 'failed',
    requester: { identifier: { value: other.id } },
    owner: { reference: `Organization/${clinic}` },
  })
  expect(found.executionPeriod.end).toBeUndefined()
  await other.sync([potassium(amina)])
  expect((await fhir('GET', `Task/${found.id}`)).body.executionPeriod.end).toBeTruthy()
  const third = await other.sync([bad])
  expect(await eventsOfRequest(service, third.headers.get('x-request-id')!)).toEqual(['bridge_agent.sync_failed'])
})

test('a batch may come gzipped, and a body that is none of an agent is refused', async () => {
  const other = await agentOf(service, clinic)
  const body = {
    batch_id: 'zip',
    agent_id: other.id,
    facility_id: clinic,
    items: [{ seq: 1, item_id: 'z', ...potassium(amina) }],
  }
  expect((await other.call('POST', 'sync', body, { 'content-encoding': 'gzip' })).body.accepted).toBe(1)
  const foreign = await other.call('POST', 'sync', { ...body, batch_id: 'other', agent_id: agent.id })
  expect([foreign.status, foreign.body.error_code, foreign.body.details[0].field]).toEqual([
    403,
    'FORBIDDEN',
    'agent_id',
  ])
  const many = {
    ...body,
    batch_id: 'many',
    items: Array.from({ length: 501 }, (_, seq) => ({ seq: seq + 1, item_id: `m${seq}`, ...potassium(amina) })),
  }
  expect((await other.call('POST', 'sync', many)).status).toBe(422)
})

test('stock, blood units and payments of the facility are stored, and found again by the ids of the facility', async () => {
  const other = await agentOf(service, clinic)
  const unit = (status: string) => ({
    type: 'blood_unit',
    payload: {
      id: 'bag-1',
      facility_id: clinic,
      donation_number: 'C00262600123400',
      component: 'packed_red_cells',
      blood_group: 'O+',
      status,
      expires_at: '2027-01-01T00:00:00Z',
    },
  })
  const payment = {
    type: 'payment',
    payload: {
      reconciliation_id: 'pay-1',
      transaction_reference: 'MP1',
      provider: 'MTN MoMo',
      amount: '2500',
      currency: 'XAF',
      status: 'matched',
      paid_at: '2026-11-20T08:00:00Z',
    },
  }
  const { body } = await other.sync([
    unit('available'),
    payment,
    unit('issued'),
    { ...unit('available'), payload: { ...unit('available').payload, facility_id: 'another' } },
  ])
  expect(body).toMatchObject({ accepted: 3, rejected: [{ error_code: 'FORBIDDEN', field: 'facility_id' }] })
  const removed = await other.sync([
    { type: 'blood_unit', op: 'delete', payload: { id: 'bag-1' } },
    { type: 'payment', op: 'delete', payload: {} },
  ])
  expect(removed.body).toMatchObject({ accepted: 1, rejected: [{ field: 'reconciliation_id' }] })
})

test('the own number of a person leads to the registered patient', async () => {
  const system = await numbers()
  const patient = (address: string) => ({
    type: 'fhir',
    payload: {
      resourceType: 'Patient',
      identifier: [{ system, value: 'B-900' }],
      name: [{ family: 'Mbarga', given: ['Paul'] }],
      birthDate: '1971-05-06',
      gender: 'male',
      address: [{ city: address }],
    },
  })
  const { body } = await agent.sync([], {
    items: [
      { seq: 30, item_id: 'n1', ...patient('Douala') },
      { seq: 31, item_id: 'n2', ...patient('Kribi') },
    ],
  })
  expect(body.accepted, JSON.stringify(body)).toBe(2)
  const found = (await fhir('GET', 'Patient?family=Mbarga')).body.entry
  expect(found).toHaveLength(1)
  expect(found[0].resource).toMatchObject({
    address: [{ city: 'Kribi' }],
    managingOrganization: { reference: `Organization/${clinic}` },
  })
})

test('a batch that registers too many people is refused as a whole, so that the locks of the database last for all, and stored in parts', async () => {
  const own = await agentOf(service, 'crowded')
  const word = (at: number) => String.fromCharCode(97 + (at % 26), 97 + ((at * 7) % 26), 97 + ((at * 11) % 26))
  const people = Array.from({ length: mostPeople + 1 }, (_, at) => ({
    type: 'patient',
    payload: { first_name: 'Marie', last_name: `Crowd${word(at)}`, date_of_birth: `19${10 + (at % 90)}-03-1${at % 9}` },
  }))
  const count = async () => (await fhir('GET', 'Patient?family:contains=Crowd&_summary=count')).body.total
  const { status, body } = await own.call('POST', 'sync', {
    ...{ batch_id: randomUUID(), agent_id: own.id, facility_id: own.facility },
    items: people.map((item, at) => ({ seq: at + 1, item_id: `crowd-${at}`, op: 'upsert', ...item })),
  })
  expect([status, body.error_code], JSON.stringify(body).slice(0, 300)).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  expect(await count()).toBe(0)
  for (const part of [people.slice(0, 50), people.slice(50)])
    expect((await own.sync(part)).body).toMatchObject({ accepted: part.length, rejected: [] })
  expect(await count()).toBe(people.length)
})
