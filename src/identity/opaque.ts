// Random texts that prove something by themselves: patients' tokens, session ids, agents' keys. They hold 256 bits, so a plain
// SHA-256 is enough to keep of them, and looking one up by it tells a guesser nothing.
import { hash, timingSafeEqual } from 'node:crypto'
import { randomText } from '../lib/ids.ts'

/** A new one: the prefix, by which scanners know it, and 43 base62 symbols. */
export const newOpaque = (prefix: string): string => prefix + randomText(43)

/** What is kept of it. */
export const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Compares in a time that does not depend on where the two differ. */
export const isDigestOf = (digest: Buffer, text: string): boolean => timingSafeEqual(digest, digestOf(text))
