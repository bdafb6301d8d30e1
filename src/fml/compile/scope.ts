// The state of a compilation: the types of variables, the elements set on targets, and the problems found.

import type { Items, Typed, Types } from '../../fhirpath/compile.ts'
import type { TypeSystem } from '../../fhirpath/types.ts'
import type { FmlMap, Group, Name, Path, Span } from '../ast.ts'
import { type Fix, MAX_PROBLEMS, NOWHERE, type Problem } from '../problem.ts'
import type { Action, Frame } from '../run/frame.ts'
import type { Site } from '../run/map-error.ts'
import type { SeenVariable, Sight } from '../sight.ts'
import type { Structures } from '../structures.ts'
import type { Terminology } from '../value-set.ts'
import { type Remark, type Shared, type SharedGroup, say } from './shared.ts'
import type { Table } from './table.ts'

/** One map and what the names in it mean. */
export interface Unit {
  readonly map: FmlMap
  /** The file, or the name or URL: what errors call the map. */
  readonly label: string
  readonly url: string | undefined
  /** The types that the names of `uses` stand for; undefined: a structure that is not known here. */
  readonly aliases: ReadonlyMap<string, string | undefined>
  readonly groups: ReadonlyMap<string, Group>
  readonly tables: ReadonlyMap<string, Table>
}

/** Which elements of something that is made the rules can set. */
export interface Made {
  readonly elements: Set<string>
  /** The JSON property that a rule chose for an element with a choice of types. */
  readonly choices: Map<string, { readonly target: Site; readonly key: string }>
  /** What the groups that it is handed to can set. */
  readonly also: Set<Made>
}

/** A name in scope of a rule. */
export type Variable =
  /** Values found in the source, or computed. `codes` are those it can have, where they are known. */
  | {
      readonly kind: 'source'
      readonly slot: number
      readonly types: Types
      readonly codes?: ReadonlySet<string>
      /** Those that its element can have, whatever conditions leave of them. */
      readonly domain?: ReadonlySet<string>
      /** Part of what is being made, so that it may have more a moment later. */
      readonly isGrowing?: boolean
    }
  /** A `let` variable: computed at first use. */
  | {
      readonly kind: 'constant'
      readonly types: Types
      /** Its value where it is a literal. */
      readonly constant?: Typed
      read(frame: Frame): Items
    }
  /** An object being made; its type is undefined where the structure is not known. */
  | { readonly kind: 'target'; readonly slot: number; readonly type: string | undefined; readonly made: Made }
  /** A primitive being made. */
  | { readonly kind: 'place'; readonly slot: number; readonly type: string; readonly valueSet: string | undefined }

export type ConstantVariable = Extract<Variable, { kind: 'constant' }>

/** True for what rules can read and cannot change. */
export function isRead(variable: Variable): variable is Extract<Variable, { kind: 'source' | 'constant' }> {
  return variable.kind === 'source' || variable.kind === 'constant'
}

/** What a target does, and the scope of what follows. */
export interface TargetCode {
  readonly action: Action | undefined
  readonly scope: Scope
}

/** A group and the map that it stands in. */
export interface GroupPlace {
  readonly unit: Unit
  readonly group: Group
}

/** What a parameter is called with. */
export type Given =
  | { readonly kind: 'source'; readonly types: Types; readonly isGrowing?: boolean }
  | { readonly kind: 'target'; readonly type: string | undefined }
  | { readonly kind: 'place'; readonly type: string; readonly valueSet: string | undefined }

/** A group that is the default for two types. */
export interface Default {
  readonly from: string
  readonly to: string
  readonly place: GroupPlace
}

/** A group compiled for some types. */
export interface GroupCode {
  /** What it can set of each parameter that is a target. */
  readonly made: readonly Made[]
  /** Runs it with the values of its parameters, in order. */
  run(frame: Frame, args: unknown[]): void
}

/** A group that is referred to and whose code is not generated yet. */
export interface Pending {
  readonly place: GroupPlace
  readonly given: readonly Given[]
  /** Names the types. */
  readonly key: string
  readonly code: GroupCode
  /** Takes what the group does. */
  fill(body: Action): void
}

/** A group that this compilation has compiled. */
interface Fresh {
  readonly group: Group
  readonly key: string
  readonly made: SharedGroup
}

/** Something that is made, and where; it must get what its type requires. */
export interface Creation {
  readonly type: string
  readonly made: Made
  readonly unit: Unit
  readonly span: Span
}

/** One compilation. */
export interface Build {
  readonly structures: Structures
  readonly system: TypeSystem
  /** What is unknown or incomplete is a warning. */
  readonly isLenient: boolean
  /** A part of the text could not be read, so what seems to be missing may stand there. */
  readonly isPartial: boolean
  /** Expressions come with a request: those of unbounded cost are refused. */
  readonly untrusted: boolean
  /** Receives what is known at each name; absent: nobody asks. */
  readonly see: ((sight: Sight) => void) | undefined
  readonly problems: Problem[]
  errors: number
  readonly seen: Set<string>
  /** By group, then by the types it is compiled for. */
  readonly groups: Map<Group, Map<string, GroupCode>>
  readonly pending: (Pending | SharedGroup)[]
  /** What it has in common with other maps; undefined: nothing. */
  shared: Shared | undefined
  /** The groups that other maps can take over. */
  readonly fresh: Fresh[]
  /** What compiling the group at hand says; undefined: nobody asks. */
  notes: Remark[] | undefined
  /** How many rules have been compiled, a rule of a group once for each of its combinations of types. */
  rules: number
  readonly creations: Creation[]
  /** A map and all that it imports. */
  readonly imports: Map<Unit, readonly Unit[]>
  /** Constants by map and name. */
  readonly constants: Map<Unit, ReadonlyMap<string, ConstantVariable>>
  /** The default groups of a map. */
  readonly defaults: Map<Unit, readonly Default[]>
  /** Which elements rules read, by type. */
  readonly reads: Map<string, Set<string>>
  /** Names that expressions mention. */
  readonly mentions: Set<string>
  /** Which elements rules set, by type. */
  readonly sets: Map<string, Set<string>>
  unitOf(map: FmlMap): Unit
  /** The maps of a URL, which may hold `*`. */
  unit(url: string): readonly Unit[]
  table(url: string): Table | undefined
  readonly terminology: Terminology
  /** The tables in which codes are looked up, and which codes; undefined where that is not known. */
  readonly lookups: Map<Table, Lookup>
}

/** A table of a map, and all codes that are looked up in it. */
interface Lookup {
  readonly unit: Unit
  domain: ReadonlySet<string> | undefined
}

/** The places that the variables of a group have. */
interface Slots {
  count: number
  /** Those below are parameters, which keep their values. */
  readonly parameters: number
  /** Elements of parameters that rules read; one that several rules read has a place for what was found. */
  readonly reads: Map<string, SharedRead>
}

/** An element that is read once for all rules of a group. */
export interface SharedRead {
  slot: number | undefined
}

/** What is in scope, by name. */
type Variables = Pick<ReadonlyMap<string, Variable>, 'size' | 'get' | 'has' | 'keys'>

/** Where a rule stands. */
export interface Scope {
  readonly build: Build
  readonly unit: Unit
  /** Undefined for constants. */
  readonly group: Group | undefined
  readonly variables: Variables
  readonly slots: Slots
  readonly site: Site
  readonly depth: number
  /** Places of the values that rules run for here, the nearest first. */
  readonly around: readonly number[]
  /** A source that makes the rule run for several values; what was made before it has a lower slot. */
  readonly repeated?: { readonly path: Path; readonly slot: number }
}

/** Most variables in scope at one place. */
const MOST_VARIABLES = 400

/** The scope with one more variable. */
export function withVariable(scope: Scope, name: string, variable: Variable): Scope {
  if (scope.variables.size >= MOST_VARIABLES) {
    report(scope, scope.site.span, `more than ${MOST_VARIABLES} variables are in scope here; use groups`)
    return scope
  }
  return { ...scope, variables: withName(scope.variables, name, variable) }
}

/** A rule adds one name to those of its group, which may be hundreds: they are not copied. */
function withName(outer: Variables, name: string, variable: Variable): Variables {
  return {
    size: outer.has(name) ? outer.size : outer.size + 1,
    get: key => (key === name ? variable : outer.get(key)),
    has: key => key === name || outer.has(key),
    keys: () => new Set([...outer.keys(), name]).values(),
  }
}

/** The variables in scope, as an author needs them. */
export function seenVariables({ variables }: Scope): ReadonlyMap<string, SeenVariable> {
  return new Map(
    [...variables.keys()].map(name => {
      const variable = variables.get(name)!
      const types = 'types' in variable ? variable.types : variable.type === undefined ? undefined : [variable.type]
      return [name, { kind: variable.kind, types }]
    }),
  )
}

/** Shows the name of a variable to those who ask. */
export function seeVariable(name: Name, scope: Scope): void {
  scope.build.see?.({ kind: 'variable', span: name.span, variables: () => seenVariables(scope) })
}

export function nextSlot({ slots }: Scope): number {
  return slots.count++
}

/** Most warnings that are reported. */
const MAX_WARNINGS = 1000

/** True if so much is wrong that no more is looked for. */
export function isFull(build: Build): boolean {
  return build.errors >= MAX_PROBLEMS || build.problems.length >= MAX_WARNINGS
}

/** Where a problem is. */
type Place = Pick<Scope, 'build' | 'unit'> & { readonly site?: Site }

interface More {
  readonly fix?: Fix
  readonly severity?: 'warning'
  readonly isAbsence?: boolean
  /** How the message begins: it is not reported where another one of the place that begins so says as much. */
  readonly beginning?: string
}

/** Reports a problem; the same one is reported once, however many types a group is compiled for. */
export function report({ build, unit, site }: Place, span: Span, message: string, more: More = {}): void {
  say(build, each => add({ build: each, unit, site }, span, message, more))
}

function add({ build, unit, site }: Place, span: Span, message: string, more: More): void {
  if (more.isAbsence && build.isPartial) return
  const { file, span: whole } = unit.map
  const isText = whole !== NOWHERE
  const said = isText || !site ? message : `group ${site.group}, rule ${JSON.stringify(site.rule)}: ${message}`
  const key = `${unit.label} ${isText ? span.offset : 0} ${said}`
  if (build.seen.has(key) || isFull(build) || isSaidOtherwise({ build, unit }, span, more)) return
  build.seen.add(key)
  // Checking ends with the last warning that is reported, so a map with more problems cannot run.
  const isLast = build.problems.length === MAX_WARNINGS - 1
  const { severity } = isLast ? {} : more
  if (!severity) build.errors++
  const text = isLast ? `${said}; further problems are reported after this one is fixed` : said
  build.problems.push(
    isText ? { message: text, span, file, fix: more.fix, severity } : { message: text, span: NOWHERE, severity },
  )
}

/** True if a problem of the place that begins alike is as severe; one that is less severe makes way. */
function isSaidOtherwise({ build, unit }: Place, span: Span, { beginning, severity }: More): boolean {
  if (beginning === undefined) return false
  const { problems } = build
  const place = problems.findIndex(
    each => each.file === unit.map.file && each.span.offset === span.offset && each.message.startsWith(beginning),
  )
  if (place < 0) return false
  if (problems[place]!.severity !== 'warning' || severity === 'warning') return true
  problems.splice(place, 1)
  return false
}

/** A way out: what stands in `span` is replaced by `meant`. */
export function replacing(span: Span, meant: string | undefined): { fix?: Fix } {
  return meant === undefined ? {} : { fix: { span, replacement: meant } }
}

/** What makes a problem a warning where the map is run as it is. */
export function lenient({ isLenient }: Pick<Build, 'isLenient'>): { severity?: 'warning' } {
  return isLenient ? { severity: 'warning' } : {}
}

/** Notes an element of a type that rules read or set. */
export function noteElement(build: Build, how: 'reads' | 'sets', type: string, element: string): void {
  say(build, ({ [how]: all }) => {
    const elements = all.get(type)
    if (elements) elements.add(element)
    else all.set(type, new Set([element]))
  })
}

/** Notes something that is made. */
export function noteCreation(build: Build, creation: Creation): void {
  say(build, ({ creations }) => void creations.push(creation))
}

export function newMade(): Made {
  return { elements: new Set(), choices: new Map(), also: new Set() }
}

/** True if rules can set this element, here or in a group that this is handed to. */
export function isMade(made: Made, element: string, visited = new Set<Made>()): boolean {
  if (made.elements.has(element) || made.elements.has('*')) return true
  if (visited.has(made)) return false
  visited.add(made)
  return [...made.also].some(each => isMade(each, element, visited))
}
