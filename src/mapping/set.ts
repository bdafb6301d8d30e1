// All maps of a folder as one whole: read, checked against each other and compiled.

import type { TObject } from 'typebox'
import type { FmlMap } from '../fml/ast.ts'
import { urlOf } from '../fml/compile/unit.ts'
import { compileMap, type MapLibrary } from '../fml/compile.ts'
import { type Parsed, parse } from '../fml/parser.ts'
import { errorsIn, type Problem, shown } from '../fml/problem.ts'
import { type Structures, unversioned } from '../fml/structures.ts'
import type { Matching } from '../matching/weights.ts'
import type { ConsentTypes } from '../shapes/consent-types.ts'
import { consentsIn } from './consents.ts'
import { isMap, mapName, type SourceFile } from './files.ts'
import { problemIn } from './json-file.ts'
import { matching } from './map-urls.ts'
import type { Mapping } from './mapping.ts'
import { type Need, unmet } from './needs.ts'
import { resourcesIn } from './resources.ts'
import { weightsIn } from './weights.ts'

export interface MappingSet {
  /** By name. */
  readonly mappings: ReadonlyMap<string, Mapping>
  readonly structures: Structures
  /** What people are matched by; absent if the folder has none. */
  readonly matching: Matching | undefined
  /** What patients can consent to; absent if the folder does not say. */
  readonly consents: ConsentTypes | undefined
  /** Everything that is wrong, warnings too, in order of file and place. */
  readonly problems: readonly Problem[]
}

export interface SetOptions {
  /** The records that maps can speak of beside R4. */
  readonly shapes: readonly TObject[]
  readonly needs?: readonly Need[]
  /** True if there must be weights to match people by. */
  readonly needsMatching?: boolean
  /** True if there must be types of consent. */
  readonly needsConsents?: boolean
  /**
   * Paths of maps of others: they may name structures that are not known here, leave what is required to whoever uses them,
   * and stand for a map that has the same URL.
   */
  readonly others?: ReadonlySet<string>
  /** A set made before: what has not changed since is not read again. */
  readonly before?: MappingSet
}

/** True if a set can be used: it has warnings at most. */
export function isSound({ problems }: MappingSet): boolean {
  return problems.every(isWarning)
}

export function isWarning({ severity }: Problem): boolean {
  return severity === 'warning'
}

/** The set that these files make. Never throws; what is wrong is in its problems. */
export function mappingSet(files: readonly SourceFile[], options: SetOptions): MappingSet {
  const steps = buildSet(files, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same in steps, two for each map, so that a server can answer requests between them. */
export function* buildSet(files: readonly SourceFile[], options: SetOptions): Generator<void, MappingSet> {
  const { structures, tables, terminology, problems } = resourcesIn(files, options.shapes)
  const weights = weightsIn(files, options.needsMatching ?? false)
  const { consents, problems: faults } = consentsIn(files, options.needsConsents ?? false)
  const found = [...problems, ...weights.problems, ...faults]
  const read: Read[] = []
  for (const source of files.filter(({ name }) => isMap(name))) {
    read.push({ source, parsed: parsedBefore(source, options.before) ?? parse(source.text, source.path) })
    yield
  }
  found.push(...read.flatMap(({ parsed }) => parsed.problems))
  const library: MapLibrary = {
    structures,
    maps: mapsOf(read, options.others, found),
    table: url => tables.get(unversioned(url)),
    terminology,
  }
  const mappings = new Map<string, Mapping>()
  for (const each of read) {
    const mapping = mappingOf(each, library, options.others?.has(each.source.path) ?? false, found)
    mappings.set(mapping.name, mapping)
    yield
  }
  found.push(...unmet(options.needs ?? [], mappings))
  return { mappings, structures, matching: weights.matching, consents, problems: inOrder(found) }
}

interface Read {
  readonly source: SourceFile
  readonly parsed: Parsed
}

function parsedBefore({ name, path, text }: SourceFile, before: MappingSet | undefined): Parsed | undefined {
  const known = before?.mappings.get(mapName(name))
  return known?.source.path === path && known.source.text === text ? known.parsed : undefined
}

/** Of a map of which something could not be read, the rest is checked all the same, but for what seems to be missing. */
function mappingOf({ source, parsed }: Read, library: MapLibrary, lenient: boolean, found: Problem[]): Mapping {
  const name = mapName(source.name)
  const unread = errorsIn(parsed.problems)
  const { program, coverage, problems } = compileMap(parsed.map, library, { lenient, unread })
  found.push(...problems)
  if (unread.length > 0)
    return {
      name,
      source,
      parsed,
      program: undefined,
      problems: [...parsed.problems, ...problems],
      coverage: undefined,
    }
  return { name, source, parsed, program, problems, coverage }
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

/** By file and place; what several maps say of one that they import is said once. */
function inOrder(problems: readonly Problem[]): Problem[] {
  const known = new Map(problems.map(each => [`${each.file} ${each.span.offset} ${each.message}`, each]))
  const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return [...known.values()].toSorted((a, b) => compared(a.file ?? '', b.file ?? '') || a.span.offset - b.span.offset)
}
