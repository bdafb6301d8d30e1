// Ends connections whose server no longer answers. A connection that is merely cut says so; one whose server hangs, or whose network
// forgot it, is silent. One look per second at what each has received, so that statements cost nothing for it.
import type pg from 'pg'
import { streamOf } from './ask.ts'
import { cancelOn } from './cancel.ts'
import { Cut } from './doubt.ts'
import type { Statement } from './statement.ts'

export interface Silence {
  /** Looks after the connection until it ends. */
  watch(client: pg.Client): void
  /** Cuts the connections for which this holds; their statements fail. @returns how many */
  cut(condition: (client: pg.Client) => boolean, why: string): number
  end(): void
}

export interface SilenceOptions {
  /** Milliseconds after which PostgreSQL ends a statement; 0: never. */
  readonly limit: number
  /** Asks the server of a connection for a sign of life by another one. Resolves with false if it gives none. */
  readonly isAlive: (client: pg.Client) => Promise<boolean>
  readonly isSameServer: (one: pg.Client, other: pg.Client) => boolean
  /** Called when a server gives no sign of life; the connections to it are cut. */
  readonly hung: (why: Error) => void
}

/** Lifts the limit of statements to the end of the transaction. */
export const withoutLimit: Statement = { text: 'set local statement_timeout = 0', values: [] }

/** Connections whose transaction has done so, and whose commit is not sent yet. */
export const unlimited = new WeakSet<pg.ClientBase>()

/** Milliseconds between two looks. */
const every = 1000

/** Milliseconds of silence, with a statement under way, after which the server is asked for a sign of life. */
const suspicious = 3000

/** Milliseconds beyond the limit of a statement after which it is cancelled, and the connection cut. PostgreSQL limits no commit. */
const margin = { cancel: 2000, cut: 5000 }

interface Heard {
  bytes: number
  /** Since when nothing came though something is under way. */
  since: number | undefined
  isCancelled: boolean
}

export function createSilence({ limit, isAlive, isSameServer, hung }: SilenceOptions): Silence {
  const clients = new Map<pg.Client, Heard>()
  const longest = limit === 0 ? Infinity : limit
  let lastLook = performance.now()
  let isAsking = false

  const cut = (client: pg.Client, why: string): void => void streamOf(client).destroy(new Cut(why))

  async function ask(suspect: pg.Client): Promise<void> {
    if (isAsking) return
    isAsking = true
    const known = [...clients.keys()]
    const alive = await isAlive(suspect).finally(() => (isAsking = false))
    if (alive) return
    const same = known.filter(each => clients.has(each) && isSameServer(each, suspect))
    hung(new Error('The server does not answer; its connections are cut.'))
    for (const each of same) cut(each, 'the server does not answer')
  }

  function look(): void {
    const now = performance.now()
    // What arrived while this process did not run has not been read yet.
    const wasAway = now - lastLook > 3 * every
    lastLook = now
    for (const [client, heard] of clients) {
      const silent = silenceOf(client, heard, now, wasAway)
      const most = unlimited.has(client) ? Infinity : longest
      if (silent > most + margin.cut) cut(client, 'a statement took too long')
      else if (silent > most + margin.cancel && !heard.isCancelled) {
        heard.isCancelled = true
        cancelOn(client)
      } else if (silent > suspicious) void ask(client)
    }
  }

  const timer = setInterval(look, every).unref()
  return {
    watch(client) {
      clients.set(client, { bytes: -1, since: undefined, isCancelled: false })
      client.once('end', () => clients.delete(client))
    },
    cut(condition, why) {
      const found = [...clients.keys()].filter(condition)
      for (const client of found) cut(client, why)
      return found.length
    },
    end: () => clearInterval(timer),
  }
}

/** Milliseconds for which nothing came though something is under way. */
function silenceOf(client: pg.Client, heard: Heard, now: number, wasAway: boolean): number {
  const { bytesRead } = streamOf(client)
  if (!isBusy(client)) heard.since = undefined
  else if (wasAway || heard.since === undefined || bytesRead !== heard.bytes) heard.since = now
  heard.bytes = bytesRead
  return heard.since === undefined ? 0 : now - heard.since
}

/** Members of pg that its types lack: statements without an answer, sent or not. */
interface Busy {
  readonly _activeQuery: object | null | undefined
  readonly _sentQueryQueue: readonly object[]
  readonly _queryQueue: readonly object[]
}

function isBusy(client: pg.Client): boolean {
  const { _activeQuery, _sentQueryQueue, _queryQueue } = client as unknown as Busy
  return Boolean(_activeQuery) || _sentQueryQueue.length > 0 || _queryQueue.length > 0
}
