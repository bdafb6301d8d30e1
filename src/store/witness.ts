// Reports every access to a caller's store: the store is the one door, so no handler reads or changes anything without a record.

import { type Access, type Deed, deedOfMethod, isChange, type Witness } from './access.ts'
import type { Base } from './base.ts'
import { isId } from './ids.ts'
import { patientsIn, patientsNamed } from './patients.ts'
import type { Hit } from './search/hit.ts'
import type { SearchRequest } from './search/request.ts'
import type { Store } from './store.ts'
import type { EntryResult, TransactionEntry } from './transaction.ts'
import type { Version } from './versions.ts'
import type { Written } from './write.ts'

type Asked = Omit<Access, 'patients' | 'resources' | 'failure'> & { readonly named?: readonly string[] }
type Told = Partial<Pick<Access, 'id' | 'version'>> & { readonly bodies: readonly Hit[]; readonly most?: number }

/**
 * The same store, telling the witness of everything that is done with it, or, as part of an operation, of every change. Every method is named, so that none can be new and
 * silent.
 */
export function witnessed(store: Store, base: Base, witness: Witness, isInOperation = false): Store {
  const tell = ({ named = [], ...asked }: Asked, told: Told | { readonly failure: unknown }): void => {
    if ('failure' in told) return witness({ ...asked, patients: named, resources: 0, failure: told.failure })
    const { bodies, most = bodies.length, ...more } = told
    witness({ ...asked, ...more, patients: patientsIn(bodies, base, named), resources: Math.min(bodies.length, most) })
  }
  const watch = async <T>(asked: Asked, work: () => Promise<T>, told: (result: T) => Told): Promise<T> => {
    if (isInOperation && !isChange(asked.deed)) return work()
    try {
      const result = await work()
      tell(asked, told(result))
      return result
    } catch (failure) {
      tell(asked, { failure })
      throw failure
    }
  }
  const watchWrite = (asked: Asked, work: () => Promise<Written>): Promise<Written> => watch(asked, work, written)
  return {
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
    parse: store.parse,
    search: request =>
      watch(
        searched(request),
        () => store.search(request),
        ({ matches, included }) => ({
          bodies: [...matches, ...included],
        }),
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
    validate: store.validate,
    create: (type, resource, ifNoneExist) =>
      watchWrite({ deed: 'create', type, query: where(type, ifNoneExist) }, () =>
        store.create(type, resource, ifNoneExist),
      ),
    update: (type, id, resource, preconditions) =>
      watchWrite(one('update', type, id), () => store.update(type, id, resource, preconditions)),
    updateWhere: (type, query, resource, preconditions) =>
      watchWrite({ deed: 'update', type, query: where(type, query) }, () =>
        store.updateWhere(type, query, resource, preconditions),
      ),
    patch: (type, id, patch, preconditions) =>
      watchWrite(one('patch', type, id), () => store.patch(type, id, patch, preconditions)),
    patchWhere: (type, query, patch, preconditions) =>
      watchWrite({ deed: 'patch', type, query: where(type, query) }, () =>
        store.patchWhere(type, query, patch, preconditions),
      ),
    remove: (type, id, preconditions) =>
      watchWrite(one('delete', type, id), () => store.remove(type, id, preconditions)),
    removeWhere: (type, query, preconditions) =>
      watch(
        { deed: 'delete', type, query: where(type, query) },
        () => store.removeWhere(type, query, preconditions),
        result => (result ? written(result) : { bodies: [] }),
      ),
    transaction: async (entries, readEntry) => {
      try {
        const results = await store.transaction(entries, readEntry)
        for (const [index, entry] of entries.entries()) tellEntry(tell, entry, results[index]!)
        return results
      } catch (failure) {
        tell({ deed: 'transaction' }, { failure })
        throw failure
      }
    },
    isPart: store.isPart,
    separately: store.separately,
    get exporting() {
      return store.exporting
    },
    base: store.base,
    library: store.library,
    allowedTypes: store.allowedTypes,
    may: store.may,
  }
}

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

const versions = (version: Version): Told => ({ version: version.version, bodies: bodyOf(version) })

/** What is deleted has no body any more, but was changed all the same. */
const written = ({ type, id, version, body = '' }: Written): Told => ({ id, version, bodies: [{ type, id, body }] })

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
function tellEntry(
  tell: (asked: Asked, told: Told) => void,
  { method, type, id, query }: TransactionEntry,
  result: EntryResult<unknown>,
): void {
  if (method === 'GET' || method === 'HEAD') return
  const change = 'written' in result ? result.written : undefined
  tell({ ...one(deedOfMethod[method], type, id), query: where(type, query) }, change ? written(change) : { bodies: [] })
}
