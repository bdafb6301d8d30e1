// Which modifiers a parameter takes: those of its type, if the elements that it reads have what the modifier needs
// (https://hl7.org/fhir/R4/search.html#modifiers).
import type { SearchParamModel } from '../../definitions/model.ts'
import { isResourceType } from '../../definitions/r4.ts'
import { typesRead } from '../index/param-paths.ts'
import { malformed, shown } from './query-text.ts'

const modifiers: Readonly<Record<SearchParamModel['type'], readonly string[]>> = {
  string: ['missing', 'exact', 'contains'],
  token: ['missing', 'not', 'text', 'of-type', 'in', 'not-in', 'above', 'below'],
  reference: ['missing', 'identifier'],
  uri: ['missing', 'above', 'below'],
  date: ['missing'],
  number: ['missing'],
  quantity: ['missing'],
  composite: [],
  special: ['missing'],
}

const coded = ['code', 'Coding', 'CodeableConcept']

/**
 * The datatypes that have what a modifier needs. The text of an identifier is that of its type, which is not indexed: `:of-type`
 * finds identifiers by their type.
 */
const needs: Readonly<Record<string, readonly string[]>> = {
  text: ['Coding', 'CodeableConcept'],
  'of-type': ['Identifier'],
  in: coded,
  'not-in': coded,
  above: coded,
  below: coded,
  identifier: ['Reference'],
}

/**
 * An unknown modifier changes the meaning of a search, so it is always refused.
 * @throws Failure MALFORMED_REQUEST naming the modifiers that the parameter takes.
 */
export function checkModifier(param: SearchParamModel, types: readonly string[], modifier: string, name: string): void {
  const isTarget = param.type === 'reference' && isResourceType(modifier)
  if (isTarget) return checkTarget(param, modifier, name)
  if (modifier === '') return
  const known = modifiersOf(param, types)
  if (known.includes(modifier)) return
  const taken = known.map(one => `:${one}`).join(', ') || 'none: ask for its parts'
  throw malformed(
    name,
    `:${shown(modifier)} is not supported on the ${param.type} parameter ${param.code}, which supports ${taken}.`,
  )
}

/** Returns the modifiers that a parameter of these types takes; a reference takes the types that it points at, too. */
export const modifiersOf = (param: SearchParamModel, types: readonly string[]): readonly string[] =>
  modifiers[param.type].filter(each => param.type === 'uri' || isReadable(param, types, each))

/** @throws Failure MALFORMED_REQUEST for a type that the parameter never points at. */
export function checkTarget({ code, targets }: SearchParamModel, type: string, name: string): void {
  if (!targets || targets.includes(type)) return
  throw malformed(name, `${code} never points at a resource of type ${type}; it takes ${targets.join(', ')}.`)
}

function isReadable(param: SearchParamModel, types: readonly string[], modifier: string): boolean {
  const wanted = needs[modifier]
  return !wanted || types.some(type => typesRead(param, type)?.some(each => wanted.includes(each)) ?? true)
}
