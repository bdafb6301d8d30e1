// Versions of resources as rows, and the tables that they are read from.
import type { Binder } from './search/binder.ts'
import { methodName, typeName, type WriteMethod } from './type-number.ts'
import type { Seen } from './visibility.ts'

/** One version of a resource; `body` is its JSON as stored, or null where the version is a deletion. */
export interface Version {
  readonly type: string
  readonly id: string
  readonly version: number
  readonly updatedAt: Date
  readonly method: WriteMethod
  readonly body: string | null
}

export interface VersionRow {
  readonly key?: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly method: number
  readonly body: string | null
}

export function toVersion(row: VersionRow): Version {
  return {
    type: typeName(row.type),
    id: row.id,
    version: row.version,
    updatedAt: row.updated_at,
    method: methodName(row.method),
    body: row.body,
  }
}

/** Those of a version, in both tables. */
export const columns = 'type, id, version, method, updated_at, body'

/** Returns the tables of current and former versions; for a caller who may not see all, with a column that says which it may. */
export function versionTables({ visibility, ...binder }: Seen & Binder): { current: string; former: string } {
  if (!visibility) return { current: 'resource', former: 'history' }
  return {
    current: `(select r.type, r.id, r.version, r.method, r.updated_at, r.body, ${visibility.resource('s', binder)} as is_seen
      from resource r join search s using (key)) resource`,
    former: `(select h.type, h.id, h.version, h.method, h.updated_at, h.body, ${visibility.version('h', binder)} as is_seen
      from history h) history`,
  }
}
