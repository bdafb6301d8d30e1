// The audit trail of a service as its database holds it, seen past the service.
import type { KeyObject } from 'node:crypto'
import pg from 'pg'
import { expect, inject } from 'vitest'
import { beginChain, type Head, sealingKey } from '../../src/audit/chain.ts'
import { insertion } from '../../src/audit/group.ts'
import { type Pending, pendingNote } from '../../src/audit/pending.ts'
import type { AuditRecord } from '../../src/audit/record.ts'
import type { Requester } from '../../src/audit/records.ts'
import { type AuditRow, auditColumns } from '../../src/audit/rows.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import type { Queryable } from '../../src/db/statement.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Access } from '../../src/store/access.ts'
import { noteStatement } from '../../src/store/note.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { onCleanup } from './cleanup.ts'
import { openTestDatabase } from './database.ts'
import { testKey } from './server.ts'
import type { Service } from './service.ts'

/** A connection to the database of a service; it ends after the file's last test. */
export async function databaseOf(service: Service): Promise<pg.Client> {
  const client = new pg.Client({ ...inject('server'), database: service.database })
  await client.connect()
  onCleanup(() => client.end())
  return client
}

/** The rows of a request, in the order in which they were written. */
export async function rowsOf(database: pg.Client, requestId: string): Promise<AuditRow[]> {
  const { rows } = await database.query(
    `select ${auditColumns} from audit_event where request_id = $1 order by chain, sequence`,
    [requestId],
  )
  return rows.map(row => ({ ...row, sequence: Number(row.sequence) }))
}

/** Changes what cannot be changed, as somebody with all rights over the database might. */
export async function tamper(database: pg.Client, statement: string): Promise<void> {
  await database.query(`set session_replication_role = replica; ${statement}; set session_replication_role = origin`)
}

/** How many changes are kept until the trail tells them. */
export async function pendingIn(database: pg.Client): Promise<number> {
  const { rows } = await database.query('select count(*)::int as count from audit_pending')
  return rows[0].count
}

/** Lets what is pending look as if its request had died long ago. */
export async function age(database: pg.Client): Promise<void> {
  await database.query(`update audit_pending set noted_at = noted_at - interval '1 hour'`)
}

/** Every version of a type (of all types), and how often the trail tells that it was made: `['Flag/1/2', 1]`. */
export async function toldVersions(database: pg.Client, type?: string): Promise<[string, number][]> {
  const { rows } = await database.query({
    text: `with made as (select type, id, version from resource union all select type, id, version from history)
      select id, version, (select count(*)::int from audit_event e where e.outcome = 0 and e.action in ('C', 'U', 'D')
        and e.resource_id = made.id and e.version = made.version) as times
      from made where type = $1 or $1 is null order by id, version`,
    values: [type === undefined ? null : typeNumber(type)],
  })
  return rows.map(({ id, version, times }) => [`${id}/${version}`, times])
}

/** Expects each version to be told once. @returns how many there are. */
export async function expectToldOnce(database: pg.Client, type?: string): Promise<number> {
  const versions = await toldVersions(database, type)
  expect(versions.filter(([, times]) => times !== 1)).toEqual([])
  return versions.length
}

/** A database with an empty trail, for tests that start no service. */
export async function trailDatabase(): Promise<Database> {
  const database = await openTestDatabase()
  return database
}

/** Does to the trail what cannot be done to it, as somebody with all rights over the database might. */
export const forge = (database: Database, ...statements: string[]): Promise<void> =>
  database.transaction(async on => {
    for (const text of ['set local session_replication_role = replica', ...statements])
      await on.query({ text, values: [] })
  })

/** Takes everything from the trail, for the next test. */
export const emptyTrail = (database: Database): Promise<void> =>
  forge(database, ...['row', 'source', 'kind', 'head', 'chain', 'pending'].map(name => `delete from audit_${name}`))

/** Who asks, unless the test says otherwise. */
export const aRequester: Requester = {
  ...{ clientId: 'app', organizationId: 'clinic', tokenId: 'token', address: '127.0.0.1', requestId: 'request' },
  purpose: 'TREAT',
}

/** A change of a Patient, as the trail tells it. */
export const aChange = (id: string): Access => ({
  deed: 'update',
  type: 'Patient',
  id,
  version: 2,
  patients: [id],
  resources: 1,
})

/** Keeps changes as the store does, until they are told. @returns what is kept. */
export async function keepChanges(on: Queryable, changes: readonly Access[], at = new Date()): Promise<Pending> {
  const kept: Pending[] = []
  const note = pendingNote(changes, aRequester, at, pending => kept.push(pending))
  await on.query(noteStatement(note))
  note.committed()
  return kept[0]!
}

/** Lets what is kept look as if its request had begun so many seconds ago. */
export const ageKept = (database: Database, seconds: number, ...kept: readonly Pending[]): Promise<void> =>
  database.run({
    text: `update audit_pending set noted_at = clock_timestamp() - make_interval(secs => $1) where id::text = any($2)`,
    values: [seconds, kept.map(each => each.id)],
  })

/** A record of a read, in which these things are otherwise. */
export const aRecord = (more: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ recordedAt: new Date('2026-05-01T10:00:00.000Z'), action: 'R', interaction: 'read', outcome: 0, problem: '' },
  ...aRequester,
  ...{ type: 'Patient', id: 'ada', version: 1, query: '', patients: ['ada'], resources: 1 },
  ...more,
})

/** Begins a chain that has so many rows. @returns its head. */
export async function chainOf(database: Database, key: KeyObject, rows: number): Promise<Head> {
  const beginning = await beginChain(database, key, new Date('2026-05-01T09:00:00.000Z'))
  if (rows === 0) return beginning
  const records = Array.from({ length: rows }, () => aRecord())
  const { statement, next } = insertion(beginning, { records, pending: [] }, key)
  await database.query(statement)
  return next
}

/** Lets the current period look as if it had begun so many days earlier, and those that ended as if they had ended so many days earlier. */
export const agePeriods = (database: Database, days: number): Promise<void> =>
  forge(
    database,
    `update audit_period set began_at = began_at - interval '${days} days', ended_at = ended_at - interval '${days} days'`,
  )

/** Ends the current period of a service's trail, as the turn of the month does. */
export async function endPeriod(service: Service): Promise<void> {
  const { database } = service.application
  await agePeriods(database, 31)
  const key = sealingKey(Buffer.from(testKey, 'base64'))
  const another = createAuditWriter({ database, key, log: createLog('silent'), now: () => new Date() })
  await another.write([aRecord({ clientId: 'another-process', recordedAt: new Date() })])
}
