// The audit trail of a service as its database holds it, seen past the service.
import pg from 'pg'
import { expect, inject } from 'vitest'
import { type AuditRow, auditColumns } from '../../src/audit/rows.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { onCleanup } from './cleanup.ts'
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
