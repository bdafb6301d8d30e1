// How rows of the trail are found: by an index, and without reading many that are not asked for.
import { beforeAll, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import type { AuditTest } from '../../src/audit/criteria.ts'
import { type AuditPlace, createAuditReader } from '../../src/audit/reader.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/principal.ts'
import { explaining, type PlanNode } from '../support/plans.ts'
import { aRecord, trailDatabase } from '../support/trail.ts'

const start = Date.UTC(2026, 4, 1)
const uuid = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const rows = 40_000

let database: Database

/** Of the busy client the hospital; of every fourth of the others a ward, but what is rare is done at a practice. */
const organizationOf = (index: number): string =>
  index % 2 === 0 ? 'hospital' : index % 40 === 7 ? 'practice' : `ward-${index % 8}`

/** Rows of 400 seconds, 500 patients, 2,000 resources, and 21 clients of six organizations; one client does half of everything. */
beforeAll(async () => {
  database = await trailDatabase()
  const writer = createAuditWriter({
    ...{ database, key: sealingKey(Buffer.alloc(32, 7)), log: createLog('silent'), now: () => new Date(start) },
  })
  const records = Array.from({ length: rows }, (_, index) =>
    aRecord({
      recordedAt: new Date(start + index * 10),
      clientId: index % 2 === 0 ? 'busy' : `client-${index % 40}`,
      organizationId: organizationOf(index),
      tokenId: `token-${index % 400}`,
      type: 'Observation',
      id: uuid(1_000_000 + ((index * 7) % 2000)),
      patients: index % 3 === 0 ? [] : [uuid((index * 13) % 500), uuid((index * 17) % 500)],
      requestId: uuid(2_000_000 + index),
    }),
  )
  for (let at = 0; at < rows; at += 2000) await writer.write(records.slice(at, at + 2000))
  await database.query({ text: 'analyze audit_row, audit_source, audit_kind', values: [] })
})

/** What PostgreSQL does for a search of 20, and how many rows it finds. */
async function planOf(tests: readonly AuditTest[], after?: AuditPlace, own?: string) {
  const nodes: PlanNode[] = []
  const watched = explaining(database, each => nodes.push(...each))
  const reader = createAuditReader(principal => databaseOf(principal, watched))({
    ...{
      organizationId: own ?? '',
      consentExempt: own === undefined,
      party: { organizationId: own ?? '' },
      may: () => true,
    },
  })
  const found = await reader.search({ tests, count: 20, after, text: '' })
  expect(new Set(found.map(each => each.sequence)).size).toBe(found.length)
  const times = found.map(each => each.recordedAt.getTime())
  expect(times).toEqual(times.toSorted((a, b) => b - a))
  const touched = nodes.filter(node => /^audit_row_/.test(node['Relation Name'] ?? ''))
  return {
    found: found.length,
    indexes: nodes.flatMap(node => (/^audit_row_0_/.test(node['Index Name'] ?? '') ? [node['Index Name']!] : [])),
    read: Math.max(...touched.map(node => node['Actual Rows'] * node['Actual Loops'])),
    // The period that comes next has no rows.
    isScanned: touched.some(node => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'audit_row_0'),
  }
}

const middle = { time: start + 200_000, chain: 1, sequence: 20_001 }
const patient: AuditTest = { patient: uuid(13) }
const self: AuditTest = { any: [patient, { column: 'client_id', among: [`patient/${uuid(13)}`] }] }

const organization = (id: string): AuditTest => ({ column: 'organization_id', among: [id] })
const clients = (...ids: string[]): AuditTest => ({ column: 'client_id', among: ids })
const agent = (name: string): AuditTest => ({ any: [{ column: 'client_id', among: [name] }, organization(name)] })

test.each<[string, AuditTest[], AuditPlace | undefined, string[], number]>([
  ['everything, newest first', [], undefined, ['audit_row_0_time'], 200],
  ['everything before a row', [], middle, ['audit_row_0_time'], 250],
  ['a time', [{ from: start + 100_000, to: start + 101_000 }], undefined, ['audit_row_0_time'], 250],
  ['a client that does much', [{ column: 'client_id', among: ['busy'] }], undefined, ['audit_row_0_client'], 200],
  ['a client that is named twice', [clients('client-7', 'client-7')], undefined, ['audit_row_0_client'], 60],
  ['one of several clients', [clients('client-7', 'client-9')], undefined, ['audit_row_0_client'], 60],
  ['a client that does little', [{ column: 'client_id', among: ['client-7'] }], undefined, ['audit_row_0_client'], 60],
  ['a client before a row', [{ column: 'client_id', among: ['client-7'] }], middle, ['audit_row_0_client'], 250],
  ['an organization of several clients', [organization('ward-3')], undefined, ['audit_row_0_client'], 250],
  ['an organization of one client', [organization('practice')], undefined, ['audit_row_0_client'], 60],
  ['a client or an organization', [agent('practice')], undefined, ['audit_row_0_client'], 60],
  ['a patient', [patient], undefined, ['audit_row_0_patients'], 200],
  ['a patient, or what the patient did', [self], undefined, ['audit_row_0_patients', 'audit_row_0_client'], 200],
  ['a resource', [{ resource: { type: 'Observation', id: uuid(1_000_014) } }], undefined, ['audit_row_0_resource'], 60],
  [
    'a resource or patient by id',
    [{ any: [{ resource: { id: uuid(13) } }, patient] }],
    undefined,
    ['audit_row_0_patients', 'audit_row_0_resource'],
    200,
  ],
])('%s is found by an index', async (_, tests, after, indexes, most) => {
  const plan = await planOf(tests, after)
  expect(plan).toMatchObject({ found: tests.length > 0 && plan.found < 21 ? plan.found : 21, isScanned: false })
  expect(plan.found).toBeGreaterThan(0)
  expect(plan.indexes.toSorted()).toEqual(indexes.toSorted())
  expect(plan.read).toBeLessThanOrEqual(most)
})

test('a row is found by its id', async () => {
  const nodes: PlanNode[] = []
  const watched = explaining(database, each => nodes.push(...each))
  const reader = createAuditReader(principal => databaseOf(principal, watched))({
    ...{ organizationId: 'clinic', consentExempt: true, party: { organizationId: 'clinic' }, may: () => true },
  })
  expect((await reader.read('1-777')).requestId).toBe(uuid(2_000_776))
  const found = nodes.filter(node => /^audit_row_/.test(node['Relation Name'] ?? '') && node['Actual Loops'] > 0)
  expect(found).toMatchObject([{ 'Index Name': 'audit_row_0_pkey', 'Actual Rows': 1 }])
})

test.each([
  ['practice', [], 21],
  ['ward-3', [{ resource: { type: 'Observation', id: uuid(1_000_007) } }], 0],
  ['elsewhere', [], 0],
])('a client of %s finds what its organization did, without reading what others did', async (own, tests, found) => {
  const plan = await planOf(tests, undefined, own)
  expect(plan).toMatchObject({ found, isScanned: false })
  expect(plan.read).toBeLessThanOrEqual(60)
})
