// The statements that put rows into the tables of the store, each a single round trip for any number of resources. A statement
// has only the parts that it needs: PostgreSQL opens every table and index that one names, used or not.
import { int2Array, int4Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Queryable, Statement } from '../db/statement.ts'
import { isKeyTaken } from '../db/taken.ts'
import type { Note } from './access.ts'
import type { Addition } from './index/draft.ts'
import { shardOfEntry, shardOfKey } from './index/shard.ts'
import { arraysIn } from './note.ts'
import {
  additionArrays,
  arraysOf,
  type ColumnGroup,
  type ColumnPlace,
  type Created,
  creationArrays,
  type IndexedGroup,
  placesOf,
  placingArrays,
  type Row,
  versionArrays,
} from './row-arrays.ts'
import { addText, insertText, moveText, reindexText, removeText, replaceBodyText, replaceText } from './row-texts.ts'
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

interface Insertion {
  readonly epoch: number
  readonly notes: readonly Note[]
}

/**
 * Inserts new resources with all their index entries, as of the epoch in which those were computed; notes come with them.
 * @throws the database's unique_violation if an id is taken, HI001 if the epoch has passed, HI002 if what was deleted has been created
 * again since it was looked up; Failure CONFLICT before an export's fence.
 */
export async function insert(on: Queryable, rows: readonly Created[], { epoch, notes }: Insertion): Promise<void> {
  const isAgain = rows.some(row => row.former !== 0)
  await on.run(
    statement(
      [isAgain ? 'insert-again' : 'insert', ...notes.map(note => note.name)].join('-'),
      [
        ...groupsOf(rows),
        { group: 'creation', arrays: creationArrays(rows) },
        { group: 'placing', arrays: placingArrays(rows) },
      ],
      [['bigint', epoch], ...notes.flatMap(arraysIn)],
      (place, has) => insertText(place, has, { notes, isAgain }),
    ),
  )
}

/** True if the error says that another writer was first: it has created a resource under the same id, or the same version of one. */
export const isTaken = (error: unknown): boolean => isKeyTaken(error, 'directory') || isKeyTaken(error, 'history')

/** True if the error says that another writer has changed a resource since this one looked it up. */
export const isOvertaken = (error: unknown): boolean => (error as { code?: unknown }).code === 'HI002'

/** What says the same of work that noticed it before it wrote. */
export const overtaken = (): Error => Object.assign(new Error('changed meanwhile'), { code: 'HI002' })

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
  const [leaving, staying] = divided(rows, isLeaving)
  if (staying.length > 0) await on.run(statement('reindex', groupsOf(staying), keysAnd(staying, epoch), reindexText))
  if (leaving.length > 0) await move(on, leaving, { epoch, isNew: false })
}

/** True for what is in another bucket by its new index entries: it is about another patient than before. */
const isLeaving = (row: Keyed): boolean => shardOfEntry(row.entry) !== shardOfKey(row.key)

const divided = <T>(all: readonly T[], isFirst: (each: T) => boolean): [first: T[], second: T[]] => [
  all.filter(isFirst),
  all.filter(each => !isFirst(each)),
]

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
  const [changed, others] = divided(rows, row => row.isReindexed)
  const [leaving, again] = divided(changed, isLeaving)
  const valuesOf = (some: readonly Keyed[]) => [...keysAnd(some, epoch), ['bigint', some.length] as const]
  if (leaving.length > 0) await move(on, leaving, { epoch, isNew: true })
  if (again.length > 0) await on.run(statement('replace', groupsOf(again), valuesOf(again), replaceText))
  if (others.length > 0) {
    const versions = [{ group: 'version' as const, arrays: versionArrays(others) }]
    await on.run(statement('replace-body', versions, valuesOf(others), replaceBodyText))
  }
}

interface Move {
  readonly epoch: number
  /** True if the rows are new versions; false if only their index entries are new. */
  readonly isNew: boolean
}

/** Puts rows into another bucket, history included. */
async function move(on: Queryable, rows: readonly Keyed[], { epoch, isNew }: Move): Promise<void> {
  const placing = { group: 'placing' as const, arrays: placingArrays(rows.map(row => ({ ...row, former: row.key }))) }
  const values = [['bigint', epoch] as const, ['bigint', rows.length] as const]
  const name = isNew ? 'move' : 'move-reindexed'
  await on.run(statement(name, [...groupsOf(rows), placing], values, (place, has) => moveText(place, has, isNew)))
}

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
