// Starts the service: settings, database, migrations, demo data, then the processes that answer requests; and stops it again.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Application, createApplication, loadMappings } from './app.ts'
import { mustBeFitForProduction } from './auth/demo.ts'
import { banner } from './banner.ts'
import { type Connection, connectionsFor, openDatabase } from './db/database.ts'
import { EmbeddedError, startEmbedded } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { listen } from './http/listen.ts'
import { addressOf, type Config, ConfigError, mustSuitProduction, readConfig } from './lib/config.ts'
import { Failure } from './lib/failure.ts'
import { createLog, type Log } from './lib/log.ts'
import { type Mappings, MappingsError } from './mapping/mappings.ts'
import { collectFigures } from './metrics/collector.ts'
import { fromAll, type Gather } from './metrics/gather.ts'
import { heedSignals, inTime, type Stop } from './stop.ts'

const connectionVariable = 'HEALTH_INTEROP_CONNECTION'

async function main(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  if (cluster.isPrimary) await lead(config, log)
  else await work(config, JSON.parse(process.env[connectionVariable]!) as Connection, log)
}

/** The first process: owns the database and the others, and answers requests itself if it is the only one. */
async function lead(config: Config, log: Log): Promise<void> {
  mustSuitProduction(config)
  const { environment, workers } = config
  log.info({ environment, workers }, 'starting: the first start makes the database, which takes up to a minute')
  const port = config.port === 0 ? await freePort(config.host) : await mustBeFree(config.port, config.host)
  const settled: Config = { ...config, port }
  const stop = heedSignals()
  log.info('reading the maps, and opening the database')
  const maps = loadMappings(settled, log)
  const embedded =
    config.databaseUrl === ''
      ? await startEmbedded(config.dataDir, config.workers * (connectionsFor(config.poolSize) + 2) + 10, log)
      : undefined
  const connection: Connection = embedded?.connection ?? config.databaseUrl
  try {
    // A signal does not wait for the start to be over.
    const started = stop.isAsked() ? undefined : begin(settled, connection, log, maps, stop)
    const serving = await Promise.race([started, stop.asked])
    if (serving) process.stdout.write(banner(settled, addressOf(settled), embedded !== undefined))
    await stop.asked
    log.info('stopping: the requests in hand are finished first')
    embedded?.hasten()
    await serving?.close()
  } finally {
    await embedded?.stop(stop.left('database'))
  }
  process.exit(0)
}

/** Prepares the database and serves; nothing more is begun once the service is to stop. */
async function begin(
  config: Config,
  connection: Connection,
  log: Log,
  maps: Promise<Mappings>,
  stop: Stop,
): Promise<Serving | undefined> {
  await prepare(config, connection, log, maps)
  if (stop.isAsked()) return undefined
  log.info({ workers: config.workers }, 'starting to serve')
  return config.workers === 1 ? serve(config, connection, log, stop) : serveByWorkers(config, connection, log, stop)
}

async function prepare(config: Config, connection: Connection, log: Log, maps: Promise<Mappings>): Promise<void> {
  const database = openDatabase(connection, { poolSize: 2, statementTimeout: 0 })
  log.info('bringing the database to this version')
  const ran = await migrate(database)
  if (ran.length > 0) log.info({ migrations: ran }, 'database migrated')
  await mustBeFitForProduction(config, database).finally(() => database.end())
  log.info('checking the maps')
  await maps
  const application = await createApplication(config, connection, addressOf(config), log, maps)
  if (config.environment === 'local') log.info('putting the demo data in place')
  await application.prepare()
  await application.close()
}

interface Serving {
  close(): Promise<void>
}

async function serve(config: Config, connection: Connection, log: Log, stop: Stop, gather?: Gather): Promise<Serving> {
  const address = addressOf(config)
  const application: Application = await createApplication(config, connection, address, log, undefined, gather)
  const listening = await listen(application.koa, config.port, config.host, config)
  application.start()
  return {
    async close() {
      // What works in the background stops at once; it goes on where it is with the next start.
      const quiet = application.quiet()
      await listening.close(stop.left('requests'))
      await quiet
      await inTime(application.close(), stop.left('worker'))
    },
  }
}

async function serveByWorkers(config: Config, connection: Connection, log: Log, stop: Stop): Promise<Serving> {
  let isClosing = false
  const start = (): Worker =>
    cluster.fork({
      PORT: String(config.port),
      BASE_URL: config.baseUrl,
      [connectionVariable]: JSON.stringify(connection),
    })
  cluster.on('exit', (worker, code, signal) => {
    if (isClosing) return
    log.error({ worker: worker.process.pid, code, signal }, 'a worker process ended; another takes its place')
    setTimeout(() => !isClosing && start(), 500)
  })
  collectFigures(config.workers)
  const workers = Array.from({ length: config.workers }, start)
  await Promise.all(workers.map(worker => once(worker, 'listening')))
  return {
    async close() {
      isClosing = true
      const alive = Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)
      await Promise.all(
        alive.map(worker => {
          const ended = once(worker, 'exit')
          worker.process.kill('SIGTERM')
          const end = setTimeout(() => worker.process.kill('SIGKILL'), stop.left('workers'))
          return ended.finally(() => clearTimeout(end))
        }),
      )
    },
  }
}

/** One of several processes: ends when it is told to, or when the first one is gone. */
async function work(config: Config, connection: Connection, log: Log): Promise<void> {
  const stop = heedSignals()
  const serving = await Promise.race([serve(config, connection, log, stop, fromAll), stop.asked])
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
      throw new ConfigError(`Port ${port} needs more rights than this user has: set PORT to 1024 or above.`)
    throw new ConfigError(`HOST ${host} is no address of this machine.`)
  })
}

main().catch(error => {
  process.stderr.write(`${explained(error)}\n`)
  process.exit(1)
})

/** One sentence for what an operator can mend; everything else with its stack. */
function explained(error: unknown): string {
  const isPlain = error instanceof ConfigError || error instanceof EmbeddedError || error instanceof MappingsError
  if (isPlain) return error.message
  if (error instanceof Failure && error.code === 'UNAVAILABLE')
    return 'The database of DATABASE_URL cannot be reached: check the address, and that the server runs.'
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
