// Which resources the conditions of a transaction mean: those of its entries, and those of references such as `Patient?identifier=x`.
import { Failure } from '../../lib/failure.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { isObject } from '../../lib/json.ts'
import { cutAt } from '../../lib/text.ts'
import { type Condition, conditionName, onlyMatch } from '../conditional.ts'
import { mustBeId } from '../ids.ts'
import { read } from '../read.ts'
import { conditionalReferences, type Links, linksTo } from '../references.ts'
import { typesOf } from '../search/run.ts'
import { mustBeAllowed, parseConditional, type Session } from '../session.ts'
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
async function* matched<Each extends Asked<unknown>>(
  session: Session,
  asked: readonly Each[],
): AsyncGenerator<Each & { readonly match: string | undefined }> {
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

/** Most searches for references such as `Patient?identifier=x` of one bundle. */
const mostReferenceSearches = 2000

/** A conditional reference, and the types that its search reads. */
interface AskedReference extends Asked<string> {
  readonly types: readonly string[]
}

/** Plans whose placeholders all lead to something. */
interface Linked {
  readonly plans: readonly PlannedWrite[]
  readonly links: Links
}

/**
 * Returns the plans in turns, with the target of each placeholder: fullUrls lead to the resources they became, conditional references to
 * their matches. What the bundle writes can be matched too, so a conditional reference waits for what is written of the types that it
 * searches; the caller writes each turn before it asks for the next. Where types wait for each other, as a bed does for its ward, those with
 * a match go first, and each of these matches must be the only one in the end. https://hl7.org/fhir/R4/http.html#trules
 * @throws Failure PRECONDITION_FAILED for a conditional reference with no match, or several
 */
export async function* inTurns(session: Session, plans: readonly PlannedWrite[]): AsyncGenerator<Linked> {
  const entries = plans.map(({ entry }) => entry)
  const addresses = addressesOf(plans)
  const links = linksTo(addresses, entries)
  let waiting = plans
    .filter(({ isDone }) => !isDone)
    .map(plan => ({ plan, references: conditionalReferences(plan.entry.patch ?? plan.entry.resource) }))
  const isReady = ({ references }: (typeof waiting)[number]): boolean => references.every(each => addresses.has(each))
  let open = askedFor(session, new Set(waiting.flatMap(({ references }) => references)))
  const early: AskedReference[] = []
  let left = mostReferenceSearches
  const find = async (asked: readonly AskedReference[]): Promise<AskedReference[]> => {
    left -= asked.length
    if (left < 0) throw tooManySearches()
    const missing: AskedReference[] = []
    for await (const each of matched(session, asked)) {
      if (each.match === undefined) missing.push(each)
      else addresses.set(each.of, `${each.condition.type}/${each.match}`)
    }
    return missing
  }
  while (waiting.length > 0) {
    const awaited = new Set(waiting.map(({ plan }) => plan.entry.type))
    const [missing] = await find(open.filter(({ types }) => !types.some(type => awaited.has(type))))
    if (missing) throw noMatch(missing)
    if (!waiting.some(isReady)) {
      const cyclic = open.filter(({ of }) => !addresses.has(of))
      const [first] = await find(cyclic)
      if (first && !waiting.some(isReady)) throw noMatch(first)
      early.push(...cyclic.filter(({ of }) => addresses.has(of)))
    }
    yield { plans: waiting.filter(isReady).map(({ plan }) => plan), links }
    waiting = waiting.filter(each => !isReady(each))
    open = open.filter(({ of }) => !addresses.has(of))
  }
  const linked = early.map(({ of }) => addresses.get(of))
  const [lost] = await find(early)
  if (lost || early.some(({ of }, index) => addresses.get(of) !== linked[index]))
    throw new Failure('PRECONDITION_FAILED', 'The bundle changes what one of its conditional references matches.')
}

/** What the fullUrls of the bundle lead to. */
function addressesOf(plans: readonly PlannedWrite[]): Map<string, string> {
  const addresses = new Map<string, string>()
  for (const { entry, id } of plans) {
    if (entry.fullUrl && id !== undefined && entry.method !== 'PATCH')
      addresses.set(entry.fullUrl, `${entry.type}/${id}`)
  }
  return addresses
}

function askedFor(session: Session, references: ReadonlySet<string>): AskedReference[] {
  if (references.size > mostReferenceSearches) throw tooManySearches()
  return [...references].map(reference => {
    const [type, query] = cutAt(reference, '?')
    mustBeAllowed(session, type, 's')
    return { of: reference, condition: { type, query }, types: typesOf(parseConditional(session, type, query)) }
  })
}

const noMatch = ({ condition }: AskedReference): Failure =>
  new Failure('PRECONDITION_FAILED', `No ${condition.type} matches a conditional reference of the bundle.`, {
    issue: 'not-found',
  })

function tooManySearches(): Failure {
  const message = `The conditional references of the bundle take more than ${mostReferenceSearches} searches: split the bundle.`
  return new Failure('VALIDATION_FAILED', message, {
    issue: 'too-costly',
    details: [{ field: 'Bundle.entry', code: 'too-costly', message }],
  })
}
