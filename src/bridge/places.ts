// The places of items among what an agent sent: an item that was refused keeps the one that it had first.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import type { JsonObject } from '../lib/json.ts'
import type { BridgeItem, Rejection } from './item.ts'
import { itemIn } from './sourced.ts'

/** True of a stored resource if a later item than this one wrote its current version. */
export type IsNewer = (stored: JsonObject) => Promise<boolean>

/** The places of items among what an agent sent. */
export interface Places {
  /** The seq of an item; of one that was refused before, the seq under which it was refused first. */
  of(item: BridgeItem): number
  /** Undefined for an item that was not refused before: nothing later than it is stored. */
  lateness(item: BridgeItem): IsNewer | undefined
  /** Remembers the places of items that are refused now. */
  save(rejected: readonly Rejection[]): Promise<void>
}

/** Reads the places of the items of a batch. */
export async function openPlaces(on: Queryable, agent: string, items: readonly BridgeItem[]): Promise<Places> {
  const rows = await on.query<{ item_id: string; seq: string }>({
    name: 'bridge-refused',
    text: 'select item_id, seq::text from bridge_refused where agent_id = $1 and item_id = any($2::text[])',
    values: [agent, textArray(items.map(({ item_id }) => item_id))],
  })
  const first = new Map(rows.map(({ item_id, seq }) => [item_id, Number(seq)]))
  const placeOf = ({ item_id, seq }: BridgeItem): number => first.get(item_id) ?? seq
  const places = new Map(items.map(item => [item.item_id, placeOf(item)]))
  return {
    of: placeOf,
    lateness(item) {
      const place = first.get(item.item_id)
      if (place === undefined) return undefined
      return async stored => {
        const writer = itemIn(stored, agent)
        if (writer === undefined) return false
        const other = places.get(writer) ?? (await storedPlace(on, agent, writer))
        return other !== undefined && other > place
      }
    },
    async save(rejected) {
      const news = rejected.filter(({ item_id }) => !first.has(item_id))
      if (news.length === 0) return
      await on.run({
        name: 'bridge-refuse',
        text: `insert into bridge_refused (agent_id, item_id, seq)
          select $1, item, seq from unnest($2::text[], $3::bigint[]) as row(item, seq) on conflict do nothing`,
        values: [agent, textArray(news.map(({ item_id }) => item_id)), news.map(({ seq }) => seq)],
      })
    },
  }
}

async function storedPlace(on: Queryable, agent: string, item: string): Promise<number | undefined> {
  const [row] = await on.query<{ seq: string }>({
    name: 'bridge-place',
    text: 'select seq::text from bridge_item where agent_id = $1 and item_id = $2',
    values: [agent, item],
  })
  return row && Number(row.seq)
}
