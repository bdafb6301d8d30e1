// Stock, units of blood and payments are facts of their organisation: nobody else's word counts in them, by whichever door.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { isOnCluster } from '../support/citus.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { bundleOf, entryOf, jsonHeaders, type Party, partyOf } from '../support/parties.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf } from '../support/trail.ts'

let service: Service
let clinic: Party
let rival: Party
const call = fhirCaller(() => service)
const to = (reference: string) => ({ reference })
const extensions = 'https://health-interop.org/fhir/StructureDefinition'
const stockPath = '/api/v1/connect/pharmacy/stock'
const bloodPath = '/api/v1/connect/blood-bank/inventory'
const paymentPath = '/api/v1/connect/payments/reconciliation?date=2026-03-14'
const scopes = ['pharmacy:write', 'pharmacy:stock:read', 'blood:inventory:read', 'payments:reconciliation:read']

const report = (by: Party, facility: string, code: string, quantity: number, at = '2026-03-14T07:00:00Z') =>
  by.call('PUT', stockPath, {
    headers: jsonHeaders,
    body: JSON.stringify({
      ...{ facility_id: facility, medication_code: code, code_system: 'ATC', name: 'Amoxicilline', unit: 'capsule' },
      ...{ quantity_on_hand: quantity, updated_at: at },
    }),
  })
const quantities = async (code: string): Promise<[string, number][]> => {
  const { body } = await clinic.call('GET', `${stockPath}?medication_code=${code}`, { headers: jsonHeaders })
  return body.data.map((each: Answer['body']) => [each.facility_id, each.quantity_on_hand])
}
const stockOf = async (code: string): Promise<Answer['body']> =>
  (await call('GET', `Basic?identifier=clinic%5C%7CATC%5C%7C${code}`)).body.entry[0].resource

beforeAll(async () => {
  service = await startService()
  clinic = await partyOf(service, 'clinic', ...scopes)
  rival = await partyOf(service, 'rival', ...scopes)
  const shop = { resourceType: 'Location', id: 'shop', managingOrganization: to('Organization/clinic') }
  expect((await clinic.call('PUT', 'Location/shop', { body: shop })).status).toBe(201)
  expect((await report(clinic, 'clinic', 'OWN', 10)).status).toBe(200)
  expect((await report(clinic, 'shop', 'SHOP', 5)).status).toBe(200)
})

test('a stock that is copied in the name of another organisation is refused, and the next report is taken', async () => {
  const { id: _id, meta: _meta, ...copy } = await stockOf('OWN')
  const forged = { ...copy, author: to('Organization/rival') }
  const numbered = { ...forged, subject: to('Organization/rival') }
  for (const body of [forged, numbered]) {
    expect((await rival.call('POST', 'Basic', { body })).status).toBe(403)
    const inBundle = bundleOf('transaction', entryOf('POST', 'Basic', body))
    expect((await rival.call('POST', '', { body: inBundle })).status).toBe(403)
  }
  const { status, body } = await report(clinic, 'clinic', 'OWN', 9, '2026-03-14T08:00:00Z')
  expect([status, body.data[0].status]).toEqual([200, 'accepted'])
  expect(await quantities('OWN')).toEqual([['clinic', 9]])
})

test('the stock of another organisation is changed and deleted by nobody else', async () => {
  const stored = await stockOf('OWN')
  const changed = { ...stored, code: { text: 'x' } }
  expect((await rival.call('PUT', `Basic/${stored.id}`, { body: changed })).status).toBe(403)
  expect((await rival.call('DELETE', `Basic/${stored.id}`)).status).toBe(403)
  expect(await quantities('OWN')).toEqual([['clinic', 9]])
})

test('a report for a facility of another organisation is refused, whatever was tried to make it an own one', async () => {
  const attempts = [
    [
      'Organization/clinic',
      { resourceType: 'Organization', id: 'clinic', name: 'x', partOf: to('Organization/rival') },
    ],
    ['Location/clinic', { resourceType: 'Location', id: 'clinic', managingOrganization: to('Organization/rival') }],
    ['Location/shop', { resourceType: 'Location', id: 'shop', managingOrganization: to('Organization/rival') }],
    ['Organization/shop', { resourceType: 'Organization', id: 'shop', name: 'x', partOf: to('Organization/rival') }],
  ] as const
  for (const [path, body] of attempts) expect((await rival.call('PUT', path, { body })).status, path).toBe(403)
  for (const facility of ['clinic', 'shop'])
    expect((await report(rival, facility, 'SHOP', 1, '2026-03-14T09:00:00Z')).status).toBe(403)
  expect(await quantities('SHOP')).toEqual([['shop', 5]])
})

test('a facility that an exempt client moves takes its stock along', async () => {
  const moved = { resourceType: 'Location', id: 'shop', managingOrganization: to('Organization/rival') }
  expect((await call('PUT', 'Location/shop', { body: moved })).status).toBe(200)
  expect((await report(clinic, 'shop', 'SHOP', 1, '2026-03-14T10:00:00Z')).status).toBe(403)
  expect((await report(rival, 'shop', 'SHOP', 7, '2026-03-14T10:00:00Z')).status).toBe(200)
  expect(await quantities('SHOP')).toEqual([['shop', 7]])
})

test('units of blood for the bank of another organisation are refused and not counted', async () => {
  const unit = {
    resourceType: 'BiologicallyDerivedProduct',
    productCode: { text: 'platelets' },
    status: 'available',
    extension: [
      {
        url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-BiologicallyDerivedProduct.expirationDate',
        valueDateTime: '2099-01-01T00:00:00Z',
      },
      { url: `${extensions}/blood-group`, valueCode: 'O-' },
      { url: `${extensions}/facility`, valueReference: to('Organization/clinic') },
    ],
  }
  const units = async () => (await rival.call('GET', bloodPath, { headers: jsonHeaders })).body.data
  expect((await rival.call('POST', 'BiologicallyDerivedProduct', { body: unit })).status).toBe(403)
  expect(await units()).toEqual([])
  expect((await clinic.call('POST', 'BiologicallyDerivedProduct', { body: unit })).status).toBe(201)
  expect((await units()).map((each: Answer['body']) => [each.facility_id, each.units_available])).toEqual([
    ['clinic', 1],
  ])
})

test('payments that another organisation requested are refused and not counted', async () => {
  const payment = (requestor: object) => ({
    ...{ resourceType: 'PaymentReconciliation', status: 'active', outcome: 'complete', requestor },
    ...{ created: '2026-03-14', paymentDate: '2026-03-14', paymentAmount: { value: 100, currency: 'XAF' } },
  })
  const totals = async () => (await clinic.call('GET', paymentPath, { headers: jsonHeaders })).body.totals
  for (const requestor of [to('Organization/clinic'), to(`${service.url}/api/fhir/R4/Organization/clinic`)])
    expect((await rival.call('POST', 'PaymentReconciliation', { body: payment(requestor) })).status).toBe(403)
  expect((await totals()).count).toBe(0)
  const own = await rival.call('POST', 'PaymentReconciliation', { body: payment(to('Organization/rival')) })
  expect(own.status).toBe(201)
  const patch = JSON.stringify([{ op: 'replace', path: '/requestor/reference', value: 'Organization/clinic' }])
  const headers = { 'content-type': 'application/json-patch+json' }
  const patched = await rival.call('PATCH', `PaymentReconciliation/${own.body.id}`, { body: patch, headers })
  expect([patched.status, (await totals()).count]).toEqual([403, 0])
  const made = await clinic.call('POST', 'PaymentReconciliation', { body: payment(to('Organization/clinic')) })
  expect([made.status, (await totals()).count]).toEqual([201, 1])
})

test.skipIf(isOnCluster())('what was stored before owners were kept has them after the migration', async () => {
  const put = (by: Party | undefined, id: string) =>
    (by?.call ?? call)('PUT', `Location/${id}`, { body: { resourceType: 'Location', id, name: 'Stored before' } })
  await put(clinic, 'clinics')
  await put(clinic, 'deleted')
  expect((await clinic.call('DELETE', 'Location/deleted')).status).toBe(204)
  await put(undefined, 'shared')
  const database = await databaseOf(service)
  const migration = await readFile(join(import.meta.dirname, '../../src/db/migrations/0016-owners.sql'), 'utf8')
  await database.query('begin')
  await database.query('alter table search drop column owner; alter table history drop column owner')
  await database.query('drop index client_organization')
  await database.query(migration)
  await database.query('commit')
  const changed = async (by: Party) => {
    const answers = [await put(by, 'clinics'), await put(by, 'deleted'), await put(by, 'shared')]
    return answers.map(({ status }) => status)
  }
  expect(await changed(rival)).toEqual([403, 403, 403])
  expect(await changed(clinic)).toEqual([200, 201, 403])
})
