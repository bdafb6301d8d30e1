// Items that were refused and come again, perhaps days later: what later items said of the same resource stays.
import type { Caller } from '../access/caller.ts'
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Store } from '../store/store.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { Acting } from '../store/unit-of-work.ts'
import type { BridgeItem, Rejection } from './item.ts'
import type { Planned } from './known.ts'
import { itemIn } from './sourced.ts'
import { storedAt, storedWhere } from './stored.ts'

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

/**
 * Returns the entries of a late item, without deletions of what is newer. What is newer stays: by a merge, it also gets what it does not
 * say itself.
 */
export async function lateEntries(
  parts: Acting,
  caller: Caller,
  isNewer: IsNewer,
  entries: readonly Planned[],
): Promise<Planned[]> {
  const kept: Planned[] = []
  for (const entry of entries)
    if (entry.method !== 'DELETE' || !(await isNewerFound(parts, caller, isNewer, entry.type, entry.query ?? '')))
      kept.push(entry.method === 'PUT' ? { ...entry, merge: under(isNewer, entry.merge) } : entry)
  return kept
}

type Merge = NonNullable<TransactionEntry['merge']>

const under =
  (isNewer: IsNewer, merge: Merge | undefined): Merge =>
  async (stored, sent) => {
    if (!(await isNewer(stored))) return merge ? merge(stored, sent) : { ...sent, id: stored['id'] }
    return merge ? completed(stored, await merge(sent, stored)) : stored
  }

/** Returns the stored resource with what the merged one has more of; in its own order, so that nothing more is no change. */
function completed({ id, meta, ...stored }: JsonObject, merged: JsonObject): JsonObject {
  const more = Object.entries(merged).filter(([name, value]) => sizeOf(value) > sizeOf(stored[name]))
  return { ...stored, ...Object.fromEntries(more), id, meta }
}

const sizeOf = (value: unknown): number =>
  value === undefined ? 0 : typeof value === 'object' && value !== null ? 1 + Object.keys(value).length : 1

/**
 * Returns the same parts, whose stores change and delete nothing that is newer than a late item. What is said of a newer Patient (numbers,
 * that it was merged) is written without the source of the item.
 * @param marking the same parts, whose stores mark what they write with the source of the item
 */
export function standing<Parts extends Acting>(parts: Parts, marking: Parts, caller: Caller, isNewer: IsNewer): Parts {
  return {
    ...parts,
    storeFor(principal): Store {
      const [store, plain] = [marking.storeFor(principal), parts.storeFor(principal)]
      if (principal.author !== caller.author) return store
      const newer = async (type: string, id: string): Promise<JsonObject | undefined> => {
        const stored = await storedAt(parts, caller, type, id)
        return stored && (await isNewer(stored)) ? stored : undefined
      }
      return {
        ...store,
        async update(type, id, resource, conditions) {
          const stored = await newer(type, id)
          if (!stored) return store.update(type, id, resource, conditions)
          return plain.update(type, id, type === 'Patient' ? resource : stored, conditions)
        },
        async remove(type, id, conditions) {
          if (await newer(type, id)) throw tooLate()
          return store.remove(type, id, conditions)
        },
        async removeWhere(type, query, conditions) {
          if (await isNewerFound(parts, caller, isNewer, type, query)) throw tooLate()
          return store.removeWhere(type, query, conditions)
        },
      }
    },
  }
}

const tooLate = (): Failure =>
  new Failure('VALIDATION_FAILED', 'A later item wrote this record again, so it is not deleted: drop the item.')

async function isNewerFound(
  parts: Acting,
  caller: Caller,
  isNewer: IsNewer,
  type: string,
  query: string,
): Promise<boolean> {
  for (const stored of await storedWhere(parts, caller, type, query)) if (await isNewer(stored)) return true
  return false
}
