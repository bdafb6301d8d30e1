// What each operator of `_filter` means for each type of parameter (https://hl7.org/fhir/R4/search_filter.html#ops).
import type { SearchParamModel, SearchParamType } from '../../definitions/model.ts'
import { Failure } from '../../lib/failure.ts'
import { isSingle } from '../index/param-paths.ts'
import { type FilterTest, filterProblem } from './filter-text.ts'
import { shown } from './query-text.ts'
import type { Criterion, ParamCriterion, ParamOperator } from './request.ts'
import { queryDate, queryNumber, queryQuantity, queryToken } from './values.ts'

const comparisons = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'ap', 'sa', 'eb', 'pr']

/** What has a meaning; R4 leaves out uris and composites, and `eq` on references, where there is only one it could have. */
const operators: Readonly<Record<SearchParamType, readonly string[]>> = {
  string: ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le', 'pr'],
  number: comparisons,
  quantity: comparisons,
  date: [...comparisons, 'co', 'po'],
  token: ['eq', 'ne', 'ss', 'sb', 'in', 'ni', 'pr'],
  reference: ['re', 'eq', 'ne', 'pr'],
  uri: ['eq', 'ne', 'pr'],
  composite: ['eq'],
  special: ['eq'],
}

const known = new Set([...Object.values(operators).flat()])

/** A test on a parameter itself. @throws Failure MALFORMED_REQUEST if the operator has no meaning for it. */
export function testOf(test: FilterTest, param: SearchParamModel, types: readonly string[]): Criterion {
  check(test, param)
  const ask = (modifier: string, value: string, operator?: ParamOperator): ParamCriterion => ({
    kind: 'param',
    types,
    param,
    modifier,
    values: [value],
    ...(operator && { operator }),
  })
  const { operator, value } = test
  if (operator === 'pr') return ask('missing', 'false')
  switch (param.type) {
    case 'string':
      return ofString(operator, literal(value), ask)
    case 'date':
    case 'number':
    case 'quantity':
      return ofRange(test, param, ask)
    case 'token':
      return ofToken(test, param, types, ask)
    case 'reference':
    case 'uri':
      return operator === 'ne' ? unequal(test, param, types, ask('', literal(value)), ask) : ask('', literal(value))
    case 'composite':
    case 'special':
      return ask('', value)
  }
}

type Ask = (modifier: string, value: string, operator?: ParamOperator) => ParamCriterion

function check({ operator, at }: FilterTest, param: SearchParamModel): void {
  if (!known.has(operator))
    throw filterProblem(at, `"${shown(operator)}" is no operator; there are ${[...known].sort().join(', ')}.`)
  if (param.code === '_text' || param.code === '_content')
    throw filterProblem(
      at,
      `${param.code} is not supported in a filter: send it as a separate parameter, ${param.code}=words.`,
    )
  if (!operators[param.type].includes(operator) || (operator === 'co' && param.code === '_lastUpdated'))
    throw filterProblem(
      at,
      `${operator} has no meaning for ${param.code}, which is a ${param.type} parameter; it takes ${operators[param.type].join(', ')}.`,
    )
}

/** A value of a filter is no list and has no escapes of its own. */
const literal = (value: string): string => value.replace(/[\\,|$]/g, '\\$&')

function ofString(operator: string, value: string, ask: Ask): Criterion {
  if (operator === 'sw') return ask('', value)
  if (operator === 'co') return ask('contains', value)
  return ask('', value, operator as ParamOperator)
}

function ofRange({ operator, value, at }: FilterTest, param: SearchParamModel, ask: Ask): Criterion {
  const asked = operator === 'po' || operator === 'co' ? `eq${value}` : operator + withSystem(value, 1)
  readable(at, () => ranges[param.type as keyof typeof ranges](param.code, asked))
  // An instant overlaps with a period exactly if it lies in it.
  return operator === 'co' || (operator === 'po' && param.code !== '_lastUpdated')
    ? ask('', asked, operator)
    : ask('', asked)
}

const ranges = { date: queryDate, number: queryNumber, quantity: queryQuantity }

/** Has the value read now, while its place is known. */
function readable(at: number, read: () => unknown): void {
  try {
    read()
  } catch (error) {
    throw filterProblem(at, error instanceof Failure ? error.message : String(error))
  }
}

const codeOperators: Readonly<Record<string, string>> = { in: 'in', ss: 'below', sb: 'above' }

function ofToken(test: FilterTest, param: SearchParamModel, types: readonly string[], ask: Ask): Criterion {
  const { operator, value } = test
  if (operator !== 'in') readable(test.at, () => queryToken(param.code, value))
  if (operator === 'eq') return ask('', withSystem(value, 0))
  if (operator === 'ne') return unequal(test, param, types, ask('', withSystem(value, 0)), ask)
  return ask(codeOperators[operator]!, operator === 'in' ? literal(value) : withSystem(value, 0))
}

// "An item in the set has an unequal value." Hashes show whether a value is there, not which others are: so this can be answered
// where there is at most one.
function unequal(
  { at }: FilterTest,
  param: SearchParamModel,
  types: readonly string[],
  equal: ParamCriterion,
  ask: Ask,
): Criterion {
  if (param.code !== '_id' && !types.every(type => isSingle(param, type)))
    throw filterProblem(
      at,
      `${param.code} can have several values, so ne is not supported: write not (${param.code} eq …) for "none is equal".`,
    )
  return { kind: 'and', parts: [ask('missing', 'false'), { kind: 'not', part: equal }] }
}

const systems: Readonly<Record<string, string>> = {
  loinc: 'http://loinc.org',
  snomed: 'http://snomed.info/sct',
  rxnorm: 'http://www.nlm.nih.gov/research/umls/rxnorm',
  ucum: 'http://unitsofmeasure.org',
}

/** The value with the short name of a system, at that place between bars, written out. */
function withSystem(value: string, place: number): string {
  const parts = value.split('|')
  if (parts.length <= place + 1) return value
  return parts.map((part, index) => (index === place ? (systems[part] ?? part) : part)).join('|')
}
