// Which of several servers is the primary. A server whose timeline is older than one that was seen is refused: it was a primary
// before another took its place (https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-TIMELINES).
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { withDeadline } from '../lib/deadline.ts'
import { Failure } from '../lib/failure.ts'
import { nameOfHost, type PostgresHost } from '../lib/postgres-url.ts'
import { streamOf } from './ask.ts'
import { Cut, NoServer } from './doubt.ts'

/** A server that accepts changes. */
interface Primary {
  readonly host: PostgresHost
  /** It grows with each promotion. */
  readonly timeline: number
}

export interface Hosts {
  /**
   * Returns the primary: the one of a moment ago, or the one that says so now.
   * @throws Failure UNAVAILABLE if there is none.
   */
  primary(): Promise<Primary>
  /**
   * Asks a connection whether it is one to the primary. @returns the timeline of its server.
   * @throws Failure UNAVAILABLE if it is not.
   */
  admit(client: pg.Client, host: PostgresHost): Promise<number>
  /** A connection failed: the next one looks for the primary again. */
  forget(): void
  /** Asks all servers, and returns the primary with the newest timeline; undefined: none answers. */
  survey(): Promise<Primary | undefined>
}

/** Milliseconds for a server to say what it is. */
export const patience = 2000

/** Milliseconds before the others are asked, too. */
const headStart = 300

/** Milliseconds that others have to answer after one has said that it is the primary. */
const grace = 200

/** Milliseconds for which an answer holds. */
const lifetime = 1000

/** @param config of a connection to any of the servers */
export function createHosts(hosts: readonly PostgresHost[], config: pg.ClientConfig): Hosts {
  let newest = 0
  let last: PostgresHost | undefined
  let looking: Promise<Primary> | undefined

  const mustBePrimary = (host: PostgresHost, { is_standby, is_read_only, segment }: State): Primary => {
    if (is_standby) throw new Error(`${nameOfHost(host)} is a standby`)
    if (is_read_only) throw new Error(`${nameOfHost(host)} is read-only`)
    const timeline = Number.parseInt(segment.slice(0, 8), 16)
    if (timeline < newest)
      throw new Error(`${nameOfHost(host)} is a former primary (timeline ${timeline}, the current one is ${newest})`)
    newest = timeline
    return { host, timeline }
  }
  const inspect = async (host: PostgresHost): Promise<Primary> => {
    const client = at(new pg.Client({ ...config, application_name: 'health-interop probe' }), host)
    client.on('error', () => {})
    const asked = client.connect().then(() => stateOf(client))
    try {
      return mustBePrimary(host, await within(client, patience, asked))
    } catch (error) {
      throw said(host, error)
    } finally {
      client.end().catch(() => {})
    }
  }

  async function look(): Promise<Primary> {
    const reasons: string[] = []
    const found = await newestOf(inOrder(hosts, last), inspect, reasons)
    if (found) {
      last = found.host
      return found
    }
    throw noPrimary(reasons)
  }

  return {
    async primary() {
      const mine = (looking ??= look())
      const forget = (): void => void (looking === mine && (looking = undefined))
      mine.then(() => setTimeout(forget, lifetime).unref(), forget)
      return mine
    },
    async admit(client, host) {
      const state = await within(client, patience, stateOf(client))
      try {
        return mustBePrimary(host, state).timeline
      } catch (error) {
        throw noPrimary([(error as Error).message])
      }
    },
    forget: () => void (looking = undefined),
    async survey() {
      const found = await Promise.all(hosts.map(host => inspect(host).catch(() => undefined)))
      // One that was found before another may be behind it.
      return found.find(each => each?.timeline === newest)
    },
  }
}

const inOrder = (hosts: readonly PostgresHost[], first: PostgresHost | undefined): PostgresHost[] =>
  first ? [first, ...hosts.filter(each => each !== first)] : [...hosts]

/** Asks the first server, the others when it refuses or is slow, and returns what has the newest timeline. */
async function newestOf(
  [first, ...others]: readonly PostgresHost[],
  inspect: (host: PostgresHost) => Promise<Primary>,
  reasons: string[],
): Promise<Primary | undefined> {
  const found: Primary[] = []
  const ask = (host: PostgresHost): Promise<unknown> =>
    inspect(host).then(
      each => found.push(each),
      error => reasons.push(error.message),
    )
  const one = ask(first!)
  await Promise.race([one, sleep(headStart)])
  if (found.length === 0) {
    const each = [one, ...others.map(ask)]
    const anyone = Promise.any(each.map(asked => asked.then(() => found.length > 0 || Promise.reject()))).catch(
      () => {},
    )
    await anyone
    await Promise.race([Promise.all(each), sleep(found.length > 0 ? grace : 0)])
  }
  return found.toSorted((a, b) => b.timeline - a.timeline)[0]
}

interface State {
  readonly is_standby: boolean
  readonly is_read_only: boolean
  /** Of the log, which begins with the timeline; empty: of a standby. */
  readonly segment: string
}

async function stateOf(client: pg.Client): Promise<State> {
  const { rows } = await client.query<State>(
    `select pg_is_in_recovery() as is_standby, current_setting('default_transaction_read_only')::boolean as is_read_only,
      case when pg_is_in_recovery() then '' else pg_walfile_name(pg_current_wal_insert_lsn()) end as segment`,
  )
  return rows[0]!
}

/** Has the client connect to this server. */
export function at<Of extends pg.Client>(client: Of, { host, port }: PostgresHost): Of {
  return Object.assign(client, { host, port })
}

/** Cuts the connection if the answer does not come within so many milliseconds. @throws Error that says so */
export function within<T>(client: pg.Client, milliseconds: number, answer: Promise<T>): Promise<T> {
  return withDeadline(answer, milliseconds, () => {
    const silent = new Cut(`no answer within ${milliseconds / 1000} s`)
    streamOf(client).destroy(silent)
    throw silent
  })
}

/** What went wrong, with the server. */
function said(host: PostgresHost, error: unknown): Error {
  const { message } = error as Error
  const name = nameOfHost(host)
  return message.startsWith(name) ? (error as Error) : new Error(`${name}: ${message}`, { cause: error })
}

const noPrimary = (reasons: readonly string[]): Failure =>
  new Failure('UNAVAILABLE', 'The database is temporarily unavailable: try again.', {
    retryAfter: 2,
    cause: new NoServer(`No server of the database is its primary: ${reasons.join('; ')}.`),
  })
