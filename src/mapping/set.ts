// All maps of a folder as one set: read, checked against each other and compiled.

import type { TObject } from 'typebox'
import { forgetShared, newShared, type Shared } from '../fml/compile/shared.ts'
import type { MapLibrary } from '../fml/compile.ts'
import { type Problem, shown } from '../fml/problem.ts'
import { type Structures, unversioned } from '../fml/structures.ts'
import type { Matching } from '../mpi/matching/weights.ts'
import type { ConsentTypes } from '../shapes/consent-types.ts'
import { consentsIn } from './consents.ts'
import { isMap, mapName, type SourceFile } from './files.ts'
import { encodingProblems, problemIn } from './json-file.ts'
import { type MapText, mapText } from './map-text.ts'
import { matching } from './map-urls.ts'
import { type Mapping, mappingFrom, readOnly } from './mapping.ts'
import { type MessageRoute, routesIn } from './message-routes.ts'
import { type Need, unmet } from './needs.ts'
import { type OutgoingRoute, outgoingIn } from './outgoing-routes.ts'
import { type Resources, resourcesIn } from './resources.ts'
import { basisOf, checkMap, type FindMaps, holds, keyOf, type MapVerdict, type Verdicts } from './verdict.ts'
import { weightsIn } from './weights.ts'

export interface MappingSet {
  /** By name. */
  readonly mappings: ReadonlyMap<string, Mapping>
  readonly structures: Structures
  /** What maps of this set can refer to. */
  readonly library: MapLibrary
  /** The weights for matching patients; absent if the folder has none. */
  readonly matching: Matching | undefined
  /** What patients can consent to; absent if the folder has none. */
  readonly consents: ConsentTypes | undefined
  /** The messages of HL7 v2 that are accepted, with their maps. */
  readonly messages: readonly MessageRoute[]
  /** The resources that become messages of HL7 v2, by type. */
  readonly outgoing: ReadonlyMap<string, OutgoingRoute>
  /** All problems, warnings too, in order of file and place. */
  readonly problems: readonly Problem[]
  /** The resources next to the maps, and the files that they were made from, for the next set. */
  readonly beside: Beside
}

interface Beside {
  readonly files: readonly SourceFile[]
  readonly resources: Resources
}

export interface SetOptions {
  /** The records that maps can use in addition to R4. */
  readonly shapes: readonly TObject[]
  readonly needs?: readonly Need[]
  /** True if there must be weights to match people by. */
  readonly needsMatching?: boolean
  /** True if there must be types of consent. */
  readonly needsConsents?: boolean
  /**
   * Paths of clients' maps: they may name structures that are not known here, leave required elements to their caller, and replace
   * a map that has the same URL.
   */
  readonly others?: ReadonlySet<string>
  /** Paths of the maps to be compiled; absent: all. The others are read, since these may import them. */
  readonly compiled?: ReadonlySet<string>
  /** A set made before from the same options: what has not changed since is neither read nor compiled again. */
  readonly before?: MappingSet
  /** What was said of maps before, perhaps by another process; such maps are read and compiled when something needs it. */
  readonly verdicts?: Verdicts
}

/** True if a set can be used: it has warnings at most. */
export function isSound({ problems }: MappingSet): boolean {
  return problems.every(isWarning)
}

export function isWarning({ severity }: Problem): boolean {
  return severity === 'warning'
}

/** Returns the set of these files. Never throws; its problems are part of it. */
export function mappingSet(files: readonly SourceFile[], options: SetOptions): MappingSet {
  const steps = buildSet(files, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same in steps, two for each map, so that a server can answer requests between them. */
export function* buildSet(files: readonly SourceFile[], options: SetOptions): Generator<void, MappingSet> {
  const beside = besideMaps(files, options)
  const { structures, tables, terminology, problems } = beside.resources
  const weights = weightsIn(files, options.needsMatching ?? false)
  const { consents, problems: faults } = consentsIn(files, options.needsConsents ?? false)
  const found = [...files.flatMap(encodingProblems), ...problems, ...weights.problems, ...faults]
  const basis = options.verdicts && basisOf(beside.files, options.shapes)
  const read: Read[] = []
  for (const source of files.filter(({ name }) => isMap(name))) {
    read.push(readOf(source, options, basis))
    yield
  }
  const find = findIn(read, options.others, found)
  const library: MapLibrary = {
    structures,
    maps: url => find(url).map(({ parsed }) => parsed.map),
    table: tableIn(tables),
    terminology,
  }
  const mappings = new Map<string, Mapping>()
  const checking: Checking = { library, find, shared: newShared(structures), fresh: new Map(), options }
  for (const each of read) {
    const isAsked = options.compiled?.has(each.text.source.path) ?? true
    const made = () => (isAsked ? mappingOf(each, checking) : readOnly(each.text))
    const mapping = mappingBefore(each.text, options.before, beside, find) ?? made()
    found.push(...mapping.problems)
    mappings.set(mapping.name, mapping)
    yield
  }
  forgetShared(checking.shared)
  options.verdicts?.keep(checking.fresh)
  found.push(...unmet(options.needs ?? [], mappings))
  const { routes, problems: unrouted } = routesIn(files, mappings)
  const { routes: outgoing, problems: unsendable } = outgoingIn(files, mappings)
  found.push(...unrouted, ...unsendable)
  const made = { mappings, structures, library, matching: weights.matching, consents, messages: routes, outgoing }
  return { ...made, problems: inOrder(found), beside }
}

/** Returns the resources next to the maps; those of the set before if none of their files has changed. */
function besideMaps(files: readonly SourceFile[], { before, shapes }: SetOptions): Beside {
  const others = files.filter(({ name }) => !isMap(name))
  const known = before?.beside
  const isSame =
    known?.files.length === others.length &&
    known.files.every(({ path, text }, index) => path === others[index]!.path && text === others[index]!.text)
  return known && isSame ? known : { files: others, resources: resourcesIn(files, shapes) }
}

/**
 * Returns the mapping of the set before, if nothing that it was compiled from has changed: the map, the resources next to it, and
 * other maps.
 */
function mappingBefore(
  text: MapText,
  before: MappingSet | undefined,
  beside: Beside,
  find: FindMaps,
): Mapping | undefined {
  const known = before?.mappings.get(mapName(text.source.name))
  if (before?.beside !== beside || known?.text !== text) return undefined
  const isSame = ([url, found]: [string, readonly MapText[]]): boolean => {
    const now = find(url)
    return now.length === found.length && now.every((map, index) => map === found[index])
  }
  return [...known.others].every(isSame) ? known : undefined
}

interface Read {
  readonly text: MapText
  /** Where verdicts are kept: the key of this map. */
  readonly key: string | undefined
  readonly verdict: MapVerdict | undefined
}

function readOf(source: SourceFile, { before, others, verdicts }: SetOptions, basis: string | undefined): Read {
  const { name, path, text } = source
  const known = before?.mappings.get(mapName(name))
  const key = basis === undefined ? undefined : keyOf(source, basis, others?.has(path) ?? false)
  const verdict = key === undefined ? undefined : verdicts!.find(key)
  const isSame = known?.source.path === path && known.source.text === text
  return { text: isSame ? known.text : mapText(source, verdict), key, verdict }
}

/** What checking the maps of a set needs. */
interface Checking {
  readonly library: MapLibrary
  readonly find: FindMaps
  readonly shared: Shared
  /** What is said for the first time, by its key. */
  readonly fresh: Map<string, MapVerdict>
  readonly options: SetOptions
}

/** By what was said of it before, if that holds; otherwise the map is checked. */
function mappingOf({ text, key, verdict }: Read, { library, find, shared, fresh, options }: Checking): Mapping {
  const lenient = options.others?.has(text.source.path) ?? false
  const context = { library, find, lenient }
  if (verdict && holds(verdict, find)) return mappingFrom(text, { verdict, program: undefined }, context)
  const checked = checkMap(text, context, shared)
  if (key !== undefined) fresh.set(key, checked.verdict)
  return mappingFrom(text, checked, context)
}

/** Finds maps by their URL, in which `*` stands for anything. */
function findIn(read: readonly Read[], others: SetOptions['others'], found: Problem[]): FindMaps {
  const byUrl = new Map<string, MapText>()
  for (const { text } of read) {
    const { url, source } = text
    if (url === undefined) continue
    const other = byUrl.get(url)
    if (other && !others?.has(source.path))
      found.push(problemIn(source, `${other.source.path} has the URL ${shown(url)} too`))
    else byUrl.set(url, text)
  }
  return url => matching(byUrl, url)
}

/** A function of its own, so that maps that are kept for the next set keep nothing else of this one. */
function tableIn(tables: Resources['tables']): MapLibrary['table'] {
  return url => tables.get(unversioned(url))
}

/** Sorts problems by file and place; one that several maps report about the same import is kept once. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const known = new Map(problems.map(each => [`${each.file} ${each.span.offset} ${each.message}`, each]))
  const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return [...known.values()].toSorted((a, b) => compared(a.file ?? '', b.file ?? '') || a.span.offset - b.span.offset)
}
