// What was refused, with its reason: listed, shown, sent again, dropped.
import { uuidv7 } from '../../../src/lib/ids.ts'
import { type Incoming, payloadOf, type Stored } from './items.ts'
import type { State } from './state.ts'

export interface Reason {
  readonly origin: 'server' | 'intake' | 'attempts'
  readonly code: string
  readonly message: string
  readonly field?: string | undefined
}

/** An entry without what it holds. */
export interface Quarantined {
  readonly item_id: string
  readonly source: string
  readonly type: string
  readonly op: string
  readonly occurred_at: string
  readonly quarantined_at: string
  readonly origin: Reason['origin']
  readonly code: string
  readonly field: string | null
}

const columns = 'item_id, source, type, op, occurred_at, quarantined_at, origin, code, field'

const reasonOf = (itemId: string): string => `reason ${itemId}`

const insert =
  'insert or replace into quarantine (item_id, source, type, op, occurred_at, quarantined_at, payload, origin, code, field, reason) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'

/** Moves an item out of the queue; nothing behind it waits. Within the transaction under way. */
export function quarantineItem(state: State, item: Stored, reason: Reason, now: number): void {
  add(state, item.item_id, item, item.payload, reason, now)
  state.sql('delete from item where id = ?').run(item.id)
}

/** Keeps what was refused when it was received, so that the operator sees what the sender has. */
export function quarantineIncoming(state: State, item: Incoming, reason: Reason, now: number): void {
  const { source, type, op, occurredAt: occurred_at } = item
  add(
    state,
    item.itemId,
    { source, type, op, occurred_at },
    state.seal(item.payload, payloadOf(item.itemId)),
    reason,
    now,
  )
}

type Kept = Pick<Stored, 'source' | 'type' | 'op' | 'occurred_at'>

function add(state: State, itemId: string, item: Kept, payload: Uint8Array, reason: Reason, now: number): void {
  const { origin, code, message, field } = reason
  const sealed = state.seal(message, reasonOf(itemId))
  state
    .sql(insert)
    .run(itemId, item.source, item.type, item.op, item.occurred_at, now, payload, origin, code, field ?? null, sealed)
}

export function listQuarantine(state: State, limit = 1000): Quarantined[] {
  const rows = state.sql(`select ${columns} from quarantine order by quarantined_at, item_id limit ?`).all(limit)
  return rows.map(row => shown(row))
}

const shown = (row: object): Quarantined => {
  const { quarantined_at, ...rest } = row as Omit<Quarantined, 'quarantined_at'> & { quarantined_at: number }
  return { ...rest, quarantined_at: new Date(quarantined_at).toISOString() }
}

/** An entry with its reason and what it holds: patients' data. */
export function showQuarantined(
  state: State,
  itemId: string,
): (Quarantined & { readonly message: string; readonly payload: unknown }) | undefined {
  const row = state.sql(`select ${columns}, reason, payload from quarantine where item_id = ?`).get(itemId)
  if (!row) return undefined
  const { reason, payload, ...rest } = row as { reason: Uint8Array; payload: Uint8Array }
  return {
    ...shown(rest),
    message: state.unseal(reason, reasonOf(itemId)),
    payload: JSON.parse(state.unseal(payload, payloadOf(itemId))),
  }
}

/**
 * Puts entries back at the end of the queue: the same item, to be tried afresh.
 * @param itemIds absent: all of them
 */
export function retryQuarantine(state: State, itemIds: readonly string[] | undefined, now: number): number {
  return state.transaction(() => {
    const chosen = itemIds ?? listQuarantine(state, 100_000).map(each => each.item_id)
    return chosen.filter(itemId => retryOne(state, itemId, now)).length
  })
}

function retryOne(state: State, itemId: string, now: number): boolean {
  const { changes } = state
    .sql(
      `insert into item (item_id, source, type, op, occurred_at, received_at, payload)
       select item_id, source, type, op, occurred_at, ?, payload from quarantine where item_id = ? on conflict do nothing`,
    )
    .run(now, itemId)
  if (Number(changes) > 0) state.sql('delete from quarantine where item_id = ?').run(itemId)
  return Number(changes) > 0
}

/** Deletes entries for good; the operator has decided. */
export function dropQuarantine(state: State, itemIds: readonly string[] | undefined): number {
  return state.transaction(() => {
    if (!itemIds) return Number(state.sql('delete from quarantine').run().changes)
    const statement = state.sql('delete from quarantine where item_id = ?')
    return itemIds.reduce((sum, itemId) => sum + Number(statement.run(itemId).changes), 0)
  })
}

/** The identity of an item that the agent names itself; one after the other, so that their index grows at its end. */
export const newItemId = (): string => uuidv7()
