// Subscriptions that ask for what is another's, and odd ones: each gets what it may have, once, and at its place, and that is on record.
import { describe, expect, test } from 'vitest'
import { setFull } from '../../../src/webhooks/endpoints.ts'
import { settle } from '../../../src/webhooks/queue.ts'
import { consentOf } from '../../support/consents.ts'
import { startReceiver } from '../../support/receiver.ts'
import { client, quiet, subscriber, subscriptions, webhooks } from '../../support/webhooks.ts'
import { flag, patient, startScene, wish } from './scene.ts'

const scene = startScene()
const { call, query, store, subscribe } = scene

describe('an adversary', () => {
  test('leaves a record of each patient whose resources a FHIR subscription has sent out', async () => {
    await store(patient('unrecorded'), consentOf('c-unrecorded', 'unrecorded', 'clinic-4') as never)
    const clinic = await client(scene.service, 'clinic-4')
    const { receiver } = await subscribe(clinic, 'Flag')
    await store(flag('unrecorded'))
    expect((await receiver.until(1))[0]!.event.subject.reference).toBe('Patient/unrecorded')
    await quiet(scene.service)
    const rows = await query<{ count: number }>(
      `select count(*)::int as count from audit_event where client_id = $1 and 'unrecorded' = any(patients)`,
      [clinic.clientId],
    )
    expect(rows[0]!.count).toBeGreaterThan(0)
  })

  test('with a token that opens nothing but Subscription is sent nothing else', async () => {
    await store(patient('token-narrow'))
    const wide = await client(scene.service, 'clinic-8', { consentExempt: true })
    const { clientId } = wide
    const token = await scene.service.application.identity.tokens.mint(
      { clientId, organizationId: 'clinic-8', consentExempt: true },
      ['system/Subscription.cruds'],
    )
    expect((await call('GET', 'Flag', { token })).status).toBe(403)
    const receiver = await startReceiver()
    const { status } = await call('POST', 'Subscription', { body: wish(receiver, 'Flag'), token })
    await store(flag('token-narrow'))
    await quiet(scene.service)
    expect([status, receiver.received.length]).toEqual([403, 0])
  })

  test('that may change any Subscription but read no Flag does not divert to itself the Flags of another client', async () => {
    await store(patient('diverted'))
    const owner = await client(scene.service, 'clinic-9', { consentExempt: true })
    const { id, body } = await subscribe(owner, 'Flag?subject=Patient/diverted')
    const thief = await client(scene.service, 'clinic-10', {
      consentExempt: true,
      scopes: ['system/Subscription.cruds'],
    })
    const receiver = await startReceiver()
    const changed = { ...body, channel: { ...body.channel, endpoint: receiver.url } }
    await call('PUT', `Subscription/${id}`, { body: changed, token: thief.token })
    await store(flag('diverted'))
    await quiet(scene.service)
    expect(receiver.received.length).toBe(0)
  })

  test('gets a resource at its place below an endpoint that has a query', async () => {
    const app = await client(scene.service, 'clinic-13', { consentExempt: true })
    const receiver = await startReceiver()
    const { status } = await call('POST', 'Subscription', {
      body: wish({ url: `${receiver.url}?key=1` }, 'Flag?subject=Patient/queried'),
      token: app.token,
    })
    if (status === 422) return
    const one = flag('queried')
    await store(one)
    expect((await receiver.until(1))[0]!.path).toBe(`/hooks/Flag/${one.id}?key=1`)
  })

  test('gets no 500 by odd characters', async () => {
    const who = await client(scene.service, 'clinic-14')
    const sub = await subscriber(who, ['encounter.created'])
    const receiver = await startReceiver()
    const answers: [string, number][] = []
    const ask = async (method: string, path: string, body?: unknown) => {
      const { status } = await who.call(method, path, body)
      answers.push([`${method} ${path} ${JSON.stringify(body ?? '').slice(0, 80)}`, status])
    }
    await ask('GET', `${subscriptions}/%00`)
    await ask('GET', `${subscriptions}/whs_%00/attempts`)
    await ask('GET', `${subscriptions}/${sub.id}/attempts?event_id=%00`)
    await ask('DELETE', `${subscriptions}/%00`)
    await ask('POST', `${subscriptions}/%00/test`)
    await ask('POST', `${subscriptions}/%00/rotate-secret`)
    await ask('POST', `${webhooks}/events/evt_%00/replay`)
    await ask('POST', `${webhooks}/events/%F0%9F/replay`)
    await ask('PATCH', `${subscriptions}/%00`, { description: 'x' })
    await ask('PATCH', `${subscriptions}/${sub.id}`, { description: 'a\0b' })
    await ask('PATCH', `${subscriptions}/${sub.id}`, { description: 'a\ud800b' })
    await ask('PATCH', `${subscriptions}/${sub.id}`, { description: null })
    await ask('PATCH', `${subscriptions}/${sub.id}`, { status: null })
    await ask('PATCH', `${subscriptions}/${sub.id}`, [])
    await ask('POST', subscriptions, {
      callback_url: receiver.url,
      subscribed_events: ['encounter.created'],
      description: '\0',
    })
    await ask('POST', subscriptions, { callback_url: `${receiver.url}\0`, subscribed_events: ['encounter.created'] })
    await ask('POST', subscriptions, { callback_url: receiver.url, subscribed_events: ['\0'] })
    await ask('POST', subscriptions, { callback_url: receiver.url, subscribed_events: ['__proto__'] })
    const fhir = async (name: string, more: object, channel: object = {}) => {
      const { status } = await call('POST', 'Subscription', {
        body: { ...wish(receiver, 'Flag', channel), ...more },
        token: who.token,
      })
      answers.push([name, status])
    }
    await fhir('criteria NUL', { criteria: 'Flag?subject=\0' })
    await fhir('criteria escaped NUL', { criteria: 'Flag?subject=%00' })
    await fhir('criteria surrogate', { criteria: 'Flag?subject=\ud800' })
    await fhir('criteria __proto__', { criteria: '__proto__' })
    await fhir('end 30 February', { end: '2027-02-30T00:00:00Z' })
    await fhir('end leap second', { end: '2027-02-03T23:59:60Z' })
    await fhir('end 9999', { end: '9999-12-31T23:59:59.999-14:00' })
    await fhir('end 0001', { end: '0001-01-01T00:00:00+14:00' })
    await fhir('end 24', { end: '2027-01-01T24:00:00Z' })
    await fhir('header proto', {}, { header: ['__proto__: x'] })
    await fhir('header none', {}, { header: [] })
    expect(answers.filter(([, status]) => status >= 500)).toEqual([])
  })

  test('sees each attempt once, though what came of it had to be noted twice', async () => {
    const sub = await subscriber(await client(scene.service, 'clinic-24', { consentExempt: true }), ['patient.created'])
    const [endpoint] = await query<{ key: number }>('select key from webhook_endpoint where id = $1', [sub.id])
    const task = {
      ...{ endpoint: endpoint!.key, revision: 1, event: 'evt_0', delivery: crypto.randomUUID(), attempt: 1 },
      ...{ isReplay: false, lease: 1n, isDue: true, body: '', isOfReaders: true, patients: '', requestId: '' },
      ...{ knowsPatient: true, isChecked: true },
      source: { type: 1, id: 'a', version: 1 },
    }
    const result = {
      ...{ task, outcome: 'failed' as const, startedAt: new Date(), milliseconds: 1, status: 500, error: 'x' },
      ...{ excerpt: undefined, again: 60 },
    }
    // As the courier does when the connection broke after the commit.
    await settle(scene.service.application.database, [result])
    await settle(scene.service.application.database, [result])
    expect(await sub.attempts()).toHaveLength(1)
  })

  test('cannot have a resource sent to another place than its own below the endpoint by its id', async () => {
    const app = await client(scene.service, 'clinic-25', { consentExempt: true })
    const { receiver } = await subscribe(app, 'Flag?subject=Patient/dots')
    const entry = [{ resource: flag('dots', 'x', '..'), request: { method: 'PUT', url: 'Flag/..' } }]
    const { status } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status).toBe(200)
    await quiet(scene.service)
    expect(receiver.received).toEqual([])
  })

  test('is told by a Subscription of what comes after it in the same batch under one Idempotency-Key', async () => {
    const app = await client(scene.service, 'clinic-26', { consentExempt: true })
    const receiver = await startReceiver()
    const entry = [
      { resource: wish(receiver, 'Library'), request: { method: 'POST', url: 'Subscription' } },
      {
        resource: { resourceType: 'Library', id: 'same-batch', status: 'active', type: { text: 'x' } },
        request: { method: 'PUT', url: 'Library/same-batch' },
      },
    ]
    const { status, text } = await call('POST', '', {
      body: { resourceType: 'Bundle', type: 'batch', entry },
      token: app.token,
      headers: { 'idempotency-key': 'same-batch' },
    })
    expect([status, text.match(/"status":"20\d[^"]*"/g)?.length], text).toEqual([200, 2])
    await quiet(scene.service)
    expect(receiver.received.length).toBe(1)
  })

  test('leaves a record of each patient of an appointment of several', async () => {
    await store(
      patient('one-of-two'),
      patient('other-of-two'),
      consentOf('c-one', 'one-of-two', 'clinic-29') as never,
      consentOf('c-other', 'other-of-two', 'clinic-29') as never,
    )
    const clinic = await subscriber(await client(scene.service, 'clinic-29'), ['appointment.created'])
    await setFull(scene.service.application.database, clinic.id, true)
    await store({
      resourceType: 'Appointment',
      id: 'of-two',
      status: 'proposed',
      participant: ['one-of-two', 'other-of-two'].map(id => ({
        status: 'accepted',
        actor: { reference: `Patient/${id}` },
      })),
    } as never)
    expect((await clinic.receiver.until(1))[0]!.body).toContain('Patient/one-of-two')
    await quiet(scene.service)
    const rows = await query<{ count: number }>(
      `select count(*)::int as count from audit_event where client_id = $1 and 'one-of-two' = any(patients)`,
      [clinic.clientId],
    )
    expect(rows[0]!.count).toBe(1)
  })
})
