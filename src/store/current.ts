// The current versions of what is to be changed: locked within a transaction, or looked up and checked again by the statement that
// replaces them (rows.ts).
import { int2Array, textArray } from '../db/arrays.ts'
import { preparedName } from '../db/database.ts'
import { lookUp, type Placed, questionOf } from '../db/look-up.ts'
import { overtaken } from './rows.ts'
import { createBinder } from './search/binder.ts'
import type { Session } from './session.ts'
import { type Judged, judged, mustSee, seenColumns } from './sight.ts'
import { typeName, typeNumber } from './type-number.ts'
import { byCaller } from './visibility.ts'

export interface Stored {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

/**
 * The last version of a resource that is deleted now: a resource created again under its id continues from it. The directory has the
 * row number that it had.
 */
export interface Deleted extends Omit<Stored, 'body'> {
  readonly body: null
}

/** By name, `Type/id`. */
export type Current = ReadonlyMap<string, Stored | Deleted>

interface Named {
  readonly type: string
  readonly id: string
}

type Reading = Pick<Session, 'on' | 'principal'>

/**
 * Returns the current rows of the changes, locked in one order so that concurrent batches wait for each other instead of
 * deadlocking; for deleted resources, their last version.
 *
 * Where another writer deletes one, or puts it into another bucket, while its row is waited for, the statement sees it as it was
 * before and does not get its row.
 * @throws what isOvertaken tells in that case; Failure CONSENT_… if one exists that the caller may not see.
 */
export async function lockCurrent(session: Reading, changes: readonly Named[]): Promise<Current> {
  const found = session.on.query<(Stored | Deleted) & { is_torn: boolean }>({
    name: 'lock-current',
    text: `with wanted as (
        select d.key, d.shard, d.type, d.id
        from (select distinct type, id from unnest($1::smallint[], $2::text[]) as given(type, id)) given join directory d using (type, id)
      ), current as materialized (
        select r.key, r.type, r.id, r.version, r.updated_at, r.body from wanted join resource r using (shard, key)
        order by r.type, r.id for update of r
      )
      select *, false as is_torn from current
      union all
      select w.key, w.type, w.id, last.version, last.updated_at, null, exists (select from resource r where r.shard = w.shard and r.key = w.key)
      from wanted w left join lateral (${lastVersion('w')}) last on true
      where not exists (select from current c where c.key = w.key)`,
    values: [int2Array(changes.map(change => typeNumber(change.type))), textArray(changes.map(change => change.id))],
  })
  // Both travel together; the second begins when the first has its locks.
  const [locked] = await Promise.all([found, mustSee(session, changes)])
  if (locked.some(row => row.is_torn)) throw overtaken()
  return new Map(locked.map(row => [`${typeName(row.type)}/${row.id}`, row]))
}

const lastVersion = (named: string): string =>
  `select h.version, h.updated_at from history h
    where h.shard = ${named}.shard and h.type = ${named}.type and h.id = ${named}.id order by h.version desc limit 1`

/** How the current row of a change is found, or the last version of what is deleted. */
const finding = byCaller(visibility => {
  const binder = createBinder()
  const seen = visibility ? seenColumns('s', visibility, binder) : undefined
  const [types, ids] = [binder.values.length + 1, binder.values.length + 2]
  const text = `select place::integer, d.key, given.type, given.id, coalesce(r.version, last.version) as version,
      coalesce(r.updated_at, last.updated_at) as updated_at, r.body${seen ? `, ${seen}` : ''}
    from unnest($${types}::smallint[], $${ids}::text[]) with ordinality as given(type, id, place)
    join directory d on d.type = given.type and d.id = given.id
    left join resource r on r.shard = d.shard and r.key = d.key${seen ? ' left join search s on s.shard = d.shard and s.key = d.key' : ''}
    left join lateral (${lastVersion('d')}) last on r.key is null
    where r.key is not null or last.version is not null`
  return questionOf({ name: preparedName(text), text, constants: binder.values, arrays: [int2Array, textArray] })
})

/**
 * Returns the current row of one change without a lock, by a statement that requests of the same moment share.
 * @throws Failure CONSENT_… if it exists and the caller may not see it; FORBIDDEN if it belongs to another owner.
 */
export async function findCurrent({ on, principal }: Reading, { type, id }: Named): Promise<Current> {
  const { visibility } = principal
  const key = [typeNumber(type), id]
  const row = await lookUp<(Stored | Deleted) & Judged & Placed>(on, { question: finding(visibility), key })
  if (row && row.body !== null && visibility) await judged(on, visibility, row)
  return new Map(row ? [[`${type}/${id}`, row]] : [])
}
