// What is kept of a receiver's reply: the beginning of its body, and how long it wants to be left alone (RFC 9110 §10.2.3).
import type { IncomingHttpHeaders } from 'undici/types/header.js'

export interface Excerpt {
  /** Takes the next piece of the body; false once there was more than is read. */
  add(chunk: Buffer): boolean
  /** The first characters, fit to be shown and stored; undefined if there are none. */
  text(): string | undefined
}

export function createExcerpt(): Excerpt {
  const kept: Buffer[] = []
  let length = 0
  return {
    add(chunk) {
      kept.push(chunk)
      length += chunk.length
      return length <= readBytes
    },
    text: () => (length === 0 ? undefined : harmless(Buffer.concat(kept).toString('utf8', 0, keptBytes))),
  }
}

/** Seconds from now that a Retry-After header names, as a number or as a date; undefined without a valid one. */
export function retryAfterOf(headers: IncomingHttpHeaders, now: number): number | undefined {
  const text = String([headers['retry-after']].flat()[0])
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const until = /^[A-Z]/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil((until - now) / 1000))
}

const readBytes = 16_384

const excerptLength = 1000

/** A character has at most four bytes. */
const keptBytes = 4 * excerptLength

/** Neither ends a line of a log, nor hides or turns round what follows, nor is refused by a database. */
function harmless(text: string): string {
  return text
    .slice(0, excerptLength)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .toWellFormed()
}
