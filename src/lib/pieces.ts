// Long texts in pieces. They are encoded piece by piece: joining them first would copy each twice more.
import { setImmediate as breath } from 'node:timers/promises'
import { blockSize, Memory } from './blocks.ts'
import type { StoredText } from './stored-text.ts'

/** A part of a text. */
export type Piece = string | StoredText

/** The parts of a text, in order. */
export type Pieces = readonly Piece[]

/** Bytes that are encoded without a pause: a fraction of a millisecond. */
const stretch = 1024 * 1024

/** Most characters of pieces that are joined: a call for each piece costs more than copies of a short text, and less than those of a long one. */
const short = 64_000

/** Most bytes for a unit of UTF-16 in UTF-8. */
const widest = 3

/** Characters of a part of a long piece: it fits into an empty block. */
const part = Math.floor(blockSize / 4)

/** A text in UTF-8, in reusable memory. */
export class Encoded {
  readonly #memory: Memory

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** The bytes, in order. @throws Error after `giveBack` */
  get parts(): readonly Buffer[] {
    return this.#memory.blocks.map(({ bytes, end }) => bytes.subarray(0, end))
  }

  /** Bytes of the text. @throws Error after `giveBack` */
  get size(): number {
    return this.#memory.blocks.reduce((sum, { end }) => sum + end, 0)
  }

  /** Gives its memory back: nothing may read the parts any more. */
  giveBack(): void {
    this.#memory.giveBack()
  }
}

/** Encodes a text in UTF-8. Other requests are answered while a long one is encoded. */
export async function encoded(text: string | Pieces): Promise<Encoded> {
  const memory = new Memory()
  const pieces = typeof text === 'string' ? [text] : isShort(text) ? [text.join('')] : text
  let sinceBreath = 0
  for (const piece of pieces.some(isLong) ? pieces.flatMap(partsOf) : pieces) {
    sinceBreath += typeof piece === 'string' ? write(piece, memory) : copy(piece, memory)
    if (sinceBreath < stretch) continue
    await breath()
    sinceBreath = 0
  }
  return new Encoded(memory)
}

/** @returns bytes of the text */
function write(text: string, memory: Memory): number {
  const most = text.length * widest
  const block = memory.blockFor(most <= memory.room ? most : Buffer.byteLength(text))
  const size = block.bytes.write(text, block.end)
  block.end += size
  return size
}

/** @returns bytes of the text */
function copy({ bytes }: StoredText, memory: Memory): number {
  for (let at = 0; at < bytes.length; ) {
    const block = memory.blockFor(1)
    const size = bytes.copy(block.bytes, block.end, at)
    block.end += size
    at += size
  }
  return bytes.length
}

const isLong = (piece: Piece): boolean => typeof piece === 'string' && piece.length > part

const isShort = (pieces: Pieces): pieces is readonly string[] =>
  pieces.every(piece => typeof piece === 'string') && pieces.reduce((sum, piece) => sum + piece.length, 0) <= short

function partsOf(text: Piece): Piece | string[] {
  if (typeof text !== 'string' || !isLong(text)) return text
  const parts: string[] = []
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + part
    // The two halves of a character beyond the basic plane stay together.
    if (text.codePointAt(end - 1)! > 0xffff) end++
    parts.push(text.slice(start, end))
  }
  return parts
}
