// What a search may cost, counted before anything runs: each bound is named where it is exceeded.
import { Failure } from '../../lib/failure.ts'
import { tooCostly } from './query-text.ts'
import { type Criterion, partsOf, type SearchRequest } from './request.ts'
import { asksWithin } from './sql-words.ts'

/**
 * `steps`: references that chains and `_has` follow, one for each type that a reference may lead to; `within`: criteria that look
 * for a piece of a text, and must all be met (for alternatives, `_filter` has a bound of its own); `includes`: `_include` and
 * `_revinclude`, where equal ones count once.
 */
const bounds = { steps: 200, within: 10, includes: 30 } as const

/** @throws Failure MALFORMED_REQUEST (`too-costly`) naming the bound that is exceeded. */
export function mustBeBounded({ criteria, includes }: Pick<SearchRequest, 'criteria' | 'includes'>): void {
  const all = criteria.flatMap(withParts)
  const steps = all.reduce((sum, each) => sum + stepsOf(each), 0)
  if (steps > bounds.steps)
    throw tooCostly(
      'chain',
      `The chains of the search follow ${steps} references, counting every target type; the limit is ${bounds.steps}. Specify the types, as in subject:Patient.name, or remove chains.`,
    )
  const within = criteria.flatMap(required).filter(isWithin).length
  if (within > bounds.within)
    throw tooCostly(
      ':contains',
      `The search has ${within} substring criteria (:contains, :text, and co and ew of _filter); the limit is ${bounds.within}.`,
    )
  if (includes.length > bounds.includes)
    throw tooCostly(
      '_include',
      `The search has ${includes.length} _include and _revinclude parameters; the limit is ${bounds.includes}.`,
    )
}

const withParts = (criterion: Criterion): Criterion[] => [criterion, ...partsOf(criterion).flatMap(withParts)]

/** Without the alternatives, which make no intersection. */
const required = (criterion: Criterion): Criterion[] =>
  criterion.kind === 'or' ? [] : [criterion, ...partsOf(criterion).flatMap(required)]

const stepsOf = (criterion: Criterion): number =>
  criterion.kind === 'chain' ? criterion.targets.length : criterion.kind === 'has' ? 1 : 0

const isWithin = (criterion: Criterion): boolean =>
  criterion.kind === 'param' &&
  (asksWithin(criterion) || (criterion.param.type === 'token' && criterion.modifier === 'text'))

/** Parameters that make a search slow where much is stored: they look through other resources, texts, or everything in an order. */
const costly =
  /\.|^_has:|:(?:contains|text|not|not-in|missing|in|below|above)$|^_(?:filter|content|text|sort|total|include|revinclude)\b/

/** The failure of a search that took too long, with the parameters that cost most. */
export function withReason(error: unknown, { applied }: SearchRequest): unknown {
  if (!(error instanceof Failure) || error.code !== 'UNAVAILABLE' || error.issue !== 'too-costly') return error
  const names = [...new Set(applied.map(([name]) => name))].filter(name => costly.test(name)).slice(0, 5)
  if (names.length === 0) return error
  return new Failure('UNAVAILABLE', `${error.message} What costs most in the search: ${names.join(', ')}.`, {
    ...error.options,
    cause: error,
  })
}
