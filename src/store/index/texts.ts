// Every text a person could read in a resource, found by the types of its elements: strings and markdown, the narrative,
// and identifiers, which are each one word. Codes, addresses, units, versions, numbers and dates are no text.
import { jsonKey, typeModel } from '../../definitions/r4.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { narrativeText } from './narrative-text.ts'

/** Takes in the texts as they are found. */
export interface TextSink {
  narrative(text: string): void
  content(text: string): void
  identifier(value: string): void
}

/** Hands every text of the resource, those of contained resources included, to the sink. */
export function visitTexts(resource: JsonObject, sink: TextSink): void {
  const type = resource['resourceType']
  if (typeof type === 'string') visitObject(resource, type, sink)
}

/** What stands behind a key of a type: a text of some kind, or an object of a type. */
type Kind = 'string' | 'narrative' | 'identifier' | 'resource' | { readonly type: string }

const known = new Map<string, ReadonlyMap<string, Kind>>()

function kindsOf(type: string): ReadonlyMap<string, Kind> {
  let kinds = known.get(type)
  if (!kinds) known.set(type, (kinds = readKinds(type)))
  return kinds
}

/** Metadata of a resource is not part of its content. */
const leftOut = new Set(['Meta', 'Quantity', 'SimpleQuantity', 'Age', 'Count', 'Distance', 'Duration'])
const technical = new Set(['Coding.version', 'Reference.reference'])

function readKinds(type: string): Map<string, Kind> {
  const kinds = new Map<string, Kind>()
  for (const element of typeModel(type)?.elements.values() ?? [])
    for (const each of element.types) {
      const kind = kindOf(type, element.name, each)
      if (kind) kinds.set(jsonKey(element, each), kind)
    }
  return kinds
}

function kindOf(owner: string, name: string, type: string): Kind | undefined {
  if (leftOut.has(type) || technical.has(`${owner}.${name}`)) return undefined
  if (type === 'xhtml') return 'narrative'
  if (type === 'string' || type === 'markdown') return owner === 'Identifier' ? 'identifier' : 'string'
  if (type === 'Resource') return 'resource'
  const kind = typeModel(type)?.kind
  return kind === undefined || kind === 'primitive' ? undefined : { type }
}

function visitObject(node: JsonObject, type: string, sink: TextSink): void {
  const kinds = kindsOf(type)
  for (const key in node) {
    const kind = kinds.get(key)
    if (kind === undefined) continue
    const value = node[key]
    if (Array.isArray(value)) for (const item of value) visitValue(item, kind, sink)
    else visitValue(value, kind, sink)
  }
}

function visitValue(value: unknown, kind: Kind, sink: TextSink): void {
  if (typeof value === 'string') {
    if (kind === 'string') sink.content(value)
    else if (kind === 'narrative') sink.narrative(narrativeText(value))
    else if (kind === 'identifier') sink.identifier(value)
  } else if (isObject(value)) {
    if (kind === 'resource') visitTexts(value, sink)
    else if (typeof kind === 'object') visitObject(value, kind.type, sink)
  }
}
