// The service's own extensions, derived from the examples of the maps: their contexts and value types.
// https://hl7.org/fhir/R4/defining-extensions.html

import { elementByJsonKey, typeModel } from '../definitions/r4.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { SHAPES } from './resources.ts'

interface Seen {
  readonly contexts: Set<string>
  readonly types: Set<string>
}

/** A StructureDefinition for each extension that stands in these examples. */
export function extensionsIn(examples: readonly unknown[]): JsonObject[] {
  const seen = new Map<string, Seen>()
  collect(examples, undefined, seen)
  return [...seen].map(([url, each]) => extensionResource(url, each))
}

/** Where in a resource the walk stands: the path as definitions have it, and the type there. */
interface Place {
  readonly path: string
  readonly type: string
}

function collect(value: unknown, place: Place | undefined, seen: Map<string, Seen>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, place, seen)
  else if (isObject(value)) {
    const { resourceType } = value
    const here =
      typeof resourceType === 'string' && typeModel(resourceType) ? { path: resourceType, type: resourceType } : place
    for (const [key, child] of Object.entries(value)) {
      if (here && key === 'extension') note(child, here.path, seen)
      collect(child, placeOf(key, here), seen)
    }
  }
}

function placeOf(key: string, around: Place | undefined): Place | undefined {
  const bare = key.replace(/^_/, '')
  const found = around && elementByJsonKey(around.type, bare)
  if (!found) return undefined
  const { element, type } = found
  return { path: `${around.path}.${element.name}${element.choice ? '[x]' : ''}`, type: key === bare ? type : 'Element' }
}

function note(extensions: unknown, path: string, seen: Map<string, Seen>): void {
  for (const each of Array.isArray(extensions) ? extensions : []) {
    if (!isObject(each) || typeof each['url'] !== 'string' || !each['url'].startsWith(`${SHAPES}/`)) continue
    const known = seen.get(each['url']) ?? { contexts: new Set(), types: new Set() }
    seen.set(each['url'], known)
    known.contexts.add(path)
    const key = Object.keys(each).find(name => name.startsWith('value'))
    const found = key === undefined ? undefined : elementByJsonKey('Extension', key)
    if (found) known.types.add(found.type)
  }
}

/** The definition of an extension; without `types` it can have a value of any. */
export function extensionResource(
  url: string,
  { contexts, types }: { readonly contexts: ReadonlySet<string>; readonly types: ReadonlySet<string> | undefined },
): JsonObject {
  const id = url.slice(url.lastIndexOf('/') + 1)
  return {
    resourceType: 'StructureDefinition',
    id,
    url,
    name: nameOf(id),
    status: 'active',
    fhirVersion: '4.0.1',
    kind: 'complex-type',
    abstract: false,
    context: [...contexts].toSorted().map(expression => ({ type: 'element', expression })),
    type: 'Extension',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Extension',
    derivation: 'constraint',
    differential: {
      element: [
        { id: 'Extension', path: 'Extension' },
        { id: 'Extension.url', path: 'Extension.url', fixedUri: url },
        types?.size === 0
          ? { id: 'Extension.value[x]', path: 'Extension.value[x]', max: '0' }
          : {
              id: 'Extension.value[x]',
              path: 'Extension.value[x]',
              min: 1,
              ...(types && { type: [...types].map(code => ({ code })) }),
            },
      ],
    },
  }
}

/** `allergy-severity` as a name that programs can use: `AllergySeverity`. */
export function nameOf(id: string): string {
  return id.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
