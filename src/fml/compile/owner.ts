// The owner of a new value: the object that the last element of a target's path belongs to.

import type { Name, Path } from '../ast.ts'
import { type Frame, type Json, objectAt, placeAt } from '../run/frame.ts'
import { besidePrimitive } from '../run/write.ts'
import { type Element, elementOf } from './element.ts'
import { isRead, type Made, newMade, noteCreation, report, type Scope, type Variable } from './scope.ts'

/** The object at hand, and what it has been given so far. */
export interface Owner {
  readonly type: string | undefined
  readonly made: Made
  at(frame: Frame): Json
}

/** The owner of the last element of a path; the elements before it are made where they do not exist yet. */
export function ownerOf({ names, span }: Path, variable: Variable, scope: Scope): Owner | undefined {
  const [first, ...rest] = names as [Name, ...Name[]]
  if (isRead(variable)) {
    report(scope, first.span, `\`${first.text}\` is a source and cannot be written; use a target of the group`)
    return undefined
  }
  const { slot } = variable
  let owner: Owner | undefined =
    variable.kind === 'place'
      ? { type: 'Element', made: newMade(), at: frame => besidePrimitive(placeAt(frame, slot)) }
      : { type: variable.type, made: variable.made, at: frame => objectAt(frame, slot) }
  for (const name of rest.slice(0, -1)) owner = owner && stepInto(owner, name, span, scope)
  return owner
}

function stepInto(owner: Owner, name: Name, span: Path['span'], scope: Scope): Owner | undefined {
  const element = elementOf(owner.type, name, scope)
  if (!element) return undefined
  if (element.types === undefined)
    return { type: undefined, made: newMade(), at: frame => grow(owner.at(frame), element) }
  const [type] = element.types
  if (element.isList === true || element.types.length !== 1 || scope.build.system.isPrimitive(type!)) {
    const message = `bind ${element.shown} to a variable: \`${name.text} as x\` in a target of its own, then \`x.…\``
    report(scope, span, message)
    return undefined
  }
  owner.made.elements.add(element.key)
  const made = newMade()
  noteCreation(scope.build, { type: type!, made, unit: scope.unit, span: name.span })
  return { type, made, at: frame => grow(owner.at(frame), element) }
}

function grow(holder: Json, { key }: Element): Json {
  return (holder[key] ??= {}) as Json
}
