import { expect, test } from 'vitest'
import { demoClient } from '../../../src/identity/demo-accounts.ts'
import { fhirCaller, matchIds } from '../../support/fhir.ts'
import { misplaced } from '../../support/parts.ts'
import { startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'

test('the demo client finds stock of every kind, blood that has not expired, and the payments of a day', async () => {
  const service = await startService()
  await service.application.prepare()
  const call = fhirCaller(() => service)
  const get = async (path: string) => (await call('GET', `/api/v1/connect/${path}`)).body
  const stock = await get('pharmacy/stock?facility_id=hopital-central-yaounde')
  const told = stock.data.map((each: Record<string, unknown>) => [
    each['name'],
    each['quantity_on_hand'],
    each['stock_status'],
  ])
  expect(told).toEqual([
    ['Insuline humaine rapide', 36, 'in_stock'],
    ['Oxytocine', 0, 'out_of_stock'],
    ['Amoxicilline', 2400, 'in_stock'],
    ['Artésunate injectable', 38, 'low'],
    ['Artéméther + luméfantrine', 960, 'in_stock'],
  ])
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
  expect((await get(`pharmacy/stock?expiring_before=${soon}`)).data).toHaveLength(1)
  const { totals } = await get('blood-bank/inventory')
  expect([totals.units_available, totals.units_reserved]).toEqual([6, 1])
  expect((await get('payments/reconciliation?date=2026-02-10')).totals).toEqual({
    ...{ count: 4, gross: '67500', fees: '675', net: '66825' },
    ...{ matched: 2, unmatched: 1, disputed: 1 },
  })
})

test('the demo client reports stock for the demo hospital, and a reset restores it', async () => {
  const service = await startService()
  await service.application.prepare()
  const call = fhirCaller(() => service)
  const path = '/api/v1/connect/pharmacy/stock'
  const body = {
    ...{ facility_id: 'hopital-central-yaounde', medication_code: 'H01BB02', code_system: 'ATC', name: 'Oxytocine' },
    ...{ quantity_on_hand: 80, unit: 'ampoule', updated_at: new Date().toISOString() },
  }
  const headers = { 'content-type': 'application/json' }
  const quantity = async () => (await call('GET', `${path}?medication_code=H01BB02`)).body.data[0].quantity_on_hand
  expect((await call('PUT', path, { body, headers })).body.data[0].status).toBe('accepted')
  expect(await quantity()).toBe(80)
  const reset = await fetch(`${service.url}/api/demo/reset`, { method: 'POST' })
  expect((await reset.json()).seeded).toMatchObject({
    Basic: 5,
    BiologicallyDerivedProduct: 10,
    PaymentReconciliation: 4,
  })
  expect(await quantity()).toBe(0)
})

test('the demo client reads records for the purposes that each patient has opened, and no others', async () => {
  const service = await startService()
  await service.application.prepare()
  const { id: clientId, organizationId } = demoClient
  const token = await service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, [
    'system/*.rs',
  ])
  const call = fhirCaller(() => service)
  const patientsFor = async (purpose: string) =>
    matchIds((await call('GET', 'Patient', { token, headers: { 'x-purpose-of-use': purpose } })).body).sort()
  expect(await patientsFor('treatment')).toEqual(['amina-bello', 'grace-tchoumi', 'jean-paul-mbarga'])
  expect(await patientsFor('public_health')).toEqual(['jean-paul-mbarga'])
  expect(await patientsFor('research')).toEqual(['grace-tchoumi'])
  expect(await patientsFor('payment')).toEqual([])
})

test('resets at the same time, while one of the resources is changed, succeed or say that they can be repeated', async () => {
  const service = await startService()
  const call = fhirCaller(() => service)
  const reset = async () => (await fetch(`${service.url}/api/demo/reset`, { method: 'POST' })).status
  let isOver = false
  const changing = (async () => {
    for (let turn = 0; !isOver; turn++)
      await call('PUT', 'Patient/amina-bello', {
        body: { resourceType: 'Patient', id: 'amina-bello', name: [{ family: `Turn${turn}` }] },
      })
  })()
  const statuses: number[] = []
  for (let round = 0; round < 3; round++) statuses.push(...(await Promise.all(Array.from({ length: 6 }, reset))))
  isOver = true
  await changing
  expect(statuses.filter(status => status !== 201 && status !== 409)).toEqual([])
  expect(statuses).toContain(201)
  expect(await misplaced(await databaseOf(service))).toEqual([])
})

test('a reset stores the whole demo set, and a second one the same', async () => {
  const service = await startService()
  const reset = async () => (await (await fetch(`${service.url}/api/demo/reset`, { method: 'POST' })).json()).seeded
  const first = await reset()
  expect(first).toMatchObject({ Patient: 4, Location: 8, Encounter: 13, Contract: 1, Questionnaire: 1 })
  expect(await reset()).toEqual(first)
  const call = fhirCaller(() => service)
  const total = async (query: string) => (await call('GET', `${query}_summary=count`)).body.total
  for (const [type, count] of Object.entries(first)) expect(await total(`${type}?`), type).toBe(count)
})
