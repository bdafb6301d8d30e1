// Locks of resources: a writer holds the row of the directory of each resource that it changes. The directory is on the server that
// statements are sent to, wherever the resource is (docs/decisions/0092-portable-statements.md).
import { int2Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { typeNumber } from './type-number.ts'

/** Names a resource. */
export interface ResourceName {
  readonly type: string
  readonly id: string
}

/** The names as two parameters, `smallint[]` and `text[]`. */
export const namesArrays = (named: readonly ResourceName[]): [types: Buffer, ids: Buffer] => [
  int2Array(named.map(each => typeNumber(each.type))),
  textArray(named.map(each => each.id)),
]

/**
 * Locks what is stored under these names, or was, until the transaction ends, in one order. The statements after it see what those who
 * held the locks have done.
 */
export const lockNames = (on: Queryable, named: readonly ResourceName[]): Promise<void> =>
  on.run({ name: 'lock-names', text: lockText(''), values: namesArrays(named) })

/** The same for those that nobody else holds. @returns the row numbers of these */
export async function lockFree(on: Queryable, named: readonly ResourceName[]): Promise<readonly number[]> {
  const held = await on.query<{ key: number }>({
    name: 'lock-free',
    text: lockText(' skip locked'),
    values: namesArrays(named),
  })
  return held.map(({ key }) => key)
}

const lockText = (otherwise: string): string =>
  `select d.key from unnest($1::smallint[], $2::text[]) as given(type, id) join directory d using (type, id)
    order by d.type, d.id for no key update of d${otherwise}`
