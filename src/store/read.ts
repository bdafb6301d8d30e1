// Reads stored versions; bodies come out as they were stored.

import { int2Array, textArray } from '../db/arrays.ts'
import { preparedName } from '../db/database.ts'
import { lookUp, type Placed, questionOf } from '../db/look-up.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { lockNames, type ResourceName } from './lock.ts'
import { placeOf } from './place.ts'
import type { Reading } from './principal.ts'
import { createBinder } from './search/binder.ts'
import { methods, typeNumber } from './type-number.ts'
import { columns, toVersion, type Version, type VersionRow, versionTables } from './versions.ts'
import { byCaller, type Visibility } from './visibility.ts'

/** A row of the statement for many keys. */
type FoundRow = VersionRow & Placed

const currentColumns = 'r.type, r.id, r.version, r.updated_at, r.method, r.body'

/** Columns of the current version, of the keys that come as the last two parameters, which follow the constants. */
const found = (constants: number): string =>
  `select place::integer, ${currentColumns}
    from (
      select g.place, d.key, d.shard
      from unnest($${constants + 1}::smallint[], $${constants + 2}::text[]) with ordinality as g(type, id, place) join directory d using (type, id)
    ) placed join resource r using (shard, key)`

const arrays = [int2Array, textArray]

/** How current versions are read that the caller may see; without a visibility, all of them. */
const reading = byCaller(visibility => {
  const binder = createBinder()
  const isSeen = visibility?.resource('s', binder)
  const where = isSeen ? ` join search s using (shard, key) where ${isSeen}` : ''
  const text = `${found(binder.values.length)}${where}`
  return questionOf({ name: visibility ? preparedName(text) : 'read', text, constants: binder.values, arrays })
})

/** The same where the tables are distributed, of one row whose place the directory has told. */
const readingPlaced = byCaller(visibility => {
  const binder = createBinder()
  const { bind } = binder
  const place = `r.shard = ${bind(0)}::smallint and r.key = ${bind(0)}::bigint`
  const isSeen = visibility?.resource('s', binder)
  const joined = isSeen ? ' join search s using (shard, key)' : ''
  const text = `select ${currentColumns} from resource r${joined}
    where ${place}${isSeen ? ` and ${isSeen}` : ''}`
  return { name: visibility ? preparedName(text) : 'read-placed', text, constants: binder.values.slice(2) }
})

/**
 * The current version. https://hl7.org/fhir/R4/http.html#read
 * With `lock`, others that want to change it wait until this transaction ends.
 * @throws Failure NOT_FOUND if there never was one, GONE if it was deleted.
 */
export async function read(
  on: Queryable,
  type: string,
  id: string,
  options?: { lock?: boolean },
): Promise<Version & { body: string }> {
  return tried(on, type, id, () => readVisible(on, undefined, type, id, options))
}

/** How often a resource is looked for that others keep moving. */
const mostTries = 3

/**
 * Returns what the look-up finds. It finds nothing for once where another writer puts the resource into another bucket meanwhile.
 * @throws as read; Failure CONFLICT if it is there, but is not found.
 */
export async function tried<Found>(
  on: Queryable,
  type: string,
  id: string,
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const found = await look()
    if (found) return found
    await mustBeThere(on, type, id)
  }
  throw new Failure('CONFLICT', `Other requests keep changing ${type}/${id}: try again.`, { retryAfter: 1 })
}

/** The current version if it is there and the caller may see it, by one statement. */
export async function readVisible(
  on: Queryable,
  visibility: Visibility | undefined,
  type: string,
  id: string,
  { lock = false } = {},
): Promise<(Version & { body: string }) | undefined> {
  if (lock) await lockNames(on, [{ type, id }])
  if (on.layout === 'distributed') return readPlaced(on, visibility, { type, id })
  const row = await lookUp<FoundRow>(on, { question: reading(visibility), key: [typeNumber(type), id] })
  return row && (toVersion(row) as Version & { body: string })
}

async function readPlaced(
  on: Queryable,
  visibility: Visibility | undefined,
  named: ResourceName,
): Promise<(Version & { body: string }) | undefined> {
  const place = await placeOf(on, named)
  if (!place) return undefined
  const { name, text, constants } = readingPlaced(visibility)
  const values = [place.shard, place.key, ...constants]
  const [row] = await on.query<VersionRow>({ ...(name && { name }), text, values, isFixed: true })
  return row && (toVersion(row) as Version & { body: string })
}

/** @throws Failure NOT_FOUND, or GONE if it was deleted. */
async function mustBeThere(on: Queryable, type: string, id: string): Promise<void> {
  const [last] = await on.query<{ version: number; method: number }>({
    name: 'read-gone',
    isFixed: true,
    text: `select h.version, h.method from directory d join history h using (shard, type, id)
      where d.type = $1 and d.id = $2 order by h.version desc limit 1`,
    values: [typeNumber(type), id],
  })
  if (last && last.method !== methods.DELETE) return
  if (last)
    throw new Failure('GONE', `${type}/${id} was deleted (version ${last.version}).`, {
      headers: { etag: `W/"${last.version}"` },
    })
  throw new Failure('NOT_FOUND', `There is no ${type}/${id}.`)
}

/**
 * One version, current or not. https://hl7.org/fhir/R4/http.html#vread
 * @throws Failure NOT_FOUND for an unknown version, GONE if that version is the deletion.
 */
export async function readVersion(
  { on, principal }: Reading,
  type: string,
  id: string,
  version: number,
): Promise<Version & { body: string }> {
  const binder = createBinder()
  for (const value of [typeNumber(type), id, version]) binder.bind(value)
  const { current, former } = versionTables({
    ...binder,
    visibility: principal.visibility,
    of: { type: '$1', id: '$2' },
  })
  const where = `where version = $3${principal.visibility ? ' and is_seen' : ''}`
  const [row] = await on.query<VersionRow>({
    name: principal.visibility ? undefined : 'read-version',
    isFixed: true,
    text: `select ${columns} from ${current} ${where} union all select ${columns} from ${former} ${where}`,
    values: binder.values,
  })
  if (!row) throw new Failure('NOT_FOUND', `There is no version ${version} of ${type}/${id}.`)
  if (row.body === null) throw new Failure('GONE', `Version ${version} of ${type}/${id} is a deletion.`)
  return toVersion(row) as Version & { body: string }
}
