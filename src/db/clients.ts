// Makes the connections of a process: each goes to the server that accepts changes, is looked after until it ends, and says what
// PostgreSQL tells about its commits.
import pg from 'pg'
import type { Log } from '../lib/log.ts'
import { nameOfHost, type PostgresAddress, type PostgresHost } from '../lib/postgres-url.ts'
import { isFatal } from './ask.ts'
import { clientClass } from './client-class.ts'
import { saysUnreplicated } from './doubt.ts'
import { at, createHosts, type Hosts, patience, within } from './hosts.ts'
import { createOutage, type Outages } from './outage.ts'
import { createSilence } from './silence.ts'

/** Where the servers are, and what is common to all connections. */
export interface Addressed {
  readonly address: PostgresAddress
  readonly config: pg.ClientConfig
}

export interface Clients {
  /** The class of the connections, for pools of pg too. */
  readonly Client: typeof pg.Client
  outages(): Outages
  /** Ends the work in the background. */
  end(): void
}

/** Milliseconds between two looks for a newer primary. */
const surveyEvery = 5000

/** Milliseconds for a server to give a sign of life. */
const signPatience = 5000

/** A connection and its server. */
interface Routed extends pg.Client {
  server: string
  /** Of its server, when it was made; 0: not asked. */
  timeline: number
}

/**
 * @param limit milliseconds after which PostgreSQL ends a statement; 0: never
 * @param log undefined: nothing is logged
 */
export function createClients({ address, config }: Addressed, limit: number, log: Log | undefined): Clients {
  const hosts = address.needsPrimary ? createHosts(address.hosts, config) : undefined
  const outage = createOutage(log)
  const silence = createSilence({
    limit,
    isAlive: client => givesSign(config, client as Routed),
    isSameServer: (one, other) => (one as Routed).server === (other as Routed).server,
    hung(why) {
      hosts?.forget()
      outage.begin(why)
    },
  })
  const surveys = hosts && setInterval(() => void survey(hosts), surveyEvery).unref()

  async function survey(among: Hosts): Promise<void> {
    const primary = await among.survey()
    if (!primary) return
    const isFormer = (client: pg.Client): boolean => (client as Routed).timeline < primary.timeline
    if (silence.cut(isFormer, 'its server is no longer the primary') > 0)
      outage.begin(new Error('Another server is the primary now; the connections to the former one are cut.'))
  }

  async function route(client: Routed, connect: () => Promise<unknown>): Promise<void> {
    const primary = await hosts?.primary()
    if (primary) at(client, primary.host)
    client.server = nameOfHost(client)
    await connect()
    client.timeline = primary && hosts ? await hosts.admit(client, primary.host) : 0
    silence.watch(client)
    client.once('end', () => hosts?.forget())
  }

  const Client = clientClass({
    configured: given => (hosts ? { ...given, connectionTimeoutMillis: patience } : given),
    made: client =>
      void client.on('notice', notice => {
        if (saysUnreplicated(notice)) markUnreplicated(client)
      }),
    async open(client, connect) {
      try {
        await route(client as Routed, connect)
        outage.end((client as Routed).server)
      } catch (error) {
        hosts?.forget()
        if (isFatal(error)) outage.begin(error)
        throw error
      }
    },
  })
  return {
    Client,
    outages: outage.outages,
    end() {
      clearInterval(surveys)
      silence.end()
    },
  }
}

/** Asks the server of a connection for a sign of life: any answer is one. */
async function givesSign(config: pg.ClientConfig, { host, port }: PostgresHost): Promise<boolean> {
  const probe = at(new pg.Client({ ...config, application_name: 'health-interop probe' }), { host, port })
  probe.on('error', () => {})
  const begun = performance.now()
  try {
    await within(
      probe,
      signPatience,
      probe.connect().then(() => probe.query('select 1')),
    )
    return true
  } catch (error) {
    // If this process did not run for so long, the answer may be there, unread.
    return error instanceof pg.DatabaseError || performance.now() - begun > 1.5 * signPatience
  } finally {
    probe.end().catch(() => {})
  }
}

/** The statement that is being answered. */
function markUnreplicated(client: pg.Client): void {
  const { _activeQuery: active } = client as unknown as { _activeQuery?: { isUnreplicated?: boolean } }
  if (active) active.isUnreplicated = true
}
