// `create('Type')`: the new value, and whether its element can hold it.

import type { TypeSystem } from '../../fhirpath/types.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Invocation } from '../ast.ts'
import { shown } from '../problem.ts'
import type { Json } from '../run/frame.ts'
import type { Element } from './element.ts'
import { replacing, report, type Scope } from './scope.ts'
import { typeNamed, unknownType } from './unit.ts'

/** The type that is created: undefined where its structure is not known, false where a mistake was reported. */
export function createdType(call: Invocation, element: Element | undefined, scope: Scope): string | undefined | false {
  const [argument] = call.args
  if (!argument) return elementOnly(call, element, scope)
  if (argument.kind !== 'literal') {
    report(scope, argument.span, "write the type as a string, such as create('Quantity')")
    return false
  }
  const { build, unit } = scope
  build.see?.({ kind: 'type', span: argument.span, types: element?.types })
  const type = typeNamed(unit, argument.text, build)
  if (type === unknownType) return unknownName(argument.text, argument.span, element, scope)
  if (type === undefined || !element?.types) return type
  const { system } = build
  if (element.types.some(each => system.isSubtype(type, each) || canHold(system, each, type))) return type
  const allowed = element.types.length > 12 ? '' : `: ${element.types.join(', ')}`
  report(scope, argument.span, `${element.shown} cannot hold a ${type}; it is of type${allowed}`)
  return false
}

/** A Quantity in place of an Age, for example, has the same elements. */
function canHold(system: TypeSystem, wanted: string, type: string): boolean {
  return system.isOpen(wanted) && system.model.typeModel(type)?.kind === 'resource' && wanted === 'Resource'
}

function elementOnly(call: Invocation, element: Element | undefined, scope: Scope): string | undefined | false {
  if (element && !element.types) return undefined
  if (element?.types?.length === 1) return element.types[0]
  report(scope, call.span, "name the type: create('Type')")
  return false
}

function unknownName(name: string, span: Invocation['span'], element: Element | undefined, scope: Scope): false {
  const { structures } = scope.build
  const names = element?.types ?? structures.urls.map(each => each.slice(each.lastIndexOf('/') + 1))
  const meant = nearest(name, names)
  const question = didYouMean(meant)
  report(scope, span, `there is no type ${shown(name)}${question}`, {
    ...replacing(span, meant && `'${meant}'`),
    isAbsence: true,
  })
  return false
}

/** Creates an empty value of a type; resources get their resourceType. */
export function freshOf(system: TypeSystem, type: string): () => Json {
  return isTagged(system, type) ? () => ({ resourceType: type }) : () => ({})
}

/** True for resources; a logical model names its type at the top only. */
function isTagged(system: TypeSystem, type: string): boolean {
  return system.isSubtype(type, 'Resource')
}
