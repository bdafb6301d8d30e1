// An element of what is being made: its types, whether it repeats, and its name in JSON.

import type { ElementModel } from '../../definitions/model.ts'
import type { Name } from '../ast.ts'
import { shown } from '../problem.ts'
import { isHarmful } from '../run/finish.ts'
import type { Slot } from '../run/write.ts'
import { unknownElement } from './read.ts'
import { report, type Scope } from './scope.ts'

export interface Element extends Slot {
  /** `AllergyIntolerance.code`, in backticks, for messages. */
  readonly shown: string
  /** Its types; undefined where the structure is not known. */
  readonly types: readonly string[] | undefined
  /** For a choice, `key` is the element's name: the type is appended when it is known. */
  readonly model: ElementModel | undefined
}

/** The element of a type that is made; undefined, and reported, if there is none. */
export function elementOf(type: string | undefined, name: Name, scope: Scope): Element | undefined {
  const { text } = name
  if (isHarmful(text)) {
    report(scope, name.span, `${shown(text)} cannot be the name of an element`)
    return undefined
  }
  if (type === undefined)
    return { key: text, isList: undefined, shown: shown(text), types: undefined, model: undefined }
  const { system } = scope.build
  const model = system.model.typeModel(type)?.elements.get(text)
  const label = shown(`${type}.${text}`)
  if (model) return { key: text, isList: model.max > 1, shown: label, types: model.types, model }
  const property = system.properties(type).get(text)
  const choice = property && system.model.typeModel(type)?.elements.get(property.name)
  if (property && choice)
    return { key: text, isList: choice.max > 1, shown: label, types: [property.type], model: choice }
  unknownElement(name, [type], scope)
  return undefined
}
