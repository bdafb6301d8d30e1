// What is known while a map is compiled: the types of variables, what targets have been given, what is wrong.

import type { Binding, Items, Types } from '../../fhirpath/compile.ts'
import { typed } from '../../fhirpath/node.ts'
import type { TypeSystem } from '../../fhirpath/types.ts'
import type { Group, Span } from '../ast.ts'
import { type Fix, NOWHERE, type Problem } from '../problem.ts'
import { type Frame, itemsAt, type Json, type Place, valueAt } from '../run/frame.ts'
import type { Site } from '../run/map-error.ts'
import type { Structures } from '../structures.ts'
import type { GroupCode } from './group.ts'
import type { Table } from './table.ts'
import type { Unit } from './unit.ts'

/** Which elements of something that is made the rules can set. */
export interface Made {
  readonly elements: Set<string>
  /** What the groups that it is handed to can set. */
  readonly also: Set<Made>
}

/** A name that rules know. */
export type Variable =
  /** Values found in the source, or computed. `codes` are those it can have, where they are known. */
  | { readonly kind: 'source'; readonly slot: number; readonly types: Types; readonly codes?: ReadonlySet<string> }
  /** An object being made; its type is undefined where the structure is not known. */
  | { readonly kind: 'target'; readonly slot: number; readonly type: string | undefined; readonly made: Made }
  /** A primitive being made. */
  | { readonly kind: 'place'; readonly slot: number; readonly type: string; readonly valueSet: string | undefined }

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
  /** Expressions come with a request: those of unbounded cost are refused. */
  readonly untrusted: boolean
  readonly problems: Problem[]
  readonly seen: Set<string>
  readonly groups: Map<string, GroupCode>
  readonly creations: Creation[]
  /** Which elements rules read, by type. */
  readonly reads: Map<string, Set<string>>
  /** Names that expressions mention. */
  readonly mentions: Set<string>
  /** The maps of a URL, which may hold `*`. */
  unit(url: string): readonly Unit[]
  table(url: string): Table | undefined
}

/** Where a rule stands. */
export interface Scope {
  readonly build: Build
  readonly unit: Unit
  readonly group: Group
  readonly variables: ReadonlyMap<string, Variable>
  readonly slots: { count: number }
  readonly site: Site
  readonly depth: number
}

/** The scope with one more variable. */
export function withVariable(scope: Scope, name: string, variable: Variable): Scope {
  return { ...scope, variables: new Map(scope.variables).set(name, variable) }
}

export function nextSlot({ slots }: Scope): number {
  return slots.count++
}

/** Says what is wrong; the same is said once, however many types a group is compiled for. */
export function report(
  { build, unit, site }: Pick<Scope, 'build' | 'unit'> & { readonly site?: Site },
  span: Span,
  message: string,
  more: { readonly fix?: Fix; readonly severity?: 'warning' } = {},
): void {
  const { file, span: whole } = unit.map
  const isText = whole !== NOWHERE
  const said = isText || !site ? message : `group ${site.group}, rule ${JSON.stringify(site.rule)}: ${message}`
  const key = `${unit.label} ${isText ? span.offset : 0} ${said}`
  if (build.seen.has(key)) return
  build.seen.add(key)
  build.problems.push(
    isText ? { message, span, file, ...more } : { message: said, span: NOWHERE, severity: more.severity },
  )
}

/** A way out: what stands in `span` is replaced by `meant`. */
export function replacing(span: Span, meant: string | undefined): { fix?: Fix } {
  return meant === undefined ? {} : { fix: { span, replacement: meant } }
}

/** What makes a problem a warning where the map is run as it is. */
export function lenient({ isLenient }: Pick<Build, 'isLenient'>): { severity?: 'warning' } {
  return isLenient ? { severity: 'warning' } : {}
}

export function newMade(): Made {
  return { elements: new Set(), also: new Set() }
}

/** True if rules can set this element, here or in a group that this is handed to. */
export function isMade(made: Made, element: string, visited = new Set<Made>()): boolean {
  if (made.elements.has(element) || made.elements.has('*')) return true
  if (visited.has(made)) return false
  visited.add(made)
  return [...made.also].some(each => isMade(each, element, visited))
}

const bindings = new WeakMap<ReadonlyMap<string, Variable>, ReadonlyMap<string, Binding>>()

/** The variables as expressions see them. */
export function namesOf({ variables, build }: Scope): ReadonlyMap<string, Binding> {
  let names = bindings.get(variables)
  if (!names) {
    names = new Map([...variables].map(([name, variable]) => [name, bindingOf(variable, build.system)]))
    bindings.set(variables, names)
  }
  return names
}

const NOTHING: Items = []

function bindingOf(variable: Variable, system: TypeSystem): Binding {
  const { slot } = variable
  if (variable.kind === 'source') return { types: variable.types, read: env => itemsAt(env as Frame, slot) }
  const { type } = variable
  if (variable.kind === 'place') {
    return {
      types: [variable.type],
      read: env => {
        const place = (env as Frame).vars[slot] as Place | undefined
        const value = place && valueAt(place)
        return value === undefined || value === null ? NOTHING : [typed(value, variable.type)]
      },
    }
  }
  return {
    types: type === undefined || system.isOpen(type) ? undefined : [type],
    read: env => {
      const value = (env as Frame).vars[slot] as Json | undefined
      return value === undefined ? NOTHING : [typed(value, type ?? '')]
    },
  }
}
