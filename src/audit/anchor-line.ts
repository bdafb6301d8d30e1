// One line of an anchor: how far chains of the audit trail are at a time, sealed, and linked to the line before it.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Head } from './chain.ts'

export interface AnchorLine {
  /** 1, 2, 3… without gaps, across the files that follow each other. */
  readonly line: number
  /** ISO 8601, in UTC. */
  readonly time: string
  /** The line begins a file: its heads are all that the former file held. */
  readonly begins: boolean
  readonly heads: readonly Head[]
  /** The seal of the line before; empty for the first. */
  readonly previous: string
}

export interface SealedLine extends AnchorLine {
  /** HMAC-SHA-256 of all the above, in hex. */
  readonly seal: string
}

/** The text of a line with its seal, without the end of the line. */
export const lineText = (key: KeyObject, line: AnchorLine): string =>
  JSON.stringify({ ...ordered(line), seal: sealOfLine(key, line) })

/** Reads a line. Returns undefined for a text that is no whole line, or was not sealed with the key. */
export function readLine(key: KeyObject, text: string): SealedLine | undefined {
  const line = parsed(text)
  if (!line || !/^[0-9a-f]{64}$/.test(line.seal)) return undefined
  const expected = Buffer.from(sealOfLine(key, line), 'hex')
  return timingSafeEqual(Buffer.from(line.seal, 'hex'), expected) ? line : undefined
}

// The seals of heads are made with the same key, of texts that begin with a digit.
const sealOfLine = (key: KeyObject, line: AnchorLine): string =>
  createHmac('sha256', key)
    .update(`anchor ${JSON.stringify(ordered(line))}`)
    .digest('hex')

/** Nothing else is in a line, and always in this order. */
const ordered = ({ line, time, begins, heads, previous }: AnchorLine): AnchorLine => ({
  line,
  time,
  begins,
  heads: heads.map(({ chain, sequence, hash }) => ({ chain, sequence, hash })),
  previous,
})

function parsed(text: string): SealedLine | undefined {
  try {
    const line = JSON.parse(text) as SealedLine
    return { ...ordered(line), seal: String(line.seal) }
  } catch {
    return undefined
  }
}
