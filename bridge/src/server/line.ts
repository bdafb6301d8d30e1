// The line to the server: every request carries the agent's proof; a wrong clock and a rotated key are put right on the way.
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { read, write } from '../state/meta.ts'
import type { State } from '../state/state.ts'
import type { Keys } from './keys.ts'
import type { Reply, Transport } from './transport.ts'

export interface Line {
  /** @throws Unreachable */
  call(request: Request): Promise<Reply>
  /** Now, by the server's clock as far as it is known. */
  time(): Date
  /** What was last heard: the agent's own view of how the server is doing. */
  readonly health: Health
}

interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Milliseconds until an answer must be there. */
  readonly deadline?: number
}

interface Health {
  /** By this machine's clock; undefined: never. */
  lastContact: number | undefined
  /** Why the last request failed; undefined: it did not. */
  trouble: string | undefined
}

interface Parts {
  readonly state: State
  readonly transport: Transport
  readonly keys: Keys
  readonly agentId: string
  readonly clock: Clock
  readonly log: Log
}

const defaultDeadline = 60_000

/** Milliseconds of difference that are no cause to touch the clock. */
const tolerated = 1000

/** What a line knows besides its parts. */
interface Memory {
  /** Milliseconds that the server's clock is ahead. */
  offset: number
}

export function createLine(parts: Parts): Line {
  const { state, clock } = parts
  const health: Health = { lastContact: read(state, 'last_contact'), trouble: undefined }
  const memory: Memory = { offset: read(state, 'clock_offset') ?? 0 }
  return {
    health,
    time: () => new Date(clock.now() + memory.offset),
    async call(request) {
      try {
        const reply = await proven(parts, memory, request)
        health.lastContact = clock.now()
        health.trouble = troubleOf(reply)
        return reply
      } catch (error) {
        health.trouble = (error as Error).message
        throw error
      }
    },
  }
}

/** Sends a request; again with the right time, or with the other key, if it is that what was wrong. */
async function proven(parts: Parts, memory: Memory, request: Request): Promise<Reply> {
  const { keys } = parts
  const key = keys.current()
  let reply = await attempt(parts, memory, request, key)
  if (codeOf(reply) === 'CLOCK_SKEW') reply = await attempt(parts, memory, request, key)
  const other = codeOf(reply) === 'INVALID_AGENT' ? keys.besides(key) : undefined
  if (other === undefined) return reply
  const again = await attempt(parts, memory, request, other)
  if (codeOf(again) === 'INVALID_AGENT') return reply
  // Several requests may find this at a time: the key that worked is named, not merely another one.
  keys.use(other)
  return again
}

async function attempt(parts: Parts, memory: Memory, request: Request, key: string): Promise<Reply> {
  const { transport, agentId, clock } = parts
  const { method, path, body, deadline = defaultDeadline } = request
  const sentAt = clock.now()
  const headers = { ...request.headers, ...proofOf(agentId, key, sentAt + memory.offset) }
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const reply = await transport.send({ method, path, deadline, headers, ...(text === undefined ? {} : { body: text }) })
  learn(parts, memory, reply, sentAt)
  return reply
}

/** Keeps the difference to the server's clock, which every answer with a time tells. */
function learn({ state, clock, log }: Parts, memory: Memory, { body }: Reply, sentAt: number): void {
  const told = Date.parse(String(body['server_time']))
  if (Number.isNaN(told)) return
  const found = Math.round(told - (sentAt + clock.now()) / 2)
  if (Math.abs(found - memory.offset) < tolerated) return
  log.info('clock corrected by the server’s', { seconds: Math.round(found / 1000) })
  memory.offset = found
  write(state, 'clock_offset', found)
}

/** The headers by which an agent proves itself. @param time milliseconds since 1970, by the server's clock */
export const proofOf = (agentId: string, key: string, time: number): Record<string, string> => ({
  'x-bridge-agent-id': agentId,
  'x-bridge-agent-key': key,
  'x-bridge-timestamp': String(Math.floor(time / 1000)),
})

export const codeOf = ({ status, body }: Reply): string | undefined => {
  const code = body['error_code']
  return status >= 400 && typeof code === 'string' ? code : undefined
}

/** What the status page says of an answer; undefined: all is well. */
function troubleOf(reply: Reply): string | undefined {
  const { status } = reply
  if (status === 401)
    return codeOf(reply) === 'CLOCK_SKEW' ? 'the clock is wrong' : 'the key or the agent id is not valid'
  if (status === 403) return 'agent id or facility are not those of the key'
  if (status === 426) return 'the server refuses this version of the agent: update it'
  if (status === 404) return 'the address is not that of a service with agents'
  return status >= 500 ? `the server answers ${status}` : undefined
}

/** Milliseconds that the server asks to wait; undefined: it does not. @param now by this machine's clock */
export function retryAfter({ headers }: Reply, now: number): number | undefined {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 3_600_000)
}
