// Which resources the conditions of a transaction mean: those of its entries, and those of references such as `Patient?identifier=x`.
import { Failure } from '../../lib/failure.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { isObject } from '../../lib/json.ts'
import { cutAt } from '../../lib/text.ts'
import { type Condition, conditionName, onlyMatch } from '../conditional.ts'
import { mustBeId } from '../ids.ts'
import { read } from '../read.ts'
import { conditionalReferences, type Links, linksTo } from '../references.ts'
import { mustBeAllowed, type Session } from '../session.ts'
import type { Written } from '../write/next-version.ts'
import { at, type PlannedWrite } from './entries.ts'

/** What an entry is conditional on, if it is. */
export function conditionOf({ entry }: PlannedWrite): Condition[] {
  return entry.query === undefined ? [] : [{ type: entry.type, query: entry.query }]
}

/** A condition, and what asks for its match. */
interface Asked<Of> {
  readonly of: Of
  readonly condition: Condition
}

/** Searches that are asked together. */
const mostSearches = 100

/** Returns what each condition matches, in order. @throws what the first of them throws that cannot be answered */
async function* matched<Of>(
  session: Session,
  asked: readonly Asked<Of>[],
): AsyncGenerator<Asked<Of> & { readonly match: string | undefined }> {
  for (let from = 0; from < asked.length; from += mostSearches) {
    const some = asked.slice(from, from + mostSearches)
    const matches = await Promise.allSettled(some.map(({ condition }) => onlyMatch(session, condition)))
    for (const [position, each] of some.entries()) {
      const match = matches[position]!
      if (match.status === 'rejected') throw match.reason
      yield { ...each, match: match.value }
    }
  }
}

const askedBy = (plans: readonly PlannedWrite[]): Asked<PlannedWrite>[] =>
  plans.flatMap(plan => conditionOf(plan).map(condition => ({ of: plan, condition })))

/** Finds what each conditional deletion means: its plan gets the id, or none. @throws Failure for a condition that several resources meet */
export async function lookUpDeletions(session: Session, plans: readonly PlannedWrite[]): Promise<void> {
  for await (const { of: plan, match } of matched(session, askedBy(plans))) plan.id = match
}

/**
 * Finds the resource of each conditional entry: its plan gets its id, or has a result at once.
 * @throws Failure for a condition that several resources meet, or two entries, or none where one is needed
 */
export async function lookUp(
  session: Session,
  plans: readonly PlannedWrite[],
  results: Map<number, Written | undefined>,
): Promise<void> {
  const creating = new Set<string>()
  for await (const { of: plan, condition, match } of matched(session, askedBy(plans))) {
    const { entry, index } = plan
    if (match === undefined && creating.has(conditionName(condition)))
      throw at(index, 'duplicate', 'another entry creates with the same condition')
    if (match === undefined) creating.add(conditionName(condition))
    if (entry.method === 'PATCH' && match === undefined)
      throw new Failure('NOT_FOUND', `Entry ${index} of the bundle: nothing matches its condition.`)
    if (entry.method === 'POST' && match !== undefined) {
      const { version, updatedAt, body } = await read(session.on, entry.type, match)
      results.set(index, { type: entry.type, id: match, version, updatedAt, body, outcome: 'unchanged' })
      plan.isDone = true
    }
    const given =
      isObject(entry.resource) && entry.method === 'PUT' ? (entry.resource['id'] as string | undefined) : undefined
    if (match !== undefined && given !== undefined && given !== match)
      throw at(index, 'invalid', 'its condition matches a resource with another id')
    if (given !== undefined) mustBeId(given)
    plan.id = match ?? given ?? uuidv7()
    plan.fresh = match === undefined && given === undefined
  }
}

/** Most different references such as `Patient?identifier=x` of one bundle: each is a search. */
const mostConditions = 2000

/**
 * Returns the target of each placeholder of the bundle: fullUrls lead to the resources they became, conditional references to their
 * matches.
 * @throws Failure PRECONDITION_FAILED for a conditional reference with no match, or several
 */
export async function linksOf(session: Session, plans: readonly PlannedWrite[]): Promise<Links> {
  const addresses = new Map<string, string>()
  for (const { entry, id } of plans) {
    if (entry.fullUrl && id !== undefined && entry.method !== 'PATCH')
      addresses.set(entry.fullUrl, `${entry.type}/${id}`)
  }
  const wanted = new Set(
    plans.flatMap(({ entry, isDone }) => (isDone ? [] : conditionalReferences(entry.patch ?? entry.resource))),
  )
  if (wanted.size > mostConditions)
    throw new Failure('VALIDATION_FAILED', `The bundle has more than ${mostConditions} conditional references.`, {
      issue: 'too-costly',
      details: [
        { field: 'Bundle.entry', code: 'too-costly', message: `${wanted.size} are too many: split the bundle.` },
      ],
    })
  const asked = [...wanted].map(reference => {
    const [type, query] = cutAt(reference, '?')
    mustBeAllowed(session, type, 's')
    return { of: reference, condition: { type, query } }
  })
  for await (const { of: reference, condition, match } of matched(session, asked)) {
    if (match === undefined)
      throw new Failure('PRECONDITION_FAILED', `No ${condition.type} matches a conditional reference of the bundle.`, {
        issue: 'not-found',
      })
    addresses.set(reference, `${condition.type}/${match}`)
  }
  return linksTo(
    addresses,
    plans.map(({ entry }) => entry),
  )
}
