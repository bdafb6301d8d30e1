// Commands of the server: fetched by a long poll, kept, done, and told. What fails for a while is tried again; nothing is done twice.
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { dueCommands, keepCommands, lastCommand, noteTold, type Received, untilDue, untold } from '../state/commands.ts'
import type { State } from '../state/state.ts'
import { type Actions, act } from './actions.ts'
import { createBackoff } from './backoff.ts'
import { codeOf, type Line } from './line.ts'
import { Unreachable } from './transport.ts'

export interface Commands {
  /** Asks the server once, for up to 25 seconds; returns the milliseconds until the next time. */
  fetch(): Promise<number>
  /** Does what is due and tells the server; returns the milliseconds until more is due. */
  work(): Promise<number>
}

interface Parts extends Actions {
  readonly state: State
  readonly line: Line
  readonly clock: Clock
  readonly log: Log
  /** Called when commands came. */
  readonly onCommands: () => void
}

/** Seconds that the server holds an empty answer. */
const hold = 25

const idle = 60_000

/** Milliseconds between two questions where the server answers at once with nothing new. */
const pause = 2000

export function createCommands(parts: Parts): Commands {
  const { state, line, clock, log } = parts
  const silence = createBackoff(clock)
  const deaf = createBackoff(clock)
  return {
    async fetch() {
      const after = lastCommand(state)
      const query = `commands?${after === undefined ? '' : `after=${encodeURIComponent(after)}&`}wait=${hold}`
      const askedAt = clock.now()
      const reply = await line.call({ method: 'GET', path: query, deadline: (hold + 15) * 1000 }).catch(unreachable)
      if (reply?.status !== 200) {
        if (reply) log.warn('commands cannot be fetched', { status: reply.status, code: codeOf(reply) })
        return silence.next()
      }
      silence.reset()
      const given = reply.body['commands']
      const fresh = keepCommands(state, Array.isArray(given) ? given.filter(isCommand) : [])
      if (fresh > 0) parts.onCommands()
      return fresh > 0 || clock.now() - askedAt >= pause ? 0 : pause
    },
    async work() {
      for (const order of dueCommands(state, clock.now())) await act(parts, order)
      for (const ending of untold(state)) {
        const isTold = await tell(parts, ending)
        if (!isTold) return deaf.next()
      }
      deaf.reset()
      return Math.min(idle, untilDue(state, clock.now()) ?? idle)
    },
  }
}

const isCommand = (value: unknown): value is Received => {
  const { id, type } = (value ?? {}) as Record<string, unknown>
  return typeof id === 'string' && typeof type === 'string'
}

const unreachable = (error: unknown): undefined => {
  if (!(error instanceof Unreachable)) throw error
}

/** Tells the server how a command ended; a key that it confirms is used from then on. */
async function tell({ state, line, log, keys }: Parts, ending: ReturnType<typeof untold>[number]): Promise<boolean> {
  const { id, status, message, keyDigest } = ending
  const isKey = keyDigest !== null && status === 'done'
  const body = {
    status,
    ...(message ? { message: message.slice(0, 1000) } : {}),
    ...(isKey ? { key_sha256: keyDigest } : {}),
  }
  const path = `commands/${encodeURIComponent(id)}/ack`
  const reply = await line.call({ method: 'POST', path, body }).catch(unreachable)
  // A command that the server no longer knows, or that ended otherwise, needs no answer.
  const isGone = (reply?.status === 404 || reply?.status === 409) && codeOf(reply) !== undefined
  if (reply?.status !== 200 && !isGone) return false
  if (isKey && !isGone) {
    keys.confirm(keyDigest)
    log.info('the key was rotated')
  }
  noteTold(state, id)
  return true
}
