// What commands have to do with webhooks: loading tells subscribers if it is asked to, and an administrator decides what is sent.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { adminOn } from '../support/admin.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { client, eventsOf, type Subscriber, subscriber } from '../support/webhooks.ts'

let service: Service
let ehr: Subscriber
let folder: string
const { admin, told, loaded } = adminOn(() => service.database)

beforeAll(async () => {
  service = await startService()
  ehr = await subscriber(await client(service, 'ehr', { consentExempt: true }), ['patient.created'])
  folder = await temporaryFolder('webhooks')
})

const patients = (prefix: string) =>
  [1, 2, 3].map(number => JSON.stringify({ resourceType: 'Patient', id: `${prefix}-${number}` })).join('\n')

test('what is loaded is told to nobody, unless the loader is asked to', async () => {
  const files = ['old', 'new'].map(name => join(folder, `${name}.ndjson`)) as [string, string]
  await writeFile(files[0], patients('old'))
  await writeFile(files[1], patients('new'))
  await Promise.all([loaded([files[0]]), loaded([files[1], '--events'])])
  await ehr.receiver.until(3)
  expect(await eventsOf(service)).toEqual(['patient.created', 'patient.created', 'patient.created'])
  const { event } = ehr.receiver.received[0]!
  expect(event.data.patient_id).toMatch(/^new-\d$/)
  expect(event.meta.request_id).toMatch(/^load-/)
})

test('an administrator sees all subscriptions, never a secret, and decides whether resources are sent along', async () => {
  expect(await told(['subscription', 'payload', ehr.id, 'full'])).toEqual({
    subscription_id: ehr.id,
    payload_mode: 'full',
  })
  const list = await told(['subscription', 'list'])
  expect(list.subscriptions).toMatchObject([
    { subscription_id: ehr.id, organization_id: 'ehr', payload_mode: 'full', status: 'active', pending: 0 },
  ])
  expect(JSON.stringify(list)).not.toContain(ehr.secret)
  const unknown = await admin(['subscription', 'payload', 'whs_nobody', 'thin'])
  expect(unknown).toEqual({ code: 1, output: 'There is no subscription whs_nobody.\n' })
})
