// A resource that a search found, as it comes from the tables and as it goes into the answer.
import { typeName } from '../type-number.ts'

/** A resource of the answer, its JSON as stored. */
export interface Hit {
  readonly type: string
  readonly id: string
  readonly version: number
  readonly updatedAt: Date
  readonly body: string
}

export interface HitRow {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

/** What a statement selects of `resource r`, to be a HitRow. */
export const hitColumns = 'r.key, r.type, r.id, r.version, r.updated_at, r.body'

export function toHit(row: HitRow): Hit {
  return { type: typeName(row.type), id: row.id, version: row.version, updatedAt: row.updated_at, body: row.body }
}
