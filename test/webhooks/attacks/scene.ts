// The scene of the attacks on events and webhooks: a service, what is stored in it, and FHIR subscriptions to it.
import { beforeAll, expect } from 'vitest'
import type { consentOf } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'
import type { Somebody } from '../../support/webhooks.ts'

let number = 0

export const patient = (id: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  name: [{ family: 'Ngo' }],
  birthDate: '1990-02-03',
  ...more,
})
export const encounter = (of: string, id = `visit-${++number}`) => ({
  resourceType: 'Encounter',
  id,
  status: 'in-progress',
  class: { code: 'AMB' },
  subject: { reference: `Patient/${of}` },
})
export const flag = (of: string, text = 'falls', id = `flag-${++number}`) => ({
  resourceType: 'Flag',
  id,
  status: 'active',
  code: { text },
  subject: { reference: `Patient/${of}` },
})
export const ended = (consent: object) => ({ ...consent, status: 'inactive' }) as ReturnType<typeof consentOf>

/** A FHIR Subscription as a client asks for it. */
export const wish = (receiver: Pick<Receiver, 'url'>, criteria: string, channel: object = {}, more: object = {}) => ({
  resourceType: 'Subscription',
  status: 'requested',
  reason: 'to be told',
  criteria,
  channel: { type: 'rest-hook', endpoint: receiver.url, payload: 'application/fhir+json', ...channel },
  ...more,
})

/** Starts a service for the test file, before its first test. */
export function startScene() {
  let service: Service
  const call = fhirCaller(() => service)
  beforeAll(async () => {
    service = await startService()
  })
  return {
    ...{ call, store: creatorBy(call) },
    get service() {
      return service
    },
    put: async (resource: { readonly resourceType: string; readonly id: string }) => {
      const answer = await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
      expect(answer.status, answer.text).toBeLessThan(300)
    },
    subscribe: async (who: Pick<Somebody, 'token'>, criteria: string, channel: object = {}, more: object = {}) => {
      const receiver = await startReceiver()
      const { status, text, body } = await call('POST', 'Subscription', {
        body: wish(receiver, criteria, channel, more),
        token: who.token,
      })
      expect(status, text).toBe(201)
      return { receiver, body, id: body.id as string }
    },
    query: <Row extends object>(text: string, values: unknown[] = []) =>
      service.application.database.query<Row>({ text, values }),
    /** Keeps the dispatcher from reading the outbox during the work, as a backlog or a restart does. */
    whileNothingIsDispatched: async (work: () => Promise<void>): Promise<void> => {
      const database = await databaseOf(service)
      await database.query('begin; lock table event in exclusive mode')
      try {
        await work()
      } finally {
        await database.query('commit')
      }
    },
  }
}
