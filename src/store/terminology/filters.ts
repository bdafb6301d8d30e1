// The filters of a value set's definition, as questions to a concept. https://hl7.org/fhir/R4/valueset-filter-operator.html
import type { JsonObject } from '../../lib/json.ts'
import { text } from '../values.ts'
import { type CodeSystem, type Concept, closure, propertiesOf, valueText } from './code-system.ts'
import { unworkable } from './library.ts'

type Holds = (concept: Concept) => boolean

/** A filter that is ready to be asked. */
export interface Filter {
  readonly holds: Holds
  /** Steps that it took to make it ready. */
  readonly steps: number
}

type Operator = (system: CodeSystem, property: string, value: string) => Filter

const simple = (holds: Holds): Filter => ({ holds, steps: 1 })

const operators: Readonly<Record<string, Operator>> = {
  '=': (_system, property, value) => simple(concept => valuesOf(concept, property).includes(value)),
  'is-a': (system, _property, value) => within(closure(system, value, 'children')),
  'descendent-of'(system, _property, value) {
    const below = closure(system, value, 'children')
    below.delete(value)
    return within(below)
  },
  'is-not-a'(system, _property, value) {
    const { holds, steps } = within(closure(system, value, 'children'))
    return { holds: concept => !holds(concept), steps }
  },
  generalizes: (system, _property, value) => within(closure(system, value, 'parents')),
  in(_system, property, value) {
    const wanted = listed(value)
    return { holds: concept => valuesOf(concept, property).some(each => wanted.has(each)), steps: wanted.size }
  },
  'not-in'(_system, property, value) {
    const unwanted = listed(value)
    return { holds: concept => !valuesOf(concept, property).some(each => unwanted.has(each)), steps: unwanted.size }
  },
  exists: (_system, property, value) =>
    simple(concept => valuesOf(concept, property).length > 0 === (value === 'true')),
}

const hierarchical = new Set(['is-a', 'descendent-of', 'is-not-a', 'generalizes'])

const within = (codes: ReadonlySet<string>): Filter => ({
  holds: concept => codes.has(concept.code),
  steps: codes.size,
})

const listed = (value: string): Set<string> => new Set(value.split(',').map(each => each.trim()))

/** @throws Failure VALIDATION_FAILED for an operator that is not answered, or a filter that is not whole. */
export function filterOf(system: CodeSystem, filter: JsonObject): Filter {
  const [property, op, value] = [text(filter['property']), text(filter['op']), text(filter['value'])]
  if (property === undefined || op === undefined || value === undefined)
    throw unworkable('A filter of the value set has no property, op or value.', 'invalid')
  const operator = Object.hasOwn(operators, op) ? operators[op] : undefined
  if (!operator)
    throw unworkable(`The filter operator "${op}" is not supported; these are: ${Object.keys(operators).join(', ')}.`)
  if (hierarchical.has(op) && !system.concepts.has(value))
    throw unworkable(`The filter ${property} ${op} ${value} names a code that ${system.url} does not have.`, 'invalid')
  return operator(system, property, value)
}

function valuesOf(concept: Concept, property: string): string[] {
  if (property === 'concept' || property === 'code') return [concept.code]
  if (property === 'display') return concept.display === undefined ? [] : [concept.display]
  if (property === 'parent') return [...concept.parents]
  if (property === 'child') return [...concept.children]
  return propertiesOf(concept).flatMap(({ code, value }) => (code === property ? [valueText(value)] : []))
}
