// The items that are stored, so that each is stored once.
import { createHash } from 'node:crypto'
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { isObject } from '../lib/json.ts'
import type { BridgeItem } from './item.ts'

/** What an item is known by. */
export interface Mark {
  readonly item: string
  /** SHA-256 of an HL7 v2 message, whose control id makes it differ from all others. */
  readonly message: Buffer | undefined
}

export function markOf({ item_id: item, type, payload }: BridgeItem): Mark {
  const text = type === 'hl7v2' && isObject(payload) ? payload['message'] : undefined
  return { item, message: typeof text === 'string' ? createHash('sha256').update(text).digest() : undefined }
}

/** The items and messages of an agent that are stored. */
export interface Ledger {
  has(mark: Mark): boolean
  /** Adds an item that is stored now. */
  add(mark: Mark, seq: number): void
  /** Writes what was added. */
  save(): Promise<void>
}

/** Reads what is stored of these items. */
export async function openLedger(on: Queryable, agent: string, marks: readonly Mark[]): Promise<Ledger> {
  const messages = marks.flatMap(({ message }) => message ?? [])
  const rows = await on.query<{ item_id: string; message: Buffer | null }>({
    name: 'bridge-stored',
    text: `select item_id, null::bytea as message from bridge_item where agent_id = $1 and item_id = any($2::text[])
      union all select item_id, message from bridge_item where agent_id = $1 and message = any($3::bytea[])`,
    values: [agent, textArray(marks.map(({ item }) => item)), messages],
  })
  const items = new Set(rows.map(row => row.item_id))
  const stored = new Set(rows.flatMap(row => row.message?.toString('hex') ?? []))
  const added: { mark: Mark; seq: number }[] = []
  return {
    has: ({ item, message }) => items.has(item) || (message !== undefined && stored.has(message.toString('hex'))),
    add(mark, seq) {
      items.add(mark.item)
      if (mark.message) stored.add(mark.message.toString('hex'))
      added.push({ mark, seq })
    },
    async save() {
      if (added.length === 0) return
      await on.run({
        name: 'bridge-store',
        text: `insert into bridge_item (agent_id, item_id, seq, message)
          select $1, item, seq, message from unnest($2::text[], $3::bigint[], $4::bytea[]) as row(item, seq, message)`,
        values: [
          agent,
          textArray(added.map(({ mark }) => mark.item)),
          added.map(({ seq }) => seq),
          added.map(({ mark }) => mark.message ?? null),
        ],
      })
    },
  }
}
