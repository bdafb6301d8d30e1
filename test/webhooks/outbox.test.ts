// Events are there exactly where changes are, whoever makes them.

import { Compile } from 'typebox/compile'
import { beforeAll, describe, expect, test } from 'vitest'
import { type EventType, envelopeSchema } from '../../src/events/event-types.ts'
import { issueCode } from '../../src/identity/enrolment.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { client, eventsOf, later, quiet, type Somebody, type Subscriber, subscriber } from '../support/webhooks.ts'

let service: Service
let all: Subscriber
let hospital: Somebody
const call = fhirCaller(() => service)
const store = creatorBy(call)
const connect = '/api/v1/connect'

const every: EventType[] = [
  ...(['patient.created', 'patient.updated', 'health_id.created', 'health_id.verified'] as const),
  ...(['consent.requested', 'consent.granted', 'consent.denied', 'consent.revoked'] as const),
  ...([
    'encounter.created',
    'encounter.closed',
    'lab_order.created',
    'lab_result.released',
    'lab_result.amended',
  ] as const),
  ...(['prescription.issued', 'prescription.cancelled', 'prescription.dispensed'] as const),
  ...(['appointment.created', 'appointment.checked_in', 'appointment.cancelled'] as const),
  ...(['document.issued', 'document.verified', 'bridge_agent.sync_failed'] as const),
]

beforeAll(async () => {
  service = await startService()
  hospital = await client(service, 'hospital', {
    scopes: ['health_id:verify', 'consents:write', 'webhooks:manage', 'system/*.cruds'],
  })
  all = await subscriber(await client(service, 'ehr', { consentExempt: true }), every)
})

/** The types of the events that the work has caused, in order; what was delivered of them fits its schema. */
async function caused(work: () => Promise<unknown>): Promise<string[]> {
  await quiet(service)
  const before = all.receiver.received.length
  await work()
  await quiet(service)
  const events = all.receiver.received.slice(before).map(({ event }) => event)
  for (const event of events) {
    const problems = Compile(envelopeSchema(event.type)).Errors(event)
    expect([...problems], JSON.stringify(event)).toEqual([])
  }
  return events.sort((left, right) => (left.id < right.id ? -1 : 1)).map(({ type }) => type)
}

const visit = { resourceType: 'Encounter', status: 'in-progress', class: { code: 'AMB' } }
const ada = { first_name: 'Ada', last_name: 'Ngo', date_of_birth: '1990-02-03', sex: 'female' }
let healthId: string

describe('there are events of what is done', () => {
  test('by registering and verifying a person, with the Health ID', async () => {
    expect(
      await caused(async () => {
        const { status, body } = await hospital.call('POST', `${connect}/patients/resolve`, ada)
        expect(status).toBe(201)
        healthId = body.health_id
      }),
    ).toEqual(['patient.created', 'health_id.created'])
    expect(all.receiver.received.at(-1)!.event.data.health_id).toBe(healthId)
    expect(await caused(() => hospital.call('POST', `${connect}/patients/resolve`, ada))).toEqual([])
    expect(await caused(() => hospital.call('GET', `${connect}/patients/verify/${healthId}`))).toEqual([
      'health_id.verified',
    ])
    expect(all.receiver.received.at(-1)!.event).toMatchObject({
      data: { health_id: healthId },
      meta: { organization_id: 'hospital' },
    })
  })

  test('and the patient sees who was told of it', async () => {
    const { database } = service.application
    const [row] = await database.query<{ patient: string }>({
      text: 'select patient from health_id where value = $1',
      values: [healthId],
    })
    const { code } = await issueCode(database, row!.patient, Date.now())
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ health_id: healthId, code })
    const enrolled = await call('POST', '/api/v1/mobile/enrol', { body, headers })
    const log = await call('GET', '/api/v1/mobile/access-log', { token: enrolled.body.token })
    expect(log.body.data).toContainEqual(
      expect.objectContaining({
        action: 'notified',
        organization_id: 'ehr',
        client_id: all.clientId,
        resource_type: 'Patient',
      }),
    )
  })

  test('by asking for a consent, giving it and taking it back', async () => {
    const consent = `${connect}/patient/${healthId}/consent`
    expect(await caused(() => hospital.call('POST', `${consent}/request`, { consent_type: 'full_record' }))).toEqual([
      'consent.requested',
    ])
    expect(await caused(() => hospital.call('POST', `${consent}/grant`, { consent_type: 'full_record' }))).toEqual([
      'consent.granted',
    ])
    expect(await caused(() => hospital.call('POST', `${consent}/revoke`))).toEqual(['consent.revoked'])
    expect(all.receiver.received.at(-1)!.event.data).toMatchObject({ health_id: healthId, organization_id: 'hospital' })
  })

  test('by FHIR: one by one, in a batch, in a transaction, by patch and by deletion', async () => {
    const post = { method: 'POST', url: 'Encounter' }
    const bundle = (type: string) => ({
      resourceType: 'Bundle',
      type,
      entry: [1, 2].map(() => ({ resource: visit, request: post })),
    })
    expect(await caused(() => call('POST', 'Encounter', { body: visit }))).toEqual(['encounter.created'])
    for (const type of ['batch', 'transaction'])
      expect(await caused(() => call('POST', '', { body: bundle(type) }))).toEqual([
        'encounter.created',
        'encounter.created',
      ])
    await store({ ...visit, id: 'patched' })
    const patch = [{ op: 'replace', path: '/status', value: 'finished' }]
    const headers = { 'content-type': 'application/json-patch+json' }
    expect(await caused(() => call('PATCH', 'Encounter/patched', { body: JSON.stringify(patch), headers }))).toEqual([
      'encounter.closed',
    ])
    expect(await caused(() => call('DELETE', 'Encounter/patched'))).toEqual([])
  })

  test('by a laboratory whose reports have no category: a result that is withdrawn, too', async () => {
    const subject = { reference: 'Patient/untold' }
    const category = [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
    ]
    const common = { status: 'final', code: { text: 'Potassium' }, subject }
    const report = (id: string) => ({
      ...{ resourceType: 'DiagnosticReport', id, ...common },
      result: [{ reference: `Observation/${id}` }],
    })
    const ids = ['erased', 'erased-at-once', 'emptied']
    await store({ resourceType: 'Patient', id: 'untold' })
    const released = await caused(async () => {
      for (const id of ids) await store({ resourceType: 'Observation', id, ...common, category }, report(id))
    })
    expect(released).toEqual(ids.map(() => 'lab_result.released'))
    const deletion = (url: string) => ({ request: { method: 'DELETE', url } })
    const withdrawn = await caused(async () => {
      expect((await call('DELETE', 'DiagnosticReport/erased')).status).toBe(204)
      const entry = [deletion('DiagnosticReport/erased-at-once'), deletion('Observation/erased-at-once')]
      expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(
        200,
      )
      const body = { ...report('emptied'), status: 'entered-in-error', result: undefined }
      expect((await call('PUT', 'DiagnosticReport/emptied', { body })).status).toBe(200)
    })
    expect(withdrawn).toEqual(ids.map(() => 'lab_result.amended'))
  })

  test('by a laboratory: that a result is flagged stands in what it refers to', async () => {
    const category = [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }]
    const code = { text: 'Potassium' }
    const interpretation = [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'HH' }] },
    ]
    await store({ resourceType: 'Observation', id: 'critical', status: 'final', code, interpretation } as never)
    const report = {
      resourceType: 'DiagnosticReport',
      status: 'final',
      category,
      code,
      result: [{ reference: 'Observation/critical' }],
    }
    expect(await caused(() => call('POST', 'DiagnosticReport', { body: report }))).toEqual(['lab_result.released'])
    expect(all.receiver.received.at(-1)!.event.data).toMatchObject({ test_name: 'Potassium', flagged: true })
    expect(await caused(() => call('POST', 'DiagnosticReport', { body: { ...report, result: undefined } }))).toEqual([
      'lab_result.released',
    ])
    expect(all.receiver.received.at(-1)!.event.data.flagged).toBe(false)
    const entry = [
      {
        fullUrl: 'urn:uuid:6f2b2f0e-2f0a-4f6b-9f57-0f1f9a3f6d11',
        resource: { resourceType: 'Observation', status: 'final', code, interpretation },
        request: { method: 'POST', url: 'Observation' },
      },
      {
        resource: { ...report, result: [{ reference: 'urn:uuid:6f2b2f0e-2f0a-4f6b-9f57-0f1f9a3f6d11' }] },
        request: { method: 'POST', url: 'DiagnosticReport' },
      },
    ]
    expect(
      await caused(() => call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })),
    ).toEqual(['lab_result.released'])
    expect(all.receiver.received.at(-1)!.event.data.flagged).toBe(true)
  })
})

describe('there are none of what is not done', () => {
  test('by a transaction of which one part is wrong', async () => {
    const entry = [visit, { ...visit, status: 'nonsense' }].map(resource => ({
      resource,
      request: { method: 'POST', url: 'Encounter' },
    }))
    expect(
      await caused(() => call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })),
    ).toEqual([])
  })

  test('by a change that changes nothing, or that is refused', async () => {
    await store({ ...visit, id: 'same' })
    expect(await caused(() => call('PUT', 'Encounter/same', { body: { ...visit, id: 'same' } }))).toEqual([])
    const stale = { body: { ...visit, id: 'same', status: 'finished' }, headers: { 'if-match': 'W/"7"' } }
    expect(await caused(() => call('PUT', 'Encounter/same', stale))).toEqual([])
  })

  test('by a request that is repeated with its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one-visit', 'content-type': 'application/fhir+json' }
    const post = () => call('POST', 'Encounter', { body: visit, headers })
    expect(await caused(() => Promise.all([post(), post().catch(() => {})]))).toEqual(['encounter.created'])
    expect(await caused(post)).toEqual([])
  })

  test('by the service itself, such as the demo data', async () => {
    const other = await startService()
    await other.application.prepare()
    expect(await eventsOf(other)).toEqual([])
    await other.stop()
  })
})

describe('several processes', () => {
  test('share what is to be delivered: everything is sent once', async () => {
    const processes = [service, await startBeside(service), await startBeside(service)]
    const calls = processes.map(each => fhirCaller(() => each))
    const types = await caused(() =>
      Promise.all(Array.from({ length: 120 }, (_, index) => calls[index % 3]!('POST', 'Encounter', { body: visit }))),
    )
    expect(types).toHaveLength(120)
    const ids = all.receiver.received.map(({ event }) => event.id)
    expect(new Set(ids).size).toBe(ids.length)
    await Promise.all(processes.slice(1).map(each => each.stop()))
  })

  test('lose nothing when one of them dies with something in hand: it is due again when its lease is over', async () => {
    const dead = await subscriber(await client(service, 'dying', { consentExempt: true }), ['encounter.created'])
    dead.receiver.answer(503)
    await caused(() => call('POST', 'Encounter', { body: visit }))
    await dead.attempted(1)
    dead.receiver.answer(200)
    // As a process leaves it that was killed after taking it.
    await service.application.database.query({
      text: `update webhook_delivery set lease = 1, due_at = clock_timestamp() + interval '30 s' where event = $1`,
      values: [dead.receiver.received[0]!.event.id],
    })
    await later(service, 0)
    await new Promise(done => setTimeout(done, 50))
    expect(dead.receiver.received).toHaveLength(1)
    await service.application.database.query({
      text: `update webhook_delivery set due_at = due_at - interval '31 s'`,
      values: [],
    })
    service.application.webhooks.wake()
    const [first, second] = await dead.receiver.until(2)
    expect(second!.event.id).toBe(first!.event.id)
    expect((await dead.attempted(2)).at(-1)).toMatchObject({ attempt: 2, outcome: 'delivered' })
  })

  test('take over what a process that died has left in the outbox', async () => {
    const types = await caused(() =>
      service.application.database.query({
        text: `insert into event_outbox (id, event, type, resource_id, version, happened_at, patient, patients, data, audience, organization_id, facility_id, request_id)
          select 'evt_ffffffffffffffffffffffffffffffff', event, type, resource_id, version, now(), patient, '', '{"encounter_id":"left","status":"planned","class":null,"facility_id":null}', '', 'hospital', '', 'left-behind'
          from event where event = 'encounter.created' limit 1`,
        values: [],
      }),
    )
    expect(types).toEqual(['encounter.created'])
  })

  test('keep what cannot be sent out, with the reason, until one is started that may know better', async () => {
    const { database } = service.application
    await quiet(service)
    await database.query({
      text: `insert into event_outbox (id, event, type, resource_id, version, happened_at, patient, patients, data, audience, organization_id, facility_id, request_id)
        values ('evt_broken', 'encounter.created', 1, 'x', 1, now(), '', '', 'no JSON', '', '', '', 'broken'),
          ('evt_sound', 'encounter.created', 1, 'x', 1, now(), '', '', '{"encounter_id":"sound","status":"planned","class":null,"facility_id":null}', '', '', '', 'sound')`,
      values: [],
    })
    service.application.webhooks.wake()
    const before = all.receiver.received.length
    await all.receiver.until(before + 1)
    expect(all.receiver.received.at(-1)!.event.id).toBe('evt_sound')
    const [kept] = await database.query<{ problem: string }>({
      text: `select problem from event_outbox where id = 'evt_broken'`,
      values: [],
    })
    expect(kept!.problem).toContain('JSON')
    await database.query({ text: `update event_outbox set data = replace(data, 'no JSON', '{}')`, values: [] })
    const beside = await startBeside(service)
    await all.receiver.until(before + 2)
    expect(all.receiver.received.at(-1)!.event.id).toBe('evt_broken')
    await beside.stop()
  })
})

test('what is older than the setting is forgotten, a part at a time', async () => {
  const { prune } = await import('../../src/webhooks/prune.ts')
  const { database } = service.application
  const old = `evt_${(Date.now() - 31 * 86_400_000).toString(16).padStart(12, '0')}${'0'.repeat(20)}`
  await database.query({
    text: `with one as (insert into event select $1, event, type, resource_id, version, audience, patient, patients, request_id, body from event limit 1),
      two as (insert into webhook_delivery (endpoint, event, id, due_at) values (1, $1, gen_random_uuid(), now() + interval '1 day'))
      insert into webhook_attempt (endpoint, event, delivery, attempt, outcome, started_at, milliseconds)
      values (1, $1, gen_random_uuid(), 1, 'failed', now() - interval '31 days', 1)`,
    values: [old],
  })
  const count = async () =>
    (await database.query<{ events: number }>({ text: `select count(*)::int as events from event`, values: [] }))[0]!
      .events
  const before = await count()
  expect(await prune(database, 30)).toBe(3)
  expect(await count()).toBe(before - 1)
  expect(await prune(database, 30)).toBe(0)
})
