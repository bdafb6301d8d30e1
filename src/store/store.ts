// The one door to FHIR data: a store is bound to its caller, and what the caller may not do it does not do.

import { valuePlans } from '../db/database.ts'
import { resourceTypes } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import * as change from './change.ts'
import { type EverythingPage, everything } from './everything/everything.ts'
import type { EverythingRequest } from './everything/request.ts'
import { createExporting, type Exporting } from './export/export.ts'
import { lastn } from './lastn.ts'
import type { Patch } from './patch/patch.ts'
import { type HistoryRequest, history, read, readVersion, type Version } from './read.ts'
import type { Hit } from './search/hit.ts'
import { parseSearch } from './search/parse.ts'
import type { SearchRequest } from './search/request.ts'
import { libraryFor, runSearch, type SearchResult, typesOf } from './search/run.ts'
import {
  type Interaction,
  mustBeAllowed,
  mustBeIndexed,
  type Principal,
  type Session,
  type StoreParts,
  searchOptions,
} from './session.ts'
import type { Library } from './terminology/library.ts'
import { type EntryResult, type TransactionEntry, transact } from './transaction.ts'
import type { Issue } from './validate.ts'
import { witnessed } from './witness.ts'
import type { Written } from './write.ts'

/** What one caller can do with the store. */
export interface Store {
  read(type: string, id: string): Promise<Version & { body: string }>
  readVersion(type: string, id: string, version: number): Promise<Version & { body: string }>
  history(request: Omit<HistoryRequest, 'types'>): Promise<Version[]>
  /** Understands a search; separate from running it, because links and errors need its parts. */
  parse(types: readonly string[], params: Iterable<readonly [string, string]>, strict: boolean): SearchRequest
  search(request: SearchRequest): Promise<SearchResult>
  /** A patient's compartment and what it refers to, or those of all patients. */
  everything(request: EverythingRequest): Promise<EverythingPage>
  /** The newest of each kind among the observations that a search finds. */
  lastn(request: SearchRequest, max: number): Promise<{ matches: readonly Hit[]; warnings: readonly string[] }>
  /** Every problem of a resource that is not stored; for callers that may do anything with the type at all. */
  validate(type: string, resource: unknown): Issue[]
  create(type: string, resource: unknown, ifNoneExist?: string): Promise<Written>
  update(type: string, id: string, resource: unknown, preconditions: change.Preconditions): Promise<Written>
  updateWhere(type: string, query: string, resource: unknown, preconditions: change.Preconditions): Promise<Written>
  patch(type: string, id: string, patch: Patch, preconditions: change.Preconditions): Promise<Written>
  patchWhere(type: string, query: string, patch: Patch, preconditions: change.Preconditions): Promise<Written>
  remove(type: string, id: string, preconditions: change.Preconditions): Promise<Written>
  removeWhere(type: string, query: string, preconditions: change.Preconditions): Promise<Written | undefined>
  /** All entries or none; `readEntry` answers the reads among them with a store that sees what was written. */
  transaction<Reply>(
    entries: readonly TransactionEntry[],
    readEntry: (store: Store, entry: TransactionEntry, index: number) => Promise<Reply>,
  ): Promise<EntryResult<Reply>[]>
  /** True if everything is part of a transaction of the caller's. */
  readonly isPart: boolean
  /** Does something that may fail without harm to what else is done: within a transaction, it alone is undone. */
  separately<T>(work: (store: Store) => Promise<T>): Promise<T>
  /** What background exports need beyond searching. */
  readonly exporting: Exporting
  /** Value sets, code systems and concept maps as the caller may see them, for one request. */
  library(): Library
  /** The types on which the caller may do it. */
  allowedTypes(interaction: 'r' | 's'): string[]
  may(type: string, interaction: Interaction): boolean
}

/** Binds the store to callers. */
export function createStore(parts: StoreParts): (principal: Principal) => Store {
  return principal => {
    const database = principal.within ?? parts.database
    return bind({ ...parts, database, on: database, principal, isInTransaction: false })
  }
}

function bind(session: Session): Store {
  const { witness } = session.principal
  const store = bound(session)
  return witness ? witnessed(store, session.base, witness) : store
}

function bound(session: Session): Store {
  const allowedTypes = (interaction: 'r' | 's'): string[] =>
    resourceTypes.filter(type => session.principal.may(type, interaction))
  // Whoever defines a search parameter can use it with the next request.
  const learning = async <T>(types: readonly string[], work: Promise<T>): Promise<T> => {
    const result = await work
    if (session.isInTransaction || !types.includes('SearchParameter')) return result
    const { within } = session.principal
    if (within) within.afterwards(() => session.indexing.settle())
    else await session.indexing.settle()
    return result
  }
  return {
    read(type, id) {
      mustBeAllowed(session, type, 'r')
      return read(session.on, type, id)
    },
    readVersion(type, id, version) {
      mustBeAllowed(session, type, 'r')
      return readVersion(session.on, type, id, version)
    },
    history(request) {
      if (request.type) mustBeAllowed(session, request.type, 'r')
      return history(session.on, { ...request, types: request.type ? [request.type] : visible(allowedTypes('r')) })
    },
    parse: (types, params, strict) =>
      parseSearch(types, params, {
        params: session.indexer.params,
        strict,
        defaultCount: session.defaultCount,
        maxCount: session.maxCount,
      }),
    async search(request) {
      await prepareSearch(session, request)
      return runSearch(session.on, request, searchOptions(session))
    },
    everything: request => everything(session, request),
    async lastn(request, max) {
      await prepareSearch(session, request)
      return lastn(session.on, request, max, searchOptions(session))
    },
    validate(type, resource) {
      if (!(['c', 'u', 'd', 's'] as const).some(each => session.principal.may(type, each)))
        mustBeAllowed(session, type, 'r')
      return session.validate(resource, { type })
    },
    create: (type, resource, ifNoneExist) => learning([type], change.create(session, type, resource, ifNoneExist)),
    update: (type, id, resource, preconditions) =>
      learning([type], change.update(session, type, id, resource, preconditions)),
    updateWhere: (type, query, resource, preconditions) =>
      learning([type], change.updateWhere(session, type, query, resource, preconditions)),
    patch: (type, id, patch, preconditions) => learning([type], change.patch(session, type, id, patch, preconditions)),
    patchWhere: (type, query, patch, preconditions) =>
      learning([type], change.patchWhere(session, type, query, patch, preconditions)),
    remove: (type, id, preconditions) => learning([type], change.remove(session, type, id, preconditions)),
    removeWhere: (type, query, preconditions) =>
      learning([type], change.removeWhere(session, type, query, preconditions)),
    transaction: (entries, readEntry) =>
      learning(
        entries.map(entry => entry.type),
        transact(session, entries, (inner, entry, index) => readEntry(bind(inner), entry, index)),
      ),
    isPart: session.principal.within !== undefined,
    separately: work =>
      session.principal.within
        ? session.database.transaction(on => work(bind({ ...session, database: on, on })))
        : work(bind(session)),
    get exporting() {
      return createExporting(session)
    },
    library: () => libraryFor(session.on, searchOptions(session)),
    allowedTypes,
    may: (type, interaction) => session.principal.may(type, interaction),
  }
}

/** What comes before any search: the caller may search every type it touches, and it is planned for its values. */
async function prepareSearch(session: Session, request: SearchRequest): Promise<void> {
  for (const type of typesOf(request)) mustBeAllowed(session, type, 's')
  await mustBeIndexed(session, request)
  if (session.isInTransaction || session.principal.within) await session.on.query(valuePlans)
}

function visible(types: string[]): string[] {
  if (types.length === 0) throw new Failure('INSUFFICIENT_SCOPE', 'The token opens no resource type for reading.')
  return types
}
