// The names of organisations, as a patient reads them next to the accesses of their systems.
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Store } from './store.ts'

/**
 * Reads the names of organisations.
 * @param store of the service itself: the name of an organisation is no secret.
 * @returns names by id; an organisation that is not stored, or has no name, is left out.
 */
export const organizationNames =
  (store: Store) =>
  async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const wanted = [...new Set(ids)].filter(id => /^[A-Za-z0-9.-]{1,64}$/.test(id))
    if (wanted.length === 0) return new Map()
    const query = [['_id', wanted.join(',')] as const, ['_count', String(wanted.length)] as const]
    const { matches } = await store.search(store.parse(['Organization'], query, true))
    const named = matches.map(({ body }) => parseJson(body) as JsonObject)
    return new Map(
      named.flatMap(({ id, name }) => (name === undefined ? [] : [[id as string, name as string] as const])),
    )
  }
