// The rows of an answer, read from the bytes as PostgreSQL sent them. pg reads each value into a string of its own, converts it, and
// passes each row on as an event: for a page of resources that costs more than finding them. Here numbers are read digit by digit,
// and long texts become strings together, each of them a part of one, which it keeps in memory: what outlives its request is copied.
// Those that are only passed on stay bytes.
import { isAscii } from 'node:buffer'
import { blockSize, Memory } from '../lib/blocks.ts'
import { StoredText } from '../lib/stored-text.ts'

/** A column of an answer. */
export interface Column {
  readonly name: string
  /** How its values are read. */
  readonly kind: 'integer' | 'text' | 'other'
  /** Reads one from its text. */
  readonly parse: (text: string) => unknown
}

/** Bytes from which on a text is read together with others: for shorter ones a string of their own costs less. */
const long = 200

/** Most digits of a number that are surely exact. */
const mostDigits = 15

type Row = Record<string, unknown>

/** A long text, which is read when the answer is complete. */
interface Late {
  readonly row: Row
  readonly name: string
  /** The block that it is in. */
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Collects the rows of one answer. */
export class Rows {
  readonly #memory: Memory
  readonly #isKept: boolean
  readonly #rows: Row[] = []
  readonly #late: Late[] = []
  #columns: readonly Column[] = []
  #failure: unknown

  /** @param memory where long texts of the column `body` stay, each as a StoredText; absent: they become strings */
  constructor(memory?: Memory) {
    this.#isKept = memory !== undefined
    this.#memory = memory ?? new Memory()
  }

  /** Says which columns the rows have. */
  describe(columns: readonly Column[]): void {
    this.#columns = columns
  }

  /** Adds a row. @param start where it begins in the bytes, behind the header of its message */
  add(bytes: Buffer, start: number): void {
    if (this.#failure !== undefined) return
    try {
      this.#read(bytes, start)
    } catch (failure) {
      this.#failure = failure
    }
  }

  #read(bytes: Buffer, start: number): void {
    const row: Row = {}
    let at = start + 2
    for (const { name, kind, parse } of this.#columns) {
      const from = at + 4
      const length = bytes.readInt32BE(at)
      at = from + Math.max(length, 0)
      if (length < 0) row[name] = null
      else if (kind === 'integer' && length <= mostDigits) row[name] = integerIn(bytes, from, at)
      else if (kind === 'text' && length >= long && length <= blockSize)
        row[name] = this.#later(row, name, bytes, from, at)
      else row[name] = parse(bytes.toString('utf8', from, at))
    }
    this.#rows.push(row)
  }

  #later(row: Row, name: string, bytes: Buffer, from: number, to: number): StoredText | undefined {
    const block = this.#memory.blockFor(to - from)
    const start = block.end
    block.end += bytes.copy(block.bytes, start, from, to)
    if (this.#isKept && name === 'body') return new StoredText(this.#memory, block.bytes.subarray(start, block.end))
    this.#late.push({ row, name, bytes: block.bytes, start, end: block.end })
    return undefined
  }

  /** Returns the rows. Nothing may be added any more. @throws what a value could not be read for */
  finish(): Row[] {
    if (this.#failure !== undefined) throw this.#failure
    readAll(this.#late)
    if (!this.#isKept) this.#memory.giveBack()
    return this.#rows
  }
}

/** Reads those of a block together: V8 moves a longer string to a place of its own, which costs more than it saves. */
function readAll(late: readonly Late[]): void {
  for (let from = 0, to = 1; from < late.length; from = to++) {
    while (late[to]?.bytes === late[from]!.bytes) to++
    readTogether(late[from]!.bytes, late, from, to)
  }
}

/** Reads the texts from one to before another, which are next to each other. Those that are ASCII have a byte for each character. */
function readTogether(bytes: Buffer, late: readonly Late[], from: number, to: number): void {
  const { start, row, name } = late[from]!
  const { end } = late[to - 1]!
  if (isAscii(bytes.subarray(start, end))) {
    const together = bytes.toString('latin1', start, end)
    for (let index = from; index < to; index++) {
      const each = late[index]!
      each.row[each.name] = together.slice(each.start - start, each.end - start)
    }
  } else if (to - from === 1) row[name] = bytes.toString('utf8', start, end)
  else {
    const middle = (from + to) >> 1
    readTogether(bytes, late, from, middle)
    readTogether(bytes, late, middle, to)
  }
}

function integerIn(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === 0x2d
  let value = 0
  for (let at = isNegative ? start + 1 : start; at < end; at++) value = 10 * value + bytes[at]! - 0x30
  return isNegative ? -value : value
}
