// Sends what is stored: batch after batch, one at a time, each repeated word for word until the answer is clear.
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { type Batch, bindBatch, dissolve, openBatch, type Sender } from '../state/batches.ts'
import { tally } from '../state/items.ts'
import { read } from '../state/meta.ts'
import { noteRefused, noteTaken } from '../state/refused.ts'
import { giveUp, type Rejected, settle, untilHeld } from '../state/settle.ts'
import { giveBackSpace, type State } from '../state/state.ts'
import { type Backoff, createBackoff } from './backoff.ts'
import { codeOf, type Line, retryAfter } from './line.ts'
import { type Reply, Unreachable } from './transport.ts'

export interface Upload {
  /** Sends one batch, or finds that there is none; returns the milliseconds until the next step is due. */
  step(): Promise<number>
}

export interface UploadParts {
  readonly state: State
  readonly line: Line
  readonly sender: Sender
  readonly clock: Clock
  readonly log: Log
}

/** What the steps of a run remember; everything else is in the database. */
interface Memory {
  readonly backoff: Backoff
  /** Items of a batch at most: as the server says, less while a batch as a whole is refused. */
  size: number
  /** Items in a row that the server refused without reading them as items. */
  unread: number
  /** Nothing is sent between these times, however often the bell rings. */
  rest: { readonly from: number; readonly until: number }
}

const mostItems = 500

/** Milliseconds after which the queue is looked at though nothing rang: another process may have put something back. */
const idle = 5000

/** Milliseconds to wait where the server says no to the agent itself: people must act. */
const refusedWait = 60_000

/** After so many items in a row that were refused unread it is not the items that are wrong. */
const mostUnread = 5

export function createUpload(parts: UploadParts): Upload {
  const memory: Memory = {
    backoff: createBackoff(parts.clock),
    size: mostItems,
    unread: 0,
    rest: { from: 0, until: 0 },
  }
  return {
    async step() {
      const { state, sender, clock } = parts
      const left = restLeft(memory, clock.now())
      if (left > 0) return left
      // The first heartbeat says where the sequence begins.
      if (read(state, 'next_seq') === undefined) return idle
      const now = clock.now()
      const batch = openBatch(state, sender) ?? bindBatch(state, sender, memory.size, now)
      if (!batch) return Math.min(idle, untilHeld(state, now) ?? idle)
      const wait = await send(parts, memory, batch)
      memory.rest = { from: clock.now(), until: clock.now() + wait }
      return wait
    },
  }
}

/** Milliseconds that are left of a pause; a clock that was set back ends it. */
const restLeft = ({ rest }: Memory, now: number): number => (now < rest.from ? 0 : Math.max(0, rest.until - now))

async function send(parts: UploadParts, memory: Memory, batch: Batch): Promise<number> {
  const { line, log, clock } = parts
  let reply: Reply
  try {
    reply = await line.call({ method: 'POST', path: 'sync', body: batch.body })
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    const wait = memory.backoff.next()
    log.warn('the server cannot be reached', { code: error.code, failures: memory.backoff.failures(), wait_ms: wait })
    return wait
  }
  if (reply.status === 200) return taken(parts, memory, batch, reply)
  const asked = retryAfter(reply, clock.now())
  if (reply.status === 429 || reply.status >= 500) {
    sizeFrom(memory, reply)
    const wait = Math.max(memory.backoff.next(), asked ?? 0)
    log.warn('the server asks for patience', { status: reply.status, wait_ms: wait })
    return wait
  }
  if ([400, 409, 413, 415, 422].includes(reply.status)) return refusedWhole(parts, memory, batch, reply)
  log.error('the server refuses this agent', { status: reply.status, code: codeOf(reply) })
  return Math.max(refusedWait, memory.backoff.next(), asked ?? 0)
}

/** The answer is clear: item by item it says what is done. */
function taken({ state, clock, log }: UploadParts, memory: Memory, batch: Batch, reply: Reply): number {
  const { rejected, acked_through_seq } = reply.body as { rejected?: Rejected[]; acked_through_seq?: number }
  if (!Array.isArray(rejected) || typeof acked_through_seq !== 'number') {
    log.error('the answer to a batch cannot be read', { status: reply.status })
    return memory.backoff.next()
  }
  const result = settle(state, batch, rejected, acked_through_seq, clock.now())
  memory.backoff.reset()
  memory.unread = 0
  noteTaken(state)
  memory.size = Math.min(mostItems, memory.size * 2)
  sizeFrom(memory, reply)
  log.info('batch sent', { items: batch.items.length, ...result, acked_through_seq })
  if (result.lost > 0) log.error('the server lacks what it had acknowledged', { count: result.lost })
  for (const code of new Set(rejected.map(each => each.error_code)))
    log.warn('items refused by the server', { code, count: rejected.filter(each => each.error_code === code).length })
  if (tally(state, 'item').count === 0) giveBackSpace(state)
  return 0
}

function sizeFrom(memory: Memory, { body }: Reply): void {
  const most = body['max_batch_items']
  if (typeof most === 'number' && most >= 1) memory.size = Math.min(memory.size, Math.floor(most), mostItems)
}

/**
 * The batch as a whole is refused: smaller ones find the item that is the cause, which goes to quarantine while the others go
 * on. Where one item after the other is refused so, or a batch without items, the cause is elsewhere, and nothing more is moved.
 */
function refusedWhole({ state, clock, log }: UploadParts, memory: Memory, batch: Batch, reply: Reply): number {
  const code = codeOf(reply) ?? `HTTP_${reply.status}`
  const only = batch.items.length === 1 ? batch.items[0] : undefined
  log.warn('a batch as a whole was refused', { status: reply.status, code, items: batch.items.length })
  // The name of the batch is taken: with another one its items are done, or are duplicates.
  const isTaken = reply.status === 409
  const isNoItemsFault = batch.items.length === 0 || (only && memory.unread >= mostUnread)
  if (isNoItemsFault && !isTaken) {
    noteRefused(state, { status: reply.status, code, fields: fieldsOf(reply) })
    return Math.max(refusedWait, memory.backoff.next())
  }
  memory.size = isTaken ? memory.size : Math.max(1, Math.floor(batch.items.length / 2))
  state.transaction(() => {
    dissolve(state, batch.batchId)
    if (!only || isTaken) return
    memory.unread++
    state.sql('insert or ignore into skipped values (?)').run(only.seq)
    const { message, field } = reply.body as { message?: unknown; field?: unknown }
    const words = typeof message === 'string' ? message : 'The server refused the item without a reason.'
    const place = typeof field === 'string' ? field : undefined
    giveUp(state, only, { origin: 'server', code, message: words, field: place }, clock.now())
  })
  return isTaken ? memory.backoff.next() : 0
}

/** The fields that an answer names as wrong; a name that could hold what was received is left out. */
function fieldsOf({ body }: Reply): string[] {
  const details = Array.isArray(body['details']) ? body['details'] : []
  const fields = details.map(each => each?.field).filter(each => typeof each === 'string')
  return [...new Set(fields)].filter(each => /^[a-z_.[\]\d]{1,60}$/.test(each)).slice(0, 3)
}
