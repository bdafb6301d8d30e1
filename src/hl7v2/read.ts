// HL7 v2 messages as text (ER7): batches, messages, segments and fields, within bounds; fields are not taken apart here.

import { type Delimiters, delimitersOf } from './delimiters.ts'
import { MessageError } from './problem.ts'

/** A segment as it was sent. */
export interface RawSegment {
  readonly id: string
  /** Its place in the message; MSH is 1. */
  readonly number: number
  /** Which of this name it is. */
  readonly occurrence: number
  /** By number: `fields[3]` is PID-3. The header's have MSH-1 and MSH-2 in their places. */
  readonly fields: readonly string[]
}

export interface RawMessage {
  readonly delimiters: Delimiters
  readonly segments: readonly RawSegment[]
}

/** No message is larger: machines that run wild send more. */
const bounds = { characters: 16_777_216, segments: 20_000, fields: 500, repetitions: 5_000 } as const

/**
 * Returns the messages of a text: one, or those of a batch (FHS, BHS, BTS, FTS), each as text, its segments ended by carriage returns.
 * Blank lines separate nothing. @throws MessageError if something stands before the first message
 */
export function splitMessages(text: string): string[] {
  const messages: string[][] = []
  for (const line of segmentLines(text)) {
    if (line.startsWith('MSH')) messages.push([line])
    else if (/^(?:FHS|BHS|BTS|FTS)(?![A-Za-z0-9])/.test(line)) continue
    else if (messages.length > 0) messages.at(-1)!.push(line)
    else throw notHeader()
  }
  return messages.map(lines => `${lines.join('\r')}\r`)
}

/** True if a text is a batch: FHS or BHS comes first. */
export function isBatch(text: string): boolean {
  return /^\s*(?:FHS|BHS)[^\p{L}\p{N}\s]/u.test(text)
}

/** Segments end with carriage returns; line feeds, and both, occur. MLLP's frame is dropped. */
export function segmentLines(text: string): string[] {
  return text
    .replaceAll('\v', '')
    .replaceAll('\u001c', '')
    .replaceAll('\uFEFF', '')
    .split(/[\r\n]+/)
    .filter(line => line.trim() !== '')
}

/** True if a text looks like a message or a batch of messages. */
export function isMessage(text: string): boolean {
  return /^[\s\v\uFEFF]*(?:MSH|FHS|BHS)[^\p{L}\p{N}\s]/u.test(text)
}

/** Reads one message. @throws MessageError naming segment and field */
export function readMessage(text: string): RawMessage {
  mustHold(text.length <= bounds.characters, 'the message', `${bounds.characters} characters`)
  const lines = segmentLines(text)
  const [header = ''] = lines
  if (!header.startsWith('MSH')) throw notHeader()
  mustHold(lines.length <= bounds.segments, 'the message', `${bounds.segments} segments`)
  const delimiters = delimitersOf(header)
  const occurrences = new Map<string, number>()
  const segments: RawSegment[] = []
  for (const line of lines) {
    const id = idOf(line, segments, delimiters)
    const occurrence = (occurrences.get(id) ?? 0) + 1
    occurrences.set(id, occurrence)
    const fields = fieldsOf(line, id, occurrence, delimiters)
    segments.push({ id, number: segments.length + 1, occurrence, fields })
  }
  return { delimiters, segments }
}

/** @throws MessageError with the place of the last segment of those before */
function idOf(line: string, before: readonly RawSegment[], { field }: Delimiters): string {
  const id = line.slice(0, 3)
  const isFine = /^[A-Z][A-Z0-9]{2}$/.test(id) && (line.length === 3 || line[3] === field)
  if (isFine && (id !== 'MSH' || before.length === 0)) return id
  const message =
    id === 'MSH'
      ? 'behind this segment a second MSH is within the message'
      : `behind this segment, line ${before.length + 1} does not begin with the name of a segment`
  const { id: segment, occurrence } = before.at(-1)!
  throw new MessageError({ segment, occurrence, code: 100, message })
}

function fieldsOf(line: string, id: string, occurrence: number, { field, repetition }: Delimiters): string[] {
  const fields = line.split(field)
  mustHold(fields.length <= bounds.fields, id, `${bounds.fields} fields`)
  const isLong = line.length > bounds.repetitions && id !== 'MSH'
  for (const [number, each] of isLong ? fields.entries() : []) {
    const count = each.split(repetition).length
    mustHold(count <= bounds.repetitions, `${id}[${occurrence}]-${number}`, `${bounds.repetitions} repetitions`)
  }
  // MSH-1 is the separator itself.
  return id === 'MSH' ? [id, field, ...fields.slice(1)] : fields
}

function notHeader(): MessageError {
  return new MessageError({ code: 100, message: 'the message does not begin with MSH', isRejection: true })
}

function mustHold(isWithin: boolean, what: string, limit: string): void {
  if (!isWithin) throw new MessageError({ code: 104, message: `${what} has more than ${limit}`, isRejection: true })
}
