// The audit trail of a service as its database holds it, seen past the service.
import pg from 'pg'
import { inject } from 'vitest'
import { type AuditRow, auditColumns } from '../../src/audit/rows.ts'
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
