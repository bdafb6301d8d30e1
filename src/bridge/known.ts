// Entries that only change what is known (If-Match: *). A message that says what becomes of an order, and not what was ordered, has one
// for each type that the order may have.
import type { Caller } from '../access/caller.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { Acting } from '../store/unit-of-work.ts'
import { storedWhere } from './stored.ts'

/** A write that an item comes to. */
export interface Planned extends TransactionEntry {
  /** True for a conditional PUT that makes nothing: where its condition finds nothing, it is left out. */
  readonly isOfKnown?: boolean
}

/**
 * Returns the entries without those that find nothing, and where one finds something, without those that would make a resource of another
 * type under the same number.
 */
export async function ofKnown(parts: Acting, caller: Caller, entries: readonly Planned[]): Promise<readonly Planned[]> {
  if (!entries.some(({ isOfKnown }) => isOfKnown)) return entries
  const isFound = async ({ type, query = '' }: Planned): Promise<boolean> =>
    (await storedWhere(parts, caller, type, query)).length > 0
  const changed = new Set<Planned>()
  for (const each of entries) if (each.isOfKnown && (await isFound(each))) changed.add(each)
  const conditions = new Set([...changed].map(({ query }) => query))
  const kept: Planned[] = []
  for (const each of entries)
    if (each.isOfKnown ? changed.has(each) : !conditions.has(each.query) || (await isFound(each))) kept.push(each)
  return kept
}
