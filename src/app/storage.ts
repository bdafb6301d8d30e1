// The store in its database, with every projection of what is written: also for commands, which serve no requests.

import { consentProjection } from '../access/consent/projection.ts'
import { connectProjections } from '../api/connect/projections.ts'
import { type Connection, type Database, openDatabase } from '../db/database.ts'
import { createCatalogue } from '../events/catalogue.ts'
import { createOutbox, type Outbox } from '../events/outbox.ts'
import { registeredOrganizations } from '../identity/clients.ts'
import type { Config } from '../lib/config.ts'
import type { Log } from '../lib/log.ts'
import { mergedWith } from '../mpi/register/merged.ts'
import { addressesOf } from '../mpi/register/patient.ts'
import { createRegisterProjection } from '../mpi/register/projection.ts'
import { reachOf } from '../outbound/address.ts'
import { type Base, createBase, fhirBase } from '../store/base.ts'
import { createStore } from '../store/bind.ts'
import type { DataSet } from '../store/data-set.ts'
import { createIndexer, type Indexer } from '../store/index/entry.ts'
import { type DatabaseFor, databaseOf, type Principal } from '../store/principal.ts'
import type { Projection } from '../store/projection.ts'
import { createSearchShapes, type SearchShapes } from '../store/search/shapes.ts'
import { withDefinitions } from '../store/search-params/definition.ts'
import { createIndexing, type Indexing } from '../store/search-params/reindex.ts'
import { settle } from '../store/settle.ts'
import { createSketches } from '../store/sketch.ts'
import type { Store } from '../store/store.ts'
import { fhirPathInvariants } from '../store/validate/fhirpath-invariants.ts'
import { createValidator } from '../store/validate.ts'
import { subscriptionProjection } from '../webhooks/subscription.ts'

/** The parts that work without a request: a database, and the store of FHIR resources in it. */
export interface Storage {
  readonly database: Database
  /** What texts mean that name the data set by an address. */
  readonly base: Base
  readonly databaseFor: DatabaseFor
  readonly indexer: Indexer
  readonly indexing: Indexing
  readonly storeFor: (principal: Principal) => Store
  /** What follows the resources that are written. */
  readonly projections: readonly Projection[]
  /** What happened, on its way to subscribers. */
  readonly outbox: Outbox
  /** How long searches take. */
  readonly searches: SearchShapes
  /** Reindexes what names an address that was added after it was stored. Returns the number of resources. */
  settle(): Promise<number>
}

/** Opens the database as the settings say. @param standbys addresses of servers that reads may run on; absent: none */
export const openPools = (
  { poolSize, statementTimeout, databaseLayout: layout }: Config,
  connection: Connection,
  log: Log,
  standbys?: readonly string[],
): Database => openDatabase(connection, { poolSize, statementTimeout, layout, log, standbys })

/** Opens the database and its store alone, for commands that serve no requests. */
export const openStorage = (
  config: Config,
  connection: Connection,
  dataSet: DataSet,
  log: Log,
  encryptionKey: Buffer,
): Storage => storageIn(openPools(config, connection, log), config, dataSet, log, encryptionKey)

/**
 * The store in an open database.
 * @param encryptionKey of the secrets of subscriptions
 * @param messages returns the types of resources that maps make HL7 v2 messages of; absent: none
 */
export function storageIn(
  database: Database,
  config: Config,
  dataSet: DataSet,
  log: Log,
  encryptionKey: Buffer,
  messages: () => readonly string[] = () => [],
): Storage {
  const base = createBase({ ...dataSet, path: fhirBase })
  const indexer = createIndexer(base)
  const indexing = createIndexing({ database, indexer, base, log })
  const now = () => new Date()
  const projections: readonly Projection[] = [
    createRegisterProjection(addressesOf(base)),
    consentProjection({ base, mergedWith, now }),
    ...connectProjections(base, config.timeZone),
    subscriptionProjection({
      searchParams: () => indexer.params,
      alsoWatch: indexer.alsoWatch,
      reach: reachOf(config),
      messages,
      encryptionKey,
    }),
  ]
  const outbox = createOutbox(createCatalogue(base), now)
  const searches = createSearchShapes()
  const storeFor = createStore({
    searched: searches.note,
    database,
    indexer,
    indexing,
    projections,
    follower: outbox,
    registered: registeredOrganizations,
    validate: withDefinitions(createValidator({ invariants: fhirPathInvariants })),
    base,
    now,
    searchParameters: { perClient: config.searchParametersPerClient, all: config.searchParameters },
    defaultCount: 20,
    maxCount: 1000,
    maxIncluded: config.maxIncluded,
    // Their statement counts by type, each up to a limit, which an engine that distributes the tables refuses.
    ...(config.databaseLayout === 'whole' && { sketchFor: createSketches(database) }),
  })
  const databaseFor: DatabaseFor = principal => databaseOf(principal, database)
  return {
    ...{ database, databaseFor, base, indexer, indexing, storeFor, projections, outbox, searches },
    settle: () => settle({ database, indexer, indexing, projections, log }, dataSet.unsettled),
  }
}
