// A resource that a search found, as it comes from the tables and as it goes into the answer.
import { typeName } from '../type-number.ts'

/** A resource of the answer, its JSON as stored. */
export interface Hit {
  readonly type: string
  readonly id: string
  readonly body: string
}

export interface HitRow {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly body: string
}

/** What a statement selects of `resource r`, to be a HitRow. */
export const hitColumns = 'r.key, r.type, r.id, r.body'

export function toHit({ type, id, body }: HitRow): Hit {
  return { type: typeName(type), id, body }
}
