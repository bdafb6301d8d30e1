// Everything a map draws upon, wherever it is kept: sent along, stored, or among the maps of the service.

import { Failure } from '../../lib/failure.ts'
import type { SourceFile } from '../../mapping/files.ts'
import { matching } from '../../mapping/map-urls.ts'
import type { References } from '../../mapping/references.ts'
import type { MapService } from '../../mapping/service.ts'
import type { Store } from '../../store/store.ts'
import { membersOf } from '../../store/terminology/expand.ts'
import { canonicalParts, type Library, type LibraryType } from '../../store/terminology/library.ts'
import type { TransformRequest } from './inputs.ts'

/** More resources than this are not drawn upon by one map. */
const MOST = 200

/** What the map refers to, directly or not, as files. */
export async function gathered(
  map: SourceFile,
  asked: TransformRequest,
  store: Store,
  service: MapService,
): Promise<SourceFile[]> {
  const library = store.library()
  const found = new Map<string, SourceFile>()
  const sent = await byUrl(
    asked.supporting.map((text, index) => fileOf(`supportingMap-${index + 1}`, text)),
    service,
  )
  for (const [index, text] of asked.models.entries()) found.set(`model ${index}`, fileOf(`model-${index + 1}`, text))
  const queue = [map]
  const add = (key: string, file: SourceFile, isMap: boolean): void => {
    if (found.has(key) || found.size >= MOST) return
    found.set(key, file)
    if (isMap) queue.push(file)
  }
  for (const each of queue) {
    const [study] = await service.study([each])
    const { maps, structures, tables, valueSets } = study!.references
    for (const url of maps)
      for (const file of await mapsAt(url, sent, store, service)) add(`map ${file.path}`, file, true)
    for (const url of unknown(structures, service)) await addStored('StructureDefinition', url, library, add)
    for (const url of tables) await addStored('ConceptMap', url, library, add)
    for (const url of valueSets) await addValueSet(url, library, add)
  }
  return [...found.values(), ...service.resources()]
}

type Add = (key: string, file: SourceFile, isMap: boolean) => void

async function addStored(type: LibraryType, url: string, library: Library, add: Add): Promise<void> {
  const resource = await library.find(type, url)
  if (resource) add(`${type} ${url}`, fileOf(`${type}.json`, JSON.stringify(resource)), false)
}

/** A value set with its codes, where the stored terminology can list them; otherwise as far as it defines itself. */
async function addValueSet(canonical: string, library: Library, add: Add): Promise<void> {
  const resource = await library.find('ValueSet', canonical)
  if (!resource) return
  const { url } = canonicalParts(canonical)
  const members = await membersOf(library, resource).catch(error => {
    if (error instanceof Failure) return undefined
    throw error
  })
  const contains = members && [...members.values()].map(({ system, code }) => ({ system, code }))
  const whole = contains ? { resourceType: 'ValueSet', url, expansion: { contains } } : { ...resource, url }
  add(`ValueSet ${url}`, fileOf('ValueSet.json', JSON.stringify(whole)), false)
}

function unknown(urls: References['structures'], service: MapService): string[] {
  return [...urls].filter(url => !service.knows(url))
}

/** The maps of a URL: those that were sent come first, then those that are stored, then those of the service. */
async function mapsAt(
  url: string,
  sent: ReadonlyMap<string, SourceFile>,
  store: Store,
  service: MapService,
): Promise<SourceFile[]> {
  const given = matching(sent, url)
  if (given.length > 0) return given
  const stored = url.includes('*') ? await storedMaps(url, store, service) : await storedMap(url, store)
  return stored.length > 0 ? stored : service.files(url)
}

async function storedMap(url: string, store: Store): Promise<SourceFile[]> {
  const resource = await store.library().find('StructureMap', url)
  return resource ? [fileOf(url, JSON.stringify(resource))] : []
}

/** Those that fit a URL with `*`, found by the part of the path before it. */
async function storedMaps(url: string, store: Store, service: MapService): Promise<SourceFile[]> {
  if (!store.may('StructureMap', 's')) return []
  const path = url.slice(0, url.indexOf('*')).replace(/\/[^/]*$/, '')
  const found = await store.library().below('StructureMap', path, MOST)
  const files = found.map(each => fileOf(`StructureMap/${each['id']}`, JSON.stringify(each)))
  return matching(await byUrl(files, service), url)
}

/** Maps by the URLs that they give themselves. */
async function byUrl(files: readonly SourceFile[], service: MapService): Promise<Map<string, SourceFile>> {
  if (files.length === 0) return new Map()
  const studies = await service.study(files)
  return new Map(files.map((file, index) => [studies[index]!.url ?? '', file]))
}

/** A text as a file of this name. */
export function fileOf(name: string, text: string): SourceFile {
  return { path: name, name: text.trimStart().startsWith('{') ? `${name}.json` : name, text }
}
