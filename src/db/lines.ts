// Lines: connections on which short statements of all clients follow each other, without waiting for the answers (pipeline).
// PostgreSQL takes the next one without sleeping in between, and what is sent within a turn of the event loop travels as one
// message. Waking a process costs more than most of these statements.
import type pg from 'pg'
import { answerOf, streamOf } from './ask.ts'
import { cancelOn } from './cancel.ts'
import type { Statement } from './statement.ts'

/** A statement on a line. */
export interface Sent<Row extends object> {
  /** @throws errors of pg, untranslated */
  readonly rows: Promise<Row[]>
  /** Milliseconds that it ran, apart from the wait for those before it; once it has ended. */
  took(): number
  /** Ends it. PostgreSQL may end one that follows it instead, which `isVictim` tells. */
  cancel(): void
  /** True if its error comes from another statement, so that it is to be repeated. */
  isVictim(error: unknown): boolean
}

interface Line {
  /** @param expected milliseconds that the statement will run */
  send<Row extends object>(statement: Statement, expected: number): Sent<Row>
}

export interface Lines {
  /** Returns a line on which a statement has little to wait for; undefined if there is none at the moment. */
  free(): Line | undefined
  /** Lines with statements under way, and without. */
  states(): { readonly used: number; readonly idle: number }
  end(): Promise<void>
}

/** Most lines: one process keeps no more of PostgreSQL busy with short statements. */
export const mostLines = 2

/** Milliseconds that a statement waits at most for those before it, as far as that is known. */
const longestWait = 25

/** Milliseconds after which a statement is not as short as expected: none joins it. */
const slow = 50

/** Milliseconds after which a line without statements closes: networks forget connections that are silent for long. */
const idleTime = 60_000

/** Milliseconds that a statement without a caller goes on once it runs: most end by themselves. */
const grace = 100

interface Entry {
  readonly expected: number
  readonly sentAt: number
  took: number
  isUnwanted: boolean
}

interface State {
  readonly client: pg.Client
  /** In the order in which PostgreSQL answers. */
  readonly entries: Entry[]
  /** Closes the line when it was idle for long. */
  readonly idle: NodeJS.Timeout
  /** When the last answer was complete. */
  answeredAt: number
  isCorked: boolean
  /** True after a cancellation, which may arrive late: the line takes nothing more, and ends when it is empty. */
  isRetired: boolean
}

/**
 * Creates the lines of a pool. They open when they are needed, the second when the first is busy.
 * @param open connects
 * @param idle milliseconds after which a line without statements closes
 */
export function createLines(open: () => Promise<pg.Client>, idle = idleTime): Lines {
  const lines = new Set<State>()
  let opening: Promise<unknown> | undefined
  let isEnded = false

  const leave = (state: State): void => {
    clearTimeout(state.idle)
    lines.delete(state)
  }
  const end = (state: State): Promise<void> => {
    leave(state)
    return state.client.end()
  }

  /** Adds a line. Without it, statements use other connections, which tell why none opens. */
  async function add(): Promise<void> {
    const client = await open()
    const close = (): void => void (state.entries.length === 0 ? end(state) : state.idle.refresh())
    const timer = setTimeout(close, idle).unref()
    const state: State = { client, entries: [], idle: timer, answeredAt: 0, isCorked: false, isRetired: false }
    client.once('end', () => leave(state))
    if (isEnded) await client.end()
    else lines.add(state)
  }

  return {
    free() {
      const [best] = [...lines].sort((a, b) => waitOf(a) - waitOf(b))
      const wait = best ? waitOf(best) : Infinity
      if (wait > 0 && lines.size < mostLines && !isEnded)
        opening ??= add()
          .catch(() => {})
          .finally(() => (opening = undefined))
      return best && wait <= longestWait ? lineOf(best, leave) : undefined
    },
    states() {
      const used = [...lines].filter(each => each.entries.length > 0).length
      return { used, idle: lines.size - used }
    },
    async end() {
      isEnded = true
      await opening
      await Promise.all([...lines].map(end))
    },
  }
}

/** Milliseconds until a further statement would run; for one that takes longer than expected, nobody knows. */
function waitOf({ entries, answeredAt }: State): number {
  const [first] = entries
  if (!first) return 0
  if (performance.now() - Math.max(first.sentAt, answeredAt) > slow) return Infinity
  return entries.reduce((sum, { expected }) => sum + expected, 0)
}

const lineOf = (state: State, leave: (state: State) => void): Line => ({
  send<Row extends object>(statement: Statement, expected: number): Sent<Row> {
    const entry: Entry = { expected, sentAt: performance.now(), took: 0, isUnwanted: false }
    state.entries.push(entry)
    together(state)
    const rows = answerOf<Row>(state.client, statement)
      .then(answer => answer.rows)
      .finally(() => answered(state, entry, leave))
    return {
      rows,
      took: () => entry.took,
      cancel() {
        entry.isUnwanted = true
        end(state, entry, leave)
      },
      isVictim: error => !entry.isUnwanted && isOfAnother(error, state),
    }
  },
})

/** True if the error comes from a statement before it: a late cancellation, or a preparation that failed and that both needed. */
function isOfAnother(error: unknown, { isRetired }: State): boolean {
  const { code } = error as { code?: unknown }
  return code === '26000' || (isRetired && code === '57014')
}

/** Sends what is written to the connection within this turn of the event loop as one message. */
function together(state: State): void {
  if (state.isCorked) return
  const stream = streamOf(state.client)
  state.isCorked = true
  stream.cork()
  setImmediate(() => {
    state.isCorked = false
    stream.uncork()
  })
}

function answered(state: State, entry: Entry, leave: (state: State) => void): void {
  const now = performance.now()
  entry.took = now - Math.max(entry.sentAt, state.answeredAt)
  state.answeredAt = now
  state.idle.refresh()
  state.entries.splice(state.entries.indexOf(entry), 1)
  const [next] = state.entries
  if (state.isRetired && !next) void state.client.end()
  if (next?.isUnwanted) setTimeout(() => end(state, next, leave), grace).unref()
}

/**
 * Cancels the statement if it is the one that runs, and again for as long as it does: a request that arrives before the statement
 * begins is lost. The line takes no other.
 */
function end(state: State, entry: Entry, leave: (state: State) => void, pause = grace): void {
  if (state.entries[0] !== entry) return
  state.isRetired = true
  leave(state)
  cancelOn(state.client)
  setTimeout(() => end(state, entry, leave, 2 * pause), pause).unref()
}
