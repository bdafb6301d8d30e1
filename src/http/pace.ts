// The slowest rate at which a body may arrive: a slower sender holds a connection and memory for nothing.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { withDeadline } from '../lib/deadline.ts'
import { Failure } from '../lib/failure.ts'

export interface Pace {
  /** Milliseconds that a sender may need beyond its pace, whatever the size. */
  readonly grace: number
  /** Bytes a second, on average. */
  readonly slowest: number
}

/** About the rate of a telephone on EDGE in poor reception. */
const usualPace: Pace = { grace: 15_000, slowest: 4096 }

/**
 * Yields the bytes of a body as they arrive. Only the time spent waiting for the sender counts, not what is done in
 * between. The connection stays open for the reply.
 * @throws Failure REQUEST_TIMEOUT if they arrive too slowly, MALFORMED_REQUEST if the connection breaks off.
 */
export async function* paced(request: IncomingMessage, pace: Pace = usualPace): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false })
  let [waited, received] = [0, 0]
  try {
    for (;;) {
      const began = performance.now()
      const next = await inTime(chunks.next(), pace, received, waited)
      if (next.done) return
      waited += performance.now() - began
      received += next.value.length
      yield next.value
    }
  } finally {
    chunks.return?.()?.catch(() => {})
  }
}

/** Returns the bytes of a body that has already arrived in full, or undefined if it must be waited for. */
export function arrived(request: IncomingMessage): Buffer | undefined {
  if (!request.complete || request.destroyed) return undefined
  return (request.read() as Buffer | null) ?? Buffer.alloc(0)
}

/** How much of a body is read and dropped after it was refused before its end: milliseconds, and bytes. */
const mostRest = { time: 10_000, bytes: 1_048_576 }

/**
 * Lets a sender see a reply that comes before the end of its body: the reply closes the connection, and what still
 * arrives is read and dropped for a while, since a connection that is cut off at once takes the reply with it (RFC 9112
 * §9.6). Call it before the reply is sent.
 */
export function leaveRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return
  const { socket } = request
  let left = mostRest.bytes
  response.setHeader('connection', 'close')
  // Node would destroy the socket after the reply; this ends our half of it only.
  const endOurs = () => void socket.end()
  socket.destroySoon = endOurs
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) socket.destroy()
  })
  request.resume()
  const cut = setTimeout(() => socket.destroy(), mostRest.time)
  socket.once('close', () => clearTimeout(cut))
}

async function inTime<T>(next: Promise<T>, pace: Pace, received: number, waited: number): Promise<T> {
  const left = pace.grace + (received / pace.slowest) * 1000 - waited
  try {
    return await withDeadline(next, Math.max(0, left), () => {
      throw tooSlow(pace)
    })
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('MALFORMED_REQUEST', 'The connection was closed before the whole body arrived.')
  }
}

const tooSlow = ({ grace, slowest }: Pace): Failure =>
  new Failure(
    'REQUEST_TIMEOUT',
    `The body arrives too slowly: the limit is ${grace / 1000} s, plus one second for every ${slowest} bytes.`,
    { headers: { connection: 'close' } },
  )
