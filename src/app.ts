// Puts the parts together: database, store, identity, surfaces.
import type Koa from 'koa'
import { ensureDemoClient } from './auth/demo.ts'
import { createIdentity, type Identity } from './auth/identity.ts'
import { identityRoutes } from './auth/routes.ts'
import { type Connection, type Database, openDatabase } from './db/database.ts'
import { fhirRoutes } from './fhir/routes.ts'
import { healthRoutes } from './health/routes.ts'
import { fhirBase } from './http/failures.ts'
import { createLimits } from './http/limits.ts'
import { openApiRoute } from './http/openapi.ts'
import type { Route } from './http/route.ts'
import { createApp } from './http/server.ts'
import type { Config } from './lib/config.ts'
import { encryptionKey } from './lib/encryption.ts'
import type { Log } from './lib/log.ts'
import { createIndexer } from './store/index-entry.ts'
import type { Principal } from './store/session.ts'
import { createStore, type Store } from './store/store.ts'
import { validateResource } from './store/validate.ts'

/** The version of the published interface. */
export const interfaceVersion = '1.2.0'

export interface Application {
  readonly koa: Koa
  readonly routes: readonly Route[]
  readonly database: Database
  readonly identity: Identity
  readonly storeFor: (principal: Principal) => Store
  close(): Promise<void>
}

/**
 * Builds the service on an open database.
 * @param baseUrl the public address, without trailing slash.
 */
export async function createApplication(
  config: Config,
  connection: Connection,
  baseUrl: string,
  log: Log,
): Promise<Application> {
  const database = openDatabase(connection, { poolSize: config.poolSize, statementTimeout: config.statementTimeout })
  const base = `${baseUrl}${fhirBase}`
  const storeFor = createStore({
    database,
    indexer: createIndexer(base),
    validate: validateResource,
    base,
    now: () => new Date(),
    defaultCount: 20,
    maxCount: 1000,
  })
  const { environment } = config
  const identity = await createIdentity({
    database,
    environment,
    encryptionKey: await encryptionKey(config),
    baseUrl,
    log,
  })
  if (environment === 'local') await ensureDemoClient(database)
  const served = [
    ...identityRoutes(identity),
    ...healthRoutes(database, interfaceVersion),
    ...fhirRoutes({ storeFor, log, version: interfaceVersion }),
  ]
  const routes = [...served, openApiRoute(served, { version: interfaceVersion, baseUrl })]
  const koa = createApp({
    routes,
    authenticate: identity.authenticate,
    limits: createLimits(config.rateLimit),
    log,
    baseUrl: config.baseUrl || undefined,
    maxBodyBytes: config.maxBodyBytes,
  })
  const close = async () => {
    await identity.close()
    await database.end()
  }
  return { koa, routes, database, identity, storeFor, close }
}
