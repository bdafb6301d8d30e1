// The stock that is stored already, found by its identifier and kept from others while it is replaced.

import { type Caller, onBehalfOf } from '../access/caller.ts'
import { int8Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { type JsonObject, objectsIn, parseJson } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { conditionName } from '../store/conditional.ts'
import { extension, momentOf, ownExtension } from '../store/elements.ts'
import { inOperation } from '../store/operation.ts'
import type { Acting } from '../store/unit-of-work.ts'

/** What it takes to look it up. */
export interface StoredParts extends Pick<Acting, 'storeFor'> {
  readonly addresses: { readonly base: Base }
}

export interface StoredStock {
  /** Of the Basic. */
  readonly id: string
  /** When it was counted, in ms since 1970. */
  readonly updatedAt: number | undefined
}

/** A value as a token search wants it: what separates values is escaped. */
const token = (system: string, value: string): string => `${system}|${value.replace(/[\\,|$]/g, '\\$&')}`

/**
 * Keeps others from changing the same items until the transaction ends, by the locks of conditional updates, so that those of
 * the FHIR surface wait too. All are taken in one order.
 */
export async function lockItems(on: Queryable, system: string, values: readonly string[]): Promise<void> {
  const keys = values.map(value =>
    hash64(
      conditionName({ type: 'Basic', query: new URLSearchParams({ identifier: token(system, value) }).toString() }),
    ),
  )
  const ordered = [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1))
  await on.query({
    name: 'lock-stock-items',
    text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
    values: [int8Array(ordered)],
  })
}

/**
 * Returns what is stored under the identifiers. The audit trail records the write that follows; this lookup is part of
 * it.
 * @throws Failure CONFLICT if two resources have the same identifier, so that it is unclear which to replace.
 */
export async function storedItems(
  { storeFor, addresses: { base } }: StoredParts,
  caller: Caller,
  system: string,
  values: readonly string[],
): Promise<Map<string, StoredStock>> {
  const store = storeFor(onBehalfOf(inOperation(caller), { Basic: 'rs' }))
  const wanted = values.map(value => token(system, value)).join(',')
  const params: [string, string][] = [
    ['identifier', wanted],
    ['_count', '1000'],
  ]
  const { matches } = await store.search(store.parse(['Basic'], params, true))
  const found = new Map<string, StoredStock>()
  for (const { id, body } of matches) {
    const resource = parseJson(body) as JsonObject
    const updatedAt = momentOf(extension(resource, ownExtension('stock-updated-at'), 'valueDateTime'))
    for (const { value } of objectsIn(resource['identifier']).filter(
      each => base.system(String(each['system'])) === system,
    )) {
      const other = found.get(String(value))
      if (other) throw twice(String(value), other.id, id)
      found.set(String(value), { id, updatedAt })
    }
  }
  return found
}

function twice(value: string, first: string, second: string): Failure {
  return new Failure(
    'CONFLICT',
    `Basic/${first} and Basic/${second} both have the identifier ${value}, so it is ambiguous which one to replace: delete one of them.`,
  )
}
