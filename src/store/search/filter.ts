// `_filter` as criteria, so that it means, costs and is permitted what ordinary parameters are
// (https://hl7.org/fhir/R4/search_filter.html).
import type { SearchParamModel } from '../../definitions/model.ts'
import { isResourceType, resourceTypes } from '../../definitions/r4.ts'
import { commonParam, type SearchParams } from '../search-params/known.ts'
import { mustBeAnswered, mustLead } from './answerable.ts'
import { testOf } from './filter-operators.ts'
import { type FilterNode, type FilterStep, type FilterTest, filterProblem, parseFilter } from './filter-text.ts'
import { shown } from './query-text.ts'
import type { Criterion } from './request.ts'

/** Most references that one path follows. */
const mostHops = 5

interface Scope {
  readonly params: SearchParams
  /** What no type had, kept for the message: a chain may meet types that lack a parameter, as long as one has it. */
  unknown: { readonly at: number; readonly message: string } | undefined
}

/** Reads a filter over `types`. @throws Failure MALFORMED_REQUEST with the character that is wrong. */
export function readFilter(params: SearchParams, types: readonly string[], text: string): Criterion {
  const scope: Scope = { params, unknown: undefined }
  const criterion = criterionOf(parseFilter(text), types, scope, 0)
  if (!criterion) throw filterProblem(scope.unknown!.at, scope.unknown!.message)
  return criterion
}

function criterionOf(node: FilterNode, types: readonly string[], scope: Scope, hops: number): Criterion | undefined {
  if (node.kind === 'test') return ofTest(node, types, scope, hops)
  if (node.kind === 'not') {
    const part = criterionOf(node.part, types, scope, hops)
    return part && { kind: 'not', part }
  }
  const parts = node.parts.map(part => criterionOf(part, types, scope, hops)).filter(part => part !== undefined)
  if (parts.length < node.parts.length) return undefined
  return (node.kind === 'or' && asList(parts)) || { kind: node.kind, parts }
}

/** `code eq a or code eq b` as what it is, `code=a,b`; undefined if it is anything else. */
function asList(parts: readonly Criterion[]): Criterion | undefined {
  const [first] = parts
  if (first?.kind !== 'param' || first.param.type !== 'token' || first.modifier !== '') return undefined
  const values = parts.flatMap(part =>
    part.kind === 'param' && part.param === first.param && part.modifier === '' && !part.operator ? part.values : [],
  )
  return values.length === parts.length ? { ...first, values } : undefined
}

// "The compareOp is always evaluated against the set of values produced by the path": a test whether the set is empty, or holds
// none of something, negates the whole path, not its last step.
function ofTest(test: FilterTest, types: readonly string[], scope: Scope, hops: number): Criterion | undefined {
  if (test.operator === 'pr' && test.value !== 'true' && test.value !== 'false')
    throw filterProblem(test.at, 'pr must be followed by true or false.')
  const isNegated = test.operator === 'ni' || (test.operator === 'pr' && test.value === 'false')
  const positive: FilterTest = isNegated
    ? { ...test, operator: test.operator === 'ni' ? 'in' : 'pr', value: test.operator === 'pr' ? 'true' : test.value }
    : test
  const part = ofPath(positive, test.path, types, scope, hops)
  return part && isNegated ? { kind: 'not', part } : part
}

function ofPath(
  test: FilterTest,
  [step, ...rest]: readonly FilterStep[],
  types: readonly string[],
  scope: Scope,
  hops: number,
): Criterion | undefined {
  if (hops > mostHops) throw filterProblem(step!.at, `a path must follow at most ${mostHops} references.`)
  if (step!.name.startsWith('_has:')) return ofHas(test, step!, rest, types, scope, hops)
  const [code, wanted] = step!.name.split(':') as [string, string | undefined]
  const param =
    commonParam(scope.params, types, code) ?? (code === 'id' ? commonParam(scope.params, types, '_id') : undefined)
  if (!param) {
    scope.unknown ??= { at: step!.at, message: `${named(types)} no search parameter "${shown(code)}".` }
    return undefined
  }
  mustBeAnswered(param)
  if (rest.length > 0) mustLead(param, types, step!.name)
  if (rest.length > 0) return ofChain(test, { ...step!, param, wanted }, rest, types, scope, hops)
  if (wanted !== undefined)
    throw filterProblem(step!.at, `a filter supports operators, not modifiers: "${shown(step!.name)}".`)
  return testOf(test, param, types)
}

const named = (types: readonly string[]): string =>
  types.length === 1 ? `${types[0]} has` : 'the searched types share'

interface ChainStep extends FilterStep {
  readonly param: SearchParamModel
  readonly wanted: string | undefined
}

function ofChain(
  test: FilterTest,
  { param, wanted, filter, at }: ChainStep,
  rest: readonly FilterStep[],
  types: readonly string[],
  scope: Scope,
  hops: number,
): Criterion | undefined {
  if (param.type !== 'reference')
    throw filterProblem(
      at,
      `only a reference can be followed by a dot, and ${param.code} is a ${param.type} parameter.`,
    )
  if (wanted !== undefined && !isResourceType(wanted))
    throw filterProblem(at, `"${shown(wanted)}" is not a resource type.`)
  const possible = wanted ? [wanted] : (param.targets ?? resourceTypes)
  const targets = possible.flatMap(type => {
    const found = ofPath(test, rest, [type], scope, hops + 1)
    const narrowed = found && filter ? criterionOf(filter, [type], scope, hops + 1) : undefined
    if (!found || (filter && !narrowed)) return []
    return [{ type, criterion: narrowed ? ({ kind: 'and', parts: [narrowed, found] } as const) : found }]
  })
  return targets.length > 0 ? { kind: 'chain', types, param, targets } : undefined
}

// R5 writes reverse chains this way, and R4 says "per existing source".
function ofHas(
  test: FilterTest,
  step: FilterStep,
  rest: readonly FilterStep[],
  types: readonly string[],
  scope: Scope,
  hops: number,
): Criterion | undefined {
  const [, from, code, ...inner] = step.name.split(':')
  const param = from && code && isResourceType(from) ? scope.params.find(from, code) : undefined
  if (!from || param?.type !== 'reference' || inner.length === 0)
    throw filterProblem(step.at, `write _has:Type:reference:parameter, e.g. _has:Observation:patient:code.`)
  mustLead(param, [from], step.name)
  const criterion = ofPath(test, [{ ...step, name: inner.join(':') }, ...rest], [from], scope, hops + 1)
  return criterion && { kind: 'has', types, from, param, criterion }
}
