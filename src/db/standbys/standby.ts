// One standby for as long as it runs: its connections, all of them to the same start of the same server, and how far it has
// replayed the log. What answers at its address after a restart, or behind a balancer, is another one.
import type pg from 'pg'
import { withDeadline } from '../../lib/deadline.ts'
import type { PostgresHost } from '../../lib/postgres-url.ts'
import { streamOf } from '../ask.ts'
import { clientClass } from '../client-class.ts'
import { at } from '../hosts.ts'
import { endPools, openPools, type Pools, type PoolsOptions } from '../pools.ts'
import { type Identity, identity, type Position, probed, type Replayed, replayed } from './position.ts'
import { followReplay } from './replay.ts'

export interface Standby {
  readonly pools: Pools
  /** Resolves with true once a read there sees all that had been acknowledged at the position, with false if that takes too long. */
  reaches(position: Position): Promise<boolean>
  /** Asks where it is. @throws Unfit if it does not answer; errors of pg */
  where(): Promise<Replayed>
  /** True if it shows this row of the primary. @throws as `where` */
  shows(probe: string): Promise<boolean>
  /** Ends all connections at once: the statements on them fail. */
  end(): void
}

/** Where a standby is. */
export interface Place {
  readonly host: PostgresHost
  /** Of connections to it, the host aside. */
  readonly config: pg.ClientConfig
}

export type StandbyOptions = Omit<PoolsOptions, 'Client'>

/** Why a server is not used, in words for an operator. */
export class Unfit extends Error {}

/** Milliseconds after which a server that does not answer counts as dead. */
const patience = 500

/**
 * Connects to the standby.
 * @param of the primary
 * @throws Unfit if it cannot be a standby of the primary; errors of pg
 */
export async function openStandby({ host, config }: Place, options: StandbyOptions, of: Identity): Promise<Standby> {
  const all = new Set<pg.Client>()
  let start: string | undefined
  const Client = clientClass({
    async open(client, connect) {
      all.add(at(client, host))
      client.once('end', () => all.delete(client))
      await connect()
      if (start !== undefined && (await identityOn(client)).start !== start)
        throw new Unfit('several servers answer at its address')
    },
  })
  const cut = (): void => {
    for (const client of all) streamOf(client).destroy()
  }
  try {
    const asking = new Client({ ...config, connectionTimeoutMillis: patience })
    await asking.connect()
    const own = await inTime(identityOn(asking))
    if (own.cluster !== of.cluster) throw new Unfit('it belongs to another cluster')
    if (own.database !== of.database) throw new Unfit(`its database is not ${of.database}`)
    start = own.start
    const where = (): Promise<Replayed> => inTime(replayedOn(asking))
    const pools = openPools(config, { Client, ...options })
    return {
      pools,
      reaches: followReplay(where),
      where,
      shows: probe => inTime(showsOn(asking, probe)),
      end() {
        cut()
        void endPools(pools).catch(() => {})
      },
    }
  } catch (error) {
    cut()
    throw error
  }
}

const identityOn = async (client: pg.ClientBase): Promise<Identity> => (await client.query<Identity>(identity)).rows[0]!

const replayedOn = async (client: pg.ClientBase): Promise<Replayed> => (await client.query<Replayed>(replayed)).rows[0]!

const showsOn = async (client: pg.ClientBase, probe: string): Promise<boolean> =>
  (await client.query<{ isThere: boolean }>(probed(probe))).rows[0]!.isThere

/** @throws Unfit if the answer takes too long. */
const inTime = <T>(answer: Promise<T>): Promise<T> =>
  withDeadline(answer, patience, () => {
    throw new Unfit(`it did not answer within ${patience} ms`)
  })
