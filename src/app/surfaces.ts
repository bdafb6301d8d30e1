// The routes of all surfaces, each with the parts it works with.

import { system } from '../access/caller.ts'
import { opens } from '../access/consent/opening.ts'
import { identityRoutes } from '../api/auth/routes.ts'
import { bridgeRoutes } from '../api/bridge/routes.ts'
import { connectRoutes } from '../api/connect/routes.ts'
import { demoRoutes } from '../api/demo/routes.ts'
import { fhirRoutes } from '../api/fhir/routes.ts'
import { homeRoute } from '../api/health/home-route.ts'
import { metricsRoutes } from '../api/health/metrics-route.ts'
import { healthRoutes } from '../api/health/routes.ts'
import { mobileRoutes } from '../api/mobile/routes.ts'
import { portalRoutes } from '../api/portal/routes.ts'
import { sdkRoutes } from '../api/sdk/routes.ts'
import { sealingKey } from '../audit/chain.ts'
import { createAuditReader } from '../audit/reader.ts'
import type { Bell } from '../bridge/bell.ts'
import { createConsents } from '../consents/consents.ts'
import { shareOf } from '../db/shares.ts'
import type { DemoData } from '../demo/data.ts'
import type { Limit, Limits } from '../http/limits.ts'
import type { Route } from '../http/route.ts'
import { registeredOrganizations } from '../identity/clients.ts'
import { demoUser } from '../identity/demo-accounts.ts'
import type { Identity } from '../identity/identity.ts'
import { createPeople } from '../interactions/people.ts'
import { anchorFileOf, type Config } from '../lib/config.ts'
import { createCursors } from '../lib/cursor.ts'
import type { Log } from '../lib/log.ts'
import type { Mappings } from '../mapping/mappings.ts'
import { createMapServices } from '../mapping/service.ts'
import type { Transformer } from '../mapping/transformer.ts'
import { createTranslator } from '../mapping/translator.ts'
import { createWorkbench } from '../mapping/workbench/bench.ts'
import { textType } from '../metrics/figures.ts'
import { mergedWith } from '../mpi/register/merged.ts'
import { addressesOf } from '../mpi/register/patient.ts'
import { createRegister } from '../mpi/register/register.ts'
import { reachOf } from '../outbound/address.ts'
import type { RequestLog } from '../requests/request-log.ts'
import { organizationNames } from '../store/organization-names.ts'
import type { UnitOfWork } from '../store/unit-of-work.ts'
import { mapNeeds } from './map-needs.ts'
import type { Storage } from './storage.ts'

/** The version of the published interface. */
export const interfaceVersion = '1.2.0'

export interface SurfaceParts extends Storage {
  readonly config: Config
  readonly identity: Identity
  readonly mappings: Mappings
  readonly transformer: Transformer
  /** The processes of the workbench: authors and clients do not wait for each other. */
  readonly workbenchProcesses: Transformer
  readonly demo: DemoData
  readonly bulk: { readonly routes: readonly Route[] }
  readonly unitOfWork: UnitOfWork
  readonly bell: Bell
  /** Of encryption. */
  readonly key: Buffer
  readonly log: Log
  readonly requestLog: RequestLog
  readonly limits: Limits
  /** All routes, once they are put together. */
  readonly routes: () => readonly Route[]
  /** What the service says of its API. */
  readonly description: () => unknown
  /** Makes this process look for deliveries. */
  readonly wakeWebhooks: () => void
  /** The figures of the service. */
  readonly metrics: () => Promise<string>
}

/** The routes; of two that fit an address the earlier one answers. */
export function surfaces(parts: SurfaceParts): Route[] {
  const { config, database, databaseFor, storeFor, identity, mappings, unitOfWork, base, log } = parts
  const now = () => new Date()
  const shared = {
    ...{ databaseFor, storeFor, unitOfWork, base, now },
    register: createRegister(() => mappings.matching()),
    addresses: addressesOf(base),
    translator: createTranslator(mappings, base, log, now),
    cursors: createCursors(parts.key),
    trailFor: createAuditReader(databaseFor),
  }
  const consents = createConsents({
    ...{ ...shared, mergedWith },
    opens: (type, scopes) => opens(mappings.consents(), type, scopes),
    usualDays: () => mappings.consents().expiresAfterDays,
    requestDays: () => mappings.consents().requestsExpireAfterDays,
  })
  const { environment, timeZone } = config
  const consentTypes = () => mappings.consents()
  const peopleFor = createPeople(shared)
  const service = { version: interfaceVersion, origin: base.origin }
  const mapsFor = createMapServices(mappings, parts.transformer, service)
  return [
    ...identityRoutes(identity),
    ...mobileRoutes(identity.patients, { ...shared, consents, organizationNames: organizationNames(storeFor(system)) }),
    ...portalRoutes({
      ...{ indexer: parts.indexer, config, metrics: parts.metrics, demo: parts.demo, version: interfaceVersion },
      ...{ consents, organizationNames: organizationNames(storeFor(system)) },
      ...{ ...shared, sessions: identity.sessions, isSecure: environment !== 'local', database, timeZone },
      trail: { database, key: sealingKey(parts.key), file: anchorFileOf(config) },
      ...{ environment, reach: reachOf(config), encryptionKey: parts.key, wakeWebhooks: parts.wakeWebhooks },
      ...{ requestLog: parts.requestLog, requestLogDays: config.requestLogDays, limits: parts.limits },
      patterns: () => pathsOf(parts.routes()),
      limited: () => ({ lookup: pathsOf(parts.routes(), 'lookup'), token: pathsOf(parts.routes(), 'token') }),
      ...{ description: parts.description, tokens: identity.tokens, searchParams: () => parts.indexer.params },
      ...{ workers: config.workers, fixedLimits: fixedLimitsOf(config) },
      ...{ consentTypes, matchingInForce: () => mappings.matching() },
      workbench: createWorkbench({
        ...{ database, mappings, transformer: parts.workbenchProcesses },
        ...{ folder: config.mappingsDir, needs: mapNeeds },
      }),
      ...(environment === 'local' && { demoUser }),
    }),
    homeRoute(interfaceVersion),
    ...healthRoutes(database, mappings, interfaceVersion),
    ...metricsRoutes({
      text: parts.metrics,
      type: textType,
      token: config.metricsToken,
      isOpen: environment === 'local',
    }),
    ...demoRoutes(parts.demo, environment !== 'production'),
    ...connectRoutes({
      registered: registeredOrganizations,
      ...{ ...shared, consents, timeZone, environment, encryptionKey: parts.key },
      ...{ outbox: parts.outbox, reach: reachOf(config), wakeWebhooks: parts.wakeWebhooks },
      consentTypes,
    }),
    ...sdkRoutes({ ...shared, consents, consentTypes, mapsFor, peopleFor }),
    ...bridgeRoutes({
      ...shared,
      registered: registeredOrganizations,
      mappings,
      timeZone,
      log,
      bell: parts.bell,
      version: interfaceVersion,
    }),
    ...parts.bulk.routes,
    ...fhirRoutes({
      ...shared,
      searchParams: () => parts.indexer.params,
      peopleFor,
      mapsFor,
      log,
      version: interfaceVersion,
    }),
  ]
}

/** The patterns of routes, each once; of those alone that a class of limits counts. */
const pathsOf = (routes: readonly Route[], limit?: Limit): string[] =>
  [...new Set(routes.filter(each => limit === undefined || each.limit === limit).map(({ path }) => path))].sort()

const fixedLimitsOf = (config: Config) => ({
  maxBodyBytes: config.maxBodyBytes,
  searchSeconds: config.searchTimeout / 1000,
  connections: shareOf(config.poolSize),
  bulkJobs: config.bulkJobsPerClient,
  searchParameters: config.searchParametersPerClient,
  webhooks: config.webhookConcurrency,
})
