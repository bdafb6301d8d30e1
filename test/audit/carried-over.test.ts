// A trail that was written before rows became short is carried over, and checked as it was.
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { beginningOf, type Head, sealingKey, sealOf } from '../../src/audit/chain.ts'
import { type AuditRecord, type ChainedRecord, rowHash } from '../../src/audit/record.ts'
import { type AuditRow, auditColumns, toRecord } from '../../src/audit/rows.ts'
import { verifyNewest, verifyTrail } from '../../src/audit/verify.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createLog } from '../../src/lib/log.ts'
import { onCleanup } from '../support/cleanup.ts'
import { aRecord } from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const folder = join(import.meta.dirname, '../../src/db/migrations')
const uuid = '01890a5d-ac96-774b-bcce-b302099a8057'

/** A database as it was before the migration that carries the trail over. */
async function formerDatabase(): Promise<Database> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const client = new pg.Client({ ...inject('server'), database: 'postgres' })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const database = openDatabase({ ...inject('server'), database: name }, { poolSize: 2, statementTimeout: 60_000 })
  onCleanup(() => database.end())
  const former = readdirSync(folder).filter(file => file.endsWith('.sql') && file < '0031')
  const ask = (text: string) => database.query({ text, values: [] })
  await ask('create table migration (name text primary key, ran_at timestamptz not null default now())')
  for (const file of former.sort()) {
    await ask(await readFile(join(folder, file), 'utf8'))
    await ask(`insert into migration (name) values ('${file}')`)
  }
  return database
}

/** Begins a chain as chains were begun then. */
async function formerBeginning(database: Database): Promise<Head> {
  const at = new Date('2026-05-01T09:00:00.000Z')
  const [last] = await database.query<{ number: number; hash: string }>({
    text: `select number, encode(hash, 'hex') as hash from audit_chain order by number desc limit 1`,
    values: [],
  })
  const chain = (last?.number ?? 0) + 1
  const hash = beginningOf(chain, at, last?.hash ?? '')
  await database.query({
    text: `with chain as (insert into audit_chain values ($1, $2, decode($3, 'hex'), decode($4, 'hex')) returning number)
      insert into audit_head select number, 0, decode($4, 'hex'), '' from chain`,
    values: [chain, at, last?.hash ?? '', hash],
  })
  return { chain, sequence: 0, hash }
}

/** Adds a chain of rows as they were written then. */
async function formerChain(database: Database, records: readonly AuditRecord[]): Promise<Head> {
  const begun = await formerBeginning(database)
  let last = begun.hash
  for (const [index, record] of records.entries()) {
    const row: ChainedRecord = { ...record, chain: begun.chain, sequence: index + 1 }
    const hash = rowHash(last, row)
    await database.query({
      text: `insert into audit_event values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        decode($20, 'hex'), decode($21, 'hex'))`,
      values: [
        ...[
          row.chain,
          row.sequence,
          row.recordedAt,
          row.action,
          row.interaction,
          row.outcome,
          row.problem,
          row.clientId,
        ],
        ...[row.organizationId, row.tokenId, row.address, row.requestId, row.type, row.id, row.version, row.query],
        ...[row.patients, row.resources, row.purpose, last, hash],
      ],
    })
    last = hash
  }
  const head = { chain: begun.chain, sequence: records.length, hash: last }
  await database.query({
    text: `update audit_head set sequence = $2, hash = decode($3, 'hex'), seal = decode($4, 'hex') where chain = $1`,
    values: [head.chain, head.sequence, head.hash, sealOf(key, head)],
  })
  return head
}

const records = [
  aRecord({ recordedAt: new Date('2026-05-01T10:00:00.999Z') }),
  aRecord({ requestId: uuid, id: uuid, patients: [uuid], tokenId: 'another', action: 'C', interaction: 'create' }),
  aRecord({ requestId: 'sixteen-letters.', id: 'sixteen-letters.', patients: ['sixteen-letters.'], version: 0 }),
  aRecord({ requestId: '', id: '', type: '', patients: [], query: `Patient?name=a\u0001b`, resources: 70_000 }),
  aRecord({ patients: [uuid, 'ada', uuid], query: `Observation?patient=${uuid}`, outcome: 4, problem: 'FORBIDDEN' }),
  aRecord({ patients: [uuid, uuid], query: 'a\nb', purpose: 'ETREAT', address: '::1', clientId: 'gr\u00fc\u00df' }),
]

const trailOf = async (database: Database): Promise<AuditRecord[]> => {
  const text = `select ${auditColumns} from audit_event order by chain, sequence`
  return (await database.query<AuditRow>({ text, values: [] })).map(toRecord)
}

test('every row is what it was, chains are whole up to their heads, and new rows follow', async () => {
  const database = await formerDatabase()
  const many = Array.from({ length: 1003 }, (_, index) => records[index % records.length]!)
  const heads = [await formerChain(database, records), await formerChain(database, many)]
  const before = await trailOf(database)
  await migrate(database)
  expect(await trailOf(database)).toEqual(before)
  const known = heads.map(head => ({ ...head, by: 'an anchor' }))
  expect(await verifyTrail(database, key, known)).toMatchObject({ isWhole: true, rows: 1009, chains: 2, heads })
  expect(await verifyNewest(database, key, known, 2)).toMatchObject({ isWhole: true, rows: 2, unread: 1007 })
  await createAuditWriter({ database, key, log: createLog('silent'), now: () => new Date() }).write(records)
  expect(await verifyTrail(database, key, known)).toMatchObject({ isWhole: true, rows: 1015, chains: 3 })
})

test('an empty trail stays one', async () => {
  const database = await formerDatabase()
  await migrate(database)
  expect(await verifyTrail(database, key, [])).toMatchObject({ isWhole: true, rows: 0 })
})

test('a row that had been changed is named after it as before', async () => {
  const database = await formerDatabase()
  await formerChain(database, records)
  await database.transaction(async on => {
    await on.query({ text: 'set local session_replication_role = replica', values: [] })
    await on.query({ text: `update audit_event set client_id = 'nobody' where sequence = 4`, values: [] })
  })
  await migrate(database)
  expect((await verifyTrail(database, key, [])).broken).toEqual([
    { chain: 1, sequence: 4, problem: 'the row does not match its hash' },
  ])
})

test('a row that cannot be carried over as it is keeps the database as it was', async () => {
  const database = await formerDatabase()
  await formerChain(database, [aRecord({ patients: ['an id', 'ada'] })])
  const before = await trailOf(database)
  await expect(migrate(database)).rejects.toThrow('a row of the audit trail would not be what it was')
  expect(await trailOf(database)).toEqual(before)
})
