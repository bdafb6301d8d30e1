// Default groups: `<<types>>` marks a group as the default conversion between its types.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7

import type { Typed } from '../../fhirpath/compile.ts'
import type { Span } from '../ast.ts'
import { shown } from '../problem.ts'
import { cloneSibling } from '../run/finish.ts'
import type { Action, Json, Run } from '../run/frame.ts'
import { put, type Slot } from '../run/write.ts'
import { type Land, landing } from './assign.ts'
import { type Element, keyed } from './element.ts'
import { declaredType, groupCode } from './group.ts'
import type { Owner } from './owner.ts'
import {
  type Build,
  type Default,
  type Given,
  type GroupCode,
  type GroupPlace,
  noteCreation,
  report,
  type Scope,
  type Unit,
} from './scope.ts'
import { say } from './shared.ts'
import { withImports } from './unit.ts'
import type { Value } from './value.ts'

/** What a default group makes, and how. */
interface Through {
  readonly type: string
  readonly slot: Slot
  readonly isPrimitive: boolean
  readonly code: GroupCode
}

/** The default groups for what the source can be and the element can hold. */
export function defaultGroups({ types, isGrowing }: Value, element: Element, scope: Scope): Map<string, Through> {
  const found = new Map<string, Through>()
  const { system } = scope.build
  for (const from of types ?? []) {
    const [place, to] = chosen(from, element.types ?? [], scope) ?? []
    if (!place || to === undefined) continue
    const isPrimitive = system.isPrimitive(to)
    const target: Given = isPrimitive
      ? { kind: 'place', type: to, valueSet: element.model?.requiredValueSet }
      : { kind: 'target', type: to }
    const code = groupCode(place, [{ kind: 'source', types: [from], isGrowing }, target], scope.build)
    found.set(from, { type: to, slot: keyed(element, to), isPrimitive, code })
  }
  return found
}

/** Of several types, those come first for which a group is marked `type+`, then the type of the source itself. */
function chosen(from: string, types: readonly string[], scope: Scope): [GroupPlace, string] | undefined {
  const order = types.includes(from) ? [from, ...types] : types
  const all = order.flatMap(to => {
    const place = defaultGroup(from, to, scope)
    return place ? [[place, to] as [GroupPlace, string]] : []
  })
  return all.find(([{ group }]) => group.typeMode === 'type+') ?? all[0]
}

/** The group that is the default for these types: exactly these first, then those they derive from. */
export function defaultGroup(from: string, to: string, scope: Scope): GroupPlace | undefined {
  const { build, unit } = scope
  let general: GroupPlace | undefined
  for (const each of defaultsOf(unit, build)) {
    if (each.to !== to || each.place.group === scope.group) continue
    if (each.from === from) return each.place
    if (build.system.isSubtype(from, each.from)) general ??= each.place
  }
  return general
}

/** All default groups of a map and its imports. */
function defaultsOf(unit: Unit, build: Build): readonly Default[] {
  return say(build, each => foundDefaults(unit, each))
}

function foundDefaults(unit: Unit, build: Build): readonly Default[] {
  let found = build.defaults.get(unit)
  if (!found) build.defaults.set(unit, (found = withImports(unit, build).flatMap(each => ownDefaults(each, build))))
  return found
}

function ownDefaults(unit: Unit, build: Build): Default[] {
  return [...unit.groups.values()].flatMap(group => {
    const [source, target] = group.parameters
    if (!group.typeMode || group.parameters.length !== 2 || !source || !target) return []
    const [from, to] = [declaredType(source, unit, build), declaredType(target, unit, build)]
    return from === undefined || to === undefined ? [] : [{ from, to, place: { unit, group } }]
  })
}

/** A default group declares the types that it converts, and is the only one of its map for them. */
export function checkDefaults(unit: Unit, build: Build): void {
  const known = new Map<string, Default>()
  for (const { name, typeMode, parameters } of unit.map.groups) {
    const [source, target] = parameters
    const isSound = parameters.length === 2 && source?.mode === 'source' && target?.mode === 'target'
    if (!typeMode || (isSound && source.type && target.type)) continue
    const form = 'group A(source s : …, target t : …) <<types>>'
    report({ build, unit }, name.span, `a default group has a source and a target, both with a type: \`${form}\``)
  }
  for (const each of ownDefaults(unit, build)) {
    const { from, to, place } = each
    const other = known.get(`${from} ${to}`)
    const { name } = place.group
    if (other) report({ build, unit }, name.span, alreadyDefault(from, to, other))
    known.set(`${from} ${to}`, each)
  }
}

function alreadyDefault(from: string, to: string, { place }: Default): string {
  const { text, span } = place.group.name
  return `there is a default group for ${from} to ${to} already, ${shown(text)} in line ${span.line}`
}

/** Puts values into an element: through the default group of their type, or unchanged if there is none. */
export function throughGroups(
  value: Value,
  element: Element,
  groups: ReadonlyMap<string, Through>,
  owner: Owner,
  span: Span,
  scope: Scope,
): Action {
  noteMade(groups, span, scope)
  const rest = (value.types ?? []).filter(type => !groups.has(type))
  const land: Land | undefined = rest.length > 0 ? landing({ ...value, types: rest }, element, span, scope) : undefined
  return frame => {
    const items = value.run(frame)
    if (items.length === 0) return
    const holder = owner.at(frame)
    for (const item of items) {
      const through = groups.get(item.type)
      if (through) through.code.run(frame, [[item], hold(frame.shared, holder, through)])
      else if (land) copyItem(frame.shared, item, land, holder)
    }
  }
}

/** What default groups make must get what its type requires. */
function noteMade(groups: ReadonlyMap<string, Through>, span: Span, { build, unit }: Scope): void {
  for (const { type, isPrimitive, code } of groups.values())
    if (!isPrimitive) noteCreation(build, { type, made: code.made[1]!, unit, span })
}

/** What a default group fills: a new object in the element, or the place of a primitive. */
function hold(run: Run, holder: Json, { slot, isPrimitive }: Through): unknown {
  const { key } = slot
  if (isPrimitive) return { holder, key, index: slot.isList ? put(run, holder, slot, null) : -1 }
  const present = holder[key]
  if (present !== undefined && slot.isList === false) return present
  const fresh: Json = {}
  put(run, holder, slot, fresh)
  return fresh
}

function copyItem(run: Run, item: Typed, land: Land, holder: Json): void {
  const { slot, convert } = land(item)
  const value = item.value === undefined ? null : convert(item.value)
  put(run, holder, slot, value, cloneSibling(item.sibling))
}
