// Random texts that are credentials by themselves: patients' tokens, session ids, agents' keys. They hold 256 bits, so
// a plain SHA-256 is enough to store, and a lookup by it reveals nothing to an attacker.
import { hash, timingSafeEqual } from 'node:crypto'
import { randomText } from '../lib/ids.ts'

/** Returns a new one: the prefix, by which scanners recognise it, and 43 base62 symbols. */
export const newOpaque = (prefix: string): string => prefix + randomText(43)

/** Returns the digest that is stored. */
export const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Compares in a time that does not depend on where the two differ. */
export const isDigestOf = (digest: Buffer, text: string): boolean => timingSafeEqual(digest, digestOf(text))
