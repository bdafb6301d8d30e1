// Versions of resources as rows, and the tables that they are read from.
import type { Piece } from '../lib/pieces.ts'
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
  readonly body: Piece | null
}

export interface VersionRow {
  readonly key?: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly method: number
  readonly body: Piece | null
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

interface Wanted extends Seen, Binder {
  /** The one resource whose versions are wanted, as SQL for its type and id: the directory says where they are. */
  readonly of?: { readonly type: string; readonly id: string } | undefined
}

/** Returns the tables of current and former versions; for a caller who may not see all, with a column that says which it may. */
export function versionTables({ visibility, of, ...binder }: Wanted): { current: string; former: string } {
  // `offset 0`: the versions are looked for in the bucket that the directory names, and nowhere else.
  const placed = of && `(select * from directory where type = ${of.type}::smallint and id = ${of.id}::text offset 0) d`
  const [current, former] = placed
    ? [`${placed} join resource r using (shard, key)`, `${placed} join history h using (shard, type, id)`]
    : ['resource r', 'history h']
  const name = of ? 'd' : 'r'
  const columnsIn = (row: string): string => 'version, method, updated_at, body'.replace(/\w+/g, `${row}.$&`)
  if (!visibility)
    return {
      current: `(select ${name}.type, ${name}.id, ${columnsIn('r')}, r.shard, r.key from ${current}) resource`,
      former: `(select ${of ? 'd' : 'h'}.type, ${of ? 'd' : 'h'}.id, ${columnsIn('h')}, h.shard, null::bigint as key from ${former}) history`,
    }
  return {
    current: `(select ${name}.type, ${name}.id, ${columnsIn('r')}, r.shard, r.key, ${visibility.resource('s', binder)} as is_seen
      from ${current} join search s using (shard, key)) resource`,
    former: `(select h.type, h.id, ${columnsIn('h')}, h.shard, null::bigint as key, ${visibility.resource('h', binder)} as is_seen
      from ${former}) history`,
  }
}
