// Delivers what is due: takes tasks from the queue, sends them, and notes what came of it, many at a time. Several processes do so side
// by side; should one end, what it had in hand is due again when its lease is over.
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import type { Log } from '../lib/log.ts'
import type { Answer, Sender } from '../outbound/send.ts'
import { createHealth, type GivenUp } from './health.ts'
import { createLanes } from './lanes.ts'
import { claim, drop, lookAgain, type Result, release, settle, type Task } from './queue.ts'
import { verdictOf } from './schedule.ts'
import type { Target, Targets, Unsent } from './targets.ts'

export interface CourierParts {
  readonly database: Database
  readonly log: Log
  readonly sender: Sender
  readonly targets: Targets
  /** Puts on record that something is about to be told. */
  readonly disclose: (tasks: readonly (Task & { readonly target: Target })[]) => Promise<void>
  /** Told of each endpoint that is given up. */
  readonly givenUp: (endpoint: GivenUp) => Promise<void>
  /** Told of each attempt, for the figures. */
  readonly counted: (outcome: Result['outcome'], milliseconds: number) => void
  /** Called when there is room again for what could not be taken. */
  readonly wake: () => void
  /** Whether the criteria of a FHIR subscription find a resource. */
  readonly finds: (endpoint: number, id: string) => Promise<boolean>
  /** Sent to one endpoint at a time. */
  readonly abreast: number
  /** Milliseconds, from any time on. */
  readonly now?: () => number
  /** Waits for so many milliseconds. */
  readonly sleep?: (milliseconds: number) => Promise<unknown>
}

export interface Courier {
  /** Takes what is due. @returns whether more could be taken at once. */
  take(): Promise<boolean>
  /** Stops: what is under way may end for a moment, everything else is given back. */
  close(): Promise<void>
}

/** Seconds for which a task is this process's own. */
const leaseSeconds = 30
/** Milliseconds of it within which an attempt has to begin, so that it ends before the lease does. */
const beginWithin = 15_000
/** Milliseconds for which it counts that the client may be told: whatever waits longer is asked about once more. */
const trustFor = 100
const notDue = 'the subscriber may no longer access the data'
/** Taken of an endpoint before it has answered anything lately: many that hang must not take the room of the others. */
const firstTaken = 3
/** Tasks taken at a time, and in hand in all. */
const most = { taken: 200, held: 2000 }
/** Milliseconds for which attempts may end when the process stops. */
const grace = 3000

type Ending = Result & { readonly isGone?: boolean }

interface Ready extends Task {
  readonly target: Target
  readonly takenAt: number
}

export function createCourier(parts: CourierParts): Courier {
  const { database, log, sender, targets, now = () => performance.now(), sleep = setTimeout } = parts
  const health = createHealth(database)
  let ended: Ending[] = []
  let back: Task[] = []
  let unfollowed: Task[] = []
  let noting: Promise<void> | undefined
  let isClosing = false
  /** True if more may be due than was taken. */
  let isMore: boolean | undefined

  const lanes = createLanes<Ready>({
    abreast: parts.abreast,
    first: firstTaken,
    now,
    async work(task) {
      const result = await attempt(task).catch((err: unknown) => {
        log.warn({ err, delivery: task.delivery, event: task.event }, 'webhooks: a delivery could not be begun')
        return undefined
      })
      if (result === 'unfollowed') unfollowed.push(task)
      else if (result) ended.push(result)
      else back.push(task)
      void note()
    },
  })

  /** Undefined if nothing was sent, or it was broken off because the process stops; `unfollowed` if it is no delivery after all. */
  async function attempt(task: Ready): Promise<Ending | 'unfollowed' | undefined> {
    const { target, takenAt } = task
    if (!task.isChecked && !(await parts.finds(task.endpoint, task.source.id))) return 'unfollowed'
    const age = now() - takenAt
    if (age > beginWithin) return undefined
    const wanted = target.wants(task) ?? (age > trustFor ? 'nothing' : undefined)
    const look = wanted && (await lookAgain(database, task, wanted))
    if (wanted && !look) return undefined
    if (look && !look.isDue) return withheld(task, notDue)
    const startedAt = new Date()
    const outgoing = target.outgoing(task, look)
    if ('reason' in outgoing && outgoing.isFinal) return withheld(task, outgoing.reason)
    const answer = 'reason' in outgoing ? unsent(outgoing) : await sender.send(outgoing)
    if (isClosing && answer.status === undefined) return undefined
    return ending(task, startedAt, answer)
  }

  function ending(task: Task, startedAt: Date, answer: Answer): Ending {
    const { again, ...verdict } = verdictOf(answer, task.attempt, Math.random())
    const { status, error, excerpt, milliseconds } = answer
    const result = { task, ...verdict, again, startedAt, milliseconds, status, error, excerpt }
    parts.counted(verdict.outcome, milliseconds)
    const said = {
      delivery: task.delivery,
      event: task.event,
      attempt: task.attempt,
      status,
      error,
      requestId: task.requestId,
    }
    if (verdict.outcome === 'delivered') log.debug(said, 'webhooks: delivered')
    else log.info({ ...said, again }, `webhooks: ${verdict.outcome}`)
    return result
  }

  function withheld(task: Task, error: string): Ending {
    parts.counted('withheld', 0)
    log.info({ delivery: task.delivery, event: task.event, error, requestId: task.requestId }, 'webhooks: withheld')
    const nothing = { status: undefined, excerpt: undefined, again: undefined }
    return { task, outcome: 'withheld', startedAt: new Date(), milliseconds: 0, error, ...nothing }
  }

  /** Of what nobody has begun. */
  function giveBack(tasks: readonly Task[]): void {
    back.push(...tasks)
    void note()
  }

  function note(): Promise<void> {
    noting ??= noteAll()
    return noting
  }

  async function noteAll(): Promise<void> {
    // What ends in the same moment is noted together.
    await sleep(2)
    while (ended.length > 0 || back.length > 0 || unfollowed.length > 0) await noteSome()
    // At once: what ends from now on is noted by the next round.
    noting = undefined
  }

  async function noteSome(): Promise<void> {
    const [results, returned, dropped] = [ended, back, unfollowed]
    ended = []
    back = []
    unfollowed = []
    try {
      if (returned.length > 0) await release(database, returned)
      if (dropped.length > 0) await drop(database, dropped)
      if (results.length > 0) await settle(database, results)
    } catch (error) {
      return keep(results, error)
    }
    await fare(results)
    if (isMore) parts.wake()
  }

  /** What cannot be noted is noted later, as long as its lease lasts; after that it is tried again. */
  async function keep(results: readonly Ending[], error: unknown): Promise<void> {
    log.warn({ err: error, attempts: results.length }, 'webhooks: what came of attempts could not be noted')
    const since = Date.now() - leaseSeconds * 1000
    if (isClosing) return
    await sleep(500)
    ended.push(...results.filter(({ startedAt }) => startedAt.getTime() > since))
  }

  async function fare(results: readonly Ending[]): Promise<void> {
    try {
      for (const each of await health.note(results)) await parts.givenUp(each)
    } catch (error) {
      log.warn({ err: error }, 'webhooks: how receivers fare could not be noted')
    }
  }

  return {
    async take() {
      giveBack(lanes.shed())
      const room = Math.min(most.taken, most.held - lanes.held)
      isMore = true
      if (isClosing || room <= 0) return false
      const lease = randomBytes(8).readBigInt64BE()
      const takenAt = now()
      const rooms = lanes.rooms()
      const tasks = await claim(database, { lease, seconds: leaseSeconds, most: room, usual: firstTaken, rooms })
      isMore = [...rooms.values()].includes(0) || isCut(tasks, room, endpoint => rooms.get(endpoint) ?? firstTaken)
      if (tasks.length === 0) return false
      const found = await targets.of(tasks)
      const ready: Ready[] = []
      for (const task of tasks) {
        const target = found.get(task.endpoint)
        if (!target) back.push(task)
        else if (!task.isDue) ended.push(withheld(task, notDue))
        else ready.push({ ...task, target, takenAt })
      }
      void note()
      await parts.disclose(ready).catch(error => {
        giveBack(ready)
        throw error
      })
      lanes.add(ready)
      return tasks.length === room
    },
    async close() {
      isClosing = true
      giveBack(lanes.drain())
      const until = now() + grace
      while (lanes.held > 0 && now() < until) await sleep(10)
      await sender.close()
      while (lanes.held > 0) await sleep(5)
      await note()
    },
  }
}

const unsent = ({ reason }: Unsent): Answer => ({
  ...{ status: undefined, error: reason, excerpt: undefined, milliseconds: 0, retryAfter: undefined },
})

/** True if there may be more of something than there was room for. */
function isCut(tasks: readonly Task[], room: number, roomOf: (endpoint: number) => number): boolean {
  if (tasks.length >= room) return true
  const counts = new Map<number, number>()
  for (const { endpoint } of tasks) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1)
  return [...counts].some(([endpoint, count]) => count >= roomOf(endpoint))
}
