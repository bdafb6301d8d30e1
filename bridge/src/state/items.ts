// Items as they are stored: received, counted, recognised when they come again.
import { createHash } from 'node:crypto'
import type { ItemType } from '../../../src/lib/bridge-item-types.ts'
import type { State } from './state.ts'

/** What an input received and hands over for storage. */
export interface Incoming {
  readonly source: string
  readonly itemId: string
  readonly type: ItemType
  readonly op: 'upsert' | 'delete'
  /** ISO 8601, by the server's clock. */
  readonly occurredAt: string
  /** JSON text. */
  readonly payload: string
  /** The same for the same message sent again; absent: every one is new. */
  readonly fingerprint?: Buffer
}

export interface Stored {
  readonly id: number
  readonly item_id: string
  readonly source: string
  readonly type: ItemType
  readonly op: string
  readonly occurred_at: string
  readonly payload: Uint8Array
  readonly seq: number | null
  readonly attempts: number
}

/** The context that a payload is sealed for: two rows of the database that are swapped cannot be read. */
export const payloadOf = (itemId: string): string => `payload ${itemId}`

/** A fingerprint of parts; 16 bytes are enough to tell a clinic's messages apart. */
export function fingerprintOf(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest().subarray(0, 16)
}

/** Stores an item within the transaction under way; false if it is known already. */
export function addItem(state: State, item: Incoming, now: number): boolean {
  if (item.fingerprint && !remember(state, item.fingerprint, now)) return false
  const payload = state.seal(item.payload, payloadOf(item.itemId))
  state
    .sql(
      'insert into item (item_id, source, type, op, occurred_at, received_at, payload) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing',
    )
    .run(item.itemId, item.source, item.type, item.op, item.occurredAt, now, payload)
  return true
}

/** False if it is remembered already. */
function remember(state: State, fingerprint: Buffer, now: number): boolean {
  const { changes } = state.sql('insert or ignore into seen values (?, ?)').run(fingerprint, now)
  return Number(changes) > 0
}

/** Forgets fingerprints from before a time. */
export function forgetSeen(state: State, before: number): number {
  return Number(state.sql('delete from seen where at < ?').run(before).changes)
}

export interface Tally {
  readonly count: number
  readonly bytes: number
}

export function tally(state: State, table: 'item' | 'quarantine'): Tally {
  return state.sql('select count, bytes from tally where name = ?').get(table) as unknown as Tally
}

/** When the oldest item that is not yet sent was received; undefined: there is none. */
export function oldest(state: State): number | undefined {
  const row = state.sql('select received_at from item order by id limit 1').get() as { received_at: number } | undefined
  return row?.received_at
}
