// The service's own definitions as FHIR resources: its maps, the records that they use, and their extensions and codes. All are
// derived from the files of the maps, so they always match what is served. https://hl7.org/fhir/R4/conformance-module.html

import type { TObject } from 'typebox'
import { modelFromSchema } from '../fml/logical-schema.ts'
import { toStructureMap } from '../fml/structure-map.ts'
import { messageModels } from '../hl7v2/models.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { isExamples } from './examples.ts'
import type { SourceFile } from './files.ts'
import { extensionResource, extensionsIn, nameOf } from './own-extensions.ts'
import { modelResources } from './own-models.ts'
import { OWN, SHAPES } from './resources.ts'
import type { MappingSet } from './set.ts'

/** A resource that is served read-only. */
export interface OwnResource {
  readonly type: string
  readonly id: string
  readonly url: string
  readonly resource: JsonObject
  /** The same in JSON. */
  readonly body: string
}

const known = new WeakMap<MappingSet, readonly OwnResource[]>()

/** The resources of a set of maps and its files, in order of type and id; made once for each set. */
export function ownResources(
  set: MappingSet,
  files: readonly SourceFile[],
  shapes: readonly TObject[],
): readonly OwnResource[] {
  let found = known.get(set)
  if (!found) known.set(set, (found = made(set, files, shapes)))
  return found
}

function made({ mappings }: MappingSet, files: readonly SourceFile[], shapes: readonly TObject[]): OwnResource[] {
  const json = files.filter(({ name }) => name.endsWith('.json'))
  const maps = [...mappings.values()].map(({ name, parsed }) => ({
    ...toStructureMap(parsed.map).resource,
    id: idOf(name),
  }))
  const examples = json.filter(isExamples).map(({ text }) => parseJson(text))
  const resources: unknown[] = [
    ...json.filter(each => !isExamples(each)).map(named),
    ...maps,
    ...shapes.flatMap(shape => modelResources(modelFromSchema(shape, SHAPES))),
    ...messageResources(mappings),
    ...extensionsIn(examples),
    ...extensionsNamed(mappings),
    ...codeSystems(codesBySystem(mappings)),
  ]
  const byUrl = new Map<string, OwnResource>()
  for (const each of resources) {
    const own = ownOf(each)
    if (own && !byUrl.has(own.url)) byUrl.set(own.url, own)
  }
  return [...byUrl.values()].toSorted((a, b) => (`${a.type}/${a.id}` < `${b.type}/${b.id}` ? -1 : 1))
}

/** The models of HL7 v2 that maps use: messages, and the segments and data types in them. */
function messageResources(mappings: MappingSet['mappings']): JsonObject[] {
  const models = new Map(messageModels().map(model => [model.type, model]))
  const used = new Set([...mappings.values()].flatMap(({ parsed }) => parsed.map.uses.map(({ url }) => url.text)))
  const types = new Set([...models.values()].filter(({ url }) => used.has(url)).map(({ type }) => type))
  for (const type of types)
    for (const { elements } of models.get(type)?.types ?? [])
      for (const { types: inner } of elements.values()) for (const each of inner) types.add(each)
  return [...types].flatMap(type => {
    const model = models.get(type)
    return model ? modelResources(model, each => models.get(each)?.url) : []
  })
}

/** Extensions that maps name and no example shows: they may stand anywhere, with any value. */
function extensionsNamed(mappings: MappingSet['mappings']): JsonObject[] {
  const urls = new Set<string>()
  for (const { parsed } of mappings.values()) {
    for (const { value } of parsed.map.constants) {
      const text = value.expression.kind === 'literal' ? value.expression.text : ''
      if (text.startsWith(`${SHAPES}/`) && /^[a-z]/.test(tail(text))) urls.add(text)
    }
  }
  return [...urls].map(url => extensionResource(url, { contexts: new Set(['Element']), types: undefined }))
}

function codesBySystem(mappings: MappingSet['mappings']): Map<string, Set<string>> {
  const systems = new Map<string, Set<string>>()
  for (const { parsed } of mappings.values()) {
    for (const { prefixes, mappings: lines } of parsed.map.conceptMaps) {
      const urls = new Map(prefixes.map(({ name, url }) => [name.text, url.text]))
      for (const { source, target } of lines) {
        for (const each of target ? [source, target] : [source]) {
          const url = urls.get(each.prefix.text)
          if (url?.startsWith(`${OWN}/CodeSystem/`))
            systems.set(url, (systems.get(url) ?? new Set()).add(each.code.text))
        }
      }
    }
  }
  return systems
}

/** Returns the service's own codes that tables name; there may be others, so each system is marked as a fragment. */
function codeSystems(systems: ReadonlyMap<string, ReadonlySet<string>>): JsonObject[] {
  return [...systems].map(([url, codes]) => ({
    resourceType: 'CodeSystem',
    id: tail(url),
    url,
    name: nameOf(tail(url)),
    status: 'active',
    content: 'fragment',
    concept: [...codes].map(code => ({ code })),
  }))
}

/** A file of the folder, which has an id by its name if it has none itself. */
function named({ name, text }: SourceFile): unknown {
  const value = parseJson(text)
  return isObject(value) ? { ...value, id: value['id'] ?? idOf(name.replace(/\.json$/, '')) } : value
}

function ownOf(resource: unknown): OwnResource | undefined {
  if (!isObject(resource)) return undefined
  const { resourceType, id, url } = resource
  if (typeof resourceType !== 'string' || typeof id !== 'string' || typeof url !== 'string') return undefined
  return { type: resourceType, id, url, resource, body: JSON.stringify(resource) }
}

function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 64)
}

function tail(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
