// Looks up what a search takes from other resources before it becomes SQL: the codes of value sets, the codes above and below a
// code, the members of a list. https://hl7.org/fhir/R4/search.html#token
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import type { Indexer } from '../index/entry.ts'
import { closure, codeSystemOf } from '../terminology/code-system.ts'
import { membersOf, mostMembers } from '../terminology/expand.ts'
import { type Library, named } from '../terminology/library.ts'
import { lookedUp, mostLookedUp, referredTo } from './chained.ts'
import { complemented } from './complement.ts'
import { entriesOf } from './lists.ts'
import { unescaped } from './query-text.ts'
import { canNarrow, isOfFewRows } from './reach.ts'
import {
  type ChainCriterion,
  type ChainTarget,
  type Coding,
  type Criterion,
  codeModifiers,
  type HasCriterion,
  type ParamCriterion,
  partsOf,
  type SearchRequest,
} from './request.ts'
import { isByPatient, meetsContainedPatients } from './sql-contained.ts'
import type { SearchOptions } from './sql-context.ts'
import { asksForHolders, findHolders } from './sql-missing.ts'
import { asksWithin, findStrings, findTexts } from './sql-words.ts'
import { queryToken } from './values.ts'
import { isPlainToken, leadsToFew } from './walk.ts'

/** The request with everything looked up. @throws Failure MALFORMED_REQUEST naming what is not known, INSUFFICIENT_SCOPE. */
export async function resolve(asked: SearchRequest, given: Sources): Promise<SearchRequest> {
  const request = complemented(asked, given.indexer)
  if (!request.criteria.some(each => needsLookup(each, given))) return request
  const isLittle = given.options.sketch?.isLittle === true && canNarrow(request, given.options)
  const sources = { ...given, chains: isLittle ? 'none' : isOfFewRows(request) ? 'rare' : 'all' } as const
  const criteria: Criterion[] = []
  for (const criterion of request.criteria) criteria.push(await resolved(criterion, sources))
  return { ...request, criteria }
}

/** The sources of look-ups: terminology as the caller may see it, and the display texts of codes. */
export interface Sources {
  readonly library: Library
  readonly on: Queryable
  readonly indexer: Indexer
  readonly options: SearchOptions
}

/**
 * Which chains are looked up from their end. Where few rows are looked at, they are followed from there, unless they begin with something
 * rare; for a caller who sees little, what is found may be much more than what is seen.
 */
interface Looking extends Sources {
  readonly chains: 'all' | 'rare' | 'none'
}

function needsLookup(criterion: Criterion, sources: Sources): boolean {
  return (
    criterion.kind === 'chain' ||
    criterion.kind === 'has' ||
    criterion.kind === 'list' ||
    isOfCodes(criterion) ||
    isOfTexts(criterion) ||
    isOfStrings(criterion) ||
    asksForHolders(criterion, sources.indexer) ||
    partsOf(criterion).some(part => needsLookup(part, sources))
  )
}

const isOfCodes = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.param.type === 'token' && codeModifiers.has(criterion.modifier)

const isOfTexts = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.param.type === 'token' && criterion.modifier === 'text'

const isOfStrings = (criterion: Criterion): boolean => criterion.kind === 'param' && asksWithin(criterion)

/** True for a chain, or its reverse, whose last step is looked up. */
function isEndLookedUp(criterion: ChainCriterion | HasCriterion, { chains }: Looking): boolean {
  const ends = partsOf(criterion)
  return chains !== 'none' && ends.length <= mostLookedUp && (chains === 'all' || !ends.some(mayBeFrequent))
}

/** True for a code, which very many may have, and for a chain of which it is not known that it leads through few. */
const mayBeFrequent = (criterion: Criterion): boolean =>
  criterion.kind === 'chain' || criterion.kind === 'has'
    ? !leadsToFew(criterion)
    : isPlainToken(criterion) && criterion.param.code !== 'identifier'

async function resolved(criterion: Criterion, sources: Looking): Promise<Criterion> {
  if (!needsLookup(criterion, sources)) return criterion
  if (criterion.kind === 'not') return { ...criterion, part: await resolved(criterion.part, sources) }
  if (criterion.kind === 'and' || criterion.kind === 'or') {
    const parts = []
    for (const part of criterion.parts) parts.push(await resolved(part, sources))
    return { ...criterion, parts }
  }
  if (criterion.kind === 'has') {
    const has = { ...criterion, criterion: await resolved(criterion.criterion, sources) }
    return isEndLookedUp(has, sources) ? { ...has, found: await referredTo(sources.on, has, sources.options) } : has
  }
  if (criterion.kind === 'list')
    return { ...criterion, entries: await asQuery('_list', () => entriesOf(criterion, sources.library)) }
  if (criterion.kind === 'chain') {
    const meets = isByPatient(criterion, sources.indexer) && (await meetsContainedPatients(criterion, sources))
    const targets: ChainTarget[] = []
    for (const { type, criterion: inner } of criterion.targets)
      targets.push({ type, criterion: await resolved(inner, sources) })
    const chain = { ...criterion, targets, meetsContainedPatients: meets }
    if (!isEndLookedUp(chain, sources)) return chain
    const found: ChainTarget[] = []
    for (const target of targets) found.push({ ...target, found: await lookedUp(sources.on, target, sources.options) })
    return { ...chain, targets: found }
  }
  if (criterion.kind !== 'param') return criterion
  if (criterion.modifier === 'missing') return { ...criterion, holders: await findHolders(criterion, sources) }
  if (asksWithin(criterion)) return { ...criterion, strings: await findStrings(criterion, sources) }
  return isOfTexts(criterion)
    ? { ...criterion, texts: await findTexts(criterion, sources) }
    : { ...criterion, codes: await codesOf(criterion, sources.library) }
}

/** Most value sets, or codes with a hierarchy, that one parameter names. */
const mostLookups = 100

async function codesOf(criterion: ParamCriterion, library: Library): Promise<Coding[]> {
  const name = `${criterion.param.code}:${criterion.modifier}`
  const codes: Coding[] = []
  const values = new Set(criterion.values)
  if (values.size > mostLookups) throw refused(name, `${name} supports at most ${mostLookups} values.`)
  for (const value of values) {
    const found =
      criterion.modifier === 'in' || criterion.modifier === 'not-in'
        ? await asQuery(name, () => setCodes(unescaped(value), library))
        : await asQuery(name, () => relatedCodes(value, criterion, library))
    codes.push(...found)
    if (codes.length > mostMembers)
      throw refused(name, `${name} expands to more than ${mostMembers} codes, which is too many to search for.`)
  }
  return codes
}

const setCodes = async (canonical: string, library: Library): Promise<Coding[]> => [
  ...(await membersOf(library, await named(library, 'ValueSet', canonical))).values(),
]

async function relatedCodes(value: string, { param, modifier }: ParamCriterion, library: Library): Promise<Coding[]> {
  const { system, code } = queryToken(param.code, value)
  if (!system || code === undefined)
    throw refused(param.code, `${param.code}:${modifier} requires system|code: a hierarchy belongs to a code system.`)
  const graph = codeSystemOf(await library.byUrl('CodeSystem', system))
  if (graph.concepts.size === 0)
    throw refused(param.code, `The CodeSystem ${system} is stored without its codes, so its hierarchy is unknown.`)
  return [...closure(graph, code, modifier === 'below' ? 'children' : 'parents')].map(each => ({ system, code: each }))
}

const refused = (field: string, message: string, issue = 'not-supported'): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field, code: issue, message }] })

/** A missing or invalid resource is reported as a fault of the query. */
async function asQuery<T>(field: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Failure && [404, 410, 422].includes(error.status))
      throw refused(field, `${field}: ${error.message}`, error.issue)
    throw error
  }
}
