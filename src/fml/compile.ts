// Compiles a map to a program, and reports every problem that it finds. https://hl7.org/fhir/R4/mapping-language.html

import type { Types } from '../fhirpath/compile.ts'
import type { FmlMap, Group } from './ast.ts'
import { compilePending } from './compile/body.ts'
import { constantsOf } from './compile/constants.ts'
import { checkDefaults } from './compile/default-groups.ts'
import { declaredType, groupCode } from './compile/group.ts'
import { type Program, programOf } from './compile/program.ts'
import { checkMade, type Required } from './compile/required.ts'
import { MOST_RULES } from './compile/rule.ts'
import { type Build, type Given, type GroupCode, isFull, report, type Unit } from './compile/scope.ts'
import { forget, newShared, type Shared, share } from './compile/shared.ts'
import type { Table } from './compile/table.ts'
import { checkLookups } from './compile/translate.ts'
import { checkUnit, unitOf } from './compile/unit.ts'
import type { Problem } from './problem.ts'
import type { Sight } from './sight.ts'
import type { Structures } from './structures.ts'
import type { Terminology } from './value-set.ts'

export type { Program } from './compile/program.ts'

/** What a map may refer to. */
export interface MapLibrary {
  readonly structures: Structures
  /** The maps of a URL, which may hold `*`. */
  maps(url: string): readonly FmlMap[]
  /** The concept map of a URL. */
  table(url: string): Table | undefined
  /** Value sets and code systems, for `memberOf()`. */
  readonly terminology: Terminology
}

export interface CompileOptions {
  /** Structures that are not known here and targets that stay incomplete are warnings: for maps of others. */
  readonly lenient?: boolean
  /** The map comes with a request: expressions of unbounded cost are refused. */
  readonly untrusted?: boolean
  /** What other maps of the same library have compiled already; only maps that are neither lenient nor untrusted share. */
  readonly shared?: Shared
  /** Receives what is known at each name of the map. */
  readonly see?: (sight: Sight) => void
  /**
   * What could not be read of the text. What seems to be missing is then not reported, nor anything else of these lines,
   * and nothing can run.
   */
  readonly unread?: readonly Problem[]
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
  /** Elements that rules set, by type. */
  readonly sets: ReadonlyMap<string, ReadonlySet<string>>
  /** Required elements of what is made that no rule sets. */
  readonly missing: readonly Required[]
}

/** Compiles a map, or, where its text could not be read as a whole, checks what could be read. Never throws. */
export function compileMap(map: FmlMap, library: MapLibrary, options: CompileOptions = {}): Compiled {
  const { shared, ...alone } = options
  const canShare = shared && !(alone.lenient || alone.untrusted || alone.see || alone.unread?.length)
  const build = newBuild(library, canShare ? options : alone)
  const compiled = compileWith(map, build, alone.unread ?? [])
  // Where checking ended early, it matters what came first.
  if (canShare && (isFull(build) || build.rules > MOST_RULES)) return compileMap(map, library, alone)
  share(build)
  forget(build)
  return compiled
}

function compileWith(map: FmlMap, build: Build, unread: readonly Problem[]): Compiled {
  const isPartial = unread.length > 0
  const lines = new Set(unread.map(({ span }) => span.line))
  const unit = build.unitOf(map)
  checkUnit(unit, build)
  checkDefaults(unit, build)
  constantsOf(unit, build)
  const entry = map.groups[0] && entryOf(map.groups[0], unit, build)
  compilePending(build)
  for (const group of map.groups.slice(1)) checkAlone(group, unit, build)
  if (!isPartial) checkLookups(build)
  const missing = isPartial ? [] : checkMade(build)
  const problems = build.problems
    .filter(({ span, file }) => file !== map.file || !lines.has(span.line))
    .toSorted((a, b) => a.span.offset - b.span.offset)
  const isSound = !isPartial && problems.every(each => each.severity === 'warning')
  return {
    problems,
    program: entry && isSound ? programOf({ unit, group: map.groups[0]! }, entry.given, entry.code, build) : undefined,
    coverage: { reads: build.reads, mentions: build.mentions, sets: build.sets, missing },
  }
}

function newBuild(
  library: MapLibrary,
  { lenient = false, untrusted = false, unread = [], see, shared }: CompileOptions,
): Build {
  const units = new Map<string, readonly Unit[]>()
  const { system, units: known } = shared ?? newShared(library.structures)
  const unit = (map: FmlMap): Unit => {
    let found = known.get(map)
    if (!found) known.set(map, (found = unitOf(map, library.structures)))
    return found
  }
  return {
    structures: library.structures,
    system,
    isLenient: lenient,
    isPartial: unread.length > 0,
    untrusted,
    see,
    problems: [],
    errors: 0,
    seen: new Set(),
    groups: new Map(),
    pending: [],
    shared,
    fresh: [],
    notes: undefined,
    imports: new Map(),
    constants: new Map(),
    defaults: new Map(),
    lookups: new Map(),
    rules: 0,
    creations: [],
    reads: new Map(),
    mentions: new Set(),
    sets: new Map(),
    unitOf: unit,
    unit(url) {
      let found = units.get(url)
      if (!found) units.set(url, (found = library.maps(url).map(unit)))
      return found
    },
    table: url => library.table(url),
    terminology: library.terminology,
  }
}

interface Entry {
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
      { isAbsence: true },
    )
  return { given, code }
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
  if (build.groups.has(group)) return
  groupCode({ unit, group }, givenOf(group, unit, build, false), build)
  compilePending(build)
}
