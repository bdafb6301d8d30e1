import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller } from '../support/fhir.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let receiver: Receiver
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  receiver = await startReceiver()
})

describe('an event', () => {
  test('reaches the subscriber of its type', async () => {
    const wish = { callback_url: receiver.url, subscribed_events: ['patient.created'] }
    expect((await call('POST', '/api/v1/connect/webhooks/subscriptions', { body: wish })).status).toBe(201)
    const ada = { resourceType: 'Patient', id: 'ada', name: [{ family: 'Ada' }] }
    expect((await call('PUT', 'Patient/ada', { body: ada })).status).toBe(201)
    const [first] = await receiver.until(1)
    expect(first!.event).toMatchObject({ type: 'patient.created', data: { patient_id: 'ada' } })
  })
})
