// Targets: what a rule makes or sets. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6.2

import type { Items } from '../../fhirpath/compile.ts'
import type { Invocation, Name, Path, Target } from '../ast.ts'
import { type Action, type Frame, type Json, objectAt, type Place, placeAt } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { arrange, besidePrimitive, fill, make, type Ordering, put } from '../run/write.ts'
import { landing } from './assign.ts'
import { createdType, freshOf } from './create.ts'
import { defaultGroups, throughGroups } from './default-groups.ts'
import { type Element, elementOf } from './element.ts'
import { unknownVariable } from './read.ts'
import { type Made, newMade, nextSlot, report, type Scope, type Variable, withVariable } from './scope.ts'
import { transformValue, type Value } from './value.ts'

/** What a target does, and the scope of what follows. */
export interface TargetCode {
  readonly action: Action | undefined
  readonly scope: Scope
}

/** Where something is made: the object at hand, and what it has been given so far. */
interface Owner {
  readonly type: string | undefined
  readonly made: Made
  at(frame: Frame): Json
}

const NOTHING: Action = () => {}

export function compileTarget(target: Target, scope: Scope): TargetCode {
  const { path, transform } = target
  if (!path) return transform ? unplaced(target, scope) : { action: undefined, scope }
  const names = path.names as [Name, ...Name[]]
  const variable = scope.variables.get(names[0].text)
  if (!variable) {
    unknownVariable(names[0], scope)
    return unknown(target, scope)
  }
  const isValue = names.length === 2 && variable.kind === 'place' && names[1]!.text === 'value'
  if (names.length === 1 || isValue) return whole(target, variable, names[0], scope)
  const owner = ownerOf(path, variable, scope)
  const element = owner && elementOf(owner.type, names.at(-1)!, scope)
  if (!owner || !element) return unknown(target, scope)
  owner.made.elements.add(element.model?.name ?? element.key)
  if (!transform) return made(target, owner, element, elementType(target, element, scope), scope)
  if (isCreate(transform)) return made(target, owner, element, createdType(transform, element, scope), scope)
  const value = transformValue(transform, scope)
  return value ? assigned(target, owner, element, value, scope) : unknown(target, scope)
}

function isCreate(transform: Target['transform']): transform is Invocation {
  return transform?.kind === 'call' && transform.name.text === 'create'
}

/** After a mistake, the variable is known all the same, so that what follows is not reported too. */
function unknown({ variable }: Target, scope: Scope): TargetCode {
  if (!variable) return { action: undefined, scope }
  const blank: Variable = { kind: 'target', slot: nextSlot(scope), type: undefined, made: newMade() }
  return { action: NOTHING, scope: withVariable(scope, variable.text, blank) }
}

/** `uuid() as id`, `('text') as v`, `create('Patient') as p`: a value that has no place yet. */
function unplaced(target: Target, scope: Scope): TargetCode {
  const { transform, variable } = target
  if (isCreate(transform)) {
    const type = createdType(transform, undefined, scope)
    if (!type || !variable) return unknown(target, scope)
    const { system } = scope.build
    const made = newMade()
    const [slot, fresh] = [nextSlot(scope), freshOf(system, type)]
    scope.build.creations.push({ type, made, unit: scope.unit, span: target.span })
    const action: Action = frame => {
      frame.vars[slot] = fresh()
    }
    return { action, scope: withVariable(scope, variable.text, { kind: 'target', slot, type, made }) }
  }
  const value = transformValue(transform!, scope)
  if (!value) return unknown(target, scope)
  if (!variable) {
    report(scope, target.span, 'this value is not used: give it a place (`tgt.element = …`) or a name (`… as name`)')
    return { action: undefined, scope }
  }
  const slot = nextSlot(scope)
  const { types, codes } = value
  const action: Action = frame => {
    frame.vars[slot] = value.run(frame)
  }
  return { action, scope: withVariable(scope, variable.text, { kind: 'source', slot, types, codes }) }
}

/** `tgt as t` gives a second name; `tgt = value` gives a primitive its value, or copies into an object. */
function whole(target: Target, variable: Variable, name: Name, scope: Scope): TargetCode {
  const { transform, variable: alias } = target
  if (!transform) {
    if (alias) return { action: undefined, scope: withVariable(scope, alias.text, variable) }
    report(scope, target.span, 'this target does nothing: it names no element', { severity: 'warning' })
    return { action: undefined, scope }
  }
  const value = transformValue(transform, scope)
  if (!value) return unknown(target, scope)
  if (variable.kind === 'source') {
    report(scope, name.span, `\`${name.text}\` is read here, it cannot be given a value`)
    return unknown(target, scope)
  }
  const action =
    variable.kind === 'place' ? filling(variable, value, target, scope) : merging(variable, value, target, scope)
  return { action, scope: alias ? withVariable(scope, alias.text, variable) : scope }
}

function filling(
  place: Extract<Variable, { kind: 'place' }>,
  value: Value,
  target: Target,
  scope: Scope,
): Action | undefined {
  const land = landing(value, primitiveElement(place), target.span, scope)
  if (!land) return undefined
  return frame => {
    const item = theOnly(value.run(frame))
    if (item)
      fill(placeAt(frame, place.slot), item.value === undefined ? null : land(item).convert(item.value), item.sibling)
  }
}

/** The value of a primitive, as an element of its own. */
function primitiveElement({ type, valueSet }: Extract<Variable, { kind: 'place' }>): Element {
  const model = {
    name: 'value',
    types: [type],
    choice: false,
    min: 0,
    max: 1,
    summary: false,
    requiredValueSet: valueSet,
  }
  return { key: 'value', isList: false, shown: `this ${type}`, types: [type], model }
}

/** Everything that an object has, into the one that is made. */
function merging(
  target: Extract<Variable, { kind: 'target' }>,
  value: Value,
  { span }: Target,
  scope: Scope,
): Action | undefined {
  target.made.elements.add('*')
  const { type } = target
  const whole = {
    key: 'it',
    isList: false,
    shown: `this ${type ?? 'structure'}`,
    types: type === undefined ? undefined : [type],
    model: undefined,
  }
  const land = landing(value, whole, span, scope)
  if (!land) return undefined
  return frame => {
    const item = theOnly(value.run(frame))
    if (!item) return
    const copy = land(item).convert(item.value) as Json
    for (const key of Object.keys(copy))
      if (key !== 'resourceType') put(objectAt(frame, target.slot), { key, isList: false }, copy[key])
  }
}

function theOnly(items: Items): Items[number] | undefined {
  if (items.length > 1) throw new Refusal(`one value is needed here, and there are ${items.length}`)
  return items[0]
}

/** What the last element of a path belongs to; the elements before it are made where they do not exist yet. */
function ownerOf({ names, span }: Path, variable: Variable, scope: Scope): Owner | undefined {
  const [first, ...rest] = names as [Name, ...Name[]]
  if (variable.kind === 'source') {
    report(scope, first.span, `\`${first.text}\` is read here, nothing can be put into it; a target of the group can`)
    return undefined
  }
  const { slot } = variable
  let owner: Owner =
    variable.kind === 'place'
      ? { type: 'Element', made: newMade(), at: frame => besidePrimitive(placeAt(frame, slot)) }
      : { type: variable.type, made: variable.made, at: frame => objectAt(frame, slot) }
  for (const name of rest.slice(0, -1)) {
    const next = stepInto(owner, name, span, scope)
    if (!next) return undefined
    owner = next
  }
  return owner
}

function stepInto(owner: Owner, name: Name, span: Path['span'], scope: Scope): Owner | undefined {
  const element = elementOf(owner.type, name, scope)
  if (!element) return undefined
  const [type] = element.types ?? []
  if (element.isList === true || element.types?.length !== 1 || scope.build.system.isPrimitive(type!)) {
    if (element.types === undefined)
      return { type: undefined, made: newMade(), at: frame => grow(owner.at(frame), element) }
    report(
      scope,
      span,
      `say which ${element.shown} is meant: \`${name.text} as x\` in a target of its own, then \`x.…\``,
    )
    return undefined
  }
  owner.made.elements.add(element.key)
  const made = newMade()
  scope.build.creations.push({ type: type!, made, unit: scope.unit, span: name.span })
  return { type, made, at: frame => grow(owner.at(frame), element) }
}

function grow(holder: Json, { key }: Element): Json {
  return (holder[key] ??= {}) as Json
}

/** The type of what `tgt.element as x` makes. */
function elementType({ path, variable }: Target, element: Element, scope: Scope): string | undefined | false {
  if (!element.types) return undefined
  const [type] = element.types
  const isKnown = element.types.length === 1 && type !== undefined && !scope.build.system.isOpen(type)
  if (isKnown) return type
  const some = element.types.filter(each => !scope.build.system.isOpen(each)).slice(0, 3)
  const example = some[0] ?? 'Observation'
  report(
    scope,
    path!.span,
    `${element.shown} can be of several types: write \`= create('${example}')\`${variable ? ` as ${variable.text}` : ''}`,
  )
  return false
}

/** Makes something in an element, or a place for a primitive. */
function made(
  target: Target,
  owner: Owner,
  element: Element,
  type: string | undefined | false,
  scope: Scope,
): TargetCode {
  if (type === false) return unknown(target, scope)
  const { system } = scope.build
  const slot = nextSlot(scope)
  const name = target.variable?.text
  const ordering = orderingOf(target, scope)
  if (type !== undefined && system.isPrimitive(type)) {
    const variable: Variable = { kind: 'place', slot, type, valueSet: element.model?.requiredValueSet }
    const next = name === undefined ? scope : withVariable(scope, name, variable)
    return { action: placing(owner, keyed(element, type), slot), scope: next }
  }
  const contents = newMade()
  const variable: Variable = { kind: 'target', slot, type, made: contents }
  if (type !== undefined) scope.build.creations.push({ type, made: contents, unit: scope.unit, span: target.span })
  const fresh = type === undefined ? () => ({}) : freshOf(system, type)
  const into = type === undefined ? element : keyed(element, type)
  const action: Action = frame => {
    frame.vars[slot] = make(frame, owner.at(frame), into, fresh, ordering)
  }
  return { action, scope: name === undefined ? scope : withVariable(scope, name, variable) }
}

function keyed(element: Element, type: string): Element {
  const { model, key } = element
  return model?.choice && key === model.name
    ? { ...element, key: key + type.charAt(0).toUpperCase() + type.slice(1) }
    : element
}

function placing(owner: Owner, element: Element, slot: number): Action {
  return frame => {
    const holder = owner.at(frame)
    const place: Place = element.isList ? put(holder, element, null) : { holder, key: element.key, index: -1 }
    frame.vars[slot] = place
  }
}

function orderingOf({ listModes, span }: Target, scope: Scope): Ordering {
  const share = listModes.find(each => each.share)?.share?.text
  const mode = listModes.find(each => each.mode !== 'share')?.mode
  return { mode, share, site: { ...scope.site, span: span.length > 0 ? span : scope.site.span } }
}

/** Sets an element to a value; each of several becomes an item of its own. */
function assigned(target: Target, owner: Owner, element: Element, value: Value, scope: Scope): TargetCode {
  const through = !target.variable && viaGroups(target, owner, element, value, scope)
  if (through) return { action: through, scope }
  const land = landing(value, element, spanOfValue(target), scope)
  if (!land) return unknown(target, scope)
  const ordering = orderingOf(target, scope)
  const isOrdered = element.isList === true && ordering.mode !== undefined
  const name = target.variable?.text
  const kept = name === undefined ? undefined : keptVariable(name, element, value, scope)
  const slot = kept?.slot
  const action: Action = frame => {
    const items = value.run(frame)
    if (items.length === 0) {
      if (slot !== undefined) frame.vars[slot] = kept?.kind === 'source' ? items : undefined
      return
    }
    if (items.length > 1 && element.isList !== true) throw several(items.length, element)
    const holder = owner.at(frame)
    for (const item of items) {
      const { key, type, convert } = land(item)
      const to = key === element.key ? element : { key, isList: element.isList }
      const result = item.value === undefined ? undefined : convert(item.value)
      const sibling = scope.build.system.isPrimitive(type) ? item.sibling : undefined
      if (result === undefined && sibling === undefined) continue
      if (isOrdered) arrange(frame.shared, (holder[key] ??= []) as unknown[], result, ordering.mode, ordering.site)
      else if (slot === undefined) set(holder, to, result, sibling)
      else frame.vars[slot] = held(kept!, set(holder, to, result, sibling), result)
    }
  }
  return { action, scope: name === undefined || !kept ? scope : withVariable(scope, name, kept) }
}

/** A copy goes through default groups: always where the rule says no more, otherwise where the types differ. */
function viaGroups(target: Target, owner: Owner, element: Element, value: Value, scope: Scope): Action | undefined {
  const { transform } = target
  if (transform?.kind !== 'path' || !value.types || !element.types) return undefined
  const isExplicit = transform.names[0]!.span !== target.span
  if (isExplicit && value.types.some(type => element.types!.includes(type))) return undefined
  const groups = defaultGroups(value.types, element, scope)
  return groups.size > 0 ? throughGroups(value, element, groups, owner, spanOfValue(target), scope) : undefined
}

function set(
  holder: Json,
  slot: { key: string; isList: boolean | undefined },
  value: unknown,
  sibling: unknown,
): Place {
  if (value !== undefined) return put(holder, slot, value, sibling)
  if (slot.isList) return put(holder, slot, null, sibling)
  holder[`_${slot.key}`] = sibling
  return { holder, key: slot.key, index: -1 }
}

function held(variable: Variable, place: Place, value: unknown): unknown {
  return variable.kind === 'place'
    ? place
    : variable.kind === 'target'
      ? value
      : [{ value, type: '', path: undefined, sibling: undefined }]
}

function several(count: number, element: Element): Refusal {
  return new Refusal(`${element.shown} can have one value only, and the source has ${count}; \`first\` takes the first`)
}

/** The variable of `tgt.element = value as x`. */
function keptVariable(_name: string, element: Element, value: Value, scope: Scope): Variable {
  const { system } = scope.build
  const slot = nextSlot(scope)
  const all = element.types ?? value.types
  const [type] = all ?? []
  if (all?.length !== 1 || type === undefined || system.isOpen(type)) return { kind: 'source', slot, types: undefined }
  if (system.isPrimitive(type)) return { kind: 'place', slot, type, valueSet: element.model?.requiredValueSet }
  const made = newMade()
  made.elements.add('*')
  return { kind: 'target', slot, type, made }
}

function spanOfValue({ transform, span }: Target): Target['span'] {
  return transform && transform.span.length > 0 ? transform.span : span
}
