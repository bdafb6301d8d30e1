// Long texts in pieces. They are encoded piece by piece into one buffer: joining them first would copy each twice more.
import { setImmediate as breath } from 'node:timers/promises'

/** The parts of a text, in order. */
export type Pieces = readonly string[]

/** Bytes that are encoded without a pause: a fraction of a millisecond. */
const stretch = 1024 * 1024

/** Characters of a part of a long piece. */
const part = 256 * 1024

/** Most characters of pieces that are joined: a call for each piece costs more than copies of a short text, and less than those of a long one. */
const short = 64_000

/** Returns the bytes of the text in UTF-8. Other requests are answered while a large one is encoded. */
export async function encoded(text: string | Pieces): Promise<Buffer> {
  const pieces = typeof text === 'string' ? [text] : isShort(text) ? [text.join('')] : text
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0))
  let at = 0
  let pause = stretch
  for (const piece of pieces.some(isLong) ? pieces.flatMap(partsOf) : pieces) {
    at += bytes.write(piece, at)
    if (at < pause) continue
    await breath()
    pause = at + stretch
  }
  return bytes
}

const isLong = (piece: string): boolean => piece.length > part

const isShort = (pieces: Pieces): boolean => pieces.reduce((sum, piece) => sum + piece.length, 0) <= short

function partsOf(text: string): string | string[] {
  if (!isLong(text)) return text
  const parts: string[] = []
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + part
    // The two halves of a character beyond the basic plane stay together.
    if (text.codePointAt(end - 1)! > 0xffff) end++
    parts.push(text.slice(start, end))
  }
  return parts
}
