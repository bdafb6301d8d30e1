// What organizations did, whether their clients are few or too many to be looked for one by one.
import { beforeAll, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import type { AuditTest } from '../../src/audit/criteria.ts'
import { createAuditReader } from '../../src/audit/reader.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { databaseOf } from '../../src/store/principal.ts'
import { aRecord, trailDatabase } from '../support/trail.ts'

let database: Database

/** 250 clients of a large organization, three of a small one that had two tokens each, and one that moved from one to the other. */
beforeAll(async () => {
  database = await trailDatabase()
  const writer = createAuditWriter({
    ...{ database, key: sealingKey(Buffer.alloc(32, 7)), log: createLog('silent'), now: () => new Date() },
  })
  const large = Array.from({ length: 250 }, (_, index) => ({ organizationId: 'large', clientId: `large-${index}` }))
  const small = ['a', 'b', 'c', 'a', 'b', 'c'].map((clientId, index) => ({
    ...{ organizationId: 'small', clientId, tokenId: `token-${index}` },
  }))
  const moved = [
    { organizationId: 'large', clientId: 'moved' },
    { organizationId: 'small', clientId: 'moved' },
  ]
  const start = Date.UTC(2026, 4, 1)
  const records = [...large, ...small, ...moved].map((each, index) =>
    aRecord({ ...each, recordedAt: new Date(start + index) }),
  )
  await writer.write(records)
})

async function found(tests: readonly AuditTest[], own?: string, count = 1000): Promise<string[]> {
  const reader = createAuditReader(principal => databaseOf(principal, database))({
    ...{
      organizationId: own ?? '',
      consentExempt: own === undefined,
      party: { organizationId: own ?? '' },
      may: () => true,
    },
  })
  const rows = await reader.search({ tests, count, text: '' })
  return rows.map(({ organizationId, clientId }) => `${organizationId}/${clientId}`)
}

const ofSmall = ['small/moved', 'small/c', 'small/b', 'small/a', 'small/c', 'small/b', 'small/a']
const named = (name: string): AuditTest => ({
  any: [
    { column: 'client_id', among: [name] },
    { column: 'organization_id', among: [name] },
  ],
})

test('a client sees all that its organization did, newest first, and nothing of others', async () => {
  expect(await found([], 'small')).toEqual(ofSmall)
  expect(await found([], 'small', 2)).toEqual(ofSmall.slice(0, 3))
  const ofLarge = await found([], 'large')
  expect(ofLarge).toHaveLength(251)
  expect(ofLarge.slice(0, 2)).toEqual(['large/moved', 'large/large-249'])
  expect(await found([], 'other')).toEqual([])
})

test('a name is that of a client or of an organization', async () => {
  expect(await found([named('small')])).toEqual(ofSmall)
  expect(await found([named('large-7')])).toEqual(['large/large-7'])
  expect(await found([named('moved')])).toEqual(['small/moved', 'large/moved'])
  expect(await found([named('moved')], 'large')).toEqual(['large/moved'])
  expect(await found([named('large')])).toHaveLength(251)
  expect(await found([named('large'), named('moved')])).toEqual(['large/moved'])
  expect(await found([{ column: 'organization_id', among: ['small', 'other'] }])).toEqual(ofSmall)
})

test('what an organization did not do is the rest', async () => {
  const rest = await found([{ not: named('small') }])
  expect(rest).toHaveLength(251)
  expect(rest.some(each => each.startsWith('small/'))).toBe(false)
})
