// Puts the parts together: database, store, identity, surfaces.

import { join } from 'node:path'
import type Koa from 'koa'
import { system } from '../access/caller.ts'
import { createEmergencyAccess } from '../access/consent/emergency.ts'
import { createReadPurpose } from '../access/purpose.ts'
import { createBulk } from '../api/fhir/bulk/bulk.ts'
import { createKeeper, type Keeper } from '../audit/archive/keeper.ts'
import { auditBacklog } from '../audit/backlog.ts'
import { sealingKey } from '../audit/chain.ts'
import { createAuditWriter } from '../audit/writer.ts'
import { type Bell, createBell } from '../bridge/bell.ts'
import { orderMessage } from '../bridge/message-orders.ts'
import { archiveBacklog } from '../db/archive-backlog.ts'
import type { Connection, Database } from '../db/database.ts'
import { createDemoData } from '../demo/data.ts'
import { eventBacklog } from '../events/backlog.ts'
import { describedEvents } from '../events/event-types.ts'
import { createIdempotency } from '../http/idempotency.ts'
import { createIntake } from '../http/intake.ts'
import { createLimits, quotasOf } from '../http/limits.ts'
import { openApiDocument, openApiRoute } from '../http/openapi.ts'
import type { Route } from '../http/route.ts'
import { createApp } from '../http/server.ts'
import { recordSignIn } from '../http/sign-ins.ts'
import { ensureDemoClient, ensureDemoUser } from '../identity/demo.ts'
import { createIdentity, type Identity } from '../identity/identity.ts'
import { archiveFolderOf, type Config } from '../lib/config.ts'
import { encryptionKey } from '../lib/encryption.ts'
import type { Log } from '../lib/log.ts'
import { createMappings, type Mappings } from '../mapping/mappings.ts'
import { createTransformer } from '../mapping/transformer.ts'
import type { Verdicts } from '../mapping/verdict.ts'
import { authorProcesses } from '../mapping/workbench/bench.ts'
import { alone, type Gather } from '../metrics/gather.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createSampler, type Sampler } from '../metrics/sampler.ts'
import { currentHealthIds, holderOf, holdersAmong } from '../mpi/register/health-ids.ts'
import { mergedWith } from '../mpi/register/merged.ts'
import { originsInUse } from '../mpi/register/origins.ts'
import { reachOf } from '../outbound/address.ts'
import { createRequestLog, type RequestLog } from '../requests/request-log.ts'
import { shapes } from '../shapes/all.ts'
import { type StartedDataSet, startedDataSet } from '../store/data-set.ts'
import { createUnitOfWork } from '../store/unit-of-work.ts'
import { webhookBacklog } from '../webhooks/backlog.ts'
import { disclosing } from '../webhooks/disclose.ts'
import { createWebhooks, type Webhooks } from '../webhooks/webhooks.ts'
import { createAnchoring, createCollector } from './anchoring.ts'
import { servedNeeds } from './map-needs.ts'
import { openPools, type Storage, storageIn } from './storage.ts'
import { interfaceVersion, surfaces } from './surfaces.ts'

export interface Application extends Storage {
  readonly koa: Koa
  readonly routes: readonly Route[]
  readonly identity: Identity
  readonly webhooks: Webhooks
  readonly requestLog: RequestLog
  readonly sampler: Sampler
  /** Once at the start, by one process: demo client and demo data in the local environment. */
  prepare(): Promise<void>
  /** Begins the work in the background; for processes that serve. */
  start(): void
  /** Ends the work in the background; requests in hand go on. */
  quiet(): Promise<void>
  close(): Promise<void>
}

/**
 * Begins to load the maps of the service.
 * @param verdicts what other processes have said of them
 * @throws MappingsError, to the caller that awaits them.
 */
export function loadMappings({ mappingsDir, dataDir }: Config, log: Log, verdicts?: Verdicts): Promise<Mappings> {
  const maps = createMappings({
    folder: mappingsDir,
    kept: join(dataDir, 'mappings.json'),
    shapes,
    ...servedNeeds,
    verdicts,
    log,
  })
  maps.catch(() => {})
  return maps
}

/** The data set of the database, which is served at the address from now on. */
function learnDataSet(database: Database, address: string): Promise<StartedDataSet> {
  return startedDataSet(database, address, originsInUse).catch(async error => {
    await database.end()
    throw error
  })
}

/** Logs what is new about the addresses of the data set, and makes resources stored before them known by them. */
async function settled(
  storage: Storage,
  address: string,
  { origin, issuer, isMoved, unsettled }: StartedDataSet,
  log: Log,
): Promise<void> {
  if (isMoved)
    log.warn({ origin, issuer, address }, 'the data set is served at a new address; its identity is unchanged')
  if (unsettled.length === 0) return
  log.info({ addresses: unsettled }, 'indexing resources that name new addresses of the data set')
  const resources = await storage.settle()
  log.info({ resources }, 'indexed resources that name new addresses')
}

/**
 * Builds the service on a migrated database.
 * @param address where it is served, without trailing slash; the data set of the database has it from now on.
 * @param gather how figures for monitoring become those of all processes.
 */
export async function createApplication(
  config: Config,
  connection: Connection,
  address: string,
  log: Log,
  maps: Promise<Mappings> = loadMappings(config, log),
  gather: Gather = alone,
): Promise<Application> {
  const { environment } = config
  const collector = createCollector(config)
  const key = await encryptionKey(config)
  const database = openPools(config, connection, log, config.databaseReadUrl)
  const dataSet = await learnDataSet(database, address)
  const mappings = await maps
  const messages = () => [...mappings.set().outgoing.keys()]
  const storage = storageIn(database, config, dataSet, log, key, messages)
  const { base, indexing, storeFor, projections, outbox } = storage
  await indexing.follow()
  await settled(storage, address, dataSet, log)
  const identity = await createIdentity({
    database,
    environment,
    encryptionKey: key,
    reach: reachOf(config),
    ...{ issuer: dataSet.issuer, address, addresses: dataSet.addresses },
    log,
    holderOf: healthId => holderOf(database, healthId),
    recordSignIn: attempt => recordSignIn(audit, attempt),
  })
  const metrics = createMetrics({
    database,
    log,
    version: interfaceVersion,
    environment,
    gather,
    backlogs: [webhookBacklog, eventBacklog, auditBacklog, archiveBacklog],
  })
  const sampler = createSampler({
    ...{ database, log, text: metrics.text, searches: storage.searches, now: () => new Date() },
  })
  const anchor = createAnchoring({ config, collector, database, key, log, counted: metrics.anchored })
  const audit = createAuditWriter({
    ...{ database, key: sealingKey(key), log, now: () => new Date() },
    moved: head => anchor?.moved(head),
  })
  const keeper = createKeeper({
    ...{ database, key: sealingKey(key), log, counted: metrics.archived },
    ...{ folder: archiveFolderOf(config), days: config.auditOnlineDays },
  })
  const transformer = createTransformer({ limit: config.transformTimeout * 1000 })
  const workbenchProcesses = createTransformer(authorProcesses)
  const demo = createDemoData({ database, store: storeFor(system), projections, base })
  const bulk = createBulk({ database, storeFor, audit, log, ...bulkSettings(config) })
  const requestLog = createRequestLog({
    ...{ database, log, days: config.requestLogDays, now: () => new Date() },
    dropped: metrics.unlogged,
  })
  const webhooks = createWebhooks({
    ...{ database, storeFor, outbox, log, environment, encryptionKey: key },
    disclose: disclosing(audit),
    handOver: order => orderMessage(database, order),
    counted: metrics.attempted,
    healthIds: currentHealthIds,
    ...webhookSettings(config),
  })
  const unitOfWork = createUnitOfWork(storage.databaseFor, indexing)
  const bell = createBell(database)
  const limits = createLimits(quotasOf(config))
  const served: Route[] = surfaces({
    ...{
      ...storage,
      config,
      identity,
      mappings,
      ...{ transformer, workbenchProcesses },
      demo,
      bulk,
      unitOfWork,
      bell,
      key,
      log,
      requestLog,
      limits,
    },
    wakeWebhooks: webhooks.wake,
    routes: () => routes,
    description: () =>
      openApiDocument(routes, { version: interfaceVersion, baseUrl: address, events: describedEvents() }),
    metrics: metrics.text,
  })
  const routes: Route[] = [
    ...served,
    openApiRoute(served, { version: interfaceVersion, baseUrl: address, events: describedEvents() }),
  ]
  const idempotency = createIdempotency({
    database,
    log,
    unitOfWork,
    now: () => new Date(),
  })
  const koa = createApp({
    ...{ routes, database, idempotency, audit, log, limits },
    ...serverSettings(config),
    authenticate: identity.authenticate,
    readPurpose: createReadPurpose(createEmergencyAccess({ database, storeFor, mergedWith, now: () => new Date() })),
    holdersOf: texts => holdersAmong(database, texts),
    observer: metrics,
    note: requestLog.note,
  })
  const parts = {
    ...{ indexing, bulk, mappings, idempotency, audit, anchor, keeper, webhooks, metrics },
    ...{ transformer, workbenchProcesses },
    identity,
    bell,
    requestLog,
    sampler,
  }
  return {
    ...{ koa, routes, ...storage, identity, webhooks, requestLog, sampler },
    async prepare() {
      if (environment !== 'local') return
      await ensureDemoClient(database)
      await ensureDemoUser(database)
      await demo.ensure()
    },
    ...lifecycle(parts, database),
  }
}

const bulkSettings = (config: Config) => ({
  dataDir: config.dataDir,
  fileResources: config.bulkFileResources,
  expiryHours: config.bulkExpiryHours,
  leaseSeconds: config.bulkLeaseSeconds,
  limits: { perClient: config.bulkJobsPerClient, all: config.bulkJobs },
  importBytes: config.bulkImportBytes,
  lineBytes: config.maxBodyBytes,
  origins: { allowed: config.bulkImportOrigins, isLocal: config.environment === 'local' },
})

const webhookSettings = (config: Config) => ({
  concurrency: config.webhookConcurrency,
  reach: reachOf(config),
  userAgent: `health-interop/${interfaceVersion}`,
  historyDays: config.webhookHistoryDays,
})

const serverSettings = (config: Config) => ({
  searchTimeout: config.searchTimeout,
  baseUrl: config.baseUrl || undefined,
  trustedProxies: config.trustedProxies,
  maxBodyBytes: config.maxBodyBytes,
  intake: createIntake({ memory: config.bodyMemory }),
})

/** The parts that work in the background, or that hold something until they are closed. */
interface Parts {
  readonly indexing: Storage['indexing']
  readonly bulk: ReturnType<typeof createBulk>
  readonly mappings: Mappings
  readonly idempotency: ReturnType<typeof createIdempotency>
  readonly audit: ReturnType<typeof createAuditWriter>
  readonly anchor: ReturnType<typeof createAnchoring>
  readonly keeper: Keeper
  readonly webhooks: Webhooks
  readonly metrics: ReturnType<typeof createMetrics>
  readonly transformer: ReturnType<typeof createTransformer>
  readonly workbenchProcesses: ReturnType<typeof createTransformer>
  readonly identity: Identity
  readonly bell: Bell
  readonly requestLog: RequestLog
  readonly sampler: Sampler
}

/**
 * Milliseconds from the start of one part to that of the next, for those that ask the database first: one after another they share
 * connections, where all at once would open one each.
 */
const apart = 15

/** Starts and ends the parts in order: what makes work ends before what it needs. */
function lifecycle(parts: Parts, database: Storage['database']): Pick<Application, 'start' | 'quiet' | 'close'> {
  const {
    indexing,
    bulk,
    mappings,
    idempotency,
    audit,
    anchor,
    keeper,
    webhooks,
    metrics,
    transformer,
    workbenchProcesses,
    identity,
    bell,
    requestLog,
    sampler,
  } = parts
  let quieted: Promise<unknown> | undefined
  let beginning: NodeJS.Timeout[] = []
  const quiet = async (): Promise<void> => {
    for (const timer of beginning) clearTimeout(timer)
    idempotency.close()
    await (quieted ??= Promise.all([webhooks, bulk, mappings, indexing, bell].map(each => each.close())))
  }
  return {
    start() {
      mappings.follow()
      idempotency.start()
      metrics.start()
      requestLog.start()
      sampler.start()
      const looking = [indexing, audit, anchor, keeper, bulk, webhooks].filter(part => part !== undefined)
      beginning = looking.map((part, at) => setTimeout(part.start, at * apart).unref())
    },
    quiet,
    async close() {
      await quiet()
      await Promise.all([transformer.close(), workbenchProcesses.close()])
      await identity.close()
      await keeper.close()
      await audit.close()
      await requestLog.close()
      await sampler.close()
      await anchor?.close()
      await database.end()
    },
  }
}
