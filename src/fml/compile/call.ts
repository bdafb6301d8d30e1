// Calls of groups: `then CopyName(s, t)`.

import type { Typed, Types } from '../../fhirpath/compile.ts'
import type { TypeSystem } from '../../fhirpath/types.ts'
import type { Argument, Dependent, Parameter } from '../ast.ts'
import { pathText } from '../pieces.ts'
import { shown } from '../problem.ts'
import { converter, textOf } from '../run/convert.ts'
import type { Action, Frame } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import type { SeenGroup } from '../sight.ts'
import { declaredType, groupCode, unknownGroup } from './group.ts'
import { type Given, type GroupPlace, isRead, type Made, report, type Scope } from './scope.ts'
import { findGroup, withImports } from './unit.ts'
import { unknownVariable } from './unknown.ts'
import { argumentValue, type Value } from './value.ts'

/** A parameter's value, with what is known of it. */
interface Passed {
  readonly given: Given
  readonly made?: Made
  get(frame: Frame): unknown
}

/** A call of a group; undefined, and reported, where it cannot be. */
export function callGroup({ name, args, span }: Dependent, scope: Scope): Action | undefined {
  scope.build.see?.({ kind: 'group', span: name.span, groups: () => groupsFor(scope) })
  const place = findGroup(scope.unit, name.text, scope.build)
  if (!place) {
    unknownGroup(name, scope)
    return undefined
  }
  const { parameters } = place.group
  if (args.length !== parameters.length) {
    const list = parameters.map(each => `${each.mode} ${each.name.text}`).join(', ')
    report(scope, span, `${shown(name.text)} takes ${counted(parameters.length)} (${list}), not ${args.length}`, {
      isAbsence: true,
    })
    return undefined
  }
  const passed = args.map((argument, index) => pass(argument, parameters[index]!, place, scope))
  return passed.every(each => each !== undefined) ? calling(place, passed, scope) : undefined
}

function groupsFor({ unit, build }: Scope): SeenGroup[] {
  return withImports(unit, build).flatMap(({ groups, label }) =>
    [...groups.values()].map(({ name, parameters }) => ({
      name: name.text,
      parameters: parameters
        .map(each => `${each.mode} ${each.name.text}${each.type ? ` : ${pathText(each.type)}` : ''}`)
        .join(', '),
      map: label,
    })),
  )
}

function counted(count: number): string {
  return count === 1 ? 'one parameter' : `${count} parameters`
}

function calling(place: GroupPlace, passed: readonly Passed[], scope: Scope): Action {
  const code = groupCode(
    place,
    passed.map(each => each.given),
    scope.build,
  )
  for (const [index, { made }] of passed.entries()) made?.also.add(code.made[index]!)
  return frame =>
    code.run(
      frame,
      passed.map(each => each.get(frame)),
    )
}

function pass(argument: Argument, parameter: Parameter, place: GroupPlace, scope: Scope): Passed | undefined {
  return parameter.mode === 'source'
    ? passSource(argument, parameter, place, scope)
    : passTarget(argument, parameter, place, scope)
}

function passSource(argument: Argument, parameter: Parameter, place: GroupPlace, scope: Scope): Passed | undefined {
  const value = argumentValue(argument, scope)
  if (!value) return undefined
  const declared = declaredType(parameter, place.unit, scope.build)
  const types = sourceTypes(value.types, declared, argument, parameterOf(parameter, place), scope)
  if (!types || !isFit(value, declared, argument, parameterOf(parameter, place), scope)) return undefined
  const { system } = scope.build
  const isSure = declared === undefined || value.types?.every(each => system.isSubtype(each, declared))
  const convert =
    declared !== undefined && !isSure && system.isPrimitive(declared) ? computedAs(system, declared) : undefined
  return {
    given: { kind: 'source', types: types.types, isGrowing: value.isGrowing },
    get(frame) {
      const found = value.run(frame)
      const items = convert ? found.map(convert) : found
      const wrong = isSure ? undefined : items.find(({ type }) => type !== '' && !system.isSubtype(type, declared!))
      if (wrong)
        throw new Refusal(`${shown(parameter.name.text)} must be of type ${declared}, and is of type ${wrong.type}`)
      return items
    },
  }
}

/** What is computed, such as a literal, as the primitive that is declared; everything else as it is. */
function computedAs(system: TypeSystem, declared: string): (item: Typed) => Typed {
  return item => {
    if (!item.type.startsWith('System.')) return item
    const convert = converter(system, item.type, declared)
    return convert ? { ...item, value: convert(item.value), type: declared } : item
  }
}

/** A literal that is no value of the declared type is found now, not when the map runs. */
function isFit(
  { constant }: Value,
  declared: string | undefined,
  { span }: Argument,
  label: string,
  { build, ...scope }: Scope,
): boolean {
  if (!constant || declared === undefined || !build.system.isPrimitive(declared)) return true
  const convert = converter(build.system, constant.type, declared)
  try {
    convert?.(constant.value)
    if (convert) return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  report(
    { build, ...scope },
    span,
    `${label} is of type ${declared}, and ${shown(textOf(constant.value))} is no ${declared}`,
  )
  return false
}

/** The narrower of what is declared and what is passed. */
function sourceTypes(
  types: Types,
  declared: string | undefined,
  { span }: Argument,
  label: string,
  scope: Scope,
): { types: Types } | undefined {
  const { system } = scope.build
  if (declared === undefined || system.isOpen(declared)) return { types }
  if (!types) return { types: [declared] }
  const kept = types.filter(each => isPassable(each, declared, scope))
  if (kept.length > 0) return { types: kept.map(each => (each.startsWith('System.') ? declared : each)) }
  report(scope, span, `${label} is of type ${declared}, and this is of type ${types.join(' or ')}`)
  return undefined
}

/** A primitive may be passed for another one of its kind: groups for `string` are written for codes too. */
function isPassable(type: string, declared: string, { build: { system } }: Scope): boolean {
  return system.isSubtype(type, declared) || (type.startsWith('System.') && system.isPrimitive(declared))
}

function parameterOf({ name }: Parameter, { group }: GroupPlace): string {
  return `the parameter ${shown(name.text)} of ${shown(group.name.text)}`
}

function passTarget(argument: Argument, parameter: Parameter, place: GroupPlace, scope: Scope): Passed | undefined {
  const name = argument.kind === 'path' && argument.names.length === 1 ? argument.names[0]! : undefined
  if (!name) {
    report(
      scope,
      argument.span,
      `${parameterOf(parameter, place)} is a target: pass a variable that something is made in`,
    )
    return undefined
  }
  const variable = scope.variables.get(name.text)
  if (!variable) {
    unknownVariable(name, scope)
    return undefined
  }
  if (isRead(variable)) {
    report(scope, name.span, `${parameterOf(parameter, place)} is a target, and ${shown(name.text)} is a source`)
    return undefined
  }
  const declared = declaredType(parameter, place.unit, scope.build)
  const { slot } = variable
  const { system } = scope.build
  const type = variable.type ?? declared
  if (declared !== undefined && type !== undefined && !system.isSubtype(type, declared)) {
    report(
      scope,
      name.span,
      `${parameterOf(parameter, place)} is of type ${declared}, and ${shown(name.text)} is of type ${type}`,
    )
    return undefined
  }
  const get = (frame: Frame): unknown => frame.vars[slot]
  if (variable.kind === 'place') return { given: { ...variable, kind: 'place' }, get }
  return { given: { kind: 'target', type }, made: variable.made, get }
}
