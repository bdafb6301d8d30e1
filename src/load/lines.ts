// Lines of a stream of bytes, each with its place, and none longer than it may be: what is longer is passed over unread.

/** One line; `bytes` is undefined if it is longer than was allowed. */
export interface Line {
  /** From 1. */
  readonly line: number
  /** Where it begins, and where the next one does, in bytes. */
  readonly start: number
  readonly end: number
  readonly bytes: Buffer | undefined
}

export interface LinesOptions {
  /** Longest line that is held in memory. */
  readonly mostBytes: number
  /** Place of the first byte of the stream, where that is not the beginning of the file. */
  readonly start?: number
  /** Lines before it. */
  readonly line?: number
}

/** The lines, without the line feed that ends them; an empty rest is no line. */
export async function* linesOf(
  input: AsyncIterable<Buffer>,
  { mostBytes, start = 0, line = 0 }: LinesOptions,
): AsyncGenerator<Line> {
  let pieces: Buffer[] = []
  let size = 0
  let from = start
  const ended = (end: number): Line => {
    const bytes = size > mostBytes ? undefined : pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    const found = { line: ++line, start: from, end, bytes }
    pieces = []
    size = 0
    from = end
    return found
  }
  const add = (piece: Buffer): void => {
    size += piece.length
    if (size <= mostBytes) pieces.push(piece)
    else pieces = []
  }
  let place = start
  for await (const chunk of input) {
    let at = 0
    for (let feed = chunk.indexOf(10); feed >= 0; feed = chunk.indexOf(10, at)) {
      add(chunk.subarray(at, feed))
      at = feed + 1
      yield ended(place + at)
    }
    if (at < chunk.length) add(chunk.subarray(at))
    place += chunk.length
  }
  if (size > 0) yield ended(place)
}

/** True for a line of nothing but spaces. */
export const isBlank = ({ bytes }: Line): boolean =>
  bytes?.every(byte => byte === 0x20 || byte === 0x09 || byte === 0x0d) ?? false
