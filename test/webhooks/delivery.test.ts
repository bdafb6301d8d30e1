import { beforeAll, describe, expect, test } from 'vitest'
import { verifySignature } from '../../src/outbound/signature.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import {
  client,
  later,
  quiet,
  type Somebody,
  settled,
  subscriber,
  subscriptions,
  webhooks,
} from '../support/webhooks.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
let number = 0

const encounter = () => ({
  resourceType: 'Encounter',
  id: `visit-${++number}`,
  status: 'in-progress',
  class: { code: 'AMB' },
})

/** Somebody who is told of new encounters, and nobody else is; it ends with the test. */
const listening = async () =>
  subscriber(await client(service, 'hospital', { consentExempt: true }), ['encounter.created'])

beforeAll(async () => {
  service = await startService()
})

describe('a delivery', () => {
  test('whose result cannot be noted for a moment is noted later, and not sent again', async () => {
    const { receiver, attempted } = await listening()
    const { database } = service.application
    const rename = (from: string, to: string) =>
      database.query({ text: `alter table ${from} rename to ${to}`, values: [] })
    const release = receiver.hold()
    await store(encounter())
    await receiver.until(1)
    await rename('webhook_attempt', 'webhook_attempt_away')
    release()
    await new Promise(done => setTimeout(done, 200))
    await rename('webhook_attempt_away', 'webhook_attempt')
    expect(await attempted(1)).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
    await quiet(service)
    expect(receiver.received).toHaveLength(1)
  })

  test('is a signed POST of the envelope, by both schemes', async () => {
    const { receiver, secret } = await listening()
    const before = Date.now()
    const made = await call('PUT', 'Encounter/signed', {
      body: { ...encounter(), id: 'signed' },
      headers: { 'x-request-id': 'request-of-the-test' },
    })
    expect(made.status).toBe(201)
    const [first] = await receiver.until(1)
    const { event, headers, body } = first!
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'encounter.created',
      version: '1.0',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { health_id: null, encounter_id: 'signed', status: 'in-progress', class: 'AMB', facility_id: null },
      meta: {
        organization_id: 'demo-organization',
        facility_id: '',
        environment: 'local',
        request_id: 'request-of-the-test',
      },
    })
    expect(Math.abs(Date.parse(event.created_at) - before)).toBeLessThan(5000)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(headers['user-agent']).toMatch(/^health-interop\/\d/)
    expect(headers['webhook-id']).toBe(event.id)
    const header = String(headers['x-service-signature'])
    expect(header).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/)
    verifySignature({ header, body, secret })
  })

  test('that fails is tried again after the delays of the interface, with the same bytes, and is exhausted after seven', async () => {
    const { receiver, attempted, read } = await listening()
    receiver.answer(500)
    await store(encounter())
    for (const [index, delay] of [60, 300, 900, 3600, 21_600, 86_400].entries()) {
      const last = (await attempted(index + 1)).at(-1)
      expect(last).toMatchObject({
        attempt: index + 1,
        outcome: 'failed',
        http_status: 500,
        error: 'responded with 500',
      })
      const wait = (Date.parse(last.next_attempt_at) - Date.parse(last.started_at)) / 1000
      expect(wait).toBeGreaterThanOrEqual(delay)
      expect(wait).toBeLessThan(delay * 1.02 + 3)
      await quiet(service)
      await later(service, delay - 5)
      await quiet(service)
      expect(receiver.received).toHaveLength(index + 1)
      await later(service, delay * 0.02 + 10)
    }
    const all = await attempted(7)
    expect(all.at(-1)).toMatchObject({ attempt: 7, outcome: 'exhausted', next_attempt_at: null })
    expect(new Set(all.map(each => each.delivery_id)).size).toBe(1)
    expect(new Set(receiver.received.map(each => each.body)).size).toBe(1)
    await later(service, 1_000_000)
    await quiet(service)
    expect(receiver.received).toHaveLength(7)
    expect(await read()).toMatchObject({ status: 'failing', failure_count: 7, last_delivery_at: null })
  })

  test('that succeeds at a later attempt makes the subscription well again', async () => {
    const { receiver, attempted, read } = await listening()
    receiver.answer(503)
    await store(encounter())
    await attempted(1)
    await settled('the subscription to fail', read, ({ failure_count: count }) => count === 1)
    expect(await read()).toMatchObject({ status: 'failing', failure_count: 1 })
    receiver.answer(204)
    await later(service, 100)
    expect((await attempted(2)).at(-1)).toMatchObject({ attempt: 2, outcome: 'delivered', http_status: 204 })
    await settled('the subscription to be well', read, ({ failure_count: count }) => count === 0)
    expect(await read()).toMatchObject({ status: 'active', last_delivery_at: expect.any(String) })
  })

  test('is put off further by Retry-After', async () => {
    const { receiver, attempted } = await listening()
    receiver.answer(response => response.writeHead(429, { 'retry-after': '600' }).end())
    await store(encounter())
    const [first] = await attempted(1)
    expect((Date.parse(first.next_attempt_at) - Date.parse(first.started_at)) / 1000).toBeGreaterThanOrEqual(600)
  })

  test('is not led elsewhere', async () => {
    const [here, there] = [await listening(), await listening()]
    here.receiver.answer(response => response.writeHead(302, { location: there.receiver.url }).end())
    await store(encounter())
    expect((await here.attempted(1))[0]).toMatchObject({
      outcome: 'failed',
      http_status: 302,
      error: 'redirects are not followed',
    })
    expect(there.receiver.received).toHaveLength(1)
  })

  test('tells in its attempt what the receiver said, its beginning only', async () => {
    const { receiver, attempted } = await listening()
    receiver.answer(response => response.writeHead(400).end(`no such route ${'x'.repeat(5000)}`))
    await store(encounter())
    const [first] = await attempted(1)
    expect(first.response_excerpt).toMatch(/^no such route x+$/)
    expect(first.response_excerpt).toHaveLength(1000)
  })

  test('to somebody who is gone for good disables the subscription, and is not tried again', async () => {
    const gone = await listening()
    gone.receiver.answer(410)
    await store(encounter())
    expect((await gone.attempted(1))[0]).toMatchObject({ outcome: 'exhausted', http_status: 410 })
    const disabled = await settled('the subscription to be disabled', gone.read, ({ status }) => status === 'disabled')
    expect(disabled.disabled_reason).toBe('the receiver responded with 410 Gone')
    await store(encounter())
    await quiet(service)
    expect(gone.receiver.received).toHaveLength(1)
  })

  test('to a former address that is gone says nothing of the new one, which gets the event', async () => {
    const [moving, next] = [await listening(), await startReceiver()]
    let leave = (): void => {}
    moving.receiver.answer(response => void (leave = () => response.writeHead(410).end()))
    await store(encounter())
    const [first] = await moving.receiver.until(1)
    const moved = await moving.call('PATCH', `${subscriptions}/${moving.id}`, { callback_url: next.url })
    expect(moved.status, moved.text).toBe(200)
    leave()
    expect((await moving.attempted(1))[0]).toMatchObject({ outcome: 'failed', http_status: 410 })
    await store(encounter())
    await next.until(1)
    expect((await moving.read()).status).not.toBe('disabled')
    await later(service, 100)
    expect((await next.until(2)).map(({ event }) => event.id)).toContain(first!.event.id)
  })

  test('that has failed for five days disables the subscription; what waits goes out when it is enabled again', async () => {
    const { id, receiver, read, attempted, ...who } = await listening()
    receiver.answer(500)
    await store(encounter())
    await attempted(1)
    // The health of a subscription is noted after its attempts.
    await settled('the subscription to be failing', read, ({ status }) => status === 'failing')
    await service.application.database.query({
      text: `update webhook_health set failing_since = failing_since - interval '5 days' where endpoint = (select key from webhook_endpoint where id = $1)`,
      values: [id],
    })
    await store(encounter())
    await attempted(2)
    const disabled = await settled('the subscription to be disabled', read, ({ status }) => status === 'disabled')
    expect(disabled.disabled_reason).toBe('all delivery attempts failed for 5 days')
    await later(service, 100)
    await quiet(service)
    expect(receiver.received).toHaveLength(2)
    receiver.answer(200)
    const enabled = await who.call('PATCH', `${subscriptions}/${id}`, { status: 'active' })
    expect(enabled.body).toMatchObject({ status: 'active', disabled_reason: null, failure_count: 0 })
    expect((await attempted(4)).map(each => each.outcome)).toEqual(['failed', 'failed', 'delivered', 'delivered'])
  })

  test('to a receiver that hangs keeps nobody else waiting', async () => {
    const [slow, quick] = [await listening(), await listening()]
    slow.receiver.answer(() => {})
    await store(...Array.from({ length: 30 }, encounter))
    await quick.receiver.until(30)
    expect(slow.receiver.received.length).toBeLessThanOrEqual(10)
    const others = await slow.call('DELETE', `${subscriptions}/${slow.id}`)
    expect(others.status).toBe(204)
  })
})

describe('replaying an event', () => {
  const replay = (who: Somebody, event: string) => who.call('POST', `${webhooks}/events/${event}/replay`)

  test('delivers it once more to those that did not get it: the same id and bytes, signed anew', async () => {
    const ill = await listening()
    const well = await subscriber(ill, ['encounter.created'])
    ill.receiver.answer(410)
    await store(encounter())
    const [first] = await ill.receiver.until(1)
    await settled('the subscription to be disabled', ill.read, ({ status }) => status === 'disabled')
    ill.receiver.answer(200)
    await well.receiver.until(1)
    await quiet(service)
    const refused = await replay(ill, first!.event.id)
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('is disabled')])
    await ill.call('PATCH', `${subscriptions}/${ill.id}`, { status: 'active' })
    const { status, body } = await replay(ill, first!.event.id)
    expect(status).toBe(202)
    expect(body).toEqual({
      event_id: first!.event.id,
      deliveries: [{ delivery_id: expect.any(String), subscription_id: ill.id, status: 'pending' }],
    })
    const [, second] = await ill.receiver.until(2)
    expect(second!.body).toBe(first!.body)
    expect(second!.headers['x-service-replay']).toBe('true')
    expect(first!.headers['x-service-replay']).toBeUndefined()
    verifySignature({ header: String(second!.headers['x-service-signature']), body: second!.body, secret: ill.secret })
    expect((await ill.attempted(2)).at(-1)).toMatchObject({
      delivery_id: body.deliveries[0].delivery_id,
      attempt: 1,
      outcome: 'delivered',
    })
    expect(well.receiver.received).toHaveLength(1)
    await quiet(service)
    const again = await replay(ill, first!.event.id)
    expect(again.body.deliveries).toHaveLength(2)
  })

  test('is refused while it is still being delivered', async () => {
    const { receiver, attempted, ...who } = await listening()
    receiver.answer(500)
    await store(encounter())
    const [{ event_id: event }] = await attempted(1)
    const { status, body } = await replay(who, event)
    expect(status).toBe(409)
    expect(body).toMatchObject({ error_code: 'CONFLICT', message: expect.stringContaining('still being delivered') })
  })

  test('is for those only who were sent it', async () => {
    const { attempted } = await listening()
    await store(encounter())
    const [{ event_id: event }] = await attempted(1)
    const stranger = await client(service, 'elsewhere')
    for (const id of [event, 'evt_00000000000000000000000000000000', 'nothing']) {
      const { status, body } = await replay(stranger, id)
      expect([status, body.error_code]).toEqual([404, 'EVENT_NOT_FOUND'])
    }
  })
})

describe('a test event', () => {
  test('is signed and delivered like any other, and says that it is one', async () => {
    const { id, receiver, secret, attempted, ...who } = await listening()
    const { status, body } = await who.call('POST', `${subscriptions}/${id}/test`, { type: 'lab_result.released' })
    expect(status).toBe(202)
    const [first] = await receiver.until(1)
    expect(first!.event).toMatchObject({ id: body.event_id, type: 'lab_result.released', meta: { test: 'true' } })
    expect(Object.keys(first!.event.data)).toEqual([
      'health_id',
      'lab_result_id',
      'test_name',
      'flagged',
      'facility_id',
    ])
    verifySignature({ header: String(first!.headers['x-service-signature']), body: first!.body, secret })
    expect((await attempted(1))[0]).toMatchObject({ event_type: 'lab_result.released', outcome: 'delivered' })
  })

  test('is of the first type that is subscribed to if none is named', async () => {
    const { id, receiver, ...who } = await listening()
    expect((await who.call('POST', `${subscriptions}/${id}/test`)).status).toBe(202)
    expect((await receiver.until(1))[0]!.event.type).toBe('encounter.created')
  })
})
