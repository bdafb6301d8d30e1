// Conditional requests: what a query matches decides what is written (https://hl7.org/fhir/R4/http.html#ccreate).

import { int8Array } from '../db/arrays.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { findIds, typesOf } from './search/run.ts'
import {
  conditionParams,
  mustBeAllowed,
  mustBeIndexed,
  mustStillBeUsed,
  parseConditional,
  type Session,
  searchOptions,
} from './session.ts'

/** The query of a conditional request: which resources of the type does it match? */
export interface Condition {
  readonly type: string
  readonly query: string
}

/** The same query in any order of parameters is the same condition. */
export function conditionName({ type, query }: Condition): string {
  return `${type}?${conditionParams(type, query)
    .map(pair => pair.join('='))
    .sort()
    .join('&')}`
}

/**
 * Keeps others from acting on the same conditions until this transaction ends: without it, two requests that both find nothing
 * would both create. Takes locks in one order to avoid deadlocks.
 */
export async function lockConditions(session: Session, conditions: readonly Condition[]): Promise<void> {
  const keys = [...new Set(conditions.map(condition => hash64(conditionName(condition))))].sort((a, b) =>
    a < b ? -1 : 1,
  )
  if (keys.length === 0) return
  await session.on.query({
    name: 'lock-conditions',
    text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
    values: [int8Array(keys)],
  })
}

/**
 * The one match of a condition, or undefined if there is none.
 * @throws Failure PRECONDITION_FAILED if there are several, INSUFFICIENT_SCOPE if the caller may not search a type that it goes through.
 */
export async function onlyMatch(session: Session, condition: Condition): Promise<string | undefined> {
  const request = parseConditional(session, condition.type, condition.query)
  for (const type of typesOf(request)) mustBeAllowed(session, type, 's')
  await mustBeIndexed(session, request)
  const found = await findIds(session.on, request, searchOptions(session), 2)
  await mustStillBeUsed(session, request)
  if (found.length > 1)
    throw new Failure(
      'PRECONDITION_FAILED',
      `The condition matches more than one ${condition.type}: make it more specific.`,
      { issue: 'multiple-matches' },
    )
  return found[0]?.id
}
