// The current versions of what is to be changed: locked within a transaction, or looked up and checked again by the statement that
// replaces them (rows.ts).
import { int2Array, textArray } from '../db/arrays.ts'
import { prepared, preparedName } from '../db/database.ts'
import { lookUp, type Placed, questionOf } from '../db/look-up.ts'
import type { Queryable } from '../db/statement.ts'
import { rowArrays } from './index/shard.ts'
import { lockNames, namesArrays, type ResourceName } from './lock.ts'
import { type DirectoryRow, placeOf, placesOf } from './place.ts'
import { overtaken } from './rows.ts'
import { createBinder } from './search/binder.ts'
import type { Session } from './session.ts'
import { type Judged, judged, mustSee, seenColumns } from './sight.ts'
import { methods, typeName, typeNumber } from './type-number.ts'
import { byCaller, type Visibility } from './visibility.ts'

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

type Reading = Pick<Session, 'on' | 'principal'>

/** A row of the directory, and the current row of its resource: null if it is deleted. */
interface Found extends Omit<Stored, 'version' | 'updated_at' | 'body'> {
  readonly version: number | null
  readonly updated_at: Date | null
  readonly body: string | null
}

/**
 * Returns the current rows of the changes, locked in one order so that concurrent batches wait for each other instead of
 * deadlocking; for deleted resources, their last version.
 * @throws Failure CONSENT_… if one exists that the caller may not see.
 */
export async function lockCurrent(session: Reading, changes: readonly ResourceName[]): Promise<Current> {
  const { on } = session
  // They travel together; what reads begins when the first has its locks, and sees what their holders did.
  const [, found] = await Promise.all([lockNames(on, changes), rowsOf(on, changes), mustSee(session, changes)])
  return withDeleted(on, found)
}

const rowsOf = async (on: Queryable, named: readonly ResourceName[]): Promise<readonly Found[]> =>
  on.layout === 'distributed'
    ? atPlaces(on, await placesOf(on, named), undefined)
    : on.query<Found>({ name: 'current', text: currentText([]), values: namesArrays(named) })

const columns = ['r.version', 'r.updated_at', 'r.body']

/**
 * The current rows of names that come as the last two parameters.
 * @param more columns of `search`
 */
function currentText(more: readonly string[], constants = 0): string {
  const search = more.length > 0 ? ' left join search s on s.shard = d.shard and s.key = d.key' : ''
  return `select g.place::integer, d.key, d.type, d.id, ${[...columns, ...more].join(', ')}
    from unnest($${constants + 1}::smallint[], $${constants + 2}::text[]) with ordinality as g(type, id, place) join directory d using (type, id)
      left join resource r on r.shard = d.shard and r.key = d.key${search}`
}

/** The same where the tables are distributed, with what the caller may see of each; without a visibility, it is not asked. */
async function atPlaces(
  on: Queryable,
  places: readonly DirectoryRow[],
  visibility: Visibility | undefined,
): Promise<(Found & Judged)[]> {
  if (places.length === 0) return []
  const binder = createBinder()
  for (const value of rowArrays(places.map(({ key }) => key))) binder.bind(value)
  const [seen, search] = visibility
    ? [`, ${seenColumns('s', visibility, binder)}`, ' join search s using (shard, key)']
    : ['', '']
  const text = `select r.key, ${columns.join(', ')}${seen} from resource r${search}
    where r.shard = any($1::smallint[]) and r.key = any($2::bigint[])`
  const rows = await on.query<Found & Judged>(prepared(text, binder, true))
  const known = new Map(rows.map(row => [row.key, row]))
  return places.map(place => ({ ...place, ...(known.get(place.key) ?? nothing) }) as Found & Judged)
}

const nothing = { version: null, updated_at: null, body: null }

/** How the current row of a change is found. */
const finding = byCaller(visibility => {
  const binder = createBinder()
  const text = currentText(visibility ? [seenColumns('s', visibility, binder)] : [], binder.values.length)
  return questionOf({ name: preparedName(text), text, constants: binder.values, arrays: [int2Array, textArray] })
})

/**
 * Returns the current row of one change without a lock, by a statement that requests of the same moment share.
 * @throws what isOvertaken tells if another writer has just moved it; Failure CONSENT_… if it exists and the caller may not see it;
 * FORBIDDEN if it belongs to another owner.
 */
export async function findCurrent({ on, principal }: Reading, named: ResourceName): Promise<Current> {
  const { visibility } = principal
  const row = await (on.layout === 'distributed' ? findPlaced : findWhole)(on, named, visibility)
  if (row && row.body !== null && visibility) await judged(on, visibility, row)
  return withDeleted(on, row ? [row] : [])
}

type Find = (
  on: Queryable,
  named: ResourceName,
  visibility: Visibility | undefined,
) => Promise<(Found & Judged) | undefined>

const findWhole: Find = (on, { type, id }, visibility) =>
  lookUp<Found & Judged & Placed>(on, { question: finding(visibility), key: [typeNumber(type), id] })

const findPlaced: Find = async (on, named, visibility) => {
  const place = await placeOf(on, named)
  return place && (await atPlaces(on, [place], visibility))[0]
}

/** With the last versions of what is deleted. @throws what isOvertaken tells if it is not deleted: it has just moved. */
async function withDeleted(on: Queryable, found: readonly Found[]): Promise<Current> {
  const gone = found.filter(row => row.body === null).map(row => ({ type: typeName(row.type), id: row.id }))
  const last =
    gone.length === 0
      ? []
      : await on.query<LastVersion>({ name: 'last-versions', isFixed: true, text: lastText, values: namesArrays(gone) })
  const known = new Map(last.map(row => [`${row.type}/${row.id}`, row]))
  return new Map(
    found.map((row): readonly [string, Stored | Deleted] => {
      const { type, id, key } = row
      if (row.body !== null) return [`${typeName(type)}/${id}`, row as Stored]
      const deleted = known.get(`${type}/${id}`)
      if (deleted?.method !== methods.DELETE) throw overtaken()
      return [
        `${typeName(type)}/${id}`,
        { type, id, key, version: deleted.version, updated_at: deleted.updated_at, body: null },
      ]
    }),
  )
}

interface LastVersion {
  readonly type: number
  readonly id: string
  readonly version: number
  readonly method: number
  readonly updated_at: Date
}

const lastText = `select h.type, h.id, h.version, h.method, h.updated_at from (
    select h.shard, h.type, h.id, max(h.version) as version
    from (select d.shard, d.type, d.id from unnest($1::smallint[], $2::text[]) with ordinality as g(type, id) join directory d using (type, id)) placed
    join history h using (shard, type, id) group by h.shard, h.type, h.id
  ) last join history h using (shard, type, id, version)`
