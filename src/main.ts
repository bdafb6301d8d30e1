// Starts the service: settings, database, then the processes that answer requests (serving.ts); and stops it again.
import './lib/compile-cache.js'
import cluster from 'node:cluster'
import { createServer } from 'node:net'
import { heedSignals } from './app/stop.ts'
import { type Connection, connectionsFor } from './db/database.ts'
import { EmbeddedError, startEmbedded } from './db/embedded.ts'
import { type Config, ConfigError, mustSuitProduction, readConfig } from './lib/config.ts'
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
  const { environment, workers } = config
  log.info({ environment, workers }, 'starting: the first start creates the database, which takes up to a minute')
  const port = config.port === 0 ? await freePort(config.host) : await mustBeFree(config.port, config.host)
  const settled: Config = { ...config, port }
  const stop = heedSignals()
  log.info('reading the maps and opening the database')
  const opening =
    config.databaseUrl === ''
      ? startEmbedded(config.dataDir, config.workers * (connectionsFor(config.poolSize) + 2) + 10, log)
      : undefined
  // The rest of the service is loaded while the database starts.
  const loading = import('./app/serving.ts')
  const maps = loading.then(({ readMaps }) => readMaps(settled, log))
  maps.catch(() => {})
  const embedded = await opening
  const connection: Connection = embedded?.connection ?? config.databaseUrl
  try {
    const { begin } = await loading
    // A signal does not wait for the start to be over.
    const started = stop.isAsked() ? undefined : begin(settled, connection, log, maps, stop)
    const serving = await Promise.race([started, stop.asked])
    await stop.asked
    log.info('stopping: finishing the requests in progress')
    embedded?.hasten()
    await serving?.close()
  } finally {
    await embedded?.stop(stop.left('database'))
  }
  process.exit(0)
}

/** Runs one of several processes: it ends on request, or when the first one is gone. */
async function work(config: Config, log: Log): Promise<void> {
  const stop = heedSignals()
  const { serve } = await import('./app/serving.ts')
  const serving = await Promise.race([serve(config, log, stop), stop.asked])
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
  process.stderr.write(`${explained(error)}\n`)
  process.exit(1)
})

/** One sentence for what an operator can mend; everything else with its stack. */
function explained(error: unknown): string {
  if (error instanceof ConfigError || error instanceof EmbeddedError) return error.message
  if (error instanceof Failure && error.code === 'UNAVAILABLE')
    return 'The database of DATABASE_URL cannot be reached: check the URL and that the server is running.'
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
