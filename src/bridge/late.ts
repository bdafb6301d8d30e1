// Items that were refused and come again, perhaps days later: what later items said of the same resource stays.
import type { Caller } from '../access/caller.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Store } from '../store/store.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { Acting } from '../store/unit-of-work.ts'
import type { Planned } from './known.ts'
import type { IsNewer } from './places.ts'
import { storedAt, storedWhere } from './stored.ts'

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
