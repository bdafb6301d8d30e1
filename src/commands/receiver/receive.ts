// How a receiver of webhooks takes deliveries (interface §6.3): the raw bytes are verified before they are parsed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { SignatureError, verifySignature } from '../../outbound/signature.ts'

/** What came of one request. */
export interface Receipt {
  /** ISO 8601. */
  readonly time: string
  readonly status: number
  readonly error: string | undefined
  readonly event: Event | undefined
  /** How often this event has come, this time included. */
  readonly times: number
}

interface Event {
  readonly id: string
  readonly type: string
  readonly data: unknown
}

export interface Receiver {
  /** Undefined while it is not known yet. */
  secret(): string | undefined
  received(receipt: Receipt): void
  /** Share of deliveries that are answered with 500, from 0 to 1. */
  readonly failing: number
  /** Milliseconds before each answer. */
  readonly delay: number
  readonly now?: () => number
  readonly random?: () => number
}

/** A listener for the requests of an HTTP server. */
export function listener(receiver: Receiver): (request: IncomingMessage, reply: ServerResponse) => Promise<void> {
  const seen = new Map<string, number>()
  const { received, delay, now = Date.now } = receiver
  return async (request, reply) => {
    if (request.method !== 'POST') return answer(reply, 405, 'Webhooks must be sent by POST.')
    const body = await bytesOf(request)
    if (!body) return answer(reply, 413, `A delivery must have at most ${largest} bytes.`)
    const taken = take(receiver, request.headers['x-service-signature'], body)
    const { id } = taken.event ?? {}
    const times = id === undefined ? 0 : (seen.get(id) ?? 0) + 1
    if (id !== undefined) seen.set(id, times)
    await wait(delay)
    answer(reply, taken.status, taken.error)
    received({ ...taken, times, time: new Date(now()).toISOString() })
  }
}

const largest = 1_048_576

/** Undefined if there are too many. */
async function bytesOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    if ((length += chunk.length) <= largest) chunks.push(chunk)
  }
  return length <= largest ? Buffer.concat(chunks) : undefined
}

type Taken = Pick<Receipt, 'status' | 'error' | 'event'>

function take(receiver: Receiver, header: string | string[] | undefined, body: Buffer): Taken {
  const { failing, now = Date.now, random = Math.random } = receiver
  const secret = receiver.secret()
  if (secret === undefined) return refused(503, 'The subscription is not ready yet.')
  try {
    verifySignature({ header: [header].flat()[0], body, secret, now: now() })
    const event = JSON.parse(body.toString('utf8')) as Event
    if (random() < failing) return { status: 500, error: 'The receiver failed on purpose (--fail).', event }
    return { status: 200, error: undefined, event }
  } catch (error) {
    return refused(400, error instanceof SignatureError ? error.message : 'The body is not JSON.')
  }
}

const refused = (status: number, error: string): Taken => ({ status, error, event: undefined })

function answer(reply: ServerResponse, status: number, error: string | undefined): void {
  reply.writeHead(status, { 'content-type': 'application/json' })
  reply.end(JSON.stringify(error === undefined ? { received: true } : { received: false, error }))
}
