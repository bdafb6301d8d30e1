// Items whose writes are done together: one set-based write for many items is ten times cheaper than one for each. A group that cannot
// be stored is halved until the items that are wrong stand alone.
import type { Transaction } from '../db/statement.ts'
import type { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import { asRecordFailure } from '../records/push.ts'
import { linksTo, resolveLinks } from '../store/references.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import { asPart } from '../store/unit-of-work.ts'
import { ofKnown, type Planned } from './known.ts'
import { lateEntries, standing } from './late.ts'
import { orderNames, withOrders } from './ordered.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import type { IsNewer } from './places.ts'
import { refuse } from './refuse.ts'
import { marked, sourced } from './sourced.ts'
import { mustBeWhole } from './whole.ts'

/** A call within the transaction of its batch. */
export type CallWithin = AgentCall & { readonly caller: { readonly within: Transaction } }

/** Returns the writes that an item comes to, once the people in it are registered. */
export type Plan = (parts: BridgeParts, call: AgentCall) => Promise<readonly Planned[]>

/** An item that is ready to be stored: what it comes to is asked for within the transaction. */
export interface GroupItem {
  /** How the audit trail names an attempt that failed. */
  readonly query: string
  readonly source: string
  readonly plan: Plan
  /** Of an item that was refused before. */
  readonly isNewer: IsNewer | undefined
}

/** Stores the items of a group; returns for each of them why it was refused, or undefined. */
export async function storeGroup<Item extends GroupItem>(
  parts: BridgeParts,
  call: CallWithin,
  items: readonly Item[],
): Promise<Map<Item, Failure>> {
  const [first] = items
  if (first === undefined) return new Map()
  const failure = await asPart(call.caller, items.length === 1 ? first : undefined, caller =>
    storeAll(parts, { ...call, caller }, items),
  )
  if (failure === undefined) return new Map()
  if (items.length === 1) return new Map([[first, failure]])
  const half = items.length >> 1
  const refused = await storeGroup(parts, call, items.slice(0, half))
  return new Map([...refused, ...(await storeGroup(parts, call, items.slice(half)))])
}

/** Most entries of one write. */
const mostEntries = 2000

async function storeAll(parts: BridgeParts, call: AgentCall, items: readonly GroupItem[]): Promise<void> {
  const { caller } = call
  let pending: TransactionEntry[] = []
  const conditions = new Set<string>()
  const flush = async (): Promise<void> => {
    if (pending.length === 0) return
    await parts
      .storeFor(caller)
      .transaction(pending, () => Promise.reject(refuse('VALIDATION_FAILED', 'An item reads nothing.')))
      .catch(error => {
        throw asRecordFailure(error)
      })
    pending = []
    conditions.clear()
  }
  for (const [index, item] of items.entries()) {
    // A late item looks for what the others wrote, and so does one that changes what is known only.
    if (item.isNewer) await flush()
    const planned = await entriesOf(parts, call, item)
    if (planned.some(each => each.isOfKnown) || orderNames(planned).some(each => conditions.has(each))) await flush()
    const entries = await withOrders(parts, caller, await ofKnown(parts, caller, planned))
    const names = entries.flatMap(namesOf)
    // A resource that an earlier item writes is written again by a later one, so they are two writes.
    if (names.some(name => conditions.has(name)) || pending.length + entries.length > mostEntries) await flush()
    await mustBeWhole(parts, caller, entries)
    for (const name of names) conditions.add(name)
    pending.push(...renamed(entries, index).map(each => ({ ...each, resource: marked(each.resource, item.source) })))
  }
  await flush()
}

async function entriesOf(parts: BridgeParts, call: AgentCall, { plan, source, isNewer }: GroupItem) {
  const { caller } = call
  const own = sourced(parts, caller.author, source)
  if (!isNewer) return plan(own, call)
  return lateEntries(parts, caller, isNewer, await plan(standing(parts, own, caller, isNewer), { ...call, isNewer }))
}

/** What a resource may be found by: the condition of its entry, and its identifiers. */
function namesOf({ type, query, resource }: TransactionEntry): string[] {
  const identifiers = isObject(resource) ? objectsIn(resource['identifier']) : []
  const named = identifiers.map(({ system, value }) => `${type} ${String(system)}|${String(value)}`)
  return query === undefined ? named : [`${type}?${query}`, ...named]
}

/** The same entries under names that no other item has. */
function renamed(entries: readonly TransactionEntry[], index: number): TransactionEntry[] {
  const names = new Map(
    entries.flatMap(({ fullUrl }): [string, string][] =>
      fullUrl === undefined ? [] : [[fullUrl, `urn:x-item:${index}:${fullUrl}`]],
    ),
  )
  const links = linksTo(names, entries)
  return entries.map(each => ({
    ...each,
    fullUrl: each.fullUrl === undefined ? undefined : names.get(each.fullUrl),
    resource: isObject(each.resource) ? resolveLinks(each.resource as JsonObject, links, each.fullUrl) : each.resource,
  }))
}
