// Groups: compiled once for each combination of types that they are called with, so that untyped parameters have types.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.5

import type { Types } from '../../fhirpath/compile.ts'
import { EMPTY } from '../../fhirpath/node.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Group, Parameter } from '../ast.ts'
import { pathText } from '../pieces.ts'
import { shown } from '../problem.ts'
import { type Action, descend, type Frame, newFrame } from '../run/frame.ts'
import { expression } from './expression.ts'
import { compileBlock, sequence } from './rule.ts'
import { type Build, type Made, newMade, replacing, report, type Scope, type Variable, withVariable } from './scope.ts'
import { findGroup, typeNamed, type Unit, unknownType, withImports } from './unit.ts'

/** A group compiled for some types. */
export interface GroupCode {
  /** What it can set of each parameter that is a target. */
  readonly made: readonly Made[]
  /** Runs it with the values of its parameters, in order. */
  run(frame: Frame, args: readonly unknown[]): void
}

/** What a parameter is called with. */
export type Given =
  | { readonly kind: 'source'; readonly types: Types }
  | { readonly kind: 'target'; readonly type: string | undefined }
  | { readonly kind: 'place'; readonly type: string; readonly valueSet: string | undefined }

/** A group and the map that it stands in. */
export interface GroupPlace {
  readonly unit: Unit
  readonly group: Group
}

/** More combinations of types than this are a map that goes round in circles. */
const MOST_CODES = 5000

/** The code of a group for parameters of these types. */
export function groupCode({ unit, group }: GroupPlace, given: readonly Given[], build: Build): GroupCode {
  const key = `${unit.url} ${unit.label} ${group.name.text} ${given.map(keyOf).join(' ')}`
  const known = build.groups.get(key)
  if (known) return known
  let body: Action = () => {}
  const made = given.map(newMade)
  const code: GroupCode = { made, run: (frame, args) => enter(frame, args, frame => body(frame)) }
  if (build.groups.size >= MOST_CODES) return code
  build.groups.set(key, code)
  body = compileBody({ unit, group }, given, made, build)
  return code
}

function keyOf(given: Given): string {
  if (given.kind === 'source') return `s:${given.types?.join('|') ?? '?'}`
  return given.kind === 'target' ? `t:${given.type ?? '?'}` : `p:${given.type}:${given.valueSet ?? ''}`
}

function enter(frame: Frame, args: readonly unknown[], body: Action): void {
  const inner = newFrame(frame.shared)
  inner.vars.push(...args)
  descend(frame.shared, () => body(inner))
}

function compileBody(
  { unit, group }: GroupPlace,
  given: readonly Given[],
  made: readonly Made[],
  build: Build,
): Action {
  const variables = new Map(
    group.parameters.map(({ name }, slot) => [name.text, variableOf(given[slot]!, slot, made[slot]!)] as const),
  )
  const scope: Scope = {
    build,
    unit,
    group,
    variables,
    slots: { count: given.length },
    site: { map: unit.label, group: group.name.text, rule: '', span: group.span },
    depth: 0,
  }
  const constants = unit.map.constants.length > 0 ? withConstants(scope) : { scope, actions: [] }
  const base = baseOf(group, given, made, constants.scope)
  return sequence([...constants.actions, ...(base ? [base] : []), compileBlock(group.block, constants.scope)])
}

function variableOf(given: Given, slot: number, made: Made): Variable {
  return given.kind === 'target' ? { ...given, slot, made } : { ...given, slot }
}

/** `let` of the map, as variables of each of its groups. */
function withConstants(outer: Scope): { scope: Scope; actions: Action[] } {
  let scope = outer
  const actions: Action[] = []
  for (const { name, value } of outer.unit.map.constants) {
    const inner = expression(value, [], scope)
    const slot = scope.slots.count++
    actions.push(frame => {
      frame.vars[slot] = inner.run(EMPTY, frame)
    })
    scope = withVariable(scope, name.text, { kind: 'source', slot, types: inner.types })
  }
  return { scope, actions }
}

/** The rules of the group that this one extends run first, with the same parameters. */
function baseOf(group: Group, given: readonly Given[], made: readonly Made[], scope: Scope): Action | undefined {
  const { build, unit } = scope
  const name = group.extends
  if (!name) return undefined
  const place = findGroup(unit, name.text, build)
  if (!place || place.group === group) {
    unknownGroup(name, scope)
    return undefined
  }
  if (place.group.parameters.length !== given.length) {
    report(scope, name.span, `${shown(name.text)} has ${place.group.parameters.length} parameters, not ${given.length}`)
    return undefined
  }
  const code = groupCode(place, given, build)
  for (const [index, each] of code.made.entries()) made[index]!.also.add(each)
  return frame => code.run(frame, frame.vars.slice(0, given.length))
}

/** Says that there is no such group, and which was probably meant. */
export function unknownGroup(name: Group['name'], scope: Scope): void {
  const { build, unit } = scope
  const meant = nearest(
    name.text,
    withImports(unit, build).flatMap(each => [...each.groups.keys()]),
  )
  const question = meant ? `; did you mean \`${meant}\`?` : ''
  report(scope, name.span, `there is no group ${shown(name.text)} here${question}`, replacing(name.span, meant))
}

/** The type that a parameter is declared with; undefined if none is, or if its structure is not known. */
export function declaredType({ type }: Parameter, unit: Unit, build: Build): string | undefined {
  if (!type) return undefined
  const text = pathText(type)
  const found = typeNamed(unit, text, build)
  if (found !== unknownType) return found
  const names = [...unit.aliases.keys()]
  const meant =
    nearest(text, names) ??
    nearest(
      text,
      build.structures.urls.map(url => url.slice(url.lastIndexOf('/') + 1)),
    )
  const question = meant ? `; did you mean \`${meant}\`?` : `; say so by \`uses "…" alias ${text} as source\``
  report({ build, unit }, type.span, `there is no type ${shown(text)} here${question}`, replacing(type.span, meant))
  return undefined
}
