// Marks what an agent writes with its source, so that each resource leads back to the item that it came in.
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Acting } from '../store/unit-of-work.ts'

/** Returns the address of an item, as `meta.source` has it. */
export const sourceOf = (agent: string, item: string): string =>
  `urn:health-interop:bridge:${encodeURIComponent(agent)}#${encodeURIComponent(item)}`

/** True if the current version of a resource came in an item of the agent. */
export const cameFrom = (resource: JsonObject, agent: string): boolean => itemIn(resource, agent) !== undefined

/** Returns the id of the item of the agent in which the current version of a resource came. */
export function itemIn(resource: JsonObject, agent: string): string | undefined {
  const source = String(metaOf(resource)['source'] ?? '')
  const start = sourceOf(agent, '')
  // Clients may write any source.
  return source.startsWith(start) ? decoded(source.slice(start.length)) : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Returns the resource with its source. */
export const marked = (resource: unknown, source: string): unknown =>
  isObject(resource) ? { ...resource, meta: { ...metaOf(resource), source } } : resource

/** Returns the same parts, whose stores mark what the author writes. */
export function sourced<Parts extends Acting>(parts: Parts, author: string | undefined, source: string): Parts {
  return {
    ...parts,
    storeFor(principal) {
      const store = parts.storeFor(principal)
      if (principal.author !== author) return store
      return {
        ...store,
        create: (type, resource, condition) => store.create(type, marked(resource, source), condition),
        update: (type, id, resource, conditions) => store.update(type, id, marked(resource, source), conditions),
        transaction: (entries, read) =>
          store.transaction(
            entries.map(each => ({ ...each, resource: marked(each.resource, source) })),
            read,
          ),
      }
    },
  }
}

const metaOf = ({ meta }: JsonObject): JsonObject => (isObject(meta) ? meta : {})
