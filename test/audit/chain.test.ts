// Chains of the trail and the groups of rows that are added to them.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { beginChain, beginningOf, type Head, sealingKey, sealOf } from '../../src/audit/chain.ts'
import { insertion, isRecordedAlready } from '../../src/audit/group.ts'
import { type AuditRecord, rowHash } from '../../src/audit/record.ts'
import { type AuditRow, auditColumns, toRecord } from '../../src/audit/rows.ts'
import type { Database } from '../../src/db/database.ts'
import { aRecord, emptyTrail, keepChanges, trailDatabase } from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const at = new Date('2026-05-01T10:00:00.123Z')

let database: Database
beforeAll(async () => {
  database = await trailDatabase()
})
beforeEach(() => emptyTrail(database))

const ask = (text: string) => database.query<Record<string, unknown>>({ text, values: [] })
const hex = (column: string) => `encode(${column}, 'hex') as ${column}`
const heads = () => ask(`select chain, sequence, ${hex('hash')}, ${hex('seal')} from audit_head order by chain`)
const sealed = (head: Head) => ({ ...head, seal: sealOf(key, head) })

/** Adds records to a chain. @returns where it is after it. */
async function add(head: Head, records: readonly AuditRecord[], pending: readonly string[] = []): Promise<Head> {
  const { statement, next } = insertion(head, { records, pending }, key)
  await database.query(statement)
  return next
}

test('chains are numbered without gaps, and each begins with the beginning of the one before', async () => {
  const first = await beginChain(database, key, at)
  await add(first, [aRecord()])
  const second = await beginChain(database, key, new Date(at.getTime() + 1))
  expect(await ask(`select number, started_at, ${hex('previous')}, ${hex('hash')} from audit_chain`)).toEqual([
    { number: 1, started_at: at, previous: '', hash: beginningOf(1, at, '') },
    { number: 2, started_at: new Date(at.getTime() + 1), previous: first.hash, hash: second.hash },
  ])
  expect(second).toEqual({ chain: 2, sequence: 0, hash: beginningOf(2, new Date(at.getTime() + 1), first.hash) })
  expect((await heads())[1]).toEqual(sealed(second))
})

test('processes that begin at the same time have chains of their own', async () => {
  const begun = await Promise.all([1, 2, 3, 4].map(() => beginChain(database, key, at)))
  expect(begun.map(({ chain }) => chain).sort()).toEqual([1, 2, 3, 4])
})

const full = aRecord({
  ...{ recordedAt: at, action: 'U', interaction: 'patch', outcome: 4, problem: 'FORBIDDEN', requestId: 'a request' },
  ...{ clientId: 'a client', organizationId: 'an organization', tokenId: 'a token', address: '::1', type: 'Flag' },
  ...{ id: 'fall', version: 3, query: 'Flag?x=y', patients: ['ada', 'ben'], resources: 70_000, purpose: 'ETREAT' },
})

test('rows say what the records say, follow each other, and move the head of their chain', async () => {
  const begun = await beginChain(database, key, at)
  const records = [full, aRecord({ patients: [], recordedAt: new Date(0) }), full]
  const next = await add(await add(begun, records), [full])
  const expected = [...records, full].map((record, index) => ({ ...record, chain: 1, sequence: index + 1 }))
  const rows = await database.query<AuditRow & { hash: Buffer }>({
    text: `select ${auditColumns}, hash from audit_event order by sequence`,
    values: [],
  })
  expect(rows.map(toRecord)).toEqual(expected)
  let last = begun.hash
  for (const [index, row] of rows.entries()) {
    last = rowHash(last, expected[index]!)
    expect(row.hash.toString('hex')).toBe(last.slice(0, 8))
  }
  expect(next).toEqual({ chain: 1, sequence: 4, hash: last })
  expect(await heads()).toEqual([sealed(next)])
})

test('texts that PostgreSQL cannot hold are hashed as it holds them', async () => {
  const next = await add(await beginChain(database, key, at), [aRecord({ query: 'a\0b', id: 'half \ud83d' })])
  const [row] = await database.query<AuditRow>({ text: `select ${auditColumns} from audit_event`, values: [] })
  expect(row).toMatchObject({ query: 'a\ufffdb', resource_id: 'half \ufffd' })
  expect(next.hash).toBe(rowHash(beginningOf(1, at, ''), toRecord(row!)))
})

test('a group goes where its process left the chain, or nowhere, and moves no other chain', async () => {
  const [first, other] = [await beginChain(database, key, at), await beginChain(database, key, at)]
  const next = await add(first, [full])
  const late = add(first, [aRecord()])
  await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/^(23505|HI004)$/) })
  await expect(add({ ...next, sequence: 7 }, [full])).rejects.toMatchObject({ code: 'HI004' })
  expect(await heads()).toEqual([sealed(next), sealed(other)])
  expect(await ask('select chain, sequence from audit_event')).toEqual([{ chain: 1, sequence: 1 }])
})

test('what was pending goes with the group that tells it; if somebody has told some of it, nothing happens', async () => {
  const [told, kept] = [await keepChanges(database, []), await keepChanges(database, [])]
  const next = await add(await beginChain(database, key, at), [full], [told.id])
  const pending = async () => (await ask('select id from audit_pending')).map(({ id }) => id)
  expect(await pending()).toEqual([kept.id])
  const error = await add(next, [full], [kept.id, told.id]).catch(error => error)
  expect(isRecordedAlready(error)).toBe(true)
  expect(await pending()).toEqual([kept.id])
  expect(await heads()).toEqual([sealed(next)])
  const moved = await add({ ...next, sequence: 7 }, [full]).catch(error => error)
  expect(isRecordedAlready(moved)).toBe(false)
})
