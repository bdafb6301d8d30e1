// Attacks on events and webhooks: each test says what ought to hold, and fails as long as it does not.

import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { resourceTypes } from '../../src/definitions/r4.ts'
import { createCatalogue } from '../../src/events/catalogue.ts'
import { createLog } from '../../src/lib/log.ts'
import { createCourier } from '../../src/webhooks/courier.ts'
import { setFull } from '../../src/webhooks/endpoints.ts'
import { verifySignature } from '../../src/webhooks/outbound/signature.ts'
import { settle } from '../../src/webhooks/queue.ts'
import { baseOf } from '../support/base.ts'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf } from '../support/trail.ts'
import { client, later, quiet, type Somebody, subscriber, subscriptions, webhooks } from '../support/webhooks.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
let number = 0

beforeAll(async () => {
  service = await startService()
})

const patient = (id: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  name: [{ family: 'Ngo' }],
  birthDate: '1990-02-03',
  ...more,
})
const encounter = (of: string, id = `visit-${++number}`) => ({
  resourceType: 'Encounter',
  id,
  status: 'in-progress',
  class: { code: 'AMB' },
  subject: { reference: `Patient/${of}` },
})
const flag = (of: string, text = 'falls', id = `flag-${++number}`) => ({
  resourceType: 'Flag',
  id,
  status: 'active',
  code: { text },
  subject: { reference: `Patient/${of}` },
})
const put = async (resource: { readonly resourceType: string; readonly id: string }) => {
  const answer = await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
  expect(answer.status, answer.text).toBeLessThan(300)
}
const ended = (consent: object) => ({ ...consent, status: 'inactive' }) as ReturnType<typeof consentOf>

const raise = (error: Error): never => {
  throw error
}

/** A FHIR Subscription as a client asks for it. */
const wish = (receiver: Pick<Receiver, 'url'>, criteria: string, channel: object = {}, more: object = {}) => ({
  resourceType: 'Subscription',
  status: 'requested',
  reason: 'to be told',
  criteria,
  channel: { type: 'rest-hook', endpoint: receiver.url, payload: 'application/fhir+json', ...channel },
  ...more,
})
const subscribe = async (who: Pick<Somebody, 'token'>, criteria: string, channel: object = {}, more: object = {}) => {
  const receiver = await startReceiver()
  const { status, text, body } = await call('POST', 'Subscription', {
    body: wish(receiver, criteria, channel, more),
    token: who.token,
  })
  expect(status, text).toBe(201)
  return { receiver, body, id: body.id as string }
}
const query = <Row extends object>(text: string, values: unknown[] = []) =>
  service.application.database.query<Row>({ text, values })

/** Keeps the dispatcher from making anything of the outbox while it works: as a backlog or a restart does. */
async function whileNothingIsDispatched(work: () => Promise<void>): Promise<void> {
  const database = await databaseOf(service)
  await database.query('begin; lock table event in exclusive mode')
  try {
    await work()
  } finally {
    await database.query('commit')
  }
}

describe('an adversary', () => {
  test('is not told that something was deleted which the consent had excepted by its code', async () => {
    const hiv = { system: 'http://loinc.org', code: '75622-1' }
    await store(
      patient('excepting'),
      consentOf('c-excepting', 'excepting', 'clinic-1', {
        provision: [{ type: 'deny', code: [{ coding: [hiv] }] }],
      }) as never,
    )
    const clinic = await subscriber(await client(service, 'clinic-1'), [
      'prescription.issued',
      'prescription.cancelled',
    ])
    await store({
      resourceType: 'MedicationRequest',
      id: 'secret-drug',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: { coding: [hiv] },
      subject: { reference: 'Patient/excepting' },
    } as never)
    await quiet(service)
    expect((await call('GET', 'MedicationRequest/secret-drug', { token: clinic.token })).status).toBe(403)
    expect(clinic.receiver.received).toEqual([])
    expect((await call('DELETE', 'MedicationRequest/secret-drug')).status).toBeLessThan(300)
    await quiet(service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('is not told of the patient of a former version who has opened nothing, because the current one is of another who has', async () => {
    await store(patient('mistaken'), patient('right'), consentOf('c-right', 'right', 'clinic-2') as never)
    const clinic = await subscriber(await client(service, 'clinic-2'), ['encounter.created'])
    await setFull(service.application.database, clinic.id, true)
    const visit = encounter('mistaken')
    await whileNothingIsDispatched(async () => {
      await put(visit)
      await put({ ...visit, subject: { reference: 'Patient/right' } } as never)
    })
    await quiet(service)
    expect((await call('GET', `Encounter/${visit.id}/_history/1`, { token: clinic.token })).status).toBe(404)
    expect(JSON.stringify(clinic.receiver.received.map(({ event }) => event))).not.toContain('Patient/mistaken')
  })

  test('learns nothing by `flagged` of a result that it may not read', async () => {
    const observation = (id: string, interpretation: string) => ({
      resourceType: 'Observation',
      id,
      status: 'final',
      code: { text: 'secret' },
      subject: { reference: 'Patient/victim-of-lab' },
      interpretation: [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: interpretation },
          ],
        },
      ],
    })
    await store(patient('victim-of-lab'), observation('fine', 'N'), observation('grave', 'HH'))
    const spy = await subscriber(await client(service, 'spy-lab'), ['lab_result.released'])
    expect((await call('GET', 'Observation/grave', { token: spy.token })).status).toBe(403)
    const ask = async (id: string) => {
      const { status, text } = await call('PUT', `DiagnosticReport/ask-${id}`, {
        body: {
          resourceType: 'DiagnosticReport',
          id: `ask-${id}`,
          status: 'final',
          category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }],
          code: { text: 'mine' },
          subject: { reference: 'Patient/nobody-at-all' },
          result: [{ reference: `Observation/${id}` }],
        },
        token: spy.token,
      })
      expect(status, text).toBe(201)
    }
    await ask('fine')
    await ask('grave')
    await quiet(service)
    const flagged = spy.receiver.received.map(({ event }) => event.data.flagged)
    expect(new Set(flagged).size, `fine and grave are told apart: ${flagged}`).toBe(1)
  })

  test('learns no Health ID of a patient who has opened nothing by writing something about that patient', async () => {
    const { status, text, body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({
        first_name: 'Odile',
        last_name: 'Mbarga',
        date_of_birth: '1977-04-05',
        sex: 'female',
        country_code: 'CM',
      }),
      headers: { 'content-type': 'application/json' },
    })
    expect(status, text).toBe(201)
    const spy = await subscriber(await client(service, 'spy-ids'), ['encounter.created'])
    expect((await call('GET', `Patient/${body.patient_id}`, { token: spy.token })).status).toBe(403)
    const visit = encounter(body.patient_id)
    expect((await spy.call('PUT', `Encounter/${visit.id}`, visit)).status).toBe(201)
    await quiet(service)
    expect(spy.receiver.received.map(({ event }) => event.data.health_id)).not.toContain(body.health_id)
  })

  test('is not told what is for nobody: an event that names no organisation is not for all who may read', async () => {
    const { body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({
        first_name: 'Paul',
        last_name: 'Etoa',
        date_of_birth: '1971-04-05',
        sex: 'male',
        country_code: 'CM',
      }),
      headers: { 'content-type': 'application/json' },
    })
    await store(consentOf('c-verify', body.patient_id, 'clinic-3') as never)
    const clinic = await subscriber(await client(service, 'clinic-3'), ['health_id.verified'])
    const nobodys = await client(service, '', { scopes: ['health_id:verify'] })
    const { status } = await nobodys.call('GET', `/api/v1/connect/patients/verify/${body.health_id}`)
    expect(status).toBe(200)
    await quiet(service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('leaves a record of each patient whose resources a FHIR subscription has sent out', async () => {
    await store(patient('unrecorded'), consentOf('c-unrecorded', 'unrecorded', 'clinic-4') as never)
    const clinic = await client(service, 'clinic-4')
    const { receiver } = await subscribe(clinic, 'Flag')
    await store(flag('unrecorded'))
    expect((await receiver.until(1))[0]!.event.subject.reference).toBe('Patient/unrecorded')
    await quiet(service)
    const rows = await query<{ count: number }>(
      `select count(*)::int as count from audit_event where client_id = $1 and 'unrecorded' = any(patients)`,
      [clinic.clientId],
    )
    expect(rows[0]!.count).toBeGreaterThan(0)
  })

  test('gets nothing by a FHIR subscription that was written after the consent had ended, however slowly it answers', async () => {
    const consent = consentOf('c-slow', 'slow', 'clinic-5')
    await store(patient('slow'), consent as never)
    const clinic = await client(service, 'clinic-5')
    const { receiver } = await subscribe(clinic, 'Flag')
    const flags = Array.from({ length: 60 }, (_, i) => flag('slow', 'harmless', `slow-${i}`))
    const entries = (text: string) =>
      flags.map(each => ({
        resource: { ...each, code: { text } },
        request: { method: 'PUT', url: `Flag/${each.id}` },
      }))
    const bundle = async (text: string) => {
      const body = { resourceType: 'Bundle', type: 'transaction', entry: entries(text) }
      expect((await call('POST', '', { body })).status).toBe(200)
    }
    // It answers fast for a moment, so that more is taken for it, and then not at all.
    await bundle('first')
    await receiver.until(60)
    const letGo = receiver.hold()
    await bundle('second')
    await receiver.until(70)
    await sleep(200)
    await put(ended(consent))
    expect((await call('GET', 'Flag/slow-59', { token: clinic.token })).status).toBe(403)
    await bundle('written after the consent had ended')
    letGo()
    await quiet(service)
    const after = receiver.received.filter(({ body }) => body.includes('written after'))
    expect(after.map(({ path }) => path)).toEqual([])
  })

  test('gets no event once the consent has ended, however slowly it answers', async () => {
    const consent = consentOf('c-lane', 'lane', 'clinic-6')
    await store(patient('lane'), consent as never)
    const clinic = await subscriber(await client(service, 'clinic-6'), ['encounter.created'])
    const bundle = async () => {
      const entry = Array.from({ length: 60 }, () => encounter('lane')).map(resource => ({
        resource,
        request: { method: 'PUT', url: `Encounter/${resource.id}` },
      }))
      expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(
        200,
      )
    }
    await bundle()
    await clinic.receiver.until(60)
    await quiet(service)
    const letGo = clinic.receiver.hold()
    await bundle()
    await clinic.receiver.until(70)
    await sleep(200)
    await put(ended(consent))
    const before = clinic.receiver.received.length
    letGo()
    await quiet(service)
    expect(clinic.receiver.received.length - before).toBe(0)
  })

  test('gets nothing any more once its subscription is deleted, however slowly it answers', async () => {
    const app = await client(service, 'clinic-7', { consentExempt: true })
    const sub = await subscriber(app, ['appointment.created'])
    const bundle = async () => {
      const entry = Array.from({ length: 60 }, () => ({
        resource: {
          resourceType: 'Appointment',
          status: 'booked',
          start: '2027-01-01T10:00:00Z',
          end: '2027-01-01T10:10:00Z',
          participant: [{ status: 'accepted', actor: { reference: 'Location/x' } }],
        },
        request: { method: 'POST', url: 'Appointment' },
      }))
      const answer = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
      expect(answer.status, answer.text).toBe(200)
    }
    await bundle()
    await sub.receiver.until(60)
    await quiet(service)
    const letGo = sub.receiver.hold()
    await bundle()
    await sub.receiver.until(70)
    await sleep(200)
    expect((await sub.call('DELETE', `${subscriptions}/${sub.id}`)).status).toBe(204)
    const before = sub.receiver.received.length
    letGo()
    await sleep(1000)
    expect(sub.receiver.received.length - before).toBe(0)
  })

  test('with a token that opens nothing but Subscription is sent nothing else', async () => {
    await store(patient('token-narrow'))
    const wide = await client(service, 'clinic-8', { consentExempt: true })
    const { clientId } = wide
    const token = await service.application.identity.tokens.mint(
      { clientId, organizationId: 'clinic-8', consentExempt: true },
      ['system/Subscription.cruds'],
    )
    expect((await call('GET', 'Flag', { token })).status).toBe(403)
    const receiver = await startReceiver()
    const { status } = await call('POST', 'Subscription', { body: wish(receiver, 'Flag'), token })
    await store(flag('token-narrow'))
    await quiet(service)
    expect([status, receiver.received.length]).toEqual([403, 0])
  })

  test('that may change any Subscription but read no Flag does not divert to itself the Flags of another client', async () => {
    await store(patient('diverted'))
    const owner = await client(service, 'clinic-9', { consentExempt: true })
    const { id, body } = await subscribe(owner, 'Flag?subject=Patient/diverted')
    const thief = await client(service, 'clinic-10', { consentExempt: true, scopes: ['system/Subscription.cruds'] })
    const receiver = await startReceiver()
    const changed = { ...body, channel: { ...body.channel, endpoint: receiver.url } }
    await call('PUT', `Subscription/${id}`, { body: changed, token: thief.token })
    await store(flag('diverted'))
    await quiet(service)
    expect(receiver.received.length).toBe(0)
  })

  test('whose scopes were narrowed gets whole resources no more', async () => {
    const exempt = await client(service, 'clinic-11', { consentExempt: true })
    const sub = await subscriber(exempt, ['encounter.created'])
    await setFull(service.application.database, sub.id, true)
    await store(patient('narrowing'), encounter('narrowing'))
    expect((await sub.receiver.until(1))[0]!.event.data.resource).toBeDefined()
    await query('update client set scopes = $2 where id = $1', [exempt.clientId, ['webhooks:manage']])
    await store(encounter('narrowing'))
    expect((await sub.receiver.until(2))[1]!.event.data.resource).toBeUndefined()
  })

  test('is sent nothing after the end of its Subscription, though it was to be sent again', async () => {
    const app = await client(service, 'clinic-12', { consentExempt: true })
    const { receiver } = await subscribe(
      app,
      'Flag?subject=Patient/ending',
      {},
      {
        end: new Date(Date.now() + 700).toISOString(),
      },
    )
    receiver.answer(500)
    await store(flag('ending'))
    await receiver.until(1)
    await quiet(service)
    await sleep(750)
    await later(service, 100)
    await quiet(service)
    expect(receiver.received.length).toBe(1)
  })

  test('gets a resource at its place below an endpoint that has a query', async () => {
    const app = await client(service, 'clinic-13', { consentExempt: true })
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
    const who = await client(service, 'clinic-14')
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

  test('does not stop all other work by a Consent that names very many organisations', () => {
    const catalogue = createCatalogue(baseOf('http://localhost'))
    // 40 bytes each: a hundredth of the largest body.
    const actor = Array.from({ length: 10_000 }, (_, i) => ({
      reference: { reference: `Organization/organisation-${i}` },
    }))
    const resource = { ...consentOf('many', 'somebody', 'x'), provision: { type: 'permit', actor } }
    const began = performance.now()
    catalogue.derive({ type: 'Consent', id: 'many', version: 1, resource: resource as never, former: undefined })
    expect(performance.now() - began).toBeLessThan(500)
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
          abreast: 1,
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

  test('is not told that a Bridge Agent failed which works for no organisation, because it may read something of the patient', async () => {
    await store(patient('bridged'), consentOf('c-bridged', 'bridged', 'clinic-15') as never)
    const clinic = await subscriber(await client(service, 'clinic-15'), ['bridge_agent.sync_failed'])
    await store({
      resourceType: 'Task',
      id: 'failed-sync',
      status: 'failed',
      intent: 'order',
      code: { coding: [{ system: 'https://health-interop.org/fhir/CodeSystem/task', code: 'bridge-sync' }] },
      focus: { reference: 'Patient/bridged' },
    } as never)
    await quiet(service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('whose organisation has a line break in its id tells other organisations nothing', async () => {
    const { body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({ first_name: 'Rose', last_name: 'Abena', date_of_birth: '1961-04-05', sex: 'female' }),
      headers: { 'content-type': 'application/json' },
    })
    const other = await subscriber(await client(service, 'clinic-16'), ['health_id.verified'])
    const odd = await client(service, 'odd\nclinic-16', { scopes: ['health_id:verify'] }).catch(() => undefined)
    await odd?.call('GET', `/api/v1/connect/patients/verify/${body.health_id}`)
    await quiet(service)
    expect(other.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('keeps nobody else from being told by one endpoint whose secrets cannot be read', async () => {
    const app = await client(service, 'clinic-17', { consentExempt: true })
    const [broken, healthy] = [await subscriber(app, ['patient.created']), await subscriber(app, ['patient.created'])]
    await query(`update webhook_endpoint set secrets = '\\x00' where id = $1`, [broken.id])
    await store(patient('beside-broken'))
    await healthy.receiver.until(1)
    expect((await broken.attempted(1))[0]).toMatchObject({
      outcome: 'failed',
      error: 'its secrets cannot be read with this ENCRYPTION_KEY',
    })
  })

  test('whose hundred receivers hang delays nobody else', async () => {
    const slow = await client(service, 'clinic-18', { consentExempt: true })
    const receiver = await startReceiver()
    receiver.answer(() => {})
    for (let count = 0; count < 100; count++) {
      const { status, text } = await slow.call('POST', subscriptions, {
        callback_url: `${receiver.url}/${count}`,
        subscribed_events: ['lab_order.created'],
      })
      expect(status, text).toBe(201)
    }
    const victim = await subscriber(await client(service, 'clinic-19', { consentExempt: true }), ['patient.updated'])
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
    await sleep(700)
    await put({ ...patient('waited-for'), birthDate: '1990-02-04' } as never)
    const began = performance.now()
    while (victim.receiver.received.length === 0 && performance.now() - began < 8000) await sleep(50)
    const waited = performance.now() - began
    for (const { body } of [await slow.call('GET', `${subscriptions}?limit=100`)])
      for (const { id } of body.data) await slow.call('DELETE', `${subscriptions}/${id}`)
    expect(waited).toBeLessThan(2000)
  }, 60_000)

  test('whose criteria are laborious delays nobody else who follows the type', async () => {
    const greedy = await client(service, 'clinic-20', { consentExempt: true })
    const criteria = `Basic?${Array.from({ length: 30 }, () => 'subject:Patient.name=x').join('&')}`
    for (let count = 0; count < 10; count++) await subscribe(greedy, criteria)
    const { receiver } = await subscribe(await client(service, 'clinic-21', { consentExempt: true }), 'Basic')
    const began = performance.now()
    await store({ resourceType: 'Basic', id: 'delayed', code: { text: 'x' } } as never)
    while (receiver.received.length === 0 && performance.now() - began < 12_000) await sleep(50)
    const waited = performance.now() - began
    await query(`update webhook_endpoint set is_active = false where client_id = $1`, [greedy.clientId])
    expect(waited).toBeLessThan(2000)
  }, 60_000)

  test('has no more FHIR Subscriptions than anybody may have subscriptions of Connect', async () => {
    const greedy = await client(service, 'clinic-22', { consentExempt: true })
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

  test('sees each attempt once, though what came of it had to be noted twice', async () => {
    const sub = await subscriber(await client(service, 'clinic-24', { consentExempt: true }), ['patient.created'])
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
    await settle(service.application.database, [result])
    await settle(service.application.database, [result])
    expect(await sub.attempts()).toHaveLength(1)
  })

  test('cannot have a resource sent to another place than its own below the endpoint by its id', async () => {
    const app = await client(service, 'clinic-25', { consentExempt: true })
    const { receiver } = await subscribe(app, 'Flag?subject=Patient/dots')
    const entry = [{ resource: flag('dots', 'x', '..'), request: { method: 'PUT', url: 'Flag/..' } }]
    const { status } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status).toBe(200)
    await quiet(service)
    expect(receiver.received).toEqual([])
  })

  test('is told by a Subscription of what comes after it in the same batch under one Idempotency-Key', async () => {
    const app = await client(service, 'clinic-26', { consentExempt: true })
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
    await quiet(service)
    expect(receiver.received.length).toBe(1)
  })

  test('does not make ten thousand events of one small request', async () => {
    const many = await client(service, 'clinic-36')
    const made = await many.call('POST', '/api/fhir/R4/VerificationResult', {
      resourceType: 'VerificationResult',
      status: 'validated',
      target: Array.from({ length: 10_000 }, (_, count) => ({ reference: `Composition/c${count}` })),
    })
    expect(made.status).toBe(201)
    await quiet(service)
    const rows = await query<{ count: number }>(
      `select count(*)::int as count from event where event = 'document.verified' and resource_id = $1`,
      [made.body.id],
    )
    expect(rows[0]!.count).toBeLessThan(1000)
  })

  test('gets nothing that is signed with a former secret once that was ended at once, however slowly it answers', async () => {
    const sub = await subscriber(await client(service, 'clinic-33', { consentExempt: true }), ['document.issued'])
    const bundle = async () => {
      const resource = {
        resourceType: 'DocumentReference',
        status: 'current',
        content: [{ attachment: { title: 'x' } }],
      }
      const entry = Array.from({ length: 60 }, () => ({
        resource,
        request: { method: 'POST', url: 'DocumentReference' },
      }))
      const answer = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
      expect(answer.status, answer.text).toBe(200)
    }
    await bundle()
    await sub.receiver.until(60)
    await quiet(service)
    const letGo = sub.receiver.hold()
    await bundle()
    await sub.receiver.until(70)
    await sleep(200)
    const { body } = await sub.call('POST', `${subscriptions}/${sub.id}/rotate-secret`, { overlap_seconds: 0 })
    const before = sub.receiver.received.length
    letGo()
    await quiet(service)
    const wrong = sub.receiver.received.slice(before).filter(({ headers, body: sent }) => {
      try {
        verifySignature({ header: String(headers['x-service-signature']), body: sent, secret: body.webhook_secret })
        return false
      } catch {
        return true
      }
    })
    expect(wrong.length).toBe(0)
  })

  test('has at most a hundred subscriptions, also if it asks for all at once', async () => {
    const greedy = await client(service, 'clinic-31')
    const wanted = { callback_url: 'http://127.0.0.1:9/', subscribed_events: ['encounter.created'] }
    await Promise.all(Array.from({ length: 130 }, () => greedy.call('POST', subscriptions, wanted)))
    const rows = await query<{ count: number }>(
      'select count(*)::int as count from webhook_endpoint where client_id = $1',
      [greedy.clientId],
    )
    expect(rows[0]!.count).toBe(100)
  })

  test('has nobody else’s writes refused by following one type after another', async () => {
    const restless = await client(service, 'clinic-27', {
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
    for (let count = 0; count < 150; count++) {
      const one = flag('written', 'x', `written-${count}`)
      const { status } = await call('PUT', `Flag/${one.id}`, { body: one })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    isOver = true
    await Promise.all(churning)
    expect([...statuses]).toEqual([[201, 150]])
  }, 60_000)

  test('has nobody told that a document was verified which it may not read itself', async () => {
    await store(patient('documented'), consentOf('c-documented', 'documented', 'clinic-34') as never)
    const clinic = await subscriber(await client(service, 'clinic-34'), ['document.verified'])
    await store({
      resourceType: 'DocumentReference',
      id: 'forged',
      status: 'current',
      subject: { reference: 'Patient/documented' },
      content: [{ attachment: { title: 'x' } }],
    } as never)
    const forger = await client(service, 'clinic-35')
    expect((await call('GET', 'DocumentReference/forged', { token: forger.token })).status).toBe(403)
    const made = await forger.call('POST', '/api/fhir/R4/VerificationResult', {
      resourceType: 'VerificationResult',
      status: 'validated',
      target: [{ reference: 'DocumentReference/forged' }],
    })
    expect(made.status, made.text).toBe(201)
    await quiet(service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('is not told what happened while nothing could be dispatched under an id that it has taken since', async () => {
    await store(patient('robbed'))
    await store({
      resourceType: 'MedicationRequest',
      id: 'taken-id',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: { text: 'x' },
      subject: { reference: 'Patient/robbed' },
    } as never)
    const thief = await subscriber(await client(service, 'clinic-32'), ['prescription.cancelled'])
    await quiet(service)
    await whileNothingIsDispatched(async () => {
      expect((await call('DELETE', 'MedicationRequest/taken-id')).status).toBeLessThan(300)
      await thief.call('PUT', 'MedicationRequest/taken-id', {
        resourceType: 'MedicationRequest',
        id: 'taken-id',
        status: 'draft',
        intent: 'proposal',
        medicationCodeableConcept: { text: 'x' },
        subject: { reference: 'Patient/nobody-known' },
      })
    })
    await quiet(service)
    expect(thief.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('leaves a record of each patient of an appointment of several', async () => {
    await store(
      patient('one-of-two'),
      patient('other-of-two'),
      consentOf('c-one', 'one-of-two', 'clinic-29') as never,
      consentOf('c-other', 'other-of-two', 'clinic-29') as never,
    )
    const clinic = await subscriber(await client(service, 'clinic-29'), ['appointment.created'])
    await setFull(service.application.database, clinic.id, true)
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
    await quiet(service)
    const rows = await query<{ count: number }>(
      `select count(*)::int as count from audit_event where client_id = $1 and 'one-of-two' = any(patients)`,
      [clinic.clientId],
    )
    expect(rows[0]!.count).toBe(1)
  })

  test('who asks for a Subscription anew is told again, though nothing in it has changed', async () => {
    const app = await client(service, 'clinic-28', { consentExempt: true })
    const { receiver, body, id } = await subscribe(app, 'Flag?subject=Patient/anew')
    // Given up, and the process ended before the resource said so (webhooks.ts, tellGivenUp): it still says active.
    await query(`update webhook_endpoint set is_active = false, disabled_because = 'x' where id = $1`, [
      `Subscription/${id}`,
    ])
    const again = await call('PUT', `Subscription/${id}`, { body: { ...body, status: 'requested' }, token: app.token })
    expect([again.status, again.body.status]).toEqual([200, 'active'])
    await store(flag('anew'))
    await quiet(service)
    expect(receiver.received.length).toBe(1)
  })
})
