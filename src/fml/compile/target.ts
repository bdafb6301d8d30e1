// Targets: what a rule makes or sets. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6.2

import type { Invocation, Name, Target } from '../ast.ts'
import { shown } from '../problem.ts'
import type { Action } from '../run/frame.ts'
import { assigned } from './assigned.ts'
import { createdType, freshOf } from './create.ts'
import { type Element, elementOf } from './element.ts'
import { elementType, made } from './made.ts'
import { ownerOf } from './owner.ts'
import {
  isRead,
  newMade,
  nextSlot,
  noteCreation,
  report,
  type Scope,
  seeVariable,
  type TargetCode,
  type Variable,
  withVariable,
} from './scope.ts'
import { transformValue } from './transforms.ts'
import { unknownVariable } from './unknown.ts'
import { whole } from './whole.ts'

const NOTHING: Action = () => {}

export function compileTarget(target: Target, scope: Scope): TargetCode {
  const { path, transform } = target
  if (!path) return transform ? unplaced(target, scope) : { action: undefined, scope }
  const names = path.names as [Name, ...Name[]]
  seeVariable(names[0], scope)
  const variable = scope.variables.get(names[0].text)
  if (!variable) {
    unknownVariable(names[0], scope)
    return unknown(target, scope)
  }
  const isValue = names.length === 2 && variable.kind === 'place' && names[1]!.text === 'value'
  if (names.length === 1 || isValue) return whole(target, variable, names[0], scope) ?? unknown(target, scope)
  return inElement(target, variable, scope) ?? unknown(target, scope)
}

function inElement(target: Target, variable: Variable, scope: Scope): TargetCode | undefined {
  const { path, transform } = target
  const owner = ownerOf(path!, variable, scope)
  const element = owner && elementOf(owner.type, path!.names.at(-1)!, scope)
  if (!owner || !element) return undefined
  owner.made.elements.add(element.model?.name ?? element.key)
  warnOfSeveral(element, variable, scope)
  if (!transform || isCreate(transform)) {
    const type = transform ? createdType(transform, element, scope) : elementType(target, element, scope)
    return type === false ? undefined : made(target, owner, element, type, scope)
  }
  const value = transformValue(transform, scope)
  return value && assigned(target, owner, element, value, scope)
}

/** A list whose values all go into the same single element. */
function warnOfSeveral({ isList, shown: label }: Element, variable: Variable, scope: Scope): void {
  const { repeated } = scope
  if (!repeated || isList !== false || isRead(variable) || variable.slot > repeated.slot) return
  const { names, span } = repeated.path
  const list = shown(names.map(each => each.text).join('.'))
  const message = `${list} can have several values, and ${label} takes one: choose with \`first\`, \`last\` or \`where\`, or write \`only_one\``
  report(scope, span.length > 0 ? span : scope.site.span, message, { severity: 'warning' })
}

function isCreate(transform: Target['transform']): transform is Invocation {
  return transform?.kind === 'call' && transform.name.text === 'create'
}

/** Declares the variable after an error too, so that the following rules are not reported. */
function unknown({ variable }: Target, scope: Scope): TargetCode {
  if (!variable) return { action: undefined, scope }
  const blank: Variable = { kind: 'target', slot: nextSlot(scope), type: undefined, made: newMade() }
  return { action: NOTHING, scope: withVariable(scope, variable.text, blank) }
}

/** `uuid() as id`, `('text') as v`, `create('Patient') as p`: a value that has no place yet. */
function unplaced(target: Target, scope: Scope): TargetCode {
  const { transform, variable } = target
  if (isCreate(transform)) return created(target, transform, scope)
  const value = transformValue(transform!, scope)
  if (!value) return unknown(target, scope)
  if (!variable) {
    report(scope, target.span, 'this value is not used: give it a place (`tgt.element = …`) or a name (`… as name`)')
    return { action: undefined, scope }
  }
  const slot = nextSlot(scope)
  const { types, codes, isGrowing } = value
  const action: Action = frame => {
    frame.vars[slot] = value.run(frame)
  }
  return { action, scope: withVariable(scope, variable.text, { kind: 'source', slot, types, codes, isGrowing }) }
}

function created(target: Target, call: Invocation, scope: Scope): TargetCode {
  const { variable } = target
  const type = createdType(call, undefined, scope)
  if (!type || !variable) return unknown(target, scope)
  const { system } = scope.build
  const contents = newMade()
  const [slot, fresh] = [nextSlot(scope), freshOf(system, type)]
  noteCreation(scope.build, { type, made: contents, unit: scope.unit, span: target.span })
  const action: Action = frame => {
    frame.vars[slot] = fresh()
  }
  return { action, scope: withVariable(scope, variable.text, { kind: 'target', slot, type, made: contents }) }
}
