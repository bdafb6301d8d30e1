// A long text of an answer, kept as the bytes that PostgreSQL sent. A body that is only passed on needs no decoding: as a string, V8 would
// keep and copy it in its heap until the reply is encoded again.
import type { Memory } from './blocks.ts'

const words = new Map<string, Buffer>()

function bytesOf(word: string): Buffer {
  const known = words.get(word) ?? Buffer.from(word)
  words.set(word, known)
  return known
}

/** A text in UTF-8. Its positions and its length are those of bytes. */
export class StoredText {
  readonly #memory: Memory
  readonly #bytes: Buffer

  /** @param memory whose the bytes are: once it has been given back, nothing can be read */
  constructor(memory: Memory, bytes: Buffer) {
    this.#memory = memory
    this.#bytes = bytes
  }

  /** @throws Error after its memory has been given back */
  get bytes(): Buffer {
    this.#memory.mustBeThere()
    return this.#bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Returns where a word begins in it, or -1. @param word ASCII text that stands in the code: its bytes are remembered */
  indexOf(word: string, from = 0): number {
    return this.bytes.indexOf(bytesOf(word), from)
  }

  /** True if ASCII text stands there. */
  startsWith(word: string, at = 0): boolean {
    const { bytes } = this
    for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word.charCodeAt(index)) return false
    return true
  }

  /** Returns the byte there, or NaN beyond the ends. */
  charCodeAt(at: number): number {
    return this.bytes[at] ?? Number.NaN
  }

  /** Returns the text between two positions, which are those of whole characters. */
  slice(from = 0, to = this.length): string {
    return this.bytes.toString('utf8', from, to)
  }

  toString(): string {
    return this.slice()
  }
}
