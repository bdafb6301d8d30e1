// The connections to one server: a pool, and lines for short statements, for each of the two ways to plan.
import pg from 'pg'
import { createLines, type Lines } from './lines.ts'
import { createShared, type Known, type Shared, serviceRoom, waitingIn } from './shares.ts'
import type { Layout } from './statement.ts'

/** The connections to one server. */
export interface Pools {
  /** For statements that are planned for the values they come with. */
  readonly planned: Shared
  /** For those that one plan suits, which PostgreSQL keeps, and for transactions, which ask little else. */
  readonly fixed: Shared
  readonly layout: Layout
}

/** How statements that one plan suits are planned. An engine that distributes tables chooses nodes by values, and refuses kept plans. */
const fixedPlanMode: Readonly<Record<Layout, string>> = { whole: 'force_generic_plan', distributed: 'auto' }

/**
 * A plan for all values expects of an array what a hundredth of a large table is, and would start other processes to look for it. That takes
 * longer than what is nearly always found.
 */
const inOneProcess = 'max_parallel_workers_per_gather=0'

export interface PoolsOptions extends Known {
  /** The class of the connections, whose errors have a listener. */
  readonly Client: typeof pg.Client
  /** Connections that clients share, in each of the two pools. */
  readonly poolSize: number
  readonly layout: Layout
}

/** What the connections of a pool do at the moment. */
export interface Connections {
  readonly pool: 'planned' | 'fixed' | 'lines'
  readonly used: number
  readonly idle: number
  /** Callers that wait for one. */
  readonly waiting: number
}

/** Opens the pools; nothing connects until the first statement. */
export function openPools(config: pg.ClientConfig, options: PoolsOptions): Pools {
  const open = (...settings: readonly string[]): Shared => {
    const planning = { ...config, options: optionsFor(settings, options.layout) }
    return createShared(poolOf(planning, options), linesOf(planning, options), options.poolSize, options)
  }
  return {
    planned: open('plan_cache_mode=force_custom_plan'),
    fixed: open(`plan_cache_mode=${fixedPlanMode[options.layout]}`, inOneProcess),
    layout: options.layout,
  }
}

/** Ends the connections, each once its statement has ended. */
export const endPools = async ({ planned, fixed }: Pools): Promise<void> =>
  void (await Promise.all([planned, fixed].flatMap(({ pool, lines }) => [pool.end(), lines.end()])))

/** What the connections do at the moment. */
export const connectionsOf = ({ planned, fixed }: Pools): readonly Connections[] => [
  stateOf('planned', planned),
  stateOf('fixed', fixed),
  stateOfLines(planned, fixed),
]

/**
 * With the warnings of PostgreSQL, which tell what became of a commit. An engine that copies a table to each node has all changes of it wait
 * for each other, so that they come in one order; ours of the same rows do that by themselves, and others need not wait.
 */
const optionsFor = (settings: readonly string[], layout: Layout): string =>
  [
    ...[...settings, 'client_min_messages=warning'],
    ...(layout === 'distributed' ? ['citus.all_modifications_commutative=on'] : []),
  ]
    .map(setting => `-c ${setting}`)
    .join(' ')

function poolOf(config: pg.ClientConfig, { Client, poolSize }: PoolsOptions): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    Client,
    max: poolSize + serviceRoom,
    pipeline: true,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
  })
  pool.on('error', () => {})
  return pool
}

function linesOf(config: pg.ClientConfig, { Client }: PoolsOptions): Lines {
  return createLines(async () => {
    const client = new Client({ ...config, pipeline: true, connectionTimeoutMillis: 10_000 })
    await client.connect()
    return client
  })
}

function stateOf(name: Connections['pool'], shared: Shared): Connections {
  const { totalCount, idleCount } = shared.pool
  return { pool: name, used: totalCount - idleCount, idle: idleCount, waiting: waitingIn(shared) }
}

function stateOfLines(...all: readonly Shared[]): Connections {
  const states = all.map(({ lines }) => lines.states())
  const sum = (pick: (state: (typeof states)[number]) => number): number =>
    states.reduce((total, each) => total + pick(each), 0)
  return { pool: 'lines', used: sum(({ used }) => used), idle: sum(({ idle }) => idle), waiting: 0 }
}
