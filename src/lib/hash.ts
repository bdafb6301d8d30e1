// 64-bit hashes of text for index postings: the first eight bytes of SHA-256, so that a client cannot produce a collision with
// another's value on purpose.
import { hash } from 'node:crypto'

const limit = 100_000
/** Longer texts seldom recur, and would make the cache large. */
const longest = 256
const cache = new Map<string, bigint>()

/** The signed 64-bit hash of a text; recent ones are remembered, since codes and systems recur. */
export function hash64(text: string): bigint {
  const known = cache.get(text)
  if (known !== undefined) return known
  const value = uncachedHash64(text)
  if (text.length > longest) return value
  if (cache.size >= limit) cache.clear()
  cache.set(text, value)
  return value
}

/** The same hash, for callers with a cache of their own. */
export const uncachedHash64 = (text: string): bigint => hash('sha256', text, 'buffer').readBigInt64BE(0)

/** The signed 32-bit hash of a text. */
export function hash32(text: string): number {
  return Number(BigInt.asIntN(32, hash64(text) >> 32n))
}
