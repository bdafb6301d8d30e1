// The service itself in a process that answers requests, once its database runs: brought to this version, prepared, and served.
import { flushCompileCache } from 'node:module'
import { type Connection, openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { listen } from '../http/listen.ts'
import { mustBeFitForProduction } from '../identity/demo.ts'
import { addressOf, type Config } from '../lib/config.ts'
import { withDeadline } from '../lib/deadline.ts'
import { freeMemory } from '../lib/free-memory.ts'
import type { Log } from '../lib/log.ts'
import type { Mappings } from '../mapping/mappings.ts'
import { verdictFiles } from '../mapping/verdict-files.ts'
import { alone, fromAll } from '../metrics/gather.ts'
import { mustHaveLayout } from '../store/distribution.ts'
import { type Application, createApplication, loadMappings } from './app.ts'
import type { Stop } from './stop.ts'
import type { ServingOrder } from './workers.ts'

export interface Serving {
  close(): Promise<void>
}

/** Begins to read and check the maps; what has not changed since another process did is not checked again. */
export const readMaps = (config: Config, log: Log): Promise<Mappings> => loadMappings(config, log, verdictFiles())

/** Prepares the database, if that is ordered, and serves; nothing more is begun once the service is to stop. */
export async function serve(
  config: Config,
  { connection, prepares }: ServingOrder,
  log: Log,
  maps: Promise<Mappings>,
  stop: Stop,
): Promise<Serving | undefined> {
  const application = await (prepares ? prepare : create)(config, connection, log, maps)
  if (stop.isAsked()) return void (await application.close())
  if (prepares) log.info({ workers: config.workers }, 'starting to serve')
  const serving = await serveBy(application, config, stop)
  flushCompileCache()
  return serving
}

async function prepare(
  config: Config,
  connection: Connection,
  log: Log,
  maps: Promise<Mappings>,
): Promise<Application> {
  const database = openDatabase(connection, { poolSize: 2, statementTimeout: 0, layout: config.databaseLayout })
  log.info('migrating the database')
  const { ran, newer } = await migrate(database)
  if (ran.length > 0) log.info({ migrations: ran }, 'database migrated')
  if (newer.length > 0)
    log.warn({ migrations: newer }, 'a newer version has migrated the database; this one runs beside it')
  try {
    await mustHaveLayout(database, config.databaseLayout)
    await mustBeFitForProduction(config, database)
  } finally {
    await database.end()
  }
  log.info('checking the maps')
  await maps
  const application = await create(config, connection, log, maps)
  if (config.environment === 'local') log.info('loading the demo data')
  await application.prepare()
  return application
}

const create = (config: Config, connection: Connection, log: Log, maps: Promise<Mappings>): Promise<Application> =>
  createApplication(config, connection, addressOf(config), log, maps, config.workers === 1 ? alone : fromAll)

async function serveBy(application: Application, config: Config, stop: Stop): Promise<Serving> {
  freeMemory()
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
