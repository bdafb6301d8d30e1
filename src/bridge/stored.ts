// What is stored already, as an agent finds it within its operation.
import { type Caller, onBehalfOf } from '../access/caller.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { inOperation } from '../store/operation.ts'
import type { Acting } from '../store/unit-of-work.ts'

/** Returns a resource, or undefined if there is none. */
export async function storedAt(
  parts: Acting,
  caller: Caller,
  type: string,
  id: string,
): Promise<JsonObject | undefined> {
  try {
    const { body } = await parts.storeFor(onBehalfOf(inOperation(caller), { [type]: 'r' })).read(type, id)
    return parseJson(body) as JsonObject
  } catch (error) {
    if (error instanceof Failure && (error.code === 'NOT_FOUND' || error.code === 'GONE')) return undefined
    throw error
  }
}

/** Returns the resources that meet a condition of a write: `identifier=system|value`. */
export async function storedWhere(parts: Acting, caller: Caller, type: string, query: string): Promise<JsonObject[]> {
  const store = parts.storeFor(onBehalfOf(inOperation(caller), { [type]: 'rs' }))
  const { matches } = await store.search(store.parse([type], new URLSearchParams(query), true))
  return matches.map(({ body }) => parseJson(body) as JsonObject)
}

/** Returns the condition that an identifier is this one. https://hl7.org/fhir/R4/search.html#token */
export const identifiedBy = (system: unknown, value: unknown): string =>
  `identifier=${encodeURIComponent(`${escaped(system)}|${escaped(value)}`)}`

const escaped = (text: unknown): string => String(text).replaceAll(/[\\$,|]/g, '\\$&')
