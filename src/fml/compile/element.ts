// An element of what is being made: its types, whether it repeats, and its name in JSON.

import type { ElementModel } from '../../definitions/model.ts'
import { typeModel } from '../../definitions/r4.ts'
import { jsonKey } from '../../fhirpath/types.ts'
import type { Name } from '../ast.ts'
import { shown } from '../problem.ts'
import { isHarmful } from '../run/finish.ts'
import type { Slot } from '../run/write.ts'
import { noteElement, report, type Scope } from './scope.ts'
import { unknownElement } from './unknown.ts'

export interface Element extends Slot {
  /** `AllergyIntolerance.code`, in backticks, for messages. */
  readonly shown: string
  /** Its types; undefined where the structure is not known. */
  readonly types: readonly string[] | undefined
  /** Of a type of R4, which has no empty texts. */
  readonly isFhir: boolean
  /** For a choice, `key` is the element's name: the type is appended when it is known. */
  readonly model: ElementModel | undefined
}

/** The element of a type that is made; undefined, and reported, if there is none. */
export function elementOf(type: string | undefined, name: Name, scope: Scope): Element | undefined {
  const { text } = name
  if (type !== undefined) noteElement(scope.build, 'sets', type, text)
  scope.build.see?.({ kind: 'element', span: name.span, types: type === undefined ? undefined : [type], isMade: true })
  if (isHarmful(text)) {
    report(scope, name.span, `${shown(text)} cannot be the name of an element`)
    return undefined
  }
  if (type === undefined)
    return { key: text, isList: undefined, isFhir: false, shown: shown(text), types: undefined, model: undefined }
  const { system } = scope.build
  const model = system.model.typeModel(type)?.elements.get(text)
  const isFhir = typeModel(type) !== undefined
  const label = shown(`${type}.${text}`)
  if (model) return { key: text, isList: model.max > 1, isFhir, shown: label, types: model.types, model }
  const property = system.properties(type).get(text)
  const choice = property && system.model.typeModel(type)?.elements.get(property.name)
  if (property && choice) {
    const element = {
      key: choice.name,
      isList: choice.max > 1,
      isFhir,
      shown: label,
      types: [property.type],
      model: choice,
    }
    return keyed(element, property.type)
  }
  unknownElement(name, [type], scope)
  return undefined
}

const rivals = new WeakMap<ElementModel, ReadonlySet<string>>()

/** The element as JSON has it for one of its types. */
export function keyed(element: Element, type: string): Element {
  const { model, key } = element
  if (!model?.choice || key !== model.name) return element
  let others = rivals.get(model)
  if (!others) rivals.set(model, (others = new Set(model.types.map(each => jsonKey(model, each)))))
  return { ...element, key: jsonKey(model, type), rivals: others }
}
