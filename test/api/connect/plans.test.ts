// How inventories and payments are answered: along which indexes, without reading or sorting whole tables.
import { beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../../src/db/database.ts'
import { bloodInventory } from '../../../src/inventory/blood-inventory.ts'
import { type StockFilters, stockRows } from '../../../src/inventory/stock-list.ts'
import { paymentsOf } from '../../../src/payments/reconciliation.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { layoutOfRun } from '../../support/database.ts'
import { explaining, type PlanNode } from '../../support/plans.ts'
import { createTestDatabase } from '../../support/service.ts'

const first = { limit: 20, after: undefined }
let database: Database
let plan: readonly PlanNode[] = []

const tables = [
  `insert into stock_level select 'place-' || n % 50, 'ATC', 'M' || n / 50, 'i' || n, '-infinity', 'infinity', 10,
     case n % 100 when 7 then 'out_of_stock' else 'in_stock' end, date '2030-01-01' + n % 900, 'medicine ' || n, array[n, n + 1]
   from generate_series(1, 10000) n`,
  `insert into blood_unit select 'u' || n, 'place-' || n % 50, 'O+', 'platelets', n % 9 = 0,
     timestamptz '2026-01-01' + n * interval '1 hour', '2026-01-01' from generate_series(1, 20000) n`,
  `insert into payment select 'p' || n, 'place-' || n % 5, timestamptz '2026-01-01' + n * interval '1 minute', 'XAF', 1, 0,
     'matched' from generate_series(1, 50000) n`,
]

beforeAll(async () => {
  const opened = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 30_000,
    layout: layoutOfRun(),
  })
  onCleanup(() => opened.end())
  for (const text of tables) await opened.query({ text, values: [] })
  for (const table of ['stock_level', 'blood_unit', 'payment'])
    await opened.query({ text: `vacuum analyze ${table}`, values: [] })
  database = explaining(opened, nodes => {
    plan = nodes
  })
})

/** The most rows that one node of the plan gave in all. */
const mostRows = (): number => Math.max(...plan.map(node => node['Actual Rows'] * node['Actual Loops']))
const scanned = (table: string) => plan.filter(node => node['Relation Name'] === table).map(node => node['Node Type'])

test.each<[string, StockFilters]>([
  ['all', {}],
  ['of a facility', { facility_id: 'place-7' }],
  ['of a code', { medication_code: 'M77' }],
  ['of a rare status', { stock_status: 'out_of_stock' }],
  ['of a status at a facility', { stock_status: 'out_of_stock', facility_id: 'place-7' }],
])('stock, %s, is a walk along an index that ends with the page', async (_name, filters) => {
  await stockRows(database, '2026-03-14', filters, first)
  expect(scanned('stock_level')).toEqual(['Index Scan'])
  expect(mostRows()).toBeLessThanOrEqual(21)
  await stockRows(database, '2026-03-14', filters, { limit: 20, after: ['place-30', 'ATC', 'M1', 'i1'] })
  expect(mostRows()).toBeLessThanOrEqual(21)
})

test('stock by letters of the name is found by its runs of three letters', async () => {
  await stockRows(database, '2026-03-14', { q: 'zebra' }, first)
  expect(plan.map(node => node['Index Name'])).toContain('stock_level_grams')
})

test('stock that expires soon is found by when it does', async () => {
  await stockRows(database, '2026-03-14', { expiring_before: '2030-01-02' }, first)
  expect(plan.map(node => node['Index Name'])).toContain('stock_level_expiry')
})

test('blood is counted along the index, and that of a facility within its part of it', async () => {
  const now = new Date('2026-03-14T00:00:00Z')
  await bloodInventory(database, now, {}, first)
  expect(scanned('blood_unit')).toEqual(['Index Only Scan'])
  expect(plan.map(node => node['Node Type'])).not.toContain('HashAggregate')
  await bloodInventory(database, now, { facility_id: 'place-7' }, first)
  expect(scanned('blood_unit')).toEqual(['Index Only Scan'])
  expect(mostRows()).toBeLessThanOrEqual(400)
})

test('payments of a day are read along the index, and no others', async () => {
  const day = { organization: 'place-3', date: '2026-01-20', timeZone: 'Africa/Douala', currency: 'XAF' }
  await paymentsOf(database, day, first)
  expect(scanned('payment')).not.toContain('Seq Scan')
  expect(mostRows()).toBeLessThanOrEqual(288)
})
