// Puts the parts together: database, store, identity, surfaces.
import type Koa from 'koa'
import { type Connection, type Database, openDatabase } from './db/database.ts'
import { createDemoData } from './demo/data.ts'
import { demoRoutes } from './demo/routes.ts'
import { fhirRoutes } from './fhir/routes.ts'
import { healthRoutes } from './health/routes.ts'
import { fhirBase } from './http/failures.ts'
import { createLimits } from './http/limits.ts'
import { openApiRoute } from './http/openapi.ts'
import type { Route } from './http/route.ts'
import { createApp } from './http/server.ts'
import type { Config } from './lib/config.ts'
import type { Log } from './lib/log.ts'
import { system } from './policy/caller.ts'
import { createIndexer } from './store/index-entry.ts'
import type { Principal } from './store/session.ts'
import { createStore, type Store } from './store/store.ts'
import { fhirPathInvariants } from './store/validate/fhirpath-invariants.ts'
import { createValidator } from './store/validate.ts'

/** The version of the published interface. */
export const interfaceVersion = '1.2.0'

export interface Application {
  readonly koa: Koa
  readonly routes: readonly Route[]
  readonly database: Database
  readonly storeFor: (principal: Principal) => Store
  /** Once at the start, by one process: demo client and demo data in the local environment. */
  prepare(): Promise<void>
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
    validate: createValidator({ invariants: fhirPathInvariants }),
    base,
    now: () => new Date(),
    defaultCount: 20,
    maxCount: 1000,
  })
  const demo = createDemoData(database, storeFor(system), baseUrl)
  const served = [
    ...healthRoutes(database, interfaceVersion),
    ...demoRoutes(demo, config.environment !== 'production'),
    ...fhirRoutes({ storeFor, log, version: interfaceVersion }),
  ]
  const routes = [...served, openApiRoute(served, { version: interfaceVersion, baseUrl })]
  const koa = createApp({
    routes,
    authenticate: { bearer: () => system, client: () => system },
    limits: createLimits(config.rateLimit),
    log,
    baseUrl: config.baseUrl || undefined,
    maxBodyBytes: config.maxBodyBytes,
  })
  return {
    koa,
    routes,
    database,
    storeFor,
    async prepare() {
      if (config.environment === 'local') await demo.ensure()
    },
    close: () => database.end(),
  }
}
