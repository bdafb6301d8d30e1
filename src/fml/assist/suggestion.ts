// What can be written at a place of a map, one name each, and how authors see it.

import type { ElementModel, TypeModel } from '../../definitions/model.ts'
import { elementWords } from '../../definitions/r4.ts'
import { functions } from '../../fhirpath/functions/table.ts'
import { jsonKey } from '../../fhirpath/types.ts'
import { transformForms } from '../compile/transforms.ts'
import type { SeenGroup, SeenVariable } from '../sight.ts'
import type { Structures } from '../structures.ts'

export type SuggestionKind =
  | 'element'
  | 'variable'
  | 'group'
  | 'function'
  | 'transform'
  | 'table'
  | 'type'
  | 'code'
  | 'keyword'
  | 'url'

/** One of the things that can be written. */
export interface Suggestion {
  /** What is written. */
  readonly label: string
  readonly kind: SuggestionKind
  /** Its type, or its form. */
  readonly detail?: string
  /** What it is, in a sentence. */
  readonly info?: string
}

/** `CodeableConcept 0..*` */
export function typeText({ types, min, max }: ElementModel): string {
  const names = types.length > 4 ? `${types.slice(0, 3).join(' | ')} | …` : types.join(' | ')
  return `${names} ${min}..${max === Number.POSITIVE_INFINITY ? '*' : max}`
}

/** What an element is, in words, where they are known. */
export const wordsOf = (type: string, { name, short }: ElementModel): string | undefined =>
  short ?? elementWords(type, name)

/** The elements of types, required ones first; of a choice also the names that JSON has. */
export function elements(structures: Structures, types: readonly string[]): Suggestion[] {
  return types.flatMap(type => {
    const model = structures.typeModel(type)
    return model ? elementsOf(type, model) : []
  })
}

function elementsOf(type: string, model: TypeModel): Suggestion[] {
  const all = [...model.elements.values()].toSorted((a, b) => Number(b.min > 0) - Number(a.min > 0))
  return all.flatMap(element => {
    const info = wordsOf(type, element)
    const whole: Suggestion = { label: element.name, kind: 'element', detail: typeText(element), info }
    const isSmall = element.choice && element.types.length < 12
    const each = isSmall ? element.types.map(one => ({ ...whole, label: jsonKey(element, one), detail: one })) : []
    return [whole, ...each]
  })
}

export const variables = (seen: ReadonlyMap<string, SeenVariable>, mark = ''): Suggestion[] =>
  [...seen].map(([name, { types }]) => ({
    label: mark + name,
    kind: 'variable',
    detail: types?.slice(0, 3).join(' | '),
  }))

export const transforms = (): Suggestion[] =>
  [...transformForms].map(([name, form]) => ({ label: name, kind: 'transform', detail: form }))

export const pathFunctions = (): Suggestion[] =>
  [...functions].map(([name, { min, max }]) => ({
    label: `${name}()`,
    kind: 'function',
    detail: max === 0 ? '' : min === max ? `${min} argument${min > 1 ? 's' : ''}` : `${min} to ${max} arguments`,
  }))

export const groups = (all: readonly SeenGroup[]): Suggestion[] =>
  all.map(({ name, parameters, map }) => ({ label: name, kind: 'group', detail: `(${parameters})`, info: map }))

/** Names of one kind with nothing more to say of them. */
export const plain = (kind: SuggestionKind, names: Iterable<string>): Suggestion[] =>
  [...names].map(label => ({ label, kind }))
