// MLLP (HL7 v2 transport, release 1): a message is framed by <VT> … <FS><CR>.

const start = 0x0b
const end = 0x1c
const carriageReturn = 0x0d
const lineFeed = 0x0a

/** Frames a message for the wire. */
export function framed(message: string | Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(start), Buffer.from(message as string), Buffer.of(end, carriageReturn)])
}

export type Frame =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  /** Longer than allowed: its beginning, enough to answer it. */
  | { readonly kind: 'too-long'; readonly bytes: Buffer }
  /** Bytes outside of a frame, or a message that was begun and not ended before the next one. */
  | { readonly kind: 'noise'; readonly bytes: Buffer }

export interface Frames {
  /** Takes what came off the wire and returns what is complete. */
  take(chunk: Buffer): Frame[]
  /** Whether a message has begun and is not complete. */
  isOpen(): boolean
}

/** Bytes of a message that is too long which are kept to answer it. */
const kept = 4096

/** Where a reader stands: between messages, in one, or in one that is too long and is read to its end only. */
interface Reader {
  readonly longest: number
  place: 'between' | 'inside' | 'beyond'
  /** What has come of the message. */
  parts: Buffer[]
  length: number
}

export function createFrames(longest: number): Frames {
  const reader: Reader = { longest, place: 'between', parts: [], length: 0 }
  return {
    take(chunk) {
      const found: Frame[] = []
      for (let from = 0; from < chunk.length; )
        from = reader.place === 'between' ? seek(reader, chunk, from, found) : read(reader, chunk, from, found)
      return found
    },
    isOpen: () => reader.place !== 'between',
  }
}

/** Looks for the beginning of a message; returns where to go on. */
function seek(reader: Reader, chunk: Buffer, from: number, found: Frame[]): number {
  const at = chunk.indexOf(start, from)
  const noise = chunk.subarray(from, at < 0 ? chunk.length : at)
  if (noise.some(byte => byte !== carriageReturn && byte !== lineFeed)) found.push({ kind: 'noise', bytes: noise })
  if (at < 0) return chunk.length
  reader.place = 'inside'
  return at + 1
}

/** Reads to the end of the message, or to the beginning of another one; returns where to go on. */
function read(reader: Reader, chunk: Buffer, from: number, found: Frame[]): number {
  const at = markAt(chunk, from)
  keep(reader, chunk.subarray(from, at < 0 ? chunk.length : at))
  if (at < 0) return chunk.length
  const isEnd = chunk[at] === end
  const kind = reader.place === 'beyond' ? 'too-long' : 'message'
  found.push({ kind: isEnd ? kind : 'noise', bytes: Buffer.concat(reader.parts) })
  Object.assign(reader, { place: isEnd ? 'between' : 'inside', parts: [], length: 0 })
  return at + 1
}

function keep(reader: Reader, part: Buffer): void {
  reader.length += part.length
  if (reader.place === 'beyond') return
  reader.parts.push(part)
  if (reader.length <= reader.longest) return
  reader.place = 'beyond'
  reader.parts = [Buffer.concat(reader.parts).subarray(0, kept)]
}

/** Where a message ends, or the next one starts in the middle of it. */
function markAt(chunk: Buffer, from: number): number {
  const [ends, starts] = [chunk.indexOf(end, from), chunk.indexOf(start, from)]
  if (ends < 0 || starts < 0) return Math.max(ends, starts)
  return Math.min(ends, starts)
}
