// The pool of connections and the one way to query PostgreSQL. Only this folder names pg.
import cluster from 'node:cluster'
import pg from 'pg'
import { createCompany, unseenCompany } from '../lib/company.ts'
import type { Log } from '../lib/log.ts'
import { type PostgresAddress, postgresAddress } from '../lib/postgres-url.ts'
import { askPool } from './ask.ts'
import { createClients } from './clients.ts'
import { createCosts } from './costs.ts'
import { laneFor } from './lane.ts'
import { mostLines } from './lines.ts'
import { createListening, type Listen } from './listen.ts'
import { createLookUps } from './look-up.ts'
import type { Outages } from './outage.ts'
import { type Connections, connectionsOf, endPools, openPools, type Pools } from './pools.ts'
import { applicationName } from './schema.ts'
import { serviceRoom } from './shares.ts'
import { createStandbys, type StandbyReads, type Standbys, type StandbysParts } from './standbys/standbys.ts'
import type { Layout, Queryable, Statement, Transactional } from './statement.ts'
import { inTransaction } from './transaction.ts'
import type { Asking } from './watch.ts'

/** Statements of the service itself, on connections reserved for it. */
export interface Database extends Transactional {
  /**
   * The same for a client: its statements have their share of the connections, and end when the client no longer waits for them.
   * They throw Failure RATE_LIMITED when too many of the client wait, UNAVAILABLE when they waited or took too long, and the reason
   * of the signal.
   */
  as(asking: Asking): Transactional
  /**
   * Calls `heard` with the payload of each NOTIFY on the channel, and with undefined after each reconnection, which may
   * have missed some. When it resolves, it listens.
   */
  readonly listen: Listen
  /** Returns what the connections of each pool do at the moment. */
  connections(): readonly Connections[]
  /** Returns what each standby has answered. */
  standbys(): readonly StandbyReads[]
  /** Returns for how long this process could not reach the database. */
  outages(): Outages
  end(): Promise<void>
}

/** Most connections that one process opens with pools of this size, those it listens on apart. */
export const connectionsFor = (poolSize: number): number => 2 * (poolSize + serviceRoom + mostLines)

/** An address, which may name several servers as libpq does, or one server. */
export type Connection =
  | string
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

export interface DatabaseOptions {
  /** Connections that clients share, in each of the two pools; the service has a few more for itself. */
  readonly poolSize: number
  /** Milliseconds after which the server ends a statement. */
  readonly statementTimeout: number
  /** Receives when the database is lost and found; absent: nothing is logged. */
  readonly log?: Log
  /** Addresses of standbys that reads may run on; absent: none. */
  readonly standbys?: readonly string[] | undefined
  /** Default: `whole`. */
  readonly layout?: Layout
}

/** Milliseconds after which an idle transaction is ended, with its locks: work that waits must not hold locks. */
const longestIdle = 60_000

// Keys and milliseconds fit a double; hashes are only ever written, never read as numbers.
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/** Within a transaction, has what follows planned for its values, as searches outside of one are. */
export const valuePlans: Statement = { text: 'set local plan_cache_mode = force_custom_plan', values: [] }

// Statements that differ only in their values are prepared once per connection and planned for the values each time:
// a plan that suits every value would suit none (plan_cache_mode). The number of remembered shapes is bounded.
const shapes = new Map<string, string>()
const mostShapes = 500

/** A search for thousands of values is a long text that does not come again. */
const longestShape = 10_000

/** A name under which the text is prepared, or undefined when too many shapes are remembered already. */
export function preparedName(text: string): string | undefined {
  const known = shapes.get(text)
  if (known !== undefined || shapes.size >= mostShapes || text.length > longestShape) return known
  const name = `shape-${shapes.size}`
  shapes.set(text, name)
  return name
}

/** What collects the values of a statement. */
interface Bound {
  readonly values: readonly unknown[]
}

/** The statement with its values, prepared under a name, unless too many others are. @param isFixed as in `Statement` */
export const prepared = (text: string, { values }: Bound, isFixed = false): Statement => ({
  ...{ name: preparedName(text), text, values, isFixed },
})

/**
 * Opens the pools; nothing connects until the first statement, except to standbys. Statements that one plan suits have connections
 * of their own, on which PostgreSQL keeps it, and so have transactions, which ask little else; all others are planned for the
 * values they come with.
 */
export function openDatabase(connection: Connection, options: DatabaseOptions): Database {
  const { poolSize, statementTimeout, layout = 'whole', log } = options
  const config: pg.ClientConfig = {
    application_name: applicationName,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: statementTimeout === 0 ? 0 : longestIdle,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  const { address, parameters } = serversOf(connection)
  const own = { ...parameters, ...config }
  const clients = createClients({ address, config: own }, statementTimeout, log)
  const known = { costs: createCosts(), company: cluster.isWorker ? unseenCompany : createCompany() }
  const pools = openPools(own, { Client: clients.Client, poolSize, layout, ...known })
  const { fixed } = pools
  const lookUp = createLookUps(statement => askPool(fixed.pool, statement))
  const plain = (on: Pools): Queryable => ({
    query: statement => askPool((statement.isFixed ? on.fixed : on.planned).pool, statement),
    lookUp,
    run: async statement => void (await askPool(on.fixed.pool, statement)),
    layout,
  })
  const primary = plain(pools)
  const standbys = openStandbys(options.standbys ?? [], config, { poolSize, layout, ...known, log, ask: primary.query })
  return {
    ...primary,
    ...(standbys && { reading: () => standbys.reading(primary, at => plain(at.pools)) }),
    transaction: work => inTransaction(pools, work),
    as(asking) {
      known.company.note(asking.who)
      const lane = laneFor(pools, lookUp, asking)
      if (!standbys) return lane
      return { ...lane, reading: () => standbys.reading(lane, at => laneFor(at.pools, lookUp, asking)) }
    },
    listen: createListening(clients, own),
    connections: () => connectionsOf(pools),
    outages: clients.outages,
    standbys: () => standbys?.reads() ?? [],
    async end() {
      await standbys?.end()
      await endPools(pools)
      clients.end()
    },
  }
}

interface Servers {
  readonly address: PostgresAddress
  /** Of a connection to the first of them. */
  readonly parameters: pg.ClientConfig
}

function serversOf(connection: Connection): Servers {
  if (typeof connection !== 'string')
    return { address: { url: '', hosts: [connection], needsPrimary: false }, parameters: { ...connection } }
  const address = postgresAddress(connection)
  return { address, parameters: { connectionString: address.url } }
}

function openStandbys(urls: readonly string[], config: pg.ClientConfig, parts: StandbysParts): Standbys | undefined {
  if (urls.length === 0) return undefined
  const places = urls
    .map(postgresAddress)
    .flatMap(({ url, hosts }) => hosts.map(host => ({ host, config: { ...config, connectionString: url } })))
  return createStandbys(places, parts)
}
