// Parts of a resource: _summary and _elements (https://hl7.org/fhir/R4/search.html#summary). Only here is a stored body parsed to be read.
import { typeModel } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import type { Summary } from '../store/search/request.ts'
import { subsetted } from '../store/subsetted.ts'

/** What to keep of each resource; undefined: everything. */
export type Projection =
  | { readonly summary: Exclude<Summary, 'false' | 'count'> }
  | { readonly elements: readonly string[] }
  | undefined

export function projectionOf(summary: Summary, elements: readonly string[]): Projection {
  if (summary !== 'false' && summary !== 'count') return { summary }
  return elements.length > 0 ? { elements } : undefined
}

/** Reads the projection of a read request. @throws Failure MALFORMED_REQUEST for a wrong _summary. */
export function projectionFrom(search: URLSearchParams): Projection {
  const summary = search.get('_summary') ?? 'false'
  if (!['true', 'text', 'data', 'false'].includes(summary))
    throw new Failure('MALFORMED_REQUEST', '_summary must be one of true, text, data, false.')
  return projectionOf(
    summary as Summary,
    search
      .get('_elements')
      ?.split(',')
      .map(name => name.trim())
      .filter(Boolean) ?? [],
  )
}

/** The stored JSON cut down to the projection and tagged as SUBSETTED. */
export function project(body: string, projection: Projection): string {
  if (!projection) return body
  const resource = parseJson(body) as JsonObject
  const type = String(resource['resourceType'])
  const keep = keeper(type, projection)
  const result: JsonObject = {}
  for (const [key, value] of Object.entries(resource)) if (keep(key.replace(/^_/, ''))) result[key] = value
  const meta = isObject(result['meta']) ? result['meta'] : {}
  const tags = Array.isArray(meta['tag']) ? meta['tag'] : []
  return JSON.stringify({ ...result, meta: { ...meta, tag: [...tags, subsetted] } })
}

function keeper(type: string, projection: NonNullable<Projection>): (key: string) => boolean {
  const elements = typeModel(type)?.elements ?? new Map()
  const elementOf = (key: string) =>
    elements.get(key) ?? [...elements.values()].find(element => element.choice && key.startsWith(element.name))
  const always = new Set(['resourceType', 'id', 'meta'])
  const mandatory = (key: string): boolean => always.has(key) || (elementOf(key)?.min ?? 0) > 0
  if ('elements' in projection) {
    const wanted = new Set(projection.elements.map(name => name.split('.').at(name.startsWith(`${type}.`) ? 1 : 0)))
    return key => mandatory(key) || wanted.has(key) || wanted.has(elementOf(key)?.name ?? '')
  }
  if (projection.summary === 'data') return key => key !== 'text'
  if (projection.summary === 'text') return key => key === 'text' || mandatory(key)
  return key => always.has(key) || elementOf(key)?.summary === true
}
