// The tasks that a process has in hand, by endpoint: each endpoint has a lane of its own, in which so many are sent at a time and the
// others wait. A receiver that takes its time fills its own lane and nobody else's.
import type { Task } from './queue.ts'

export interface Lanes {
  /** How many more may be taken of the endpoints that have something in hand. */
  rooms(): Map<number, number>
  /** Takes tasks in and begins those that can begin. */
  add(tasks: readonly Task[]): void
  /** Tasks in hand, waiting and begun. */
  readonly held: number
  /** Lets go of those that wait for an endpoint which has left all that it was sent unanswered for a while. */
  shed(): Task[]
  /** Lets go of all that wait. */
  drain(): Task[]
}

export interface LaneOptions {
  /** Sent to one endpoint at a time. */
  readonly abreast: number
  /** Does a task; never fails. */
  readonly work: (task: Task) => Promise<void>
}

interface Lane {
  running: number
  waiting: Task[]
  /** Tasks done in the second that begins at `since`, and in the one before. */
  done: number
  before: number
  since: number
  /** When something was last answered, or begun after a time in which there was nothing to do. */
  moved: number
}

/** How many seconds of what an endpoint answers may wait for it. */
const ahead = 0.1

/** The most that is taken of one endpoint, however fast it answers. */
const mostHeld = 500

/** Milliseconds without an answer after which an endpoint keeps nothing waiting here: it would take the room of the others. */
const stalledAfter = 1000

export function createLanes({ abreast, work }: LaneOptions): Lanes {
  const lanes = new Map<number, Lane>()
  let held = 0
  const run = (key: number, lane: Lane): void => {
    while (lane.running < abreast && lane.waiting.length > 0) {
      const task = lane.waiting.shift()!
      if (lane.running++ === 0) lane.moved = performance.now()
      void work(task).finally(() => {
        held--
        lane.running--
        count(lane)
        if (lane.running === 0 && lane.waiting.length === 0 && isQuiet(lane)) lanes.delete(key)
        else run(key, lane)
      })
    }
  }
  const letGo = (of: readonly Lane[]): Task[] => {
    const left = of.flatMap(lane => lane.waiting.splice(0))
    held -= left.length
    return left
  }
  return {
    get held() {
      return held
    },
    rooms: () =>
      new Map(
        [...lanes].map(([key, lane]) => {
          // So much may wait here that a fast one never waits for the database, and nothing for long.
          const pace = Math.max(lane.done, lane.before) * ahead
          const most = isStalled(lane) ? abreast : Math.min(Math.max(abreast, Math.ceil(pace)), mostHeld)
          return [key, Math.max(0, most - lane.running - lane.waiting.length)]
        }),
      ),
    add(tasks) {
      const touched = new Map<number, Lane>()
      for (const task of tasks) {
        const lane = lanes.get(task.endpoint) ?? {
          running: 0,
          waiting: [],
          done: 0,
          before: 0,
          since: performance.now(),
          moved: 0,
        }
        lanes.set(task.endpoint, lane)
        touched.set(task.endpoint, lane)
        lane.waiting.push(task)
        held++
      }
      for (const [key, lane] of touched) run(key, lane)
    },
    shed: () => letGo([...lanes.values()].filter(isStalled)),
    drain: () => letGo([...lanes.values()]),
  }
}

const isStalled = ({ running, moved }: Lane): boolean => running > 0 && performance.now() - moved > stalledAfter

function count(lane: Lane): void {
  const now = performance.now()
  lane.moved = now
  if (now - lane.since >= 1000) {
    lane.before = now - lane.since < 2000 ? lane.done : 0
    lane.done = 0
    lane.since = now
  }
  lane.done++
}

/** An endpoint that has answered little lately need not be remembered. */
const isQuiet = (lane: Lane): boolean => lane.done < 10 && lane.before < 10
