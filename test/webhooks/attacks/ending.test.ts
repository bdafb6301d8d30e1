// What ends counts at once, however slowly a receiver answers: consents, scopes, subscriptions and secrets.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { verifySignature } from '../../../src/outbound/signature.ts'
import { setFull } from '../../../src/webhooks/endpoints.ts'
import { consentOf } from '../../support/consents.ts'
import { client, later, quiet, subscriber, subscriptions } from '../../support/webhooks.ts'
import { encounter, ended, flag, patient, startScene } from './scene.ts'

const scene = startScene()
const { call, put, query, store, subscribe } = scene

/** Creates the resource sixty times in one transaction, so that deliveries wait for each other. */
async function createSixty(resource: { readonly resourceType: string }): Promise<void> {
  const entry = Array.from({ length: 60 }, () => ({
    resource,
    request: { method: 'POST', url: resource.resourceType },
  }))
  const answer = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(answer.status, answer.text).toBe(200)
}

describe('an adversary', () => {
  test('gets nothing by a FHIR subscription that was written after the consent had ended, however slowly it answers', async () => {
    const consent = consentOf('c-slow', 'slow', 'clinic-5')
    await store(patient('slow'), consent as never)
    const clinic = await client(scene.service, 'clinic-5')
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
    await quiet(scene.service)
    const after = receiver.received.filter(({ body }) => body.includes('written after'))
    expect(after.map(({ path }) => path)).toEqual([])
  })

  test('gets no event once the consent has ended, however slowly it answers', async () => {
    const consent = consentOf('c-lane', 'lane', 'clinic-6')
    await store(patient('lane'), consent as never)
    const clinic = await subscriber(await client(scene.service, 'clinic-6'), ['encounter.created'])
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
    await quiet(scene.service)
    const letGo = clinic.receiver.hold()
    await bundle()
    await clinic.receiver.until(70)
    await sleep(200)
    await put(ended(consent))
    const before = clinic.receiver.received.length
    letGo()
    await quiet(scene.service)
    expect(clinic.receiver.received.length - before).toBe(0)
  })

  test('gets nothing any more once its subscription is deleted, however slowly it answers', async () => {
    const app = await client(scene.service, 'clinic-7', { consentExempt: true })
    const sub = await subscriber(app, ['appointment.created'])
    const appointment = {
      resourceType: 'Appointment',
      status: 'booked',
      start: '2027-01-01T10:00:00Z',
      end: '2027-01-01T10:10:00Z',
      participant: [{ status: 'accepted', actor: { reference: 'Location/x' } }],
    }
    const bundle = () => createSixty(appointment)
    await bundle()
    await sub.receiver.until(60)
    await quiet(scene.service)
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

  test('whose scopes were narrowed gets whole resources no more', async () => {
    const exempt = await client(scene.service, 'clinic-11', { consentExempt: true })
    const sub = await subscriber(exempt, ['encounter.created'])
    await setFull(scene.service.application.database, sub.id, true)
    await store(patient('narrowing'), encounter('narrowing'))
    expect((await sub.receiver.until(1))[0]!.event.data.resource).toBeDefined()
    await query('update client set scopes = $2 where id = $1', [exempt.clientId, ['webhooks:manage']])
    await store(encounter('narrowing'))
    expect((await sub.receiver.until(2))[1]!.event.data.resource).toBeUndefined()
  })

  test('is sent nothing after the end of its Subscription, though it was to be sent again', async () => {
    const app = await client(scene.service, 'clinic-12', { consentExempt: true })
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
    await quiet(scene.service)
    await sleep(750)
    await later(scene.service, 100)
    await quiet(scene.service)
    expect(receiver.received.length).toBe(1)
  })

  test('gets nothing that is signed with a former secret once that was ended at once, however slowly it answers', async () => {
    const sub = await subscriber(await client(scene.service, 'clinic-33', { consentExempt: true }), ['document.issued'])
    const document = { resourceType: 'DocumentReference', status: 'current', content: [{ attachment: { title: 'x' } }] }
    const bundle = () => createSixty(document)
    await bundle()
    await sub.receiver.until(60)
    await quiet(scene.service)
    const letGo = sub.receiver.hold()
    await bundle()
    await sub.receiver.until(70)
    await sleep(200)
    const { body } = await sub.call('POST', `${subscriptions}/${sub.id}/rotate-secret`, { overlap_seconds: 0 })
    const before = sub.receiver.received.length
    letGo()
    await quiet(scene.service)
    const wrong = sub.receiver.received.slice(before).filter(({ headers, body: sent }) => {
      try {
        verifySignature({
          header: String(headers['x-service-signature']),
          body: sent,
          secret: body.webhook_secret,
        })
        return false
      } catch {
        return true
      }
    })
    expect(wrong.length).toBe(0)
  })

  test('who asks for a Subscription anew is told again, though nothing in it has changed', async () => {
    const app = await client(scene.service, 'clinic-28', { consentExempt: true })
    const { receiver, body, id } = await subscribe(app, 'Flag?subject=Patient/anew')
    // Given up, and the process ended before the resource said so (webhooks.ts, reportGivenUp): it still says active.
    await query(`update webhook_endpoint set is_active = false, disabled_because = 'x' where id = $1`, [
      `Subscription/${id}`,
    ])
    const again = await call('PUT', `Subscription/${id}`, { body: { ...body, status: 'requested' }, token: app.token })
    expect([again.status, again.body.status]).toEqual([200, 'active'])
    await store(flag('anew'))
    await quiet(scene.service)
    expect(receiver.received.length).toBe(1)
  })
})
