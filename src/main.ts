// Starts the service: settings, database, then the processes that answer requests (workers.ts, serving.ts); and stops it again.
import './lib/compile-cache.js'
import cluster from 'node:cluster'
import { createServer } from 'node:net'
import { banner } from './app/banner.ts'
import { heedSignals, type Stop } from './app/stop.ts'
import { ordered, PreparationError, startWorkers, type Workers } from './app/workers.ts'
import { connectionsFor } from './db/database.ts'
import { NoServer } from './db/doubt.ts'
import { EmbeddedError, type EmbeddedServer, startEmbedded } from './db/embedded.ts'
import {
  addressOf,
  archiveOf,
  type Config,
  ConfigError,
  mustNamePrimary,
  mustSuitProduction,
  readConfig,
} from './lib/config.ts'
import { Failure } from './lib/failure.ts'
import { createLog, type Log } from './lib/log.ts'

async function main(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  if (cluster.isPrimary) await lead(config, log)
  else await work(config, log)
}

/** The first process: owns the database and the others, and answers requests itself if it is the only one. */
async function lead(config: Config, log: Log): Promise<void> {
  mustSuitProduction(config)
  mustNamePrimary(config)
  const { environment, workers, databaseUrl } = config
  log.info({ environment, workers }, 'starting: the first start creates the database, which takes up to a minute')
  const port = config.port === 0 ? await freePort(config.host) : await mustBeFree(config.port, config.host)
  const settled: Config = { ...config, port }
  const stop = heedSignals()
  log.info('reading the maps and opening the database')
  const opening = databaseUrl === '' ? openEmbedded(config, log) : undefined
  // The rest of the service is loaded while the database starts.
  const serving = workers === 1 ? loadAlone(settled, log, stop) : startWorkers(settled, log, stop)
  let embedded: EmbeddedServer | undefined
  try {
    embedded = await opening
    const begun = stop.isAsked() ? undefined : serving.begin(embedded?.connection ?? databaseUrl)
    // A signal does not wait for the start to be over.
    await Promise.race([begun, stop.asked])
    if (!stop.isAsked()) process.stdout.write(banner(settled, addressOf(settled), databaseUrl === ''))
    await stop.asked
    log.info('stopping: finishing the requests in progress')
    embedded?.hasten()
  } finally {
    await serving.close()
    await embedded?.stop(stop.left('database'))
  }
  process.exit(0)
}

const openEmbedded = (config: Config, log: Log): Promise<EmbeddedServer> =>
  startEmbedded(config.dataDir, config.workers * (connectionsFor(config.poolSize) + 2) + 10, log, {
    archive: archiveOf(config),
  })

/** Loads the service into this process, which prepares the database and answers all requests. */
function loadAlone(config: Config, log: Log, stop: Stop): Workers {
  const loading = import('./app/serving.ts')
  const maps = loading.then(({ readMaps }) => readMaps(config, log))
  maps.catch(() => {})
  let close = async (): Promise<void> => {}
  return {
    async begin(connection) {
      const { serve } = await loading
      const serving = await serve(config, { connection, prepares: true }, log, maps, stop)
      if (serving) close = serving.close
    },
    close: () => close(),
  }
}

/** Runs one of several processes: it loads until it is ordered to serve, and ends on request, or when the first one is gone. */
async function work(config: Config, log: Log): Promise<void> {
  const [order, stop] = [ordered(), heedSignals()]
  const begin = async () => {
    const { readMaps, serve } = await import('./app/serving.ts')
    const maps = readMaps(config, log)
    return serve(config, await order, log, maps, stop)
  }
  const serving = await Promise.race([begin(), stop.asked])
  await stop.asked
  await serving?.close()
  process.exit(0)
}

function probe(port: number, host: string): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer().once('error', fail)
    server.listen(port, host, () => {
      const address = server.address() as { port: number }
      server.close(() => done(address.port))
    })
  })
}

const freePort = (host: string): Promise<number> => probe(0, host)

async function mustBeFree(port: number, host: string): Promise<number> {
  return probe(port, host).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new ConfigError(`Port ${port} is in use: stop what uses it, or set PORT to another number.`)
    if (error.code === 'EACCES')
      throw new ConfigError(`Port ${port} requires privileges that this user does not have: set PORT to 1024 or above.`)
    throw new ConfigError(`HOST ${host} is not an address of this machine.`)
  })
}

main().catch(error => {
  if (!(error instanceof PreparationError)) process.stderr.write(`${explained(error)}\n`)
  process.exit(1)
})

/** Why each of several servers is not the primary, or that a single one is not. */
function reasonOf({ options: { cause } }: Failure): string {
  if (cause instanceof NoServer) return ` ${cause.message}`
  return (cause as { code?: unknown })?.code === '25006' ? ' It is a standby, or read-only.' : ''
}

/** One sentence for what an operator can mend; everything else with its stack. */
function explained(error: unknown): string {
  if (error instanceof ConfigError || error instanceof EmbeddedError) return error.message
  if (error instanceof Failure && error.code === 'UNAVAILABLE' && error.options.issue !== 'too-costly')
    return `The database of DATABASE_URL cannot be reached: check the URL and that the server is running.${reasonOf(error)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
