// What a group does for parameters of known types: the rules of the group it extends, then its own.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.5

import type { Group, Parameter } from '../ast.ts'
import { shown } from '../problem.ts'
import type { Action } from '../run/frame.ts'
import { constantsOf } from './constants.ts'
import { groupCode, unknownGroup } from './group.ts'
import { compileBlock, sequence } from './rule.ts'
import {
  type Build,
  type Given,
  type GroupPlace,
  type Made,
  type Pending,
  report,
  type Scope,
  type Variable,
} from './scope.ts'
import type { Remark, SharedGroup } from './shared.ts'
import { findGroup } from './unit.ts'

/** Compiles the groups that are called, and those that they call. */
export function compilePending(build: Build): void {
  for (let each = build.pending.pop(); each; each = build.pending.pop()) {
    if ('fill' in each) each.fill(noting(each, build))
    else takeOver(each, build)
  }
}

/** Compiles a group, and notes what that says. */
function noting(pending: Pending, build: Build): Action {
  const { place, key, code } = pending
  const before = build.rules
  const notes: Remark[] | undefined = build.shared && []
  build.notes = notes
  const body = compileBody(pending, build)
  build.notes = undefined
  if (notes) build.fresh.push({ group: place.group, key, made: { code, notes, rules: build.rules - before } })
  return body
}

function takeOver({ notes, rules }: SharedGroup, build: Build): void {
  build.rules += rules
  for (const note of notes) note(build)
}

function compileBody({ place, given, code: { made } }: Pending, build: Build): Action {
  const { unit, group } = place
  const variables = new Map<string, Variable>(constantsOf(unit, build))
  for (const [slot, { name }] of group.parameters.entries())
    variables.set(name.text, variableOf(given[slot]!, slot, made[slot]!))
  const scope: Scope = {
    build,
    unit,
    group,
    variables,
    slots: { count: given.length, parameters: given.length, reads: new Map() },
    site: { map: unit.label, group: group.name.text, rule: '', span: group.span },
    depth: 0,
    around: given.flatMap(({ kind }, slot) => (kind === 'source' ? [slot] : [])),
  }
  const base = baseOf(group, given, made, scope)
  const block = compileBlock(group.block, scope)
  return base ? sequence([base, block]) : block
}

function variableOf(given: Given, slot: number, made: Made): Variable {
  return given.kind === 'target' ? { ...given, slot, made } : { ...given, slot }
}

/** The rules of the group that this one extends, with the parameters that it has of those. */
function baseOf(group: Group, given: readonly Given[], made: readonly Made[], scope: Scope): Action | undefined {
  const place = group.extends && extended(group, scope)
  if (!place) return undefined
  const slots = place.group.parameters.map(each => slotOf(each, group, place.group))
  const missing = place.group.parameters[slots.indexOf(undefined)]
  if (missing) {
    const what = `a ${missing.mode} ${shown(missing.name.text)}`
    report(
      scope,
      group.extends!.span,
      `${shown(place.group.name.text)} needs ${what}, which ${shown(group.name.text)} does not have`,
    )
    return undefined
  }
  const known = slots as number[]
  const code = groupCode(
    place,
    known.map(slot => given[slot]!),
    scope.build,
  )
  for (const [index, slot] of known.entries()) made[slot]!.also.add(code.made[index]!)
  return frame =>
    code.run(
      frame,
      known.map(slot => frame.vars[slot]),
    )
}

function extended(group: Group, scope: Scope): GroupPlace | undefined {
  const name = group.extends!
  const seen = new Set<Group>([group])
  const place = findGroup(scope.unit, name.text, scope.build)
  for (
    let next = place;
    next;
    next = next.group.extends && findGroup(next.unit, next.group.extends.text, scope.build)
  ) {
    if (seen.has(next.group)) {
      if (next.group === group)
        report(scope, name.span, `${shown(group.name.text)} extends itself through other groups`)
      return undefined
    }
    seen.add(next.group)
  }
  if (!place) unknownGroup(name, scope)
  return place
}

/** Parameters correspond by name and direction; where the names differ altogether, by their order. */
function slotOf(parameter: Parameter, group: Group, base: Group): number | undefined {
  const index = group.parameters.findIndex(
    each => each.name.text === parameter.name.text && each.mode === parameter.mode,
  )
  if (index >= 0) return index
  const order = base.parameters.indexOf(parameter)
  const names = new Set(group.parameters.map(each => each.name.text))
  const isByOrder = base.parameters.every(each => !names.has(each.name.text))
  return isByOrder && group.parameters[order]?.mode === parameter.mode ? order : undefined
}
