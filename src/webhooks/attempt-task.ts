// One attempt at a delivery: it is sent, withheld, given back to the queue, or found to be no delivery after all.
import type { Database } from '../db/database.ts'
import type { Log } from '../lib/log.ts'
import type { DeliveryResponse, Sender } from '../outbound/send.ts'
import { isUnchanged, lookAgain, type Result, type Task } from './queue.ts'
import { verdictOf } from './schedule.ts'
import type { Handover, Target, Unsent } from './targets.ts'

export interface AttemptParts {
  readonly database: Database
  readonly log: Log
  readonly sender: Sender
  /** Gives a Bridge agent what it is to send. */
  readonly handOver: (handover: Handover) => Promise<keyof typeof handedOver>
  /** Called after each attempt, for the metrics. */
  readonly counted: (outcome: Result['outcome'], milliseconds: number) => void
  /** Returns whether the criteria of a FHIR subscription find a resource. */
  readonly finds: (endpoint: number, id: string) => Promise<boolean>
  /** True while the process stops: what is broken off then is no attempt. */
  readonly isClosing: () => boolean
  /** Milliseconds, from any time on. */
  readonly now: () => number
}

/** A task with its endpoint. */
export interface ReadyTask extends Task {
  readonly target: Target
  /** When it was taken from the queue, on the clock of `now`. */
  readonly takenAt: number
}

/** The result of an attempt, as it is kept. */
export type Ending = Result & { readonly isGone?: boolean }

/** The outcome of a task. */
export type Outcome =
  /** It was sent, or withheld: an attempt to be kept. */
  | { readonly kind: 'ended'; readonly ending: Ending }
  /** Nothing was sent, or it was broken off because the process stops: it goes back to the queue. */
  | { readonly kind: 'returned'; readonly task: Task }
  /** The search of a FHIR subscription does not find the resource: there is no delivery. */
  | { readonly kind: 'dropped'; readonly task: Task }

/** Milliseconds within which an attempt has to begin, so that it ends before the lease does. */
const beginWithin = 15_000
/** Milliseconds for which the check of the client's rights is valid: a task that waits longer is checked again. */
const trustFor = 100
const notDue = 'the subscriber may no longer access the data'

/** Attempts a delivery. A task that cannot be begun is logged, and returned to the queue. */
export async function attemptTask(parts: AttemptParts, task: ReadyTask): Promise<Outcome> {
  try {
    return await attempt(parts, task)
  } catch (err) {
    parts.log.warn({ err, delivery: task.delivery, event: task.event }, 'webhooks: could not start a delivery')
    return { kind: 'returned', task }
  }
}

async function attempt(parts: AttemptParts, task: ReadyTask): Promise<Outcome> {
  const { target, takenAt } = task
  if (!task.isChecked && !(await parts.finds(task.endpoint, task.source.id))) return { kind: 'dropped', task }
  const age = parts.now() - takenAt
  if (age > beginWithin) return { kind: 'returned', task }
  const wanted = target.wants(task) ?? (age > trustFor ? 'nothing' : undefined)
  const look = wanted && (await lookAgain(parts.database, task, wanted))
  if (wanted && !look) return { kind: 'returned', task }
  if (look && !look.isDue) return withheld(parts, task, notDue)
  const startedAt = new Date()
  const outgoing = target.outgoing(task, look)
  if ('reason' in outgoing && outgoing.isFinal) return withheld(parts, task, outgoing.reason)
  const answer = await answerTo(parts, outgoing)
  if (parts.isClosing() && answer.status === undefined) return { kind: 'returned', task }
  const isFormer = answer.status === 410 && !(await isUnchanged(parts.database, task))
  return ended(parts, task, startedAt, { ...answer, isFormer })
}

async function answerTo(
  { sender, handOver, now }: AttemptParts,
  outgoing: ReturnType<Target['outgoing']>,
): Promise<DeliveryResponse> {
  if ('reason' in outgoing) return unsent(outgoing)
  if ('method' in outgoing) return sender.send(outgoing)
  const began = now()
  const answer = handedOver[await handOver(outgoing)]
  return { excerpt: undefined, retryAfter: undefined, ...answer, milliseconds: now() - began }
}

/** The same statuses as those of a receiver with a URL, so that one schedule decides. */
const handedOver = {
  queued: { status: 202, error: undefined },
  full: { status: 503, error: 'too many commands wait for the Bridge agent' },
  gone: { status: 410, error: 'the Bridge agent is revoked' },
} as const

interface Answer extends DeliveryResponse {
  /** It came from where the endpoint no longer is. */
  readonly isFormer: boolean
}

function ended({ counted, log }: AttemptParts, task: Task, startedAt: Date, answer: Answer): Outcome {
  const { again, ...verdict } = verdictOf(answer, task.attempt, Math.random())
  const { status, error, excerpt, milliseconds } = answer
  counted(verdict.outcome, milliseconds)
  const { delivery, event, requestId } = task
  const said = { delivery, event, attempt: task.attempt, status, error, requestId }
  if (verdict.outcome === 'delivered') log.debug(said, 'webhooks: delivered')
  else log.info({ ...said, again }, `webhooks: ${verdict.outcome}`)
  return { kind: 'ended', ending: { task, ...verdict, again, startedAt, milliseconds, status, error, excerpt } }
}

/** Returns the outcome of a task whose client no longer has the right to the event. */
export const withdrawn = (parts: Pick<AttemptParts, 'counted' | 'log'>, task: Task): Outcome =>
  withheld(parts, task, notDue)

function withheld({ counted, log }: Pick<AttemptParts, 'counted' | 'log'>, task: Task, error: string): Outcome {
  counted('withheld', 0)
  log.info({ delivery: task.delivery, event: task.event, error, requestId: task.requestId }, 'webhooks: withheld')
  const nothing = { status: undefined, excerpt: undefined, again: undefined }
  return {
    kind: 'ended',
    ending: { task, outcome: 'withheld', startedAt: new Date(), milliseconds: 0, error, ...nothing },
  }
}

const unsent = ({ reason }: Unsent): DeliveryResponse => ({
  ...{ status: undefined, error: reason, excerpt: undefined, milliseconds: 0, retryAfter: undefined },
})
