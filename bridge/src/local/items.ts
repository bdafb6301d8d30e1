// POST /items: what a program hands over is answered 202 when it is on disk, and not before.
import type { IncomingMessage } from 'node:http'
import { placeText, textOf } from '../../../src/hl7v2/problem.ts'
import { type Draft, DraftFault, draftsOf } from '../folder/json.ts'
import { incomingOf } from '../folder/read.ts'
import { itemOf } from '../hl7/items.ts'
import { receive } from '../hl7/read.ts'
import type { Outcome } from '../intake.ts'
import type { Incoming } from '../state/items.ts'
import type { LocalParts } from './server.ts'

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly html?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The name of this source towards the server. */
const source = 'http'

/** Items that one request may hold. */
const mostItems = 5000

/** Body: one item or resource, a list of them, `{items: […]}`, NDJSON, or an HL7 v2 message, as its content type says. */
export async function takeItems(parts: LocalParts, request: IncomingMessage): Promise<Answer> {
  const longest = parts.limits().max_message_bytes * 4
  const bytes = await bodyOf(request, longest)
  if (!bytes) return refused(413, 'PAYLOAD_TOO_LARGE', `A request may hold ${longest} bytes.`)
  let items: readonly Incoming[]
  try {
    items = itemsIn(parts, bytes, request.headers['content-type'] ?? '')
  } catch (error) {
    if (error instanceof DraftFault) return refused(400, 'VALIDATION_ERROR', error.message, error.field)
    throw error
  }
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  parts.intake.put({ items, done: resolve })
  return answerTo(await promise, items)
}

function answerTo(outcome: Outcome, items: readonly Incoming[]): Answer {
  const later = { 'retry-after': '60' }
  if (outcome.kind === 'full')
    return {
      ...refused(507, 'STORAGE_FULL', `Nothing is stored, the agent is full: ${outcome.reason}.`),
      headers: later,
    }
  if (outcome.kind === 'failed')
    return { ...refused(503, 'UNAVAILABLE', 'Nothing is stored: the disk or the database failed.'), headers: later }
  const body = { accepted: items.length, duplicates: outcome.duplicates, item_ids: items.map(each => each.itemId) }
  return { status: 202, body }
}

const refused = (status: number, error_code: string, message: string, field?: string): Answer => ({
  status,
  body: { error_code, message, ...(field ? { field } : {}) },
})

/** @throws DraftFault */
function itemsIn(parts: LocalParts, bytes: Buffer, contentType: string): readonly Incoming[] {
  const { limits, time } = parts
  const longest = limits().max_message_bytes
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (/hl7-v2|^text\/plain$/.test(type)) return messages(bytes, time(), longest)
  const drafts: Draft[] = draftsOf(bytes.toString('utf8'), /ndjson/.test(type), undefined)
  if (drafts.length === 0 || drafts.length > mostItems) throw new DraftFault(`Send 1 to ${mostItems} items.`, 'items')
  return drafts.map((draft, index) => incomingOf(draft, index, source, time(), longest))
}

function messages(bytes: Buffer, now: Date, longest: number): Incoming[] {
  const { messages: all, problem } = receive(bytes)
  if (problem) throw new DraftFault(`${textOf(problem)}.`, placeText(problem))
  if (bytes.length > longest) throw new DraftFault(`The message is longer than ${longest} bytes.`)
  return all.map(each => itemOf(source, each, now.toISOString()))
}

/** Undefined: it is too long. */
async function bodyOf(request: IncomingMessage, longest: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > longest) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
