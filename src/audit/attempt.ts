// What a request was about when nothing of it reached the store: read from its method and address.
import { isResourceType } from '../definitions/r4.ts'
import { type Access, type Deed, deedOfMethod } from '../store/access.ts'
import { isId } from '../store/ids.ts'

const deeds: Readonly<Record<string, Deed | undefined>> = deedOfMethod

/**
 * The attempt at an access.
 * @param path of the address, as sent, below the base of the surface.
 */
export function attemptOf(method: string, path: string, query: string, failure: unknown): Access {
  const [type = '', id = '', ...more] = path.split('/').filter(Boolean)
  const isResource = isResourceType(type) && more.length === 0 && !/^[_$]/.test(id)
  return {
    deed: isResource ? deedOf(method, id) : path === '' && method !== 'POST' ? 'search-system' : 'operation',
    type: isResourceType(type) ? type : undefined,
    id: isResource && id !== '' ? id : undefined,
    query: `${path}${query === '' ? '' : `?${query}`}`,
    patients: isResource && type === 'Patient' && isId(id) ? [id] : [],
    resources: 0,
    failure,
  }
}

const deedOf = (method: string, id: string): Deed => deeds[method] ?? (id === '' ? 'search-type' : 'read')
