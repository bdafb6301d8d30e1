// Rows written in the same transaction as the changes: the caller's record of accesses, and what followers of changes keep.

import { arrayOf, int2Array, textArray } from '../db/arrays.ts'
import { prepared } from '../db/database.ts'
import type { Queryable, Statement, Transaction } from '../db/statement.ts'
import { isResourceType } from '../definitions/r4.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import { type Access, deedOfMethod, type Note } from './access.ts'
import type { Base } from './base.ts'
import { isId } from './ids.ts'
import type { Indexer } from './index/entry.ts'
import { patientsIn } from './patients.ts'
import type { Origin, Principal } from './principal.ts'
import { createBinder } from './search/binder.ts'
import { typeName, typeNumber, type WriteMethod } from './type-number.ts'

/** A change as the caller requested it. */
interface Changing {
  readonly method: WriteMethod
  /** The condition of the request. */
  readonly condition?: string
}

/** The outcome of the change. */
interface Changed {
  readonly type: string
  readonly id: string
  readonly version: number
  /** Undefined after a deletion. */
  readonly body: string | undefined
}

/** A resource that has just been written, and its version before. */
export interface Followed {
  readonly type: string
  readonly id: string
  readonly version: number
  /** The stored version; undefined after a deletion. */
  readonly resource: JsonObject | undefined
  /** The version before; undefined if there was none. */
  former(): JsonObject | undefined
  /** Ids of the patients that it is about or refers to. */
  patients(): readonly string[]
}

/** The questions that a follower may ask. */
export interface FollowerContext {
  /** True if a follower needs every change of a type. */
  isWatched(type: string): boolean
  /**
   * Reads resources by their names, `Type/id`, as they were before the changes, as far as the caller who makes the changes may see
   * them: what it learns of its own resources must not disclose others.
   */
  read(names: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>
}

/** A follower of all changes that have an origin, by any caller. */
export interface Follower {
  /** Returns what to write with the changes; undefined: nothing. */
  note(changes: readonly Followed[], origin: Origin, known: FollowerContext): Promise<Note | undefined>
}

interface Noted {
  readonly change: Changing
  readonly written: Changed
  readonly resource: JsonObject | undefined
  readonly stored: { readonly body: string } | undefined
}

/** The arrays of a note's columns, each with its type. */
export const arraysIn = ({ columns, rows }: Note): (readonly [type: string, array: Buffer])[] =>
  columns.map((type, column) => [
    `${type}[]`,
    arrayOf(
      type,
      rows.map(row => row[column]),
    ),
  ])

/** The statement that writes a note by itself. */
export function noteStatement(note: Note): Statement {
  const arrays = arraysIn(note)
  return {
    name: `note-${note.name}`,
    text: note.insertion(arrays.map(([type], index) => `$${index + 1}::${type}`)),
    values: arrays.map(([, array]) => array),
  }
}

/** The same rows as fewer notes: one of each name. */
export function mergedNotes(notes: readonly Note[]): Note[] {
  const merged = Map.groupBy(notes, each => each.name)
  return [...merged.values()].map(same => ({
    ...same[0]!,
    rows: same.flatMap(each => each.rows),
    committed: () => same.forEach(each => void each.committed()),
  }))
}

/** Writes a note by itself, in the transaction of what it is about. */
export async function writeNote(on: Queryable | Transaction, note: Note): Promise<void> {
  await on.run(noteStatement(note))
  notifyCommitted(on, note)
}

interface Noting {
  readonly on: Queryable
  readonly principal: Principal
  readonly follower: Follower
  readonly indexer: Indexer
}

/** Returns the rows to write with these changes. */
export async function notesOf(session: Noting, changed: readonly Noted[]): Promise<Note[]> {
  if (changed.length === 0) return []
  const { principal, follower, indexer, on } = session
  const { note, origin } = principal
  const kept = note?.(changed.map(({ change, written }) => accessOf(change, written, indexer.base)))
  const known: FollowerContext = { isWatched: indexer.isWatched, read: names => readNamed(on, principal, names) }
  const followed =
    origin &&
    (await follower.note(
      changed.map(each => followedOf(each, indexer.base)),
      origin,
      known,
    ))
  return [kept, followed].filter(each => each !== undefined)
}

/** Only a follower with a costly question pays for it. */
function followedOf({ written, resource, stored }: Noted, base: Base): Followed {
  const { type, id, version } = written
  return {
    ...{ type, id, version, resource },
    former: () => stored && (parseJson(stored.body) as JsonObject),
    patients: () => patientsOf(written, base),
  }
}

function patientsOf({ type, id, body = '' }: Changed, base: Base): string[] {
  return patientsIn([{ type, id, body }], base, type === 'Patient' && isId(id) ? [id] : [])
}

async function readNamed(
  on: Queryable,
  { visibility }: Principal,
  names: readonly string[],
): Promise<Map<string, JsonObject>> {
  const named = names.map(name => cutAt(name, '/')).filter(([type]) => isResourceType(type))
  if (named.length === 0) return new Map()
  const binder = createBinder()
  const types = binder.bind(int2Array(named.map(([type]) => typeNumber(type))))
  const ids = binder.bind(textArray(named.map(([, id]) => id)))
  const text = `select r.type, r.id, r.body from (
      select d.shard, d.key from unnest(${types}::smallint[], ${ids}::text[]) with ordinality as named(type, id) join directory d using (type, id)
    ) placed join resource r using (shard, key) join search s using (shard, key) ${visibility ? `where ${visibility.resource('s', binder)}` : ''}`
  const rows = await on.query<{ type: number; id: string; body: string }>(prepared(text, binder, true))
  return new Map(rows.map(({ type, id, body }) => [`${typeName(type)}/${id}`, parseJson(body) as JsonObject]))
}

/** Reports that a note is written: now, or when its transaction has committed. */
export function notifyCommitted(on: Queryable | Transaction, { committed }: Note): void {
  if ('afterwards' in on) on.afterwards(committed)
  else committed()
}

/** Returns a change as the witness receives it. */
function accessOf({ method, condition }: Changing, written: Changed, base: Base): Access {
  const { type, id, version } = written
  return {
    deed: deedOfMethod[method],
    type,
    id,
    version,
    query: condition === undefined ? undefined : `${type}?${condition}`,
    patients: patientsOf(written, base),
    resources: 1,
  }
}
