// Large code systems that were read lately, so that a search along a hierarchy does not parse megabytes each time.
// A version of a resource never changes, so what is kept under its key and version cannot be stale.
import type { JsonObject } from '../../lib/json.ts'

interface Kept {
  readonly version: number
  readonly resource: JsonObject
  readonly size: number
}

/** Most characters of JSON that are kept, by process. */
const mostKept = 16_000_000

const kept = new Map<number, Kept>()
let total = 0

/** The version of the resource with this key, if it is kept. */
export function recall(key: number, version: number): JsonObject | undefined {
  const found = kept.get(key)
  if (found?.version !== version) return undefined
  kept.delete(key)
  kept.set(key, found)
  return found.resource
}

/** Keeps a version in place of any other; evicts the least recently used. */
export function keep(key: number, version: number, resource: JsonObject, size: number): void {
  if (size > mostKept) return
  forget(key)
  kept.set(key, { version, resource, size })
  total += size
  for (const oldest of kept.keys()) {
    if (total <= mostKept) return
    forget(oldest)
  }
}

function forget(key: number): void {
  total -= kept.get(key)?.size ?? 0
  kept.delete(key)
}
