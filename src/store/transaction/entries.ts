// The entries of a transaction, and what can be said of them without the database.
import { Failure } from '../../lib/failure.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { mustBeId } from '../ids.ts'
import type { Patch } from '../patch/patch.ts'
import { mustBeAllowed, type Session } from '../session.ts'

/** One entry of a transaction, its URL taken apart. */
export interface TransactionEntry {
  readonly fullUrl: string | undefined
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly type: string
  /** Absent for a creation and for conditional requests. */
  readonly id: string | undefined
  /** Search part of the URL, or If-None-Exist of a creation; what the request is conditional on. */
  readonly query: string | undefined
  readonly resource: unknown
  readonly patch?: Patch
  readonly ifMatch?: number
  readonly createOnly?: boolean
  /** For a PUT: returns what a stored resource becomes; absent: it is replaced. */
  readonly merge?: (stored: JsonObject, sent: JsonObject) => JsonObject | Promise<JsonObject>
}

/** A planned write. */
export interface PlannedWrite {
  readonly entry: TransactionEntry
  readonly index: number
  /** Undefined while a condition has not been looked up, and for a deletion that finds nothing. */
  id: string | undefined
  fresh: boolean
  /** A conditional creation whose resource exists already. */
  isDone: boolean
}

/** True for an entry that changes nothing. */
export const isRead = (entry: TransactionEntry): boolean => entry.method === 'GET' || entry.method === 'HEAD'

/** Plans the write of an entry; a creation without a condition has its id at once. */
export function planOf(entry: TransactionEntry, index: number): PlannedWrite {
  const creates = entry.method === 'POST' && entry.query === undefined
  return { entry, index, id: creates ? uuidv7() : entry.id, fresh: creates, isDone: false }
}

/** @throws Failure FORBIDDEN, if the caller may not do what the entry asks for. */
export function allow(session: Session, entry: TransactionEntry): void {
  const { method, type, query } = entry
  if (isRead(entry)) return
  mustBeAllowed(session, type, method === 'POST' ? 'c' : method === 'DELETE' ? 'd' : 'u')
  if (query !== undefined) mustBeAllowed(session, type, 's')
}

/**
 * Checks what needs no database before one is kept waiting: addresses and ids that entries share.
 * @throws Failure MALFORMED_REQUEST
 */
export function checkFast(entries: readonly TransactionEntry[]): void {
  const seen = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    if (isRead(entry)) continue
    if (entry.id !== undefined) mustBeId(entry.id)
    if (entry.method === 'PUT' && entry.id !== undefined) {
      if (!isObject(entry.resource) || entry.resource['id'] !== entry.id)
        throw at(index, 'structure', `its resource must have the id of its address, "${entry.id}"`)
    }
    if (entry.id === undefined) continue
    const name = `${entry.type}/${entry.id}`
    const other = seen.get(name)
    if (other !== undefined)
      throw at(
        index,
        'duplicate',
        `it changes ${name}, which entry ${other} already changes: each resource must occur once`,
      )
    seen.set(name, index)
  }
  const urls = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    if (isRead(entry) || !entry.fullUrl || entry.method === 'DELETE' || entry.method === 'PATCH') continue
    if (urls.has(entry.fullUrl)) throw at(index, 'duplicate', 'another entry has the same fullUrl')
    urls.add(entry.fullUrl)
  }
}

/** Returns the failure of one entry. @param message what is wrong, as the rest of a sentence without its full stop */
export function at(index: number, code: string, message: string): Failure {
  return new Failure('MALFORMED_REQUEST', `Entry ${index} of the bundle: ${message}.`, {
    details: [{ field: `Bundle.entry[${index}]`, code, message: `Entry ${index} of the bundle: ${message}.` }],
  })
}
