// The statements that put rows into the tables of the store, each a single round trip for any number of resources. A statement
// has only the parts that it needs: PostgreSQL opens every table and index that one names, used or not.
import { int2Array, int4Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Queryable, Statement } from '../db/statement.ts'
import { isKeyTaken } from '../db/taken.ts'
import type { Note } from './access.ts'
import type { Addition } from './index/draft.ts'
import { arraysIn } from './note.ts'
import { ownedTypes } from './owners/rules.ts'
import {
  additionArrays,
  arraysOf,
  type ColumnGroup,
  type ColumnPlace,
  type Created,
  creationArrays,
  type IndexedGroup,
  nobody,
  placesOf,
  type Row,
  versionArrays,
} from './row-arrays.ts'
import { methods, typeNumber } from './type-number.ts'

const always: readonly IndexedGroup[] = ['version', 'entry', 'tokens', 'refs', 'texts', 'about']
const optional: readonly IndexedGroup[] = ['spans', 'codes', 'words', 'terms', 'grams']

const texts = new Map<string, string>()

/** A statement of this name over the groups; its text is made once for each choice of groups. */
function statement(
  name: string,
  groups: readonly { readonly group: ColumnGroup; readonly arrays: readonly Buffer[] }[],
  values: readonly (readonly [type: string, value: unknown])[],
  write: (place: ColumnPlace, has: ReadonlySet<ColumnGroup>) => string,
): Statement {
  const present = groups.map(each => each.group)
  const full = [name, ...present.filter(group => optional.some(each => each === group))].join(' ')
  let text = texts.get(full)
  if (text === undefined) {
    const places = placesOf(
      present,
      values.map(([type]) => type),
    )
    texts.set(full, (text = write(places, new Set(present))))
  }
  return { name: full, text, values: [...groups.flatMap(each => each.arrays), ...values.map(([, value]) => value)] }
}

/** All that the rows need to have written. */
function groupsOf(rows: readonly Row[]) {
  const arrays = arraysOf(rows)
  return [...always, ...optional]
    .filter(group => arrays[group].length > 0)
    .map(group => ({ group, arrays: arrays[group] }))
}

/**
 * Fails the statement, so that the work is run again, if the writer does not know all search parameters, or if its time is before
 * the promise of an export (export/fence.ts). See the migration 0003-writing.
 */
const guard = (epoch: string, times: string | undefined): string =>
  `guard as materialized (select may_write(${epoch}, ${times ? `(select min(updated_at) from ${times})` : 'null'}) as ok)`

const given = (place: ColumnPlace, ...groups: ColumnGroup[]): string =>
  `${place.unnest(...groups)} with ordinality as given(${place.names(...groups)}, ord)`

const searchValues = (place: ColumnPlace): string => `key, self, nullif(patient, 0), date, date_high, type,
  (${place.array('tokens')})[token_from:token_to], (${place.array('refs')})[ref_from:ref_to], (${place.array('texts')})[text_from:text_to],
  subject, nullif((${place.array('about')})[about_from:about_to], '{}')`

const searchColumns = 'key, self, patient, date, date_high, type, tokens, refs, texts, subject, about'

/** The narrow rows of what stands in `source`, as parts of a statement; none for groups that hold nothing. */
function indexRows(source: string, author: string, place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string {
  const values = (group: ColumnGroup): string => `${place.unnest(group)} as v(${place.names(group)})`
  const parts: string[] = []
  if (has.has('spans'))
    parts.push(`spans as (
      insert into span (low, high, token, unit, key, param)
      select v.low, v.high, v.token, v.unit, ${source}.key, v.param from ${values('spans')} join ${source} using (ord)
    )`)
  if (has.has('codes'))
    parts.push(`codes as (
      insert into coded (posting, date, key, subject, author)
      select v.posting, ${source}.date, ${source}.key, ${source}.subject, ${author} from ${values('codes')} join ${source} using (ord)
    )`)
  if (has.has('terms'))
    parts.push(`terms as (
      insert into term (posting, param, folded, grams)
      select distinct on (param, posting) posting, param, folded, (${place.array('grams')})[gram_from:gram_to] from ${values('terms')}
      where not exists (select from term t where t.param = v.param and t.posting = v.posting)
    )`)
  if (has.has('words'))
    parts.push(`words as (
      insert into word (key, param, folded, exact)
      select ${source}.key, v.param, v.folded, v.exact from ${values('words')} join ${source} using (ord)
    )`)
  return parts.map(part => `, ${part}`).join('')
}

/** What comes with the rows, as parts of their statement. */
function notesIn(notes: readonly Note[], place: ColumnPlace, from: number): string {
  let next = from
  return notes
    .map(({ name, insertion, columns }) => `, note_${name} as (${insertion(columns.map(() => place.value(next++)))})`)
    .join('')
}

const owned = ownedTypes.map(typeNumber).join(', ')

const insertText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>, notes: readonly Note[]): string => `
  with input as (
    select nextval('resource_key_seq') as key, given.* from ${given(place, 'version', 'entry', 'creation')}
  ), ${guard(place.value(0), 'input')}, resources as (
    insert into resource (key, type, id, version, method, updated_at, body) overriding system value
    select key, type, id, version, method, to_timestamp(updated_at / 1000.0), body from input, guard where guard.ok
    returning type, id, version
  ), searches as (
    insert into search (${searchColumns}, author, owner)
    select ${searchValues(place)}, author, case when type in (${owned}) then nullif(owner, '${nobody}') end from input
  )${indexRows('input', 'input.author', place, has)}${notesIn(notes, place, 2)}
  select bool_and(is_latest(type, id, version)) from resources where ${place.value(1)}`

interface Insertion {
  readonly epoch: number
  readonly notes: readonly Note[]
}

/**
 * Inserts new resources with all their index entries, as of the epoch in which those were computed; notes come with them.
 * @throws the database's unique_violation if an id is taken, HI001 if the epoch has passed, HI002 if a version was used since it
 * was looked up (what does not exist yet cannot be locked); Failure CONFLICT before an export's fence.
 */
export async function insert(on: Queryable, rows: readonly Created[], { epoch, notes }: Insertion): Promise<void> {
  const isFresh = rows.every(row => row.isFresh)
  const values = [['bigint', epoch] as const, ['boolean', !isFresh] as const]
  await on.run(
    statement(
      ['insert', ...notes.map(note => note.name)].join('-'),
      [...groupsOf(rows), { group: 'creation', arrays: creationArrays(rows) }],
      [...values, ...notes.flatMap(arraysIn)],
      (place, has) => insertText(place, has, notes),
    ),
  )
}

/** True if the error says that another writer has created a resource under the same id first: no sequence gives a row number twice. */
export const isTaken = (error: unknown): boolean => isKeyTaken(error, 'resource')

/** True if the error says that another writer has changed a resource since this one looked it up. */
export const isOvertaken = (error: unknown): boolean => (error as { code?: unknown }).code === 'HI002'

// The rows of a resource are found again by its postings and its date; a further index on the key would cost as much as it saves.
const deleteCodes = (source: string): string =>
  `delete from coded c using ${source} join search s using (key) where c.posting = any(s.tokens) and c.date = s.date and c.key = s.key`

const replaceIndex = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `searches as (
    update search s set patient = v.patient, date = v.date, date_high = v.date_high, tokens = v.tokens, refs = v.refs, texts = v.texts,
      subject = v.subject, about = v.about
    from (select ${searchValues(place)} from changed) as v(${searchColumns}) where s.key = v.key
  ), old_codes as (
    ${deleteCodes('changed')}
  ), old_spans as (
    delete from span where key in (select key from changed)
  ), old_words as (
    delete from word where key in (select key from changed)
  )${indexRows('changed', '(select s.author from search s where s.key = changed.key)', place, has)}`

/** Rows of known keys, which come as the statement's first value. */
const keyed = (place: ColumnPlace, ...groups: ColumnGroup[]): string =>
  `select given.*, known.key from ${given(place, ...groups)} join unnest(${place.value(0)}) with ordinality as known(key, ord) using (ord)`

const versionColumns = 'updated_at, version, type, method, id, body'

// Where the rows are not locked yet, another writer may have replaced them since they were looked up.
const lockedRows = (source: string, strength: 'update' | 'no key update'): string => `locked as materialized (
    select r.updated_at, r.version, r.type, r.method, r.id, r.body, r.key from ${source} join resource r using (key), guard
    where guard.ok and r.version = ${source}.version - 1 order by r.type, r.id for ${strength} of r
  )`

/** @param count the place of the number of rows that were to be locked */
const allLocked = (count: string): string => `select are_current((select count(*) from locked), ${count})`

const archived = `
    insert into history (${versionColumns}, subject, author, about, owner)
    select ${versionColumns.replace(/\w+/g, 'l.$&')}, s.subject, s.author, s.about, s.owner from locked l join search s using (key)`

const replaceBody = `${lockedRows('input', 'no key update')}, archived as (${archived}
  ), resources as (
    update resource r set version = input.version, method = input.method, updated_at = to_timestamp(input.updated_at / 1000.0), body = input.body
    from input join locked using (key) where r.key = input.key
  )`

const replaceText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `
  with input as (${keyed(place, 'version', 'entry')}), ${guard(place.value(1), 'input')}, ${replaceBody}, changed as (
    select * from input
  ), ${replaceIndex(place, has)}
  ${allLocked(place.value(2))}`

const replaceBodyText = (place: ColumnPlace): string => `
  with input as (${keyed(place, 'version')}), ${guard(place.value(1), 'input')}, ${replaceBody}
  ${allLocked(place.value(2))}`

const reindexText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `
  with ${guard(place.value(1), undefined)}, changed as (
    select known.* from guard, (${keyed(place, 'version', 'entry')}) known where guard.ok
  ), ${replaceIndex(place, has)}
  select`

const addText = (place: ColumnPlace, has: ReadonlySet<ColumnGroup>): string => `
  with ${guard(place.value(1), undefined)}, changed as (
    select given.*, known.key from guard, ${given(place, 'addition')}
    join unnest(${place.value(0)}) with ordinality as known(key, ord) using (ord) where guard.ok
  ), searches as (
    update search s set tokens = s.tokens || (${place.array('tokens')})[token_from:token_to], refs = s.refs || (${place.array('refs')})[ref_from:ref_to]
    from changed where s.key = changed.key and (token_to >= token_from or ref_to >= ref_from)
  )${indexRows('changed', '0', place, has)}
  select`

/** A row that is stored already. */
export interface Keyed extends Row {
  readonly key: number
}

/** A row whose index entries may stay as they are. */
export interface Replaced extends Keyed {
  readonly isReindexed: boolean
}

const keysAnd = (rows: readonly Keyed[], epoch: number) =>
  [['bigint[]', safeInt8Array(rows.map(row => row.key))] as const, ['bigint', epoch] as const] as const

/** Keeps the epoch until the transaction ends. @throws the database's HI001 if it has passed. */
export async function mayWrite(on: Queryable, epoch: number): Promise<void> {
  await on.run({ name: 'may-write', text: 'select may_write($1::bigint, null)', values: [epoch] })
}

/**
 * Indexes stored resources again, without changing them; they must be locked.
 * @throws the database's HI001 if the epoch has passed.
 */
export async function reindex(on: Queryable, rows: readonly Keyed[], epoch: number): Promise<void> {
  if (rows.length > 0) await on.run(statement('reindex', groupsOf(rows), keysAnd(rows, epoch), reindexText))
}

/** What is added to the index entry of a stored row. */
export interface Added {
  readonly key: number
  readonly addition: Addition
}

/**
 * Adds to the index entries of stored resources, which must be locked, and must not have it yet.
 * @throws as reindex.
 */
export async function add(on: Queryable, rows: readonly Added[], epoch: number): Promise<void> {
  if (rows.length === 0) return
  const arrays = additionArrays(rows.map(row => row.addition))
  const groups = (['addition', 'tokens', 'refs', 'spans', 'words', 'terms', 'grams'] as const)
    .filter(group => arrays[group].length > 0)
    .map(group => ({ group, arrays: arrays[group] }))
  const values = [['bigint[]', safeInt8Array(rows.map(row => row.key))] as const, ['bigint', epoch] as const]
  await on.run(statement('add-entries', groups, values, addText))
}

/**
 * Puts new versions in the place of current ones, which go to history; index rows are touched only where they changed.
 * @throws as insert; HI002 if one is not the version before any more.
 */
export async function replace(on: Queryable, rows: readonly Replaced[], epoch: number): Promise<void> {
  const again = rows.filter(row => row.isReindexed)
  const others = rows.filter(row => !row.isReindexed)
  const valuesOf = (some: readonly Keyed[]) => [...keysAnd(some, epoch), ['bigint', some.length] as const]
  if (again.length > 0) await on.run(statement('replace', groupsOf(again), valuesOf(again), replaceText))
  if (others.length > 0) {
    const versions = [{ group: 'version' as const, arrays: versionArrays(others) }]
    await on.run(statement('replace-body', versions, valuesOf(others), replaceBodyText))
  }
}

const removeText = `
  with gone as (
    select gone.* from unnest($1::bigint[], $2::smallint[], $3::text[], $4::integer[], $5::bigint[]) as gone(key, type, id, version, updated_at)
  ), ${guard('null', 'gone')}, ${lockedRows('gone', 'update')}, archived as (${archived}
    union all
    select to_timestamp(gone.updated_at / 1000.0), gone.version, gone.type, $6::smallint, gone.id, null, s.subject, s.author, s.about, s.owner
    from gone join locked using (key) join search s using (key)
  ), codes as (
    ${deleteCodes('gone')}
  ), spans as (
    delete from span where key in (select key from gone)
  ), words as (
    delete from word where key in (select key from gone)
  ), searches as (
    delete from search where key in (select key from gone)
  ), resources as (
    delete from resource where key in (select key from locked)
  )
  ${allLocked('$7::bigint')}`

/** A resource to be taken out, and the version of its deletion. */
export interface Removed {
  readonly key: number
  readonly type: string
  readonly id: string
  readonly version: number
  readonly updatedAt: Date
}

/**
 * Takes resources out of everything but history, which gains the last version and a mark of the deletion.
 * @throws the database's HI002 if one is not the version before any more; Failure CONFLICT before an export's fence.
 */
export async function remove(on: Queryable, gone: readonly Removed[]): Promise<void> {
  await on.run({
    name: 'remove-resources',
    text: removeText,
    values: [
      safeInt8Array(gone.map(row => row.key)),
      int2Array(gone.map(row => typeNumber(row.type))),
      textArray(gone.map(row => row.id)),
      int4Array(gone.map(row => row.version)),
      safeInt8Array(gone.map(row => row.updatedAt.getTime())),
      methods.DELETE,
      gone.length,
    ],
  })
}
