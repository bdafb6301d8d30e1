// Reports every access to a caller's store: the store is the one door, so no handler reads or changes anything without a record.

import { type Access, type Deed, deedOfMethod, isChange, type Witness } from './access.ts'
import type { Base } from './base.ts'
import { isId } from './ids.ts'
import { patientsIn, patientsNamed } from './patients.ts'
import type { Hit } from './search/hit.ts'
import type { SearchRequest } from './search/request.ts'
import type { Store } from './store.ts'
import type { TransactionEntry } from './transaction/entries.ts'
import type { EntryResult } from './transaction/transaction.ts'
import type { Version } from './versions.ts'
import type { Written } from './write/next-version.ts'

type Asked = Omit<Access, 'patients' | 'resources' | 'failure'> & { readonly named?: readonly string[] }
type Outcome = Partial<Pick<Access, 'id' | 'version'>> & {
  readonly bodies: readonly Hit[]
  readonly most?: number
}

/** Reports an access with its outcome. */
type Report = (asked: Asked, outcome: Outcome | { readonly failure: unknown }) => void
/** Does the work, and reports it with its outcome or its failure. */
type Watch = <T>(asked: Asked, work: () => Promise<T>, outcomeOf: (result: T) => Outcome) => Promise<T>

/**
 * Returns the same store, which reports everything that is done with it to the witness, or, as part of an operation,
 * every change. Every method is named, so that a new one cannot go unreported.
 */
export function witnessed(store: Store, base: Base, witness: Witness, isInOperation = false): Store {
  const report = reporting(base, witness)
  const watch = watching(report, isInOperation)
  return {
    ...watchedReads(store, watch),
    ...watchedSearches(store, watch),
    ...watchedChanges(store, watch),
    transaction: async (entries, readEntry) => {
      try {
        const results = await store.transaction(entries, readEntry)
        for (const [index, entry] of entries.entries()) reportEntry(report, entry, results[index]!)
        return results
      } catch (failure) {
        report({ deed: 'transaction' }, { failure })
        throw failure
      }
    },
    parse: store.parse,
    validate: store.validate,
    isPart: store.isPart,
    separately: store.separately,
    exporting: store.exporting,
    base: store.base,
    library: store.library,
    allowedTypes: store.allowedTypes,
    may: store.may,
  }
}

const reporting =
  (base: Base, witness: Witness): Report =>
  ({ named = [], ...asked }, outcome) => {
    if ('failure' in outcome) return witness({ ...asked, patients: named, resources: 0, failure: outcome.failure })
    const { bodies, most = bodies.length, ...more } = outcome
    witness({ ...asked, ...more, patients: patientsIn(bodies, base, named), resources: Math.min(bodies.length, most) })
  }

const watching =
  (report: Report, isInOperation: boolean): Watch =>
  async (asked, work, outcomeOf) => {
    if (isInOperation && !isChange(asked.deed)) return work()
    try {
      const result = await work()
      report(asked, outcomeOf(result))
      return result
    } catch (failure) {
      report(asked, { failure })
      throw failure
    }
  }

const watchedReads = (store: Store, watch: Watch): Pick<Store, 'read' | 'readVersion' | 'history'> => ({
  read: (type, id) => watch(one('read', type, id), () => store.read(type, id), versions),
  readVersion: (type, id, version) =>
    watch({ ...one('vread', type, id), version }, () => store.readVersion(type, id, version), versions),
  history: request => {
    const level = request.id ? 'instance' : request.type ? 'type' : 'system'
    const asked: Asked = { deed: `history-${level}`, type: request.type, id: request.id }
    // It reads one more than it shows, to know whether there is a next page.
    return watch(
      asked,
      () => store.history(request),
      ({ versions: list }) => ({ bodies: list.flatMap(bodyOf), most: request.count }),
    )
  },
})

const watchedSearches = (store: Store, watch: Watch): Pick<Store, 'search' | 'everything' | 'lastn'> => ({
  search: (request, memory) =>
    watch(
      searched(request),
      () => store.search(request, memory),
      ({ matches, included }) => ({ bodies: [...matches, ...included] }),
    ),
  everything: request =>
    watch(
      { ...one('operation', 'Patient', request.patient), query: `${place('Patient', request.patient)}/$everything` },
      () => store.everything(request),
      ({ matches, included }) => ({ bodies: [...matches, ...included] }),
    ),
  lastn: (request, max) =>
    watch(
      { ...searched(request), deed: 'operation', query: `Observation/$lastn?${parametersOf(request)}` },
      () => store.lastn(request, max),
      ({ matches }) => ({ bodies: matches }),
    ),
})

type Changes = Pick<Store, 'create' | 'update' | 'updateWhere' | 'patch' | 'patchWhere' | 'remove' | 'removeWhere'>

const watchedChanges = (store: Store, watch: Watch): Changes => ({
  create: (type, resource, ifNoneExist) =>
    watch(
      { deed: 'create', type, query: where(type, ifNoneExist) },
      () => store.create(type, resource, ifNoneExist),
      written,
    ),
  update: (type, id, resource, preconditions) =>
    watch(one('update', type, id), () => store.update(type, id, resource, preconditions), written),
  updateWhere: (type, query, resource, preconditions) =>
    watch(
      { deed: 'update', type, query: where(type, query) },
      () => store.updateWhere(type, query, resource, preconditions),
      written,
    ),
  patch: (type, id, patch, preconditions) =>
    watch(one('patch', type, id), () => store.patch(type, id, patch, preconditions), written),
  patchWhere: (type, query, patch, preconditions) =>
    watch(
      { deed: 'patch', type, query: where(type, query) },
      () => store.patchWhere(type, query, patch, preconditions),
      written,
    ),
  remove: (type, id, preconditions) =>
    watch(one('delete', type, id), () => store.remove(type, id, preconditions), written),
  removeWhere: (type, query, preconditions) =>
    watch(
      { deed: 'delete', type, query: where(type, query) },
      () => store.removeWhere(type, query, preconditions),
      result => (result ? written(result) : { bodies: [] }),
    ),
})

const one = (deed: Deed, type: string, id: string | undefined): Asked => ({
  deed,
  type,
  id,
  named: type === 'Patient' && isId(id) ? [id] : [],
})

const place = (type: string, id: string | undefined): string => (id === undefined ? type : `${type}/${id}`)
const where = (type: string, query: string | undefined): string | undefined => query && `${type}?${query}`

function bodyOf({ type, id, body }: Version): Hit[] {
  return body === null ? [] : [{ type, id, body }]
}

const versions = (version: Version): Outcome => ({ version: version.version, bodies: bodyOf(version) })

/** What is deleted has no body any more, but was changed all the same. */
const written = ({ type, id, version, body = '' }: Written): Outcome => ({ id, version, bodies: [{ type, id, body }] })

function searched(request: SearchRequest): Asked {
  const compartment = request.criteria.find(each => each.kind === 'compartment')
  const isOne = request.types.length === 1
  const type = isOne ? request.types[0] : undefined
  const path = [compartment && `${compartment.of}/${compartment.id}`, type ?? (compartment && '*')].filter(Boolean)
  return {
    deed: isOne ? 'search-type' : 'search-system',
    type,
    query: `${path.join('/')}?${parametersOf(request)}`,
    named: patientsNamed(request.criteria),
  }
}

const parametersOf = ({ applied }: SearchRequest): string =>
  new URLSearchParams(applied.map(([name, value]): [string, string] => [name, value])).toString()

/** Reads of a transaction were reported by the store that answered them. */
function reportEntry(
  report: Report,
  { method, type, id, query }: TransactionEntry,
  result: EntryResult<unknown>,
): void {
  if (method === 'GET' || method === 'HEAD') return
  const change = 'written' in result ? result.written : undefined
  report(
    { ...one(deedOfMethod[method], type, id), query: where(type, query) },
    change ? written(change) : { bodies: [] },
  )
}
