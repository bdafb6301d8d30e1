// Messages of PostgreSQL out of the pieces in which they arrive. A piece is used while it is there, and nothing of it is kept but a copy
// of a message that has begun: the memory that it is in serves again (https://www.postgresql.org/docs/current/protocol-overview.html).

import { Cut } from './doubt.ts'

/** Bytes of the code and of the length of a message. */
export const header = 5

/** Handles one message of the bytes: from its code at `start` to `end`. They are no longer its own when it returns. */
type Handle = (bytes: Buffer, start: number, end: number) => void

export interface Frames {
  /** Handles the messages that are complete with the first `size` bytes of the piece. @throws Error for what is no message */
  add(piece: Buffer, size: number): void
}

export function createFrames(handle: Handle): Frames {
  let begun = Buffer.allocUnsafeSlow(first)
  let held = 0

  /** Copies the message that has begun, as far as the piece has it. @returns where the piece goes on */
  function hold(piece: Buffer, at: number, size: number, length: number): number {
    if (length > begun.length) {
      const larger = Buffer.allocUnsafeSlow(length)
      begun.copy(larger, 0, 0, held)
      begun = larger
    }
    const end = Math.min(size, at + length - held)
    piece.copy(begun, held, at, end)
    held += end - at
    return end
  }

  /** Goes on with the message that has begun. @returns where the piece goes on */
  function goOn(piece: Buffer, start: number, size: number): number {
    const at = held < header ? hold(piece, start, size, header) : start
    if (held < header) return at
    const length = lengthAt(begun, 0)
    const end = hold(piece, at, size, length)
    if (held < length) return end
    held = 0
    handle(begun, 0, length)
    if (length > mostKept) begun = Buffer.allocUnsafeSlow(first)
    return end
  }

  return {
    add(piece, size) {
      let at = held > 0 ? goOn(piece, 0, size) : 0
      while (size - at >= header) {
        const end = at + lengthAt(piece, at)
        if (end > size) break
        handle(piece, at, end)
        at = end
      }
      if (at < size) goOn(piece, at, size)
    },
  }
}

/** Bytes of memory for a message that has begun: at first, and most that are kept for the next one. */
const [first, mostKept] = [1024, 65_536]

/** Least and most bytes of a message behind its code: PostgreSQL makes none of more than a gigabyte. */
const [least, largest] = [4, 2 ** 30]

/** The length of the message that begins there. @throws Error for one that PostgreSQL does not send */
function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at + 1)
  if (length < least || length > largest) throw new Cut('the server does not speak the protocol of PostgreSQL')
  return 1 + length
}
