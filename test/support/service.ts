// A running service for a test file: its own database, its own port, and a way to call it.
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type Application, createApplication, loadMappings } from '../../src/app/app.ts'
import { listen } from '../../src/http/listen.ts'
import { demoScopes } from '../../src/identity/demo.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { type Config, readConfig } from '../../src/lib/config.ts'
import { createLog, type Log } from '../../src/lib/log.ts'
import { onCleanup } from './cleanup.ts'
import { createTestDatabase, layoutOfRun, type TestDatabase } from './database.ts'
import { freePort } from './process.ts'
import { testKey } from './server.ts'

export { createTestDatabase }

export interface Service {
  readonly url: string
  readonly application: Application
  readonly database: string
  /** Folder of its files. */
  readonly dataDir: string
  /** An access token of the demo client, which may do everything, and whom consent does not filter. */
  readonly token: string
  /** Ends it before the file's last test. */
  readonly stop: () => Promise<void>
}

/** Starts the service on a database of its own; it stops after the file's last test. */
export async function startService(env: Record<string, string> = {}, log: Log = createLog('silent')): Promise<Service> {
  return start(await createTestDatabase(), env, log)
}

/** Starts the service on a migrated database that is reached in a way of its own. */
export const startOn = (
  connection: TestDatabase,
  env: Record<string, string> = {},
  log: Log = createLog('silent'),
): Promise<Service> => start(connection, env, log)

/** Starts the service once more on the database of another one, as a further process would be. */
export async function startBeside(
  service: Service,
  env: Record<string, string> = {},
  log: Log = createLog('silent'),
): Promise<Service> {
  return start({ ...inject('server'), database: service.database }, env, log)
}

/** The maps of the project, loaded once for all test files of a process. */
let delivered: ReturnType<typeof loadMappings> | undefined
export const deliveredMaps = (config: Config, log: Log): ReturnType<typeof loadMappings> =>
  (delivered ??= loadMappings(config, log))

async function start(connection: TestDatabase, env: Record<string, string>, log: Log): Promise<Service> {
  const config = readConfig({
    DATABASE_POOL: '10',
    RATE_LIMIT: '100000000',
    RATE_LIMIT_LOOKUP: '100000000',
    RATE_LIMIT_TOKEN: '100000000',
    PORT: '0',
    DATABASE_LAYOUT: layoutOfRun(),
    ENCRYPTION_KEY: testKey,
    DATA_DIR: join(tmpdir(), `health-interop-${connection.database}`),
    ...env,
  })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const maps = env['MAPPINGS_DIR'] ? loadMappings(config, log) : deliveredMaps(config, log)
  const application = await createApplication(config, connection, config.baseUrl || url, log, maps)
  const listening = await listen(application.koa, port, '127.0.0.1', config)
  application.start()
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= listening.close().then(() => application.close()))
  onCleanup(async () => {
    await stop()
    await rm(config.dataDir, { recursive: true, force: true })
  })
  const { id: clientId, organizationId } = demoClient
  const token = await application.identity.tokens.mint({ clientId, organizationId, consentExempt: true }, demoScopes)
  return { url, application, database: connection.database, dataDir: config.dataDir, token, stop }
}
