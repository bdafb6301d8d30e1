// What each command does.
import { headerOf } from '../../../src/hl7v2/header.ts'
import type { Clock } from '../clock.ts'
import type { Target } from '../config-shape.ts'
import type { Log } from '../log.ts'
import { deliver } from '../mllp/client.ts'
import { type Ending, endCommand, noteKey, type Order, postponeCommand } from '../state/commands.ts'
import { write } from '../state/meta.ts'
import { retryQuarantine } from '../state/quarantine.ts'
import type { State } from '../state/state.ts'
import type { Keys } from './keys.ts'
import { Unreachable } from './transport.ts'

export interface Actions {
  readonly keys: Keys
  readonly targets: () => Readonly<Record<string, Target>>
  /** Fetches the server's config and applies it. @throws Error with what is wrong with it. */
  readonly applyConfig: () => Promise<void>
  /** Called when items were put back into the queue. */
  readonly onStored: () => void
}

interface Parts extends Actions {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

/** Undefined: it is to be tried again. */
type Action = (parts: Parts, order: Order) => Promise<Ending | undefined> | Ending

const done: Ending = { status: 'done' }

const actions: Readonly<Record<string, Action>> = {
  async config({ applyConfig }) {
    await applyConfig()
    return done
  },
  rotate_key({ state, keys }, { id, keyDigest }) {
    // Made once: a command that is done again after a crash names the key that the server may know already.
    if (keyDigest === null) state.transaction(() => noteKey(state, id, keys.next()))
    return done
  },
  retry_quarantine({ state, clock, onStored }, { payload }) {
    const { item_ids: itemIds } = payload as { item_ids?: unknown }
    const chosen = Array.isArray(itemIds) ? itemIds.filter(each => typeof each === 'string') : undefined
    const count = retryQuarantine(state, chosen, clock.now())
    if (count > 0) onStored()
    return { status: 'done', message: `${count} items are queued again.` }
  },
  send_hl7v2: sendMessage,
  update_available({ state, log }, { payload }) {
    const { version, url } = payload as { version?: unknown; url?: unknown }
    if (typeof version !== 'string') return { status: 'failed', message: 'The command names no version.' }
    write(state, 'update', { version, ...(typeof url === 'string' ? { url } : {}) })
    log.warn('a newer version of the agent is available', { version })
    return done
  },
}

const firstWait = 2000
const longestWait = 300_000

/** Does one command; what fails for a while is tried again later, and others go on meanwhile. */
export async function act(parts: Parts, order: Order): Promise<void> {
  const { state, clock, log } = parts
  const action = Object.hasOwn(actions, order.type) ? actions[order.type] : undefined
  const unknown: Ending = { status: 'failed', message: 'This version of the agent does not know the command.' }
  const ending = action ? await attempt(action, parts, order) : unknown
  if (ending) {
    endCommand(state, order.id, ending)
    log.info('command ended', { type: order.type, status: ending.status })
    return
  }
  const wait = Math.min(longestWait, firstWait * 2 ** Math.min(order.attempts, 20)) * (0.5 + clock.random() / 2)
  postponeCommand(state, order.id, clock.now() + Math.round(wait))
  log.warn('command is tried again later', { type: order.type, attempts: order.attempts + 1 })
}

async function attempt(action: Action, parts: Parts, order: Order): Promise<Ending | undefined> {
  try {
    return await action(parts, order)
  } catch (error) {
    if (error instanceof Unreachable) return undefined
    return { status: 'failed', message: (error as Error).message }
  }
}

async function sendMessage({ targets }: Parts, { payload }: Order): Promise<Ending | undefined> {
  const { target: name, message } = payload as { target?: unknown; message?: unknown }
  const target = typeof name === 'string' && Object.hasOwn(targets(), name) ? targets()[name] : undefined
  if (!target) return { status: 'failed', message: 'The config names no such target.' }
  if (typeof message !== 'string') return { status: 'failed', message: 'The command has no message.' }
  // On the wire segments end with carriage returns.
  const text = `${message.replaceAll(/\r\n|\n/g, '\r').replace(/\r*$/, '')}\r`
  const controlId = headerOf(text)?.controlId
  if (!controlId) return { status: 'failed', message: 'The message has no control id (MSH-10).' }
  const delivery = await deliver(target, text, controlId)
  if (delivery.kind === 'accepted') return done
  return delivery.kind === 'refused' ? { status: 'failed', message: delivery.text } : undefined
}
