// Default groups: those that say by `<<types>>` which types they turn into which.
// https://hl7.org/fhir/R4/mapping-language.html#7.7.0.7

import type { Typed, Types } from '../../fhirpath/compile.ts'
import type { Span } from '../ast.ts'
import type { Action, Frame, Json } from '../run/frame.ts'
import { put } from '../run/write.ts'
import { type Land, landing } from './assign.ts'
import type { Element } from './element.ts'
import { declaredType, type Given, type GroupCode, type GroupPlace, groupCode } from './group.ts'
import { type Made, newMade, type Scope } from './scope.ts'
import { withImports } from './unit.ts'
import type { Value } from './value.ts'

/** What a default group makes, and how. */
interface Through {
  readonly type: string
  readonly code: GroupCode
}

/** The default groups for what the source can be and the element can hold. */
export function defaultGroups(types: Types, element: Element, scope: Scope): Map<string, Through> {
  const found = new Map<string, Through>()
  const { system } = scope.build
  for (const from of types ?? []) {
    for (const to of element.types ?? []) {
      const place = found.has(from) ? undefined : defaultGroup(from, to, scope)
      if (!place) continue
      const target: Given = system.isPrimitive(to)
        ? { kind: 'place', type: to, valueSet: element.model?.requiredValueSet }
        : { kind: 'target', type: to }
      found.set(from, { type: to, code: groupCode(place, [{ kind: 'source', types: [from] }, target], scope.build) })
    }
  }
  return found
}

/** The group that is the default for these types: exactly these first, then those they derive from. */
export function defaultGroup(from: string, to: string, scope: Scope): GroupPlace | undefined {
  const { build, unit } = scope
  const { system } = build
  let general: GroupPlace | undefined
  for (const each of withImports(unit, build)) {
    for (const group of each.groups.values()) {
      const [source, target] = group.parameters
      if (!group.typeMode || group.parameters.length !== 2 || !source || !target || group === scope.group) continue
      const [read, written] = [declaredType(source, each, build), declaredType(target, each, build)]
      if (read === undefined || written === undefined) continue
      if (read === from && written === to) return { unit: each, group }
      if (system.isSubtype(from, read) && written === to) general ??= { unit: each, group }
    }
  }
  return general
}

/** Puts values into an element: through the default group of their type, or as they are where there is none. */
export function throughGroups(
  value: Value,
  element: Element,
  groups: ReadonlyMap<string, Through>,
  owner: { readonly made: Made; at(frame: Frame): Json },
  span: Span,
  scope: Scope,
): Action {
  noteMade(owner.made, element, groups)
  const rest = (value.types ?? []).filter(type => !groups.has(type))
  const land: Land | undefined = rest.length > 0 ? landing({ ...value, types: rest }, element, span, scope) : undefined
  return frame => {
    const items = value.run(frame)
    const holder = items.length > 0 ? owner.at(frame) : {}
    for (const item of items) {
      const through = groups.get(item.type)
      if (through) through.code.run(frame, [[item], hold(holder, element, through.type, scope)])
      else if (land) copyItem(item, land, holder, element)
    }
  }
}

function noteMade(made: Made, element: Element, groups: ReadonlyMap<string, Through>): void {
  made.elements.add(element.model?.name ?? element.key)
  const inner = newMade()
  for (const { code } of groups.values()) inner.also.add(code.made[1]!)
}

/** What a default group fills: a new object in the element, or the place of a primitive. */
function hold(holder: Json, element: Element, type: string, { build }: Scope): unknown {
  const key = element.model?.choice ? element.key + type.charAt(0).toUpperCase() + type.slice(1) : element.key
  if (build.system.isPrimitive(type)) {
    return element.isList ? put(holder, { key, isList: true }, null) : { holder, key, index: -1 }
  }
  const present = holder[key]
  if (present !== undefined && element.isList === false) return present
  const fresh: Json = {}
  put(holder, { key, isList: element.isList }, fresh)
  return fresh
}

function copyItem(item: Typed, land: Land, holder: Json, element: Element): void {
  const { key, convert } = land(item)
  put(holder, { key, isList: element.isList }, convert(item.value), item.sibling)
}
