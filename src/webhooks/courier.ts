// Delivers what is due: takes tasks from the queue, sends many of them at a time, and has the outcomes recorded.
// Several processes do so concurrently; when one dies, its tasks are due again once their lease ends.
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type AttemptParts, attemptTask, type Outcome, type ReadyTask, withdrawn } from './attempt-task.ts'
import { claim } from './claim.ts'
import { createLanes } from './lanes.ts'
import type { Task } from './queue.ts'
import { createRecorder, type RecorderParts } from './recorder.ts'
import type { Target, Targets } from './targets.ts'

export interface CourierParts
  extends Omit<AttemptParts, 'isClosing' | 'now'>,
    Pick<RecorderParts, 'database' | 'log' | 'givenUp'> {
  readonly targets: Targets
  /** Records a disclosure in the audit trail before the delivery is sent. */
  readonly disclose: (tasks: readonly (Task & { readonly target: Target })[]) => Promise<void>
  /** Called when there is room again for tasks that could not be taken. */
  readonly wake: () => void
  /** Sent to one endpoint at a time. */
  readonly concurrency: number
  /** Milliseconds, from any time on. */
  readonly now?: () => number
  /** Waits for so many milliseconds. */
  readonly sleep?: (milliseconds: number) => Promise<unknown>
}

export interface Courier {
  /** Takes what is due. @returns whether more could be taken at once. */
  take(): Promise<boolean>
  /** Stops: tasks under way may end for a moment, all others are returned to the queue. */
  close(): Promise<void>
}

/** Seconds for which a task is this process's own. */
const leaseSeconds = 30
/** Taken of an endpoint that has not answered lately: many that hang must not take the room of the others. */
const firstTaken = 3
/** Tasks taken at a time, and in hand in all. */
const most = { taken: 200, held: 2000 }
/** Milliseconds for which attempts may end when the process stops. */
const grace = 3000

/** The state of a courier. */
export interface CourierState {
  /** A courier that closes takes nothing any more. */
  readonly phase: 'open' | 'closing'
  /** True if more may be due than was taken: it looks again as soon as there is room. */
  readonly isBehind: boolean
}

export type CourierEvent = 'looked' | 'took all' | 'took some' | 'closed'

/** Returns the state after an event. A courier that begins to look is behind until all that is due is taken. */
export function nextState(state: CourierState, event: CourierEvent): CourierState {
  if (event === 'closed') return { ...state, phase: 'closing' }
  return { ...state, isBehind: event !== 'took all' }
}

export function createCourier(parts: CourierParts): Courier {
  const { database, targets, now = () => performance.now(), sleep = setTimeout } = parts
  let state: CourierState = { phase: 'open', isBehind: false }
  const on = (event: CourierEvent): void => void (state = nextState(state, event))
  const isClosing = (): boolean => state.phase === 'closing'
  const recorder = createRecorder({
    ...{ ...parts, isClosing, sleep, leaseSeconds },
    recorded: () => void (state.isBehind && parts.wake()),
  })
  const giveBack = (tasks: readonly Task[]): void => recorder.add(tasks.map(returned))
  const attempts: AttemptParts = { ...parts, isClosing, now }
  const lanes = createLanes<ReadyTask>({
    ...{ concurrency: parts.concurrency, first: firstTaken, now },
    work: async task => recorder.add([await attemptTask(attempts, task)]),
  })

  /** Takes tasks; some of them may be settled without an attempt. */
  async function claimTasks(room: number): Promise<{ readonly taken: number; readonly ready: readonly ReadyTask[] }> {
    const lease = randomBytes(8).readBigInt64BE()
    const takenAt = now()
    const rooms = lanes.rooms()
    const tasks = await claim(database, { lease, seconds: leaseSeconds, most: room, usual: firstTaken, rooms })
    const isCut = [...rooms.values()].includes(0) || fills(tasks, room, endpoint => rooms.get(endpoint) ?? firstTaken)
    on(isCut ? 'took some' : 'took all')
    if (tasks.length === 0) return { taken: 0, ready: [] }
    const found = await targets.of(tasks)
    const [ready, settled]: [ReadyTask[], Outcome[]] = [[], []]
    for (const task of tasks) {
      const next = readyOr(parts, task, found.get(task.endpoint), takenAt)
      if ('kind' in next) settled.push(next)
      else ready.push(next)
    }
    recorder.add(settled)
    return { taken: tasks.length, ready }
  }

  return {
    async take() {
      giveBack(lanes.shed())
      const room = Math.min(most.taken, most.held - lanes.held)
      on('looked')
      if (isClosing() || room <= 0) return false
      const { taken, ready } = await claimTasks(room)
      if (taken === 0) return false
      await parts.disclose(ready).catch(error => {
        giveBack(ready)
        throw error
      })
      lanes.add(ready)
      return taken === room
    },
    async close() {
      on('closed')
      giveBack(lanes.drain())
      const until = now() + grace
      while (lanes.held > 0 && now() < until) await sleep(10)
      await parts.sender.close()
      while (lanes.held > 0) await sleep(5)
      await recorder.idle()
    },
  }
}

const returned = (task: Task): Outcome => ({ kind: 'returned', task })

/**
 * Returns a task with its target, or its outcome if nothing is to be sent: its endpoint has changed, or no longer has
 * the right to the event.
 */
function readyOr(parts: CourierParts, task: Task, target: Target | undefined, takenAt: number): ReadyTask | Outcome {
  if (!target) return returned(task)
  return task.isDue ? { ...task, target, takenAt } : withdrawn(parts, task)
}

/** Returns true if there may be more tasks than there was room for. */
function fills(tasks: readonly Task[], room: number, roomOf: (endpoint: number) => number): boolean {
  if (tasks.length >= room) return true
  const counts = new Map<number, number>()
  for (const { endpoint } of tasks) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1)
  return [...counts].some(([endpoint, count]) => count >= roomOf(endpoint))
}
