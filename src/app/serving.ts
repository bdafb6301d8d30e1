// The service itself, once its database runs: brought to this version, prepared, and served by one process or several.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { type Connection, openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { listen } from '../http/listen.ts'
import { mustBeFitForProduction } from '../identity/demo.ts'
import { addressOf, type Config } from '../lib/config.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Log } from '../lib/log.ts'
import type { Mappings } from '../mapping/mappings.ts'
import { collectFigures } from '../metrics/collector.ts'
import { fromAll } from '../metrics/gather.ts'
import { type Application, createApplication, loadMappings } from './app.ts'
import { banner } from './banner.ts'
import type { Stop } from './stop.ts'

const connectionVariable = 'HEALTH_INTEROP_CONNECTION'

export interface Serving {
  close(): Promise<void>
}

export { loadMappings as readMaps }

/** Prepares the database and serves; nothing more is begun once the service is to stop. */
export async function begin(
  config: Config,
  connection: Connection,
  log: Log,
  maps: Promise<Mappings>,
  stop: Stop,
): Promise<Serving | undefined> {
  const application = await prepare(config, connection, log, maps)
  if (stop.isAsked()) return void (await application.close())
  log.info({ workers: config.workers }, 'starting to serve')
  const serving = await (config.workers === 1
    ? serveBy(application, config, stop)
    : application.close().then(() => serveByWorkers(config, connection, log, stop)))
  process.stdout.write(banner(config, addressOf(config), config.databaseUrl === ''))
  flushCompileCache()
  return serving
}

async function prepare(
  config: Config,
  connection: Connection,
  log: Log,
  maps: Promise<Mappings>,
): Promise<Application> {
  const database = openDatabase(connection, { poolSize: 2, statementTimeout: 0 })
  log.info('migrating the database')
  const ran = await migrate(database)
  if (ran.length > 0) log.info({ migrations: ran }, 'database migrated')
  await mustBeFitForProduction(config, database).finally(() => database.end())
  log.info('checking the maps')
  await maps
  const application = await createApplication(config, connection, addressOf(config), log, maps)
  if (config.environment === 'local') log.info('loading the demo data')
  await application.prepare()
  return application
}

/** Serves in one of several processes, on the database that the first one has prepared. */
export async function serve(config: Config, log: Log, stop: Stop): Promise<Serving> {
  const connection = JSON.parse(process.env[connectionVariable]!) as Connection
  const application = await createApplication(config, connection, addressOf(config), log, undefined, fromAll)
  return serveBy(application, config, stop)
}

async function serveBy(application: Application, config: Config, stop: Stop): Promise<Serving> {
  const listening = await listen(application.koa, config.port, config.host, config)
  application.start()
  return {
    async close() {
      // What works in the background stops at once; it goes on where it is with the next start.
      const quiet = application.quiet()
      await listening.close(stop.left('requests'))
      await quiet
      await withDeadline(application.close(), stop.left('worker'), () => undefined)
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
    log.error({ worker: worker.process.pid, code, signal }, 'a worker process ended; starting another one')
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
