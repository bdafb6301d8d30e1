// The tasks that a process holds, by endpoint: each endpoint has a lane of its own, with a limit of concurrent
// deliveries, in which the others wait. A slow receiver fills only its own lane.
// biome-ignore-all lint/plugin: A process has one of these.

/** A task for an endpoint. */
interface Held {
  readonly endpoint: number
}

export interface Lanes<Task extends Held> {
  /** Returns how many more tasks may be taken of the endpoints that have tasks here. */
  rooms(): Map<number, number>
  /** Adds tasks, and begins those that can begin. */
  add(tasks: readonly Task[]): void
  /** Tasks in hand, waiting and begun. */
  readonly held: number
  /** Removes and returns the tasks that wait for an endpoint which has not answered for a while. */
  shed(): Task[]
  /** Removes and returns all waiting tasks. */
  drain(): Task[]
}

export interface LaneOptions<Task extends Held> {
  /** Sent to one endpoint at a time. */
  readonly concurrency: number
  /** Held of an endpoint that has not answered lately. */
  readonly first: number
  /** Runs a task; never fails. */
  readonly work: (task: Task) => Promise<void>
  /** Milliseconds. */
  readonly now: () => number
}

interface Lane<Task> extends Pace {
  waiting: Task[]
}

interface Pace {
  running: number
  /** Tasks done in the second that begins at `since`, and in the one before. */
  done: number
  before: number
  since: number
  /** When something was last answered, or begun after an idle time. */
  moved: number
}

/** Seconds of an endpoint's throughput that may wait for it. */
const ahead = 0.05

/** The most tasks held of one endpoint, however fast it answers. */
const mostHeld = 500

/** Milliseconds for which the pace of an endpoint is remembered. */
const rememberedFor = 5000

/**
 * Milliseconds without an answer after which an endpoint keeps no tasks waiting here: they would take the room of the
 * others.
 */
const stalledAfter = 1000

/** Creates the lanes of one process. */
export function createLanes<Task extends Held>({ concurrency, first, work, now }: LaneOptions<Task>): Lanes<Task> {
  type Own = Lane<Task>
  const lanes = new Map<number, Own>()
  let held = 0
  const run = (lane: Own): void => {
    while (lane.running < concurrency && lane.waiting.length > 0) {
      const task = lane.waiting.shift()!
      if (lane.running++ === 0) lane.moved = now()
      void work(task).finally(() => {
        held--
        lane.running--
        count(lane, now())
        run(lane)
      })
    }
  }
  const letGo = (of: readonly Own[]): Task[] => {
    const left = of.flatMap(lane => lane.waiting.splice(0))
    held -= left.length
    return left
  }
  return {
    get held() {
      return held
    },
    rooms() {
      for (const [key, lane] of lanes) if (isQuiet(lane, now())) lanes.delete(key)
      return new Map(
        [...lanes].map(([key, lane]) => {
          // Enough waits here that a fast endpoint never waits for the database, and no task waits long.
          const pace = Math.max(lane.done, lane.before)
          const isAnswering = pace > 0 && !isStalled(lane, now())
          const most = isAnswering ? Math.min(Math.max(concurrency, Math.ceil(pace * ahead)), mostHeld) : first
          return [key, Math.max(0, most - lane.running - lane.waiting.length)]
        }),
      )
    },
    add(tasks) {
      const touched = new Set<Own>()
      for (const task of tasks) {
        const lane = lanes.get(task.endpoint) ?? {
          running: 0,
          waiting: [],
          done: 0,
          before: 0,
          since: now(),
          moved: 0,
        }
        lanes.set(task.endpoint, lane)
        touched.add(lane)
        lane.waiting.push(task)
        held++
      }
      for (const lane of touched) run(lane)
    },
    shed: () => letGo([...lanes.values()].filter(lane => isStalled(lane, now()))),
    drain: () => letGo([...lanes.values()]),
  }
}

const isStalled = ({ running, moved }: Pace, now: number): boolean => running > 0 && now - moved > stalledAfter

function count(lane: Pace, now: number): void {
  lane.moved = now
  if (now - lane.since >= 1000) {
    lane.before = now - lane.since < 2000 ? lane.done : 0
    lane.done = 0
    lane.since = now
  }
  lane.done++
}

/** An endpoint that has been idle for a while need not be remembered. */
const isQuiet = ({ running, moved }: Pace, now: number): boolean => running === 0 && now - moved > rememberedFor
