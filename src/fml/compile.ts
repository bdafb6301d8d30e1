// Turns a map into a program, and says everything that is wrong with it on the way. https://hl7.org/fhir/R4/mapping-language.html

import type { Types } from '../fhirpath/compile.ts'
import type { Typed } from '../fhirpath/node.ts'
import { typeSystem } from '../fhirpath/types.ts'
import { isObject } from '../lib/json.ts'
import type { FmlMap, Group } from './ast.ts'
import { freshOf } from './compile/create.ts'
import { declaredType, type Given, type GroupCode, groupCode } from './compile/group.ts'
import { checkMade, type Required } from './compile/required.ts'
import { type Build, report } from './compile/scope.ts'
import type { Table } from './compile/table.ts'
import { checkUnit, nameOf, type Unit, unitOf, urlOf } from './compile/unit.ts'
import type { Problem } from './problem.ts'
import { finish } from './run/finish.ts'
import { type Json, newFrame, newRun, type RunOptions } from './run/frame.ts'
import { MapError, type Site } from './run/map-error.ts'
import type { Structures } from './structures.ts'

/** What a map may refer to. */
export interface MapLibrary {
  readonly structures: Structures
  /** The maps of a URL, which may hold `*`. */
  maps(url: string): readonly FmlMap[]
  /** The concept map of a URL. */
  table(url: string): Table | undefined
}

export interface CompileOptions {
  /** Structures that are not known here and targets that stay incomplete are warnings: for maps of others. */
  readonly lenient?: boolean
  /** The map comes with a request: expressions of unbounded cost are refused. */
  readonly untrusted?: boolean
}

export interface Compiled {
  /** In the order of the text; parsing problems are not among them. */
  readonly problems: readonly Problem[]
  /** Absent if one of the problems is an error. */
  readonly program: Program | undefined
  readonly coverage: Coverage
}

/** What the rules read, and what they leave out. */
export interface Coverage {
  /** Elements by type; `*` where the whole value is copied. */
  readonly reads: ReadonlyMap<string, ReadonlySet<string>>
  /** Names of elements that FHIRPath expressions mention. */
  readonly mentions: ReadonlySet<string>
  /** Required elements of what is made that no rule sets. */
  readonly missing: readonly Required[]
}

export interface End {
  readonly name: string
  /** Undefined where any structure may be. */
  readonly type: string | undefined
}

/** A map that can run. */
export interface Program {
  readonly url: string | undefined
  readonly name: string | undefined
  /** The file, or the name or URL. */
  readonly label: string
  readonly sources: readonly End[]
  readonly targets: readonly End[]
  /**
   * What the first group makes of its sources, in their order; the sources are not changed. Throws a MapError where the
   * data cannot be mapped as the map says.
   */
  run(sources: readonly unknown[], options?: RunOptions): Json
}

/** Compiles a map whose text was read without errors. Never throws. */
export function compileMap(map: FmlMap, library: MapLibrary, options: CompileOptions = {}): Compiled {
  const build = newBuild(library, options)
  const unit = unitOf(map, library.structures)
  checkUnit(unit, build)
  const entry = map.groups[0] && entryOf(map.groups[0], unit, build)
  for (const group of map.groups.slice(1)) checkAlone(group, unit, build)
  const missing = checkMade(build)
  const problems = build.problems.toSorted((a, b) => a.span.offset - b.span.offset)
  const isSound = problems.every(each => each.severity === 'warning')
  return {
    problems,
    program: entry && isSound ? programOf(entry, unit, build) : undefined,
    coverage: { reads: build.reads, mentions: build.mentions, missing },
  }
}

function newBuild(library: MapLibrary, { lenient = false, untrusted = false }: CompileOptions): Build {
  const units = new Map<string, readonly Unit[]>()
  const made = new Map<FmlMap, Unit>()
  const unit = (map: FmlMap): Unit => {
    let found = made.get(map)
    if (!found) made.set(map, (found = unitOf(map, library.structures)))
    return found
  }
  return {
    structures: library.structures,
    system: typeSystem(library.structures),
    isLenient: lenient,
    untrusted,
    problems: [],
    seen: new Set(),
    groups: new Map(),
    creations: [],
    reads: new Map(),
    mentions: new Set(),
    unit(url) {
      let found = units.get(url)
      if (!found) units.set(url, (found = library.maps(url).map(unit)))
      return found
    },
    table: url => library.table(url),
  }
}

interface Entry {
  readonly group: Group
  readonly given: readonly Given[]
  readonly code: GroupCode
}

/** The first group, for the types it declares; where it declares none, for those that the map uses. */
function entryOf(group: Group, unit: Unit, build: Build): Entry {
  const given = givenOf(group, unit, build, true)
  const code = groupCode({ unit, group }, given, build)
  for (const [index, each] of given.entries()) {
    if (each.kind !== 'target' || each.type === undefined) continue
    build.creations.push({ type: each.type, made: code.made[index]!, unit, span: group.name.span })
  }
  if (!given.some(each => each.kind !== 'source'))
    report(
      { build, unit },
      group.name.span,
      'the first group needs a target: `group Name(source src : A, target tgt : B)`',
    )
  return { group, given, code }
}

/** Parameters without a type have, in the first group, that of the structures the map uses. */
function givenOf(group: Group, unit: Unit, build: Build, isFirst: boolean): Given[] {
  return group.parameters.map((parameter): Given => {
    const used = isFirst && !parameter.type ? usedType(parameter.mode, unit, build) : undefined
    const declared = used ?? declaredType(parameter, unit, build)
    if (parameter.mode === 'target') {
      return declared !== undefined && build.system.isPrimitive(declared)
        ? { kind: 'place', type: declared, valueSet: undefined }
        : { kind: 'target', type: declared }
    }
    const types: Types = declared === undefined || build.system.isOpen(declared) ? undefined : [declared]
    return { kind: 'source', types }
  })
}

/** The one structure that the map uses in this direction. */
function usedType(mode: 'source' | 'target', unit: Unit, build: Build): string | undefined {
  const used = unit.map.uses.filter(each => each.mode === mode)
  return used.length === 1 ? build.structures.byUrl(used[0]!.url.text) : undefined
}

/** A group that nothing has called is checked for the types it declares. */
function checkAlone(group: Group, unit: Unit, build: Build): void {
  const isCalled = [...build.groups.keys()].some(key => key.startsWith(`${unit.url} ${unit.label} ${group.name.text} `))
  if (!isCalled) groupCode({ unit, group }, givenOf(group, unit, build, false), build)
}

function programOf({ group, given, code }: Entry, unit: Unit, build: Build): Program {
  const ends = group.parameters.map(({ name }, index): End & { kind: Given['kind'] } => {
    const each = given[index]!
    const type = each.kind === 'source' ? each.types?.[0] : each.type
    return { name: name.text, type, kind: each.kind }
  })
  const sources = ends.filter(each => each.kind === 'source')
  const targets = ends.filter(each => each.kind !== 'source')
  const site: Site = { map: unit.label, group: group.name.text, rule: '', span: group.name.span }
  const fresh = targets.map(({ type }) => rootOf(type, build))
  const attempt = (inputs: readonly unknown[], options: RunOptions, isPlaced: boolean): Json => {
    const run = newRun(options)
    const made = fresh.map(make => make())
    const values = inputs.map((input, index) => [rootItem(input, sources[index], isPlaced, build, site)])
    let [source, target] = [0, 0]
    code.run(
      newFrame(run),
      ends.map(({ kind }) => (kind === 'source' ? (values[source++] ?? []) : made[target++])),
    )
    for (const each of made.slice(1)) finish(each)
    return finish(made[0]!, run)
  }
  return {
    url: urlOf(unit.map),
    name: nameOf(unit.map),
    label: unit.label,
    sources: sources.map(({ name, type }) => ({ name, type })),
    targets: targets.map(({ name, type }) => ({ name, type })),
    run(inputs, options = {}) {
      try {
        return attempt(inputs, options, options.trace !== undefined)
      } catch (error) {
        if (error instanceof MapError && error.path === undefined)
          throw placed(error, () => attempt(inputs, options, true))
        throw error
      }
    },
  }
}

/** The same error with its place in the data: places are not kept track of until something goes wrong. */
function placed(error: MapError, again: () => unknown): MapError {
  try {
    again()
  } catch (same) {
    if (same instanceof MapError) return same
  }
  return error
}

/** The root of what is made; a logical model that says so begins with `resourceType` too. */
function rootOf(type: string | undefined, { system }: Build): () => Json {
  if (type === undefined) return () => ({})
  return system.model.typeModel(type)?.kind === 'resource' ? () => ({ resourceType: type }) : freshOf(system, type)
}

function rootItem(input: unknown, end: End | undefined, isPlaced: boolean, { system }: Build, site: Site): Typed {
  const name = end?.name ?? 'source'
  if (!isObject(input)) throw new MapError(`the source \`${name}\` must be a JSON object`, site, undefined)
  const own = typeof input.resourceType === 'string' ? input.resourceType : undefined
  const known = own !== undefined && system.model.typeModel(own) ? own : undefined
  const type = end?.type
  if (type !== undefined && own !== undefined && !isFor(type, own, known, system.isSubtype))
    throw new MapError(`the source \`${name}\` must be a ${type}, not a ${own.slice(0, 64)}`, site, undefined)
  const actual = type ?? known ?? ''
  return { value: input, type: actual, path: isPlaced ? actual || name : undefined, sibling: undefined }
}

function isFor(
  type: string,
  own: string,
  known: string | undefined,
  isSubtype: (a: string, b: string) => boolean,
): boolean {
  return own === type || (known !== undefined && isSubtype(known, type))
}
