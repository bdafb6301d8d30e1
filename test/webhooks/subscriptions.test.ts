// The subscriptions of Connect: what a client can do with its own, and with nobody else's (interface §2.13).

import { Compile } from 'typebox/compile'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/events/event-types.ts'
import { verifySignature } from '../../src/outbound/signature.ts'
import { type Service, startService } from '../support/service.ts'
import { client, type Somebody, subscriber, subscriptions, webhooks } from '../support/webhooks.ts'

let service: Service
let hospital: Somebody

const wish = { callback_url: 'https://hospital.example.org/hooks', subscribed_events: ['consent.revoked'] }

beforeAll(async () => {
  service = await startService()
  hospital = await client(service, 'hospital')
})

const create = async (more: object = {}, who = hospital) => {
  const { status, text, body } = await who.call('POST', subscriptions, { ...wish, ...more })
  expect(status, text).toBe(201)
  return body
}

describe('a subscription', () => {
  test('is made with a secret, which is shown once and kept sealed', async () => {
    const { webhook_secret: secret, ...shown } = await create({ description: 'to stop access' })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toEqual({
      id: expect.stringMatching(/^whs_[0-9A-Za-z]{24}$/),
      ...wish,
      description: 'to stop access',
      status: 'active',
      disabled_reason: null,
      payload_mode: 'thin',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_delivery_at: null,
      failure_count: 0,
    })
    expect((await hospital.call('GET', `${subscriptions}/${shown.id}`)).body).toEqual(shown)
    const [row] = await service.application.database.query<{ row: string; secrets: Buffer }>({
      text: 'select to_jsonb(p)::text as row, secrets from webhook_endpoint p where id = $1',
      values: [shown.id],
    })
    expect(row!.row).not.toContain(secret.slice(6))
    expect(row!.secrets.toString('latin1')).not.toContain(secret.slice(6))
  })

  test('that is asked for twice with one Idempotency-Key is one, and its secret is not kept for the second reply', async () => {
    const headers = { 'idempotency-key': 'subscribe-once' }
    const first = await hospital.call('POST', subscriptions, wish, headers)
    const second = await hospital.call('POST', subscriptions, wish, headers)
    const { webhook_secret: secret, ...shown } = first.body
    expect(secret).toBeDefined()
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual(shown)
    const rows = await service.application.database.query<{ body: Buffer }>({
      text: 'select body from idempotency',
      values: [],
    })
    expect(rows.map(({ body }) => body.toString()).join()).not.toContain(secret)
  })

  test('can be changed in parts', async () => {
    const { id } = await create({ description: 'first' })
    const path = `${subscriptions}/${id}`
    const changed = await hospital.call('PATCH', path, { subscribed_events: ['patient.created', 'patient.created'] })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      subscribed_events: ['patient.created'],
      callback_url: wish.callback_url,
      description: 'first',
    })
    const disabled = await hospital.call('PATCH', path, { status: 'disabled' })
    expect(disabled.body).toMatchObject({ status: 'disabled', disabled_reason: 'the client has disabled it' })
    expect((await hospital.call('PATCH', path, { description: 'second' })).body).toMatchObject({
      status: 'disabled',
      description: 'second',
    })
    expect((await hospital.call('PATCH', path, { status: 'active' })).body).toMatchObject({
      status: 'active',
      disabled_reason: null,
    })
    expect((await hospital.call('POST', `${path}/test`)).status).toBe(202)
    await hospital.call('PATCH', path, { status: 'disabled' })
    expect((await hospital.call('POST', `${path}/test`)).status).toBe(409)
  })

  test('is gone when it is deleted', async () => {
    const { id } = await create()
    const deleted = await hospital.call('DELETE', `${subscriptions}/${id}`)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/attempts'],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
    ] as const)
      expect((await hospital.call(method, `${subscriptions}/${id}${path}`)).status).toBe(404)
  })

  test('is nobody else’s, not even of the same organisation', async () => {
    const { id } = await create()
    const other = await client(service, 'hospital')
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { callback_url: 'https://other.example.org/' }],
      ['DELETE', '', undefined],
      ['GET', '/attempts', undefined],
      ['POST', '/test', {}],
      ['POST', '/rotate-secret', {}],
    ] as const) {
      const answer = await other.call(method, `${subscriptions}/${id}${path}`, body)
      expect([answer.status, answer.body.error_code], `${method} ${path}`).toEqual([404, 'NOT_FOUND'])
    }
    expect((await other.call('GET', subscriptions)).body.data).toEqual([])
  })

  test('needs the scope webhooks:manage', async () => {
    const reader = await client(service, 'hospital', { scopes: ['system/*.rs'] })
    for (const [method, path] of [
      ['GET', subscriptions],
      ['POST', subscriptions],
      ['GET', `${webhooks}/event-types`],
      ['POST', `${webhooks}/events/evt_1/replay`],
    ] as const) {
      const { status, body } = await reader.call(method, path, method === 'POST' ? wish : undefined)
      expect([status, body.error_code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
    }
  })
})

test('subscriptions are listed in pages', async () => {
  const many = await client(service, 'many')
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await create({}, many)).id)
  const found: string[] = []
  for (let query = '?limit=2'; ; ) {
    const { body } = await many.call('GET', `${subscriptions}${query}`)
    found.push(...body.data.map((each: { id: string }) => each.id))
    if (!body.has_more) break
    query = `?limit=2&cursor=${encodeURIComponent(body.next_cursor)}`
  }
  expect(found).toEqual(ids)
})

test('attempts are listed in pages, the newest first, and of one event alone', async () => {
  const one = await subscriber(await client(service, 'pages'), ['patient.created'])
  const events: string[] = []
  for (let count = 0; count < 5; count++) {
    events.unshift((await one.call('POST', `${subscriptions}/${one.id}/test`)).body.event_id)
    await one.attempted(count + 1)
  }
  const found: string[] = []
  for (let query = '?limit=2'; ; ) {
    const { body } = await one.call('GET', `${subscriptions}/${one.id}/attempts${query}`)
    found.push(...body.data.map((each: { event_id: string }) => each.event_id))
    if (!body.has_more) break
    query = `?limit=2&cursor=${encodeURIComponent(body.next_cursor)}`
  }
  expect(found).toEqual(events)
  const { body } = await one.call('GET', `${subscriptions}/${one.id}/attempts?event_id=${events[2]}`)
  expect(body.data.map((each: { event_id: string }) => each.event_id)).toEqual([events[2]])
})

test('a client has so many subscriptions and no more', async () => {
  const greedy = await client(service, 'greedy')
  await service.application.database.query({
    text: `insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets)
      select 'whs_greedy' || n, $1, 0, 0, 'https://example.org', '{}', '' from generate_series(1, 100) as n`,
    values: [greedy.clientId],
  })
  expect((await greedy.call('POST', subscriptions, wish)).status).toBe(409)
})

describe('a new secret', () => {
  test('signs beside the one before for a while, and alone after it', async () => {
    const one = await subscriber(await client(service, 'rotating'), ['patient.created'])
    const path = `${subscriptions}/${one.id}`
    const before = Date.now()
    const { status, body } = await one.call('POST', `${path}/rotate-secret`, { overlap_seconds: 3600 })
    expect(status).toBe(200)
    const times = [before, Date.parse(body.previous_secret_expires_at) - 3_600_000, Date.now()]
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(body.webhook_secret).not.toBe(one.secret)
    await one.call('POST', `${path}/test`)
    const [both] = await one.receiver.until(1)
    const header = String(both!.headers['x-service-signature'])
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    expect(String(both!.headers['webhook-signature']).split(' ')).toHaveLength(2)
    for (const secret of [body.webhook_secret, one.secret]) verifySignature({ header, body: both!.body, secret })
    const again = await one.call('POST', `${path}/rotate-secret`, { overlap_seconds: 0 })
    await one.call('POST', `${path}/test`)
    const [, alone] = await one.receiver.until(2)
    const last = String(alone!.headers['x-service-signature'])
    expect(last).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    verifySignature({ header: last, body: alone!.body, secret: again.body.webhook_secret })
    expect(() => verifySignature({ header: last, body: alone!.body, secret: body.webhook_secret })).toThrow()
  })
})

describe('a second new secret, as after a reply that was lost', () => {
  test('signs beside all that were promised to remain, so that a receiver with the first one goes on', async () => {
    const one = await subscriber(await client(service, 'rotating-twice'), ['patient.created'])
    const rotate = async (body = {}) => (await one.call('POST', `${subscriptions}/${one.id}/rotate-secret`, body)).body
    const [lost, kept] = [await rotate(), await rotate()]
    await one.call('POST', `${subscriptions}/${one.id}/test`)
    const [all] = await one.receiver.until(1)
    const header = String(all!.headers['x-service-signature'])
    for (const secret of [one.secret, lost.webhook_secret, kept.webhook_secret])
      verifySignature({ header, body: all!.body, secret })
    for (let more = 0; more < 5; more++) await rotate()
    await one.call('POST', `${subscriptions}/${one.id}/test`)
    const [, some] = await one.receiver.until(2)
    expect(String(some!.headers['webhook-signature']).split(' ')).toHaveLength(5)
  })
})

describe('what is wrong is said, and leaves nothing', () => {
  test.each([
    ['no body', '', 400, undefined],
    ['nothing in it', {}, 422, 'callback_url'],
    ['no URL', { ...wish, callback_url: 'hospital' }, 422, 'callback_url'],
    ['plain http', { ...wish, callback_url: 'http://hospital.example.org/' }, 422, 'callback_url'],
    ['a private address', { ...wish, callback_url: 'https://192.168.1.1/' }, 422, 'callback_url'],
    ['a private address in disguise', { ...wish, callback_url: 'https://0x0a.1/' }, 422, 'callback_url'],
    ['a password in the URL', { ...wish, callback_url: 'https://me:secret@example.org/' }, 422, 'callback_url'],
    ['no events', { ...wish, subscribed_events: [] }, 422, 'subscribed_events'],
    [
      'an unknown event',
      { ...wish, subscribed_events: ['consent.revoked', 'consent.revokd'] },
      422,
      'subscribed_events[1]',
    ],
    ['something that is none of it', { ...wish, payload_mode: 'full' }, 422, 'payload_mode'],
  ])('%s', async (_case, body, expected, field) => {
    const count = async () =>
      (await service.application.database.query({ text: 'select from webhook_endpoint', values: [] })).length
    const before = await count()
    const answer = await hospital.call('POST', subscriptions, body)
    expect(answer.status, answer.text).toBe(expected)
    expect(answer.body).toMatchObject({ status: 'error', message: expect.any(String) })
    if (field !== undefined) expect(answer.body.details[0].field).toContain(field)
    expect(await count()).toBe(before)
  })

  test('an unknown type is answered with the one that was meant, and all that there are', async () => {
    const { body } = await hospital.call('POST', subscriptions, { ...wish, subscribed_events: ['lab_result.release'] })
    expect(body.message).toContain('; did you mean `lab_result.released`? There are patient.created,')
    for (const type of Object.keys(eventTypes)) expect(body.message).toContain(type)
  })
})

test('every type of events is described by a schema that its example fits', async () => {
  const { status, body } = await hospital.call('GET', `${webhooks}/event-types`)
  expect(status).toBe(200)
  expect(body.data.map((each: { type: string }) => each.type)).toEqual(Object.keys(eventTypes))
  expect(body.data).toHaveLength(22)
  for (const { type, description, schema, example } of body.data) {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(Compile(schema).Check(example), type).toBe(true)
    expect(Compile(schema).Check({ ...example, type: 'other' }), type).toBe(false)
    expect(description.length).toBeGreaterThan(5)
  }
})
