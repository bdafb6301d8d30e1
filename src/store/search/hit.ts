// A resource that a search found, as it comes from the tables and as it goes into the answer.
import type { Queryable } from '../../db/statement.ts'
import type { Piece } from '../../lib/pieces.ts'
import { rowArrays } from '../index/shard.ts'
import { typeName } from '../type-number.ts'

/** A resource of the answer, its JSON as stored. */
export interface Hit {
  readonly type: string
  readonly id: string
  readonly body: Piece
}

/** The same as a row of a statement. */
export interface HitRow {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly body: Piece
}

/** What a statement selects of `resource r`, to be a HitRow. */
export const hitColumns = 'r.key, r.type, r.id, r.body'

export function toHit({ type, id, body }: HitRow): Hit {
  return { type: typeName(type), id, body }
}

/** The resources with these row numbers, in the order of these. */
export async function hitsOf(on: Queryable, keys: readonly number[]): Promise<HitRow[]> {
  if (keys.length === 0) return []
  return on.query<HitRow>({
    name: 'hits',
    isFixed: true,
    text: `select ${hitColumns} from resource r where r.shard = any($1::smallint[]) and r.key = any($2::bigint[]) order by r.key`,
    values: rowArrays(keys),
  })
}
