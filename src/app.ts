// Puts the parts together: database, store, identity, surfaces.

import { join } from 'node:path'
import type Koa from 'koa'
import { sealingKey } from './audit/chain.ts'
import { createAuditReader } from './audit/reader.ts'
import { createAuditWriter } from './audit/writer.ts'
import { ensureDemoClient } from './auth/demo.ts'
import { createIdentity, type Identity } from './auth/identity.ts'
import { identityRoutes } from './auth/routes.ts'
import { connectNeeds } from './connect/needs.ts'
import { connectProjections } from './connect/projections.ts'
import { connectRoutes } from './connect/routes.ts'
import { createConsents } from './consents/consents.ts'
import { type Connection, type Database, openDatabase } from './db/database.ts'
import { createDemoData } from './demo/data.ts'
import { demoRoutes } from './demo/routes.ts'
import { createBulk } from './fhir/bulk/bulk.ts'
import { createPeople } from './fhir/people.ts'
import { fhirRoutes } from './fhir/routes.ts'
import { healthRoutes } from './health/routes.ts'
import { createCursors } from './http/cursor.ts'
import { fhirBase } from './http/failures.ts'
import { createIdempotency } from './http/idempotency.ts'
import { createLimits, quotasOf } from './http/limits.ts'
import { openApiRoute } from './http/openapi.ts'
import type { Route } from './http/route.ts'
import { createApp } from './http/server.ts'
import type { Config } from './lib/config.ts'
import { encryptionKey } from './lib/encryption.ts'
import type { Log } from './lib/log.ts'
import { createDesk } from './mapping/desk.ts'
import { createMappings, type Mappings } from './mapping/mappings.ts'
import { createTransformer } from './mapping/transformer.ts'
import { createTranslator } from './mapping/translator.ts'
import { mobileRoutes } from './mobile/routes.ts'
import { system } from './policy/caller.ts'
import { createEmergencyAccess } from './policy/consent/emergency.ts'
import { opens } from './policy/consent/opening.ts'
import { consentProjection } from './policy/consent/projection.ts'
import { createDeclare } from './policy/declare.ts'
import { portalRoutes } from './portal/routes.ts'
import { holderOf } from './register/health-ids.ts'
import { mergedWith } from './register/merged.ts'
import { addressesOf } from './register/patient.ts'
import { createRegisterProjection } from './register/projection.ts'
import { createRegister } from './register/register.ts'
import { shapes } from './shapes/all.ts'
import { createStore } from './store/bind.ts'
import { createIndexer, type Indexer } from './store/index/entry.ts'
import type { Principal } from './store/principal.ts'
import type { Projection } from './store/projection.ts'
import { withDefinitions } from './store/search-params/definition.ts'
import { createIndexing, type Indexing } from './store/search-params/reindex.ts'
import type { Store } from './store/store.ts'
import { fhirPathInvariants } from './store/validate/fhirpath-invariants.ts'
import { createValidator } from './store/validate.ts'
import { createWhole } from './store/whole.ts'

/** The version of the published interface. */
export const interfaceVersion = '1.2.0'

/** What works without anybody asking: a database, and the store of FHIR resources in it. */
export interface Storage {
  readonly database: Database
  readonly indexer: Indexer
  readonly indexing: Indexing
  readonly storeFor: (principal: Principal) => Store
  /** What follows the resources that are written. */
  readonly projections: readonly Projection[]
}

export interface Application extends Storage {
  readonly koa: Koa
  readonly routes: readonly Route[]
  readonly identity: Identity
  /** Once at the start, by one process: demo client and demo data in the local environment. */
  prepare(): Promise<void>
  /** Begins the work in the background; for processes that serve. */
  start(): void
  close(): Promise<void>
}

/** Opens the database and its store alone, for commands that serve nobody. */
export function openStorage(config: Config, connection: Connection, baseUrl: string, log: Log): Storage {
  const database = openDatabase(connection, { poolSize: config.poolSize, statementTimeout: config.statementTimeout })
  const base = `${baseUrl}${fhirBase}`
  const indexer = createIndexer(base)
  const indexing = createIndexing({ database, indexer, base, log })
  const now = () => new Date()
  const projections: readonly Projection[] = [
    createRegisterProjection(addressesOf(baseUrl, base)),
    consentProjection({ base, mergedWith, now }),
    ...connectProjections(base, config.timeZone),
  ]
  const storeFor = createStore({
    database,
    indexer,
    indexing,
    projections,
    validate: withDefinitions(createValidator({ invariants: fhirPathInvariants })),
    base,
    now,
    defaultCount: 20,
    maxCount: 1000,
  })
  return { database, indexer, indexing, storeFor, projections }
}

/**
 * Begins to load the maps of the service, which takes as long as a database takes to start.
 * @throws MappingsError, to whoever waits for them.
 */
export function loadMappings({ mappingsDir, dataDir }: Config, log: Log): Promise<Mappings> {
  const maps = createMappings({
    folder: mappingsDir,
    kept: join(dataDir, 'mappings.json'),
    shapes,
    needs: connectNeeds,
    needsMatching: true,
    needsConsents: true,
    log,
  })
  maps.catch(() => {})
  return maps
}

/**
 * Builds the service on an open database.
 * @param baseUrl the public address, without trailing slash: issuer of tokens, base of links.
 */
export async function createApplication(
  config: Config,
  connection: Connection,
  baseUrl: string,
  log: Log,
  maps: Promise<Mappings> = loadMappings(config, log),
): Promise<Application> {
  const { environment } = config
  const storage = openStorage(config, connection, baseUrl, log)
  const { database, indexer, indexing, storeFor, projections } = storage
  await indexing.follow()
  const key = await encryptionKey(config)
  const identity = await createIdentity({
    database,
    environment,
    encryptionKey: key,
    baseUrl,
    log,
    holderOf: healthId => holderOf(database, healthId),
  })
  const audit = createAuditWriter({ database, key: sealingKey(key), log, now: () => new Date() })
  const mappings = await maps
  const transformer = createTransformer({ limit: config.transformTimeout * 1000 })
  const demo = createDemoData({ database, store: storeFor(system), projections, baseUrl })
  const bulk = createBulk({
    database,
    storeFor,
    audit,
    log,
    dataDir: config.dataDir,
    fileResources: config.bulkFileResources,
    expiryHours: config.bulkExpiryHours,
    leaseSeconds: config.bulkLeaseSeconds,
    limits: { perClient: config.bulkJobsPerClient, all: config.bulkJobs },
    importBytes: config.bulkImportBytes,
    lineBytes: config.maxBodyBytes,
    origins: { allowed: config.bulkImportOrigins, isLocal: environment === 'local' },
  })
  const whole = createWhole(database, indexing)
  const register = createRegister(() => mappings.matching())
  const addresses = addressesOf(baseUrl, `${baseUrl}${fhirBase}`)
  const translator = createTranslator(mappings, log)
  const cursors = createCursors(key)
  const trailFor = createAuditReader(database)
  const now = () => new Date()
  const consents = createConsents({
    ...{ database, storeFor, whole, translator, mergedWith, baseUrl, now },
    opens: (type, scopes) => opens(mappings.consents(), type, scopes),
    usualDays: () => mappings.consents().expiresAfterDays,
  })
  const served = [
    ...identityRoutes(identity),
    ...mobileRoutes(identity.patients, { consents, trailFor, cursors, now }),
    ...portalRoutes(identity.sessions, environment !== 'local'),
    ...healthRoutes(database, mappings, interfaceVersion),
    ...demoRoutes(demo, environment !== 'production'),
    ...connectRoutes({
      database,
      storeFor,
      whole,
      translator,
      register,
      addresses,
      consents,
      consentTypes: () => mappings.consents(),
      baseUrl,
      now,
      cursors,
      timeZone: config.timeZone,
    }),
    ...bulk.routes,
    ...fhirRoutes({
      storeFor,
      searchParams: () => indexer.params,
      peopleFor: createPeople({ database, storeFor, whole, register, addresses }),
      trailFor,
      maps: createDesk(mappings, transformer, interfaceVersion),
      log,
      version: interfaceVersion,
    }),
  ]
  const routes = [...served, openApiRoute(served, { version: interfaceVersion, baseUrl })]
  const idempotency = createIdempotency({
    database,
    log,
    whole,
    now: () => new Date(),
  })
  const koa = createApp({
    routes,
    authenticate: identity.authenticate,
    declare: createDeclare(createEmergencyAccess({ database, storeFor, mergedWith, now })),
    limits: createLimits(quotasOf(config)),
    idempotency,
    audit,
    log,
    baseUrl: config.baseUrl || undefined,
    trustedProxies: config.trustedProxies,
    maxBodyBytes: config.maxBodyBytes,
  })
  return {
    koa,
    routes,
    ...storage,
    identity,
    async prepare() {
      if (environment !== 'local') return
      await ensureDemoClient(database)
      await demo.ensure()
    },
    start() {
      bulk.start()
      mappings.follow()
      idempotency.start()
      audit.start()
    },
    async close() {
      idempotency.close()
      await bulk.close()
      await mappings.close()
      await transformer.close()
      await indexing.close()
      await identity.close()
      await audit.close()
      await database.end()
    },
  }
}
