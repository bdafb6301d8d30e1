// Who may try to keep others waiting, or to bring the service down: everybody else is told, and in time.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { resourceTypes } from '../../../src/definitions/r4.ts'
import { createCatalogue } from '../../../src/events/catalogue.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createCourier } from '../../../src/webhooks/courier.ts'
import { baseOf } from '../../support/base.ts'
import { consentOf } from '../../support/consents.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'
import { client, quiet, subscriber, subscriptions } from '../../support/webhooks.ts'
import { flag, patient, startScene, wish } from './scene.ts'

const scene = startScene()
const { call, put, query, store, subscribe } = scene

const raise = (error: Error): never => {
  throw error
}

describe('an adversary', () => {
  test('does not stop all other work by a Consent that names very many organisations', () => {
    const catalogue = createCatalogue(baseOf('http://localhost'))
    const many = 10_000
    let looks = 0
    const consent = (end: string) => {
      const actor = Array.from({ length: many }, (_, i) => ({
        get reference() {
          looks++
          return { reference: `Organization/organisation-${i}` }
        },
      }))
      const provision = { type: 'permit', period: { end }, actor }
      return { ...consentOf('many', 'somebody', 'x'), provision } as never
    }
    const told = catalogue.derive({
      ...{ type: 'Consent', id: 'many', version: 2 },
      ...{ resource: consent('2031'), former: consent('2030') },
    })
    // Each rule looks at each of them once or twice, not once for each of the others.
    expect(looks).toBeLessThan(20 * many)
    expect(told).toHaveLength(1000)
  })

  test('does not end the process: an attempt whose resource cannot be read is no unhandled rejection', async () => {
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    const unhandled: unknown[] = []
    process.on('unhandledRejection', error => void unhandled.push(error))
    try {
      const row = {
        ...{ endpoint: 1, revision: 1, event: 'evt_1', delivery: crypto.randomUUID(), attempt: 1, is_replay: false },
        ...{
          place: 1,
          is_due: true,
          body: '',
          type: 1,
          resource_id: 'a',
          version: 1,
          patient: '',
          request_id: '',
          is_of_readers: true,
        },
      }
      const target = { key: 1, revision: 1, id: 'x', clientId: 'x', organizationId: 'x' }
      const courier = createCourier({
        database: { query: async () => [row], transaction: async () => [] } as never,
        log: createLog('silent'),
        sender: { send: () => Promise.reject(new Error('not reached')), close: async () => {} },
        handOver: () => Promise.reject(new Error('not reached')),
        targets: {
          of: async () =>
            new Map([
              [
                1,
                { ...target, wants: () => undefined, outgoing: () => raise(new Error('the database is restarting')) },
              ],
            ]),
        },
        ...{
          disclose: async () => {},
          givenUp: async () => {},
          counted: () => {},
          wake: () => {},
          finds: async () => true,
          concurrency: 1,
        },
      })
      await courier.take()
      await sleep(100)
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const each of others) process.on('unhandledRejection', each)
    }
    expect(unhandled.map(String)).toEqual([])
  })

  test('keeps nobody else from being told by one endpoint whose secrets cannot be read', async () => {
    const app = await client(scene.service, 'clinic-17', { consentExempt: true })
    const [broken, healthy] = [await subscriber(app, ['patient.created']), await subscriber(app, ['patient.created'])]
    await query(`update webhook_endpoint set secrets = '\\x00' where id = $1`, [broken.id])
    await store(patient('beside-broken'))
    await healthy.receiver.until(1)
    expect((await broken.attempted(1))[0]).toMatchObject({
      outcome: 'failed',
      error: 'its secrets cannot be decrypted with this ENCRYPTION_KEY',
    })
  })

  test('whose hundred receivers hang delays nobody else', async () => {
    const slow = await client(scene.service, 'clinic-18', { consentExempt: true })
    const receiver = await startReceiver()
    receiver.answer(() => {})
    for (let count = 0; count < 100; count++) {
      const { status, text } = await slow.call('POST', subscriptions, {
        callback_url: `${receiver.url}/${count}`,
        subscribed_events: ['lab_order.created'],
      })
      expect(status, text).toBe(201)
    }
    const victim = await subscriber(await client(scene.service, 'clinic-19', { consentExempt: true }), [
      'patient.updated',
    ])
    await store(patient('waited-for'))
    const order = {
      resourceType: 'ServiceRequest',
      status: 'active',
      intent: 'order',
      category: [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }],
      code: { text: 'x' },
      subject: { reference: 'Patient/waited-for' },
    }
    const entry = Array.from({ length: 30 }, () => ({
      resource: order,
      request: { method: 'POST', url: 'ServiceRequest' },
    }))
    expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
    await receiver.until(100)
    await put({ ...patient('waited-for'), birthDate: '1990-02-04' } as never)
    await victim.receiver.until(1)
    const [ended] = await query<{ count: number }>(
      `select count(*)::int as count from webhook_attempt a join webhook_endpoint p on p.key = a.endpoint where p.client_id = $1`,
      [slow.clientId],
    )
    await query('update webhook_endpoint set is_active = false where client_id = $1', [slow.clientId])
    // All of those that hang still do: nobody waited until one of them was given up.
    expect(ended!.count).toBe(0)
  })

  test('whose criteria are laborious delays nobody else who follows the type', async () => {
    const greedy = await client(scene.service, 'clinic-20', { consentExempt: true })
    const criteria = `Basic?${Array.from({ length: 30 }, () => 'subject:Patient.name=x').join('&')}`
    for (let count = 0; count < 10; count++) await subscribe(greedy, criteria)
    const { receiver } = await subscribe(await client(scene.service, 'clinic-21', { consentExempt: true }), 'Basic')
    await store({ resourceType: 'Basic', id: 'delayed', code: { text: 'x' } } as never)
    await receiver.until(1)
    await query(`update webhook_endpoint set is_active = false where client_id = $1`, [greedy.clientId])
  })

  test('has no more FHIR Subscriptions than anybody may have subscriptions of Connect', async () => {
    const greedy = await client(scene.service, 'clinic-22', { consentExempt: true })
    const entry = Array.from({ length: 150 }, () => ({
      resource: wish({ url: 'http://127.0.0.1:9/' }, 'Linkage'),
      request: { method: 'POST', url: 'Subscription' },
    }))
    await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry }, token: greedy.token })
    const rows = await query<{ count: number }>(
      'select count(*)::int as count from webhook_endpoint where client_id = $1 and is_active',
      [greedy.clientId],
    )
    expect(rows[0]!.count).toBeLessThanOrEqual(100)
  })

  test('loses nothing while the database is slow: a change is told to a FHIR subscription when the search answers again', async () => {
    const slow = await startService({ STATEMENT_TIMEOUT: '300' })
    const [one, two] = [await databaseOf(slow), await databaseOf(slow)]
    const callSlow = fhirCaller(() => slow)
    const app = await client(slow, 'clinic-23', { consentExempt: true })
    const receiver = await startReceiver()
    const made = await callSlow('POST', 'Subscription', { body: wish(receiver, 'Flag'), token: app.token })
    expect(made.status, made.text).toBe(201)
    await one.query('begin; lock table webhook_endpoint in access exclusive mode')
    const lost = flag('lost')
    expect((await callSlow('PUT', `Flag/${lost.id}`, { body: lost })).status).toBe(201)
    await two.query('begin; lock table search in access exclusive mode')
    await one.query('commit')
    await sleep(1500)
    await two.query('commit')
    await receiver.until(1)
    const { body } = await callSlow('GET', `Subscription/${made.body.id}`)
    await slow.stop()
    expect([receiver.received.length, body.status]).toEqual([1, 'active'])
  })

  test('makes few events of one small request, whatever it names', async () => {
    const many = await client(scene.service, 'clinic-36')
    const made = await many.call('POST', '/api/fhir/R4/VerificationResult', {
      resourceType: 'VerificationResult',
      status: 'validated',
      target: Array.from({ length: 9000 }, (_, count) => ({ reference: `Composition/c${count}` })),
    })
    expect(made.status).toBe(201)
    await quiet(scene.service)
    const rows = await query<{ count: number }>(
      `select count(*)::int as count from event where event = 'document.verified' and resource_id = $1`,
      [made.body.id],
    )
    expect(rows[0]!.count).toBeLessThan(1000)
  })

  test('has at most a hundred subscriptions, also if it asks for all at once', async () => {
    const greedy = await client(scene.service, 'clinic-31')
    const wanted = { callback_url: 'http://127.0.0.1:9/', subscribed_events: ['encounter.created'] }
    await Promise.all(Array.from({ length: 130 }, () => greedy.call('POST', subscriptions, wanted)))
    const rows = await query<{ count: number }>(
      'select count(*)::int as count from webhook_endpoint where client_id = $1',
      [greedy.clientId],
    )
    expect(rows[0]!.count).toBe(100)
  })

  test('has nobody else’s writes refused by following one type after another', async () => {
    const restless = await client(scene.service, 'clinic-27', {
      consentExempt: true,
      scopes: ['system/Subscription.cruds', 'system/*.rs'],
    })
    let isOver = false
    const churn = async (offset: number): Promise<void> => {
      for (let count = offset, last: string | undefined; !isOver; count += 5) {
        const body = wish({ url: 'http://127.0.0.1:9/' }, resourceTypes[count % resourceTypes.length]!)
        const made = await call('POST', 'Subscription', { body, token: restless.token })
        if (made.status !== 201) continue
        if (last !== undefined) await call('DELETE', `Subscription/${last}`, { token: restless.token })
        last = made.body.id
      }
    }
    const churning = [0, 1, 2, 3, 4].map(churn)
    const statuses = new Map<number, number>()
    for (let count = 0; count < 60; count++) {
      const one = flag('written', 'x', `written-${count}`)
      const { status } = await call('PUT', `Flag/${one.id}`, { body: one })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    isOver = true
    await Promise.all(churning)
    expect([...statuses]).toEqual([[201, 60]])
  }, 60_000)
})
