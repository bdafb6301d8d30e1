// What a subscription missed is sent when its client asks for it: also what happened while it was disabled, and only what the client
// may see now.
import { beforeAll, expect, test } from 'vitest'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { client, quiet, type Subscriber, subscriber, subscriptions } from '../support/webhooks.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
let number = 0

beforeAll(async () => {
  service = await startService()
})

const patient = (id: string) => ({ resourceType: 'Patient', id, name: [{ family: 'Ngo' }], birthDate: '1990-02-03' })
const encounter = (of: string) => ({
  resourceType: 'Encounter',
  id: `missed-${++number}`,
  status: 'in-progress',
  class: { code: 'AMB' },
  subject: { reference: `Patient/${of}` },
})
const since = { from: '2020-01-01T00:00:00Z' }

const told = async (organization: string): Promise<Subscriber> =>
  subscriber(await client(service, organization), ['encounter.created'])
const turn = async (who: Subscriber, status: 'active' | 'disabled') =>
  expect((await who.call('PATCH', `${subscriptions}/${who.id}`, { status })).status).toBe(200)
const replay = (who: Subscriber, body: unknown, query = '', of = who) =>
  who.call('POST', `${subscriptions}/${of.id}/replay${query}`, body)
const idsTo = ({ receiver }: Subscriber) => receiver.received.map(({ event }) => event.data.encounter_id)

test('what happened while it was disabled arrives once, the oldest first, marked as a replay', async () => {
  await store(patient('p1'), consentOf('c1', 'p1', 'clinic-a'))
  const clinic = await told('clinic-a')
  await store(encounter('p1'))
  await quiet(service)
  await turn(clinic, 'disabled')
  const [first, second] = [encounter('p1'), encounter('p1')]
  await store(first)
  await store(second)
  await quiet(service)
  expect((await replay(clinic, since)).status).toBe(409)
  await turn(clinic, 'active')
  const begun = await replay(clinic, since)
  expect([begun.status, begun.body]).toEqual([
    202,
    { subscription_id: clinic.id, deliveries_started: 2, has_more: false, next_cursor: null },
  ])
  await clinic.attempted(3)
  expect(idsTo(clinic).slice(1).sort()).toEqual([first.id, second.id])
  expect(clinic.receiver.received.map(({ headers }) => headers['x-service-replay'])).toEqual([
    undefined,
    'true',
    'true',
  ])
  expect((await replay(clinic, since)).body.deliveries_started).toBe(0)
  expect((await replay(clinic, { ...since, state: 'delivered' })).body.deliveries_started).toBe(3)
})

test('what the client may not see is not sent: without a consent, or of a consent that has ended', async () => {
  await store(patient('open'), patient('closed'), patient('ended'))
  await store(consentOf('c-open', 'open', 'clinic-b'), consentOf('c-ended', 'ended', 'clinic-b'))
  const clinic = await told('clinic-b')
  await turn(clinic, 'disabled')
  const visible = encounter('open')
  await store(visible, encounter('closed'), encounter('ended'))
  await quiet(service)
  const ended = { ...consentOf('c-ended', 'ended', 'clinic-b'), status: 'inactive' }
  expect((await call('PUT', 'Consent/c-ended', { body: ended })).status).toBe(200)
  await turn(clinic, 'active')
  expect((await replay(clinic, since)).body.deliveries_started).toBe(1)
  await clinic.attempted(1)
  expect(idsTo(clinic)).toEqual([visible.id])
})

test('a replay that is repeated with its Idempotency-Key begins once', async () => {
  await store(patient('p3'), consentOf('c3', 'p3', 'clinic-c'))
  const clinic = await told('clinic-c')
  await turn(clinic, 'disabled')
  await store(encounter('p3'))
  await quiet(service)
  await turn(clinic, 'active')
  const again = () =>
    clinic.call('POST', `${subscriptions}/${clinic.id}/replay`, since, { 'idempotency-key': 'replay-once' })
  const [one, two] = [await again(), await again()]
  expect([one.body.deliveries_started, two.body]).toEqual([1, one.body])
  await clinic.attempted(1)
  expect(idsTo(clinic)).toHaveLength(1)
})

test('a span that is none, a cursor of another replay, and the subscription of another client are refused', async () => {
  const [own, other] = [await told('clinic-d'), await told('clinic-d')]
  const { body: span } = await replay(own, { from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' })
  expect(span).toMatchObject({ error_code: 'VALIDATION_FAILED', details: [{ field: 'to', code: 'range' }] })
  for (const body of [{}, { from: 'yesterday' }, { from: '2027-12-31T23:59:60Z' }, { ...since, state: 'lost' }])
    expect([body, (await replay(own, body)).status]).toEqual([body, 422])
  expect((await replay(own, { from: '2999-01-01T00:00:00Z' })).body.details).toMatchObject([{ field: 'from' }])
  const forged = await replay(own, since, '?cursor=abc')
  expect([forged.status, forged.body.details[0].field]).toEqual([422, 'query.cursor'])
  expect((await replay(other, since, '', own)).status).toBe(404)
  const reader = await client(service, 'clinic-d', { scopes: ['system/*.rs'] })
  expect((await reader.call('POST', `${subscriptions}/${own.id}/replay`, since)).status).toBe(403)
})
