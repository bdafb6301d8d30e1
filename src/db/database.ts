// The pool of connections and the one way to query PostgreSQL. Only this folder names pg.
import pg from 'pg'
import { ask, streamOf } from './ask.ts'
import { createCosts } from './costs.ts'
import { createShared, laneFor, type Shared, serviceRoom, waitingIn } from './lane.ts'
import { createLines, type Lines, mostLines } from './lines.ts'
import { createListening, type Listen } from './listen.ts'
import { createLookUps } from './look-up.ts'
import type { Statement, Transactional } from './statement.ts'
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
  end(): Promise<void>
}

/** Most connections that one process opens with pools of this size, those it listens on apart. */
export const connectionsFor = (poolSize: number): number => 2 * (poolSize + serviceRoom + mostLines)

interface Connections {
  readonly pool: 'planned' | 'fixed' | 'lines'
  readonly used: number
  readonly idle: number
  /** Callers that wait for one. */
  readonly waiting: number
}

export type Connection =
  | string
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string }

export interface DatabaseOptions {
  /** Connections that clients share, in each of the two pools; the service has a few more for itself. */
  readonly poolSize: number
  /** Milliseconds after which the server ends a statement. */
  readonly statementTimeout: number
  /** `auto`: PostgreSQL decides whether it keeps the plan of a statement that one plan suits. Default: it keeps it. */
  readonly plans?: 'kept' | 'auto'
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

/** How PostgreSQL plans statements that one plan suits. */
const fixedPlanMode = { kept: 'force_generic_plan', auto: 'auto' } as const

/**
 * Opens the pools; nothing connects until the first statement. Statements that one plan suits have connections of their
 * own, on which PostgreSQL keeps it, and so have transactions, which ask little else; all others are planned for the
 * values they come with.
 */
export function openDatabase(connection: Connection, options: DatabaseOptions): Database {
  const config: pg.ClientConfig = {
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    application_name: 'health-interop',
    statement_timeout: options.statementTimeout,
    idle_in_transaction_session_timeout: options.statementTimeout === 0 ? 0 : longestIdle,
    types,
  }
  const costs = createCosts()
  const openPool = (planMode: string): Shared =>
    createShared(poolOf(config, options.poolSize, planMode), linesOf(config, planMode), options.poolSize, costs)
  const [planned, fixed] = [openPool('force_custom_plan'), openPool(fixedPlanMode[options.plans ?? 'kept'])]
  const lookUp = createLookUps(statement => ask(fixed.pool, statement))
  return {
    query: statement => ask((statement.isFixed ? fixed : planned).pool, statement),
    lookUp,
    run: async statement => void (await ask(fixed.pool, statement)),
    transaction: work => inTransaction(fixed.pool, work),
    as: asking => laneFor(planned, fixed, lookUp, asking),
    listen: createListening(config),
    connections: () => [connectionsOf('planned', planned), connectionsOf('fixed', fixed), stateOf(planned, fixed)],
    async end() {
      await Promise.all([planned, fixed].flatMap(({ pool, lines }) => [pool.end(), lines.end()]))
    },
  }
}

function poolOf(config: pg.ClientConfig, size: number, planMode: string): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    options: `-c plan_cache_mode=${planMode}`,
    max: size + serviceRoom,
    pipeline: true,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
  })
  pool.on('error', () => {})
  // The pool listens to a connection only while it is idle. A user of the connection learns of its end from the statement, and an
  // event without a listener would end the process.
  pool.on('connect', client => {
    client.on('error', () => {})
    readInTurn(client)
  })
  return pool
}

function linesOf(config: pg.ClientConfig, planMode: string): Lines {
  return createLines(async () => {
    const client = new pg.Client({
      ...config,
      options: `-c plan_cache_mode=${planMode}`,
      pipeline: true,
      connectionTimeoutMillis: 10_000,
    })
    client.on('error', () => {})
    await client.connect()
    readInTurn(client)
    return client
  })
}

/** Most bytes that arrive at once. */
const fullRead = 65_536

/** Yields the event loop after each piece of a large answer, which otherwise holds it for as long as more is there. */
function readInTurn(client: pg.ClientBase): void {
  const stream = streamOf(client)
  stream.on('data', (piece: Buffer) => {
    if (piece.length < fullRead) return
    stream.pause()
    setImmediate(() => stream.resume())
  })
}

function connectionsOf(name: Connections['pool'], shared: Shared): Connections {
  const { totalCount, idleCount } = shared.pool
  return { pool: name, used: totalCount - idleCount, idle: idleCount, waiting: waitingIn(shared) }
}

function stateOf(...all: readonly Shared[]): Connections {
  const states = all.map(({ lines }) => lines.states())
  const sum = (pick: (state: (typeof states)[number]) => number): number =>
    states.reduce((total, each) => total + pick(each), 0)
  return { pool: 'lines', used: sum(({ used }) => used), idle: sum(({ idle }) => idle), waiting: 0 }
}
