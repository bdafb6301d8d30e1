// MLLP (HL7 v2 transport, release 1): a message is framed by <VT> … <FS><CR>.

const start = 0x0b
const end = 0x1c
const carriageReturn = 0x0d

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

/** Where a reader stands: between frames, in one, or in one whose rest is thrown away. */
type Place = 'between' | 'inside' | 'beyond'

export function createFrames(longest: number): Frames {
  let place: Place = 'between'
  let parts: Buffer[] = []
  let length = 0
  const collected = (): Buffer => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    parts = []
    length = 0
    return bytes
  }
  const keep = (part: Buffer): void => {
    if (part.length === 0) return
    length += part.length
    if (place === 'inside' && length > longest) {
      place = 'beyond'
      parts = [Buffer.concat([...parts, part]).subarray(0, kept)]
    } else if (place === 'inside') parts.push(part)
  }
  /** Reads to the next mark of the place; returns where to go on. */
  const step = (chunk: Buffer, from: number, found: Frame[]): number => {
    if (place === 'between') {
      const at = chunk.indexOf(start, from)
      const noise = chunk.subarray(from, at < 0 ? chunk.length : at)
      if (noise.some(byte => byte !== carriageReturn && byte !== 0x0a)) found.push({ kind: 'noise', bytes: noise })
      if (at >= 0) place = 'inside'
      return at < 0 ? chunk.length : at + 1
    }
    const at = markAt(chunk, from)
    keep(chunk.subarray(from, at < 0 ? chunk.length : at))
    if (at < 0) return chunk.length
    const isEnd = chunk[at] === end
    const kind = place === 'beyond' ? 'too-long' : 'message'
    found.push({ kind: isEnd ? kind : 'noise', bytes: collected() })
    place = isEnd ? 'between' : 'inside'
    return at + 1
  }
  return {
    take(chunk) {
      const found: Frame[] = []
      for (let from = 0; from < chunk.length; ) from = step(chunk, from, found)
      return found
    },
    isOpen: () => place !== 'between',
  }
}

/** Where a frame ends, or the next one starts in the middle of it. */
function markAt(chunk: Buffer, from: number): number {
  const [ends, starts] = [chunk.indexOf(end, from), chunk.indexOf(start, from)]
  if (ends < 0 || starts < 0) return Math.max(ends, starts)
  return Math.min(ends, starts)
}
