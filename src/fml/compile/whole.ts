// Targets that name no element: a primitive gets its value, an object everything that another one has.

import type { Items } from '../../fhirpath/compile.ts'
import type { Name, Target } from '../ast.ts'
import { cloneSibling } from '../run/finish.ts'
import { type Action, type Json, objectAt, placeAt } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { fill, put } from '../run/write.ts'
import { landing } from './assign.ts'
import type { Element } from './element.ts'
import { isRead, report, type Scope, type TargetCode, type Variable, withVariable } from './scope.ts'
import { transformValue } from './transforms.ts'
import type { Value } from './value.ts'

type PlaceVariable = Extract<Variable, { kind: 'place' }>
type TargetVariable = Extract<Variable, { kind: 'target' }>

/** `tgt as t` gives a second name; `tgt = value` gives a primitive its value, or copies into an object. */
export function whole(target: Target, variable: Variable, name: Name, scope: Scope): TargetCode | undefined {
  const { transform, variable: alias } = target
  const next = alias ? withVariable(scope, alias.text, variable) : scope
  if (!transform) return { action: undefined, scope: next }
  const value = transformValue(transform, scope)
  if (!value) return undefined
  if (isRead(variable)) {
    report(scope, name.span, `\`${name.text}\` is a source and cannot be assigned`)
    return undefined
  }
  const action =
    variable.kind === 'place' ? filling(variable, value, target, scope) : merging(variable, value, target, scope)
  return { action, scope: next }
}

function filling(place: PlaceVariable, value: Value, target: Target, scope: Scope): Action | undefined {
  const land = landing(value, primitiveElement(place), target.span, scope)
  if (!land) return undefined
  return frame => {
    const item = theOnly(value.run(frame))
    if (!item) return
    const result = item.value === undefined ? null : land(item).convert(item.value)
    if (result !== '') fill(frame.shared, placeAt(frame, place.slot), result, cloneSibling(item.sibling))
  }
}

/** The value of a primitive, as an element of its own. */
function primitiveElement({ type, valueSet: requiredValueSet }: PlaceVariable): Element {
  const model = { name: 'value', types: [type], choice: false, min: 0, max: 1, summary: false, requiredValueSet }
  return { key: 'value', isList: false, isFhir: false, shown: `this ${type}`, types: [type], model }
}

/** Everything that an object has, into the one that is made. */
function merging(target: TargetVariable, value: Value, { span }: Target, scope: Scope): Action | undefined {
  target.made.elements.add('*')
  const { type } = target
  const types = type === undefined ? undefined : [type]
  const itself = {
    key: 'it',
    isList: false,
    isFhir: false,
    shown: `this ${type ?? 'structure'}`,
    types,
    model: undefined,
  }
  const land = landing(value, itself, span, scope)
  if (!land) return undefined
  return frame => {
    const item = theOnly(value.run(frame))
    if (!item) return
    const copy = land(item).convert(item.value) as Json
    for (const key of Object.keys(copy))
      if (key !== 'resourceType') put(frame.shared, objectAt(frame, target.slot), { key, isList: false }, copy[key])
  }
}

function theOnly(items: Items): Items[number] | undefined {
  if (items.length > 1) throw new Refusal(`one value is needed here, and there are ${items.length}`)
  return items[0]
}
