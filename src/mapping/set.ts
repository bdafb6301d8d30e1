// All maps of a folder as one set: read, checked against each other and compiled.

import type { TObject } from 'typebox'
import type { FmlMap } from '../fml/ast.ts'
import { resting } from '../fml/compile/resting.ts'
import { forgetShared, newShared, type Shared } from '../fml/compile/shared.ts'
import { urlOf } from '../fml/compile/unit.ts'
import { compileMap, type MapLibrary } from '../fml/compile.ts'
import { type Parsed, parse } from '../fml/parser.ts'
import { errorsIn, type Problem, shown } from '../fml/problem.ts'
import { type Structures, unversioned } from '../fml/structures.ts'
import type { Matching } from '../mpi/matching/weights.ts'
import type { ConsentTypes } from '../shapes/consent-types.ts'
import { consentsIn } from './consents.ts'
import { isMap, mapName, type SourceFile } from './files.ts'
import { problemIn } from './json-file.ts'
import { matching } from './map-urls.ts'
import type { Mapping } from './mapping.ts'
import { type MessageRoute, routesIn } from './message-routes.ts'
import { type Need, unmet } from './needs.ts'
import { type OutgoingRoute, outgoingIn } from './outgoing-routes.ts'
import { type Resources, resourcesIn } from './resources.ts'
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
  const found = [...problems, ...weights.problems, ...faults]
  const read: Read[] = []
  for (const source of files.filter(({ name }) => isMap(name))) {
    read.push({ source, parsed: parsedBefore(source, options.before) ?? parse(source.text, source.path) })
    yield
  }
  const library: MapLibrary = {
    structures,
    maps: mapsOf(read, options.others, found),
    table: url => tables.get(unversioned(url)),
    terminology,
  }
  const mappings = new Map<string, Mapping>()
  const shared = newShared(structures)
  for (const each of read) {
    const isAsked = options.compiled?.has(each.source.path) ?? true
    const compiled = () => (isAsked ? mappingOf(each, library, options, shared) : readOnly(each))
    const mapping = mappingBefore(each, options.before, beside, library) ?? compiled()
    found.push(...mapping.problems)
    mappings.set(mapping.name, mapping)
    yield
  }
  forgetShared(shared)
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
  { source, parsed }: Read,
  before: MappingSet | undefined,
  beside: Beside,
  { maps }: MapLibrary,
): Mapping | undefined {
  const known = before?.mappings.get(mapName(source.name))
  if (before?.beside !== beside || known?.parsed !== parsed) return undefined
  const isSame = ([url, found]: [string, readonly FmlMap[]]): boolean => {
    const now = maps(url)
    return now.length === found.length && now.every((map, index) => map === found[index])
  }
  return [...known.others].every(isSame) ? known : undefined
}

interface Read {
  readonly source: SourceFile
  readonly parsed: Parsed
}

function parsedBefore({ name, path, text }: SourceFile, before: MappingSet | undefined): Parsed | undefined {
  const known = before?.mappings.get(mapName(name))
  return known?.source.path === path && known.source.text === text ? known.parsed : undefined
}

/** If part of a map could not be read, the rest is still checked, except for what seems to be missing. */
function mappingOf(each: Read, library: MapLibrary, options: SetOptions, shared: Shared): Mapping {
  const { source, parsed } = each
  const unread = errorsIn(parsed.problems)
  const lenient = options.others?.has(source.path) ?? false
  const others = new Map<string, readonly FmlMap[]>()
  const maps: MapLibrary['maps'] = url => {
    const found = library.maps(url)
    others.set(url, found)
    return found
  }
  const { program, coverage, problems } = compileMap(parsed.map, { ...library, maps }, { lenient, unread, shared })
  const again: MapLibrary = { ...library, maps: url => others.get(url) ?? [] }
  const result =
    unread.length > 0
      ? {}
      : { program: program && resting(program, () => compileMap(parsed.map, again, { lenient }).program!), coverage }
  return { ...readOnly(each), ...result, problems: [...parsed.problems, ...problems], others }
}

function readOnly({ source, parsed }: Read): Mapping {
  const { problems } = parsed
  const none = { program: undefined, coverage: undefined, others: new Map() }
  return { name: mapName(source.name), source, parsed, problems, ...none }
}

/** Finds maps by their URL, in which `*` stands for anything. */
function mapsOf(read: readonly Read[], others: SetOptions['others'], found: Problem[]): MapLibrary['maps'] {
  const byUrl = new Map<string, FmlMap>()
  for (const { source, parsed } of read) {
    const url = urlOf(parsed.map)
    if (url === undefined) continue
    const other = byUrl.get(url)
    if (other && !others?.has(source.path)) found.push(problemIn(source, `${other.file} has the URL ${shown(url)} too`))
    else byUrl.set(url, parsed.map)
  }
  return url => matching(byUrl, url)
}

/** Sorts problems by file and place; one that several maps report about the same import is kept once. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const known = new Map(problems.map(each => [`${each.file} ${each.span.offset} ${each.message}`, each]))
  const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return [...known.values()].toSorted((a, b) => compared(a.file ?? '', b.file ?? '') || a.span.offset - b.span.offset)
}
