// Binds the store to callers: it refuses what a caller may not do, and reports every access to the caller's witness.

import { valuePlans } from '../db/database.ts'
import { resourceTypes } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import * as change from './change.ts'
import { everything } from './everything/everything.ts'
import { createExporting } from './export/export.ts'
import { history } from './history.ts'
import { lastn } from './lastn.ts'
import { patientsNamed } from './patients.ts'
import { databaseOf, type Principal } from './principal.ts'
import { readVersion } from './read.ts'
import { placeFor } from './runs-on.ts'
import { parseSearch } from './search/parse.ts'
import type { SearchRequest } from './search/request.ts'
import { libraryFor, runSearch, typesOf } from './search/run.ts'
import {
  mustBeAllowed,
  mustBeIndexed,
  mustStillBeUsed,
  type Session,
  type StoreParts,
  searchOptions,
} from './session.ts'
import { limitsOf, overridingFor, readSeen, sighted } from './sight.ts'
import { createGrowth } from './statistics.ts'
import type { Store } from './store.ts'
import { createTogether } from './together.ts'
import { transact } from './transaction/transaction.ts'
import { witnessed } from './witness.ts'

/** Binds the store to callers. */
export function createStore(parts: StoreParts): (principal: Principal) => Store {
  const together = createTogether(parts.database, parts.projections)
  const growth = createGrowth(parts.database)
  return principal => {
    const database = databaseOf(principal, parts.database)
    const base = principal.at === undefined ? parts.base : parts.base.at(principal.at)
    return bind({ ...parts, base, database, on: database, principal, together, growth, isInTransaction: false })
  }
}

function bind(session: Session): Store {
  const { witness, isInOperation } = session.principal
  const store = bound(session)
  return witness ? witnessed(store, session.base, witness, isInOperation) : store
}

function bound(session: Session): Store {
  const { principal } = session
  const allowedTypes = allowedTypesOf(session)
  return {
    ...boundReads(session, allowedTypes),
    ...boundSearches(session),
    ...boundChanges(session),
    isPart: principal.within !== undefined,
    separately: work =>
      principal.within
        ? session.database.transaction(on => work(bind({ ...session, database: on, on })))
        : work(bind(session)),
    exporting: () => createExporting(session),
    base: session.base,
    library: () => libraryFor(session.on, searchOptions(session)),
    allowedTypes,
    may: (type, interaction) => principal.may(type, interaction),
  }
}

const allowedTypesOf =
  ({ principal }: Session): Store['allowedTypes'] =>
  interaction =>
    resourceTypes.filter(type => principal.may(type, interaction))

type Reads = Pick<Store, 'read' | 'readVersion' | 'history' | 'validate'>

const boundReads = (session: Session, allowedTypes: Store['allowedTypes']): Reads => ({
  read(type, id) {
    mustBeAllowed(session, type, 'r')
    return readSeen(session, type, id)
  },
  async readVersion(type, id, version) {
    mustBeAllowed(session, type, 'r')
    return readVersion(await sighted(session, type, id), type, id, version)
  },
  async history(request) {
    if (request.type) mustBeAllowed(session, request.type, 'r')
    const types = request.type ? [request.type] : visible(allowedTypes('r'))
    const inner = request.type && request.id ? await sighted(session, request.type, request.id) : session
    const read = request.id ? 'history-instance' : request.type ? 'history-type' : 'history-system'
    return history(await placed(read, inner), { ...request, types })
  },
  validate(type, resource) {
    if (!(['c', 'u', 'd', 's'] as const).some(each => session.principal.may(type, each)))
      mustBeAllowed(session, type, 'r')
    return session.validate(resource, { type })
  },
})

type Searches = Pick<Store, 'parse' | 'search' | 'everything' | 'lastn'>

const boundSearches = (session: Session): Searches => ({
  parse: (types, params, strict) =>
    parseSearch(types, params, {
      params: session.indexer.params,
      strict,
      defaultCount: session.defaultCount,
      maxCount: session.maxCount,
    }),
  async search(request, memory) {
    await prepareSearch(session, request)
    const inner = await placed('search', await overridingFor(session, patientsNamed(request.criteria)))
    const begun = performance.now()
    // One that fails, for taking too long above all, counts as well.
    const running = runSearch(inner.on, request, searchOptions(inner), memory)
    const result = await running.finally(() => session.searched(request, performance.now() - begun))
    await mustStillBeUsed(session, request)
    const isEmpty = result.matches.length === 0 && result.included.length === 0 && !result.total
    return { ...result, withheld: isEmpty ? await limitsOf(inner, request, result.closed) : [] }
  },
  async everything(request) {
    const patients = request.patient === undefined ? [] : [request.patient]
    return everything(await placed('everything', await overridingFor(session, patients)), request)
  },
  async lastn(request, max) {
    await prepareSearch(session, request)
    const inner = await placed('lastn', await overridingFor(session, patientsNamed(request.criteria)))
    const page = await lastn(inner.on, request, max, searchOptions(inner))
    await mustStillBeUsed(session, request)
    return page
  },
})

type Changes = Pick<
  Store,
  'create' | 'update' | 'updateWhere' | 'patch' | 'patchWhere' | 'remove' | 'removeWhere' | 'transaction'
>

const boundChanges = (session: Session): Changes => ({
  create: (type, resource, ifNoneExist) =>
    changing(session, [type], change.create(session, type, resource, ifNoneExist)),
  update: (type, id, resource, preconditions) =>
    changing(session, [type], change.update(session, type, id, resource, preconditions)),
  updateWhere: (type, query, resource, preconditions) =>
    changing(session, [type], change.updateWhere(session, type, query, resource, preconditions)),
  patch: (type, id, patch, preconditions) =>
    changing(session, [type], change.patch(session, type, id, patch, preconditions)),
  patchWhere: (type, query, patch, preconditions) =>
    changing(session, [type], change.patchWhere(session, type, query, patch, preconditions)),
  remove: (type, id, preconditions) => changing(session, [type], change.remove(session, type, id, preconditions)),
  removeWhere: (type, query, preconditions) =>
    changing(session, [type], change.removeWhere(session, type, query, preconditions)),
  transaction: (entries, readEntry) =>
    changing(
      session,
      entries.map(entry => entry.type),
      transact(session, entries, (inner, entry, index) => readEntry(bind(inner), entry, index)),
    ),
})

/** Returns the result once the search parameters that the changes defined can be used: by the next request of the client. */
async function changing<T>(session: Session, types: readonly string[], work: Promise<T>): Promise<T> {
  const result = await work
  session.growth(types.length)
  if (session.isInTransaction || !types.includes('SearchParameter')) return result
  const { within } = session.principal
  if (within) within.afterwards(() => session.indexing.settle())
  else await session.indexing.settle()
  return result
}

/** The session whose statements run where this kind of read does. */
const placed = async (read: Parameters<typeof placeFor>[0], session: Session): Promise<Session> => ({
  ...session,
  on: await placeFor(read, session.on),
})

/** What comes before any search: the caller may search every type it touches, and it is planned for its values. */
async function prepareSearch(session: Session, request: SearchRequest): Promise<void> {
  for (const type of typesOf(request)) mustBeAllowed(session, type, 's')
  await mustBeIndexed(session, request)
  if (session.isInTransaction || session.principal.within) await session.on.query(valuePlans)
}

function visible(types: string[]): string[] {
  if (types.length === 0) throw new Failure('INSUFFICIENT_SCOPE', 'The token permits reading no resource type.')
  return types
}
