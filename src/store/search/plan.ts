// Decides how a page of matches is read: by which statements, in which order. Sends nothing to the database.
// `npm run bench -- explain` prints its plans; test/store/search/plan.test.ts lists them for the searches that clients send.
import { firstString, isByRow, isIdentifier, isLookedUp, isString, suitsOnePlan } from './one-plan.ts'
import type { Page, PageRow } from './page.ts'
import { canNarrow, isNarrow, lookingAt } from './reach.ts'
import type { Criterion, ParamCriterion, SearchRequest, TextCriterion } from './request.ts'
import { isBackward } from './sort.ts'
import { ledToPatients } from './sql-contained.ts'
import type { SearchOptions } from './sql-context.ts'
import { findAll } from './steps/find-all.ts'
import { type Beginning, findFrom, fromChanges, fromText } from './steps/find-from.ts'
import { findFromDateOn, fromDateOn, walkFromDayBefore } from './steps/from-date-on.ts'
import { beginsWithOldest, oldestFirst } from './steps/oldest-first.ts'
import { askReach, searchLittle, searchWithin } from './steps/reach.ts'
import { readInOrder, readUndated } from './steps/read-in-order.ts'
import { walkCodes } from './steps/walk-codes.ts'
import { readNewest, walkNewest } from './steps/walk-newest.ts'
import { isInOrderOfResources, walkResources } from './steps/walk-resources.ts'
import { walkSortedCodes } from './steps/walk-sorted-codes.ts'
import { sortedValues, walkValues } from './steps/walk-values.ts'
import type { SearchStep, Strategy } from './strategy.ts'
import { needsOneWord, needsWord } from './text-query.ts'
import { isUndated } from './undated.ts'
import {
  clinicalDates,
  isClinicalDate,
  isFromDateOn,
  isLedTo,
  isNewestFirst,
  isOfDatesAndTokens,
  isOfMagnitude,
  isOfUpdate,
  isPlainToken,
  leadsToFew,
  leadsToMany,
  matchesMany,
  newestOf,
  walkedCodes,
} from './walk.ts'

/** Most of the newest resources that are looked at: after all that have a word were too many, and where any number may match. */
const longestWalk = { forWords: 5000, forChains: 500, otherwise: 1000 }

/** How a page of a search is read, and one match more to know whether there is another page. */
export function plan(request: SearchRequest, given: SearchOptions): Strategy<Page, PageRow> {
  const options = lookingAt(request, given)
  const isLittle = options.sketch?.isLittle && canNarrow(request, options)
  return isLittle ? [searchLittle(request, options), ...planAny(request, options)] : planAny(request, options)
}

function planAny(request: SearchRequest, options: SearchOptions): Strategy<Page, PageRow> {
  const narrowed = canNarrow(request, options) ? searchWithin(request, options) : undefined
  if (request.criteria.some(isUndated)) return [readUndated(request, options)]
  const newest = newestOf(request, options.indexer)
  const codes = newest && walkedCodes(request, newest, options)
  if (codes) return alongCodes(request, options, codes, narrowed)
  const isFixed = newest !== undefined && suitsOnePlan(request, newest, options.indexer)
  const read = (how: SearchOptions): SearchStep<Page, PageRow> =>
    readInOrder(request, how, { isFixed, narrowed: isFixed ? narrowed : undefined })
  const fromDate = newest && isFromDate(request, options) ? beforeWalk(request, options, read) : []
  if (isFixed) return [...fromDate, read(options)]
  // A statement that may find nothing, planned for its values each time, would cost more than asking first.
  const ask = narrowed ? [askReach<Page, PageRow>(request, options, narrowed)] : []
  const isAlong = options.layout !== 'distributed' && !request.criteria.some(isNarrow)
  const along = isAlong ? [...alongTime(request, options), ...acrossTypes(request, options)] : []
  if (along.length > 0) return [...ask, ...along, ...(along.at(-1)!.givesUp ? [read(options)] : [])]
  return [...ask, ...inTurn(request, options, newest), ...fromDate, read(options)]
}

/** Steps that answer soon where few resources match, or where many do: which it is, the planner cannot know. */
function inTurn(
  request: SearchRequest,
  options: SearchOptions,
  newest: string | undefined,
): SearchStep<Page, PageRow>[] {
  const { criteria } = request
  const values = options.isOfFewRows ? undefined : sortedValues(request, options)
  const sorted = options.isOfFewRows ? [] : walkSortedCodes(request, options)
  // Where many match, the first of these steps has the page.
  const soon = criteria.every(each => matchesMany(each, request.types[0]!)) ? sorted.slice(0, -1) : []
  const isNewestFirst = newest !== undefined && isOfWords(request) && criteria.every(isText)
  const beginning = options.layout === 'distributed' || options.isOfFewRows ? undefined : beginningOf(request)
  // The index of words finds one word in no time, whichever it is. Of many alternatives the planner has to know how frequent they are.
  const isKept = isLookedUp(request) || (isNewestFirst && criteria.some(isOfOneWord))
  const few = criteria.filter(leadsToFew)
  const isFound =
    isKept || isOfWords(request) || few.length > 0 || ((values || sorted.length > 0) && criteria.length > 0)
  const isOfAnyType = few.some(each => !ledToPatients(each, options.indexer))
  const steps: SearchStep<Page, PageRow>[] = [...soon]
  if (beginning) steps.push(findFrom(request, options, beginning))
  else if (isFound)
    steps.push(findAll(request, options, { isOfWords: isOfWords(request), isKept, isOfAnyType, isNewestFirst }))
  if (isNewestFirst) steps.push(look(request, options, longestWalk.forWords))
  else if (newest && beginning) steps.push(...newestBeyond(request, options, beginning.others, newest))
  else if (newest && isLookedUp(request)) steps.push(look(request, options))
  else if (newest && isOfMagnitude(request)) steps.push(look(request, options), findAll(request, options))
  else if (newest && leadsAlong(request, options, newest)) steps.push(look(request, options, longestWalk.forChains))
  // Planned for its values, a search under consent might begin with the consents of all.
  else if (newest && isOfTokens(request, options))
    steps.push(look(request, options), findAll(request, options, { isKept: options.visibility !== undefined }))
  if (values) steps.push(walkValues(request, options, values))
  return [...steps, ...sorted.slice(soon.length)]
}

/** Looks at the newest of the type. */
const look = (
  request: SearchRequest,
  options: SearchOptions,
  most: number = longestWalk.otherwise,
): SearchStep<Page, PageRow> => walkNewest(request, options, most)

/** What a search begins with of which there may be few or very many; the rest is what one row tells. */
function beginningOf(request: SearchRequest): Beginning | undefined {
  if (!request.criteria.every(isByRow)) return undefined
  const text = firstString(request)
  return text ? fromText(request, text) : fromChanges(request)
}

/** Looks at the newest where very many are what a search begins with, unless something rare is asked for beside. */
function newestBeyond(
  request: SearchRequest,
  options: SearchOptions,
  others: readonly Criterion[],
  type: string,
): SearchStep<Page, PageRow>[] {
  const codes = walkedCodes({ ...request, criteria: others.filter(each => !isOfUpdate(each)) }, type, options)
  if (codes) return [walkCodes(request, options, { codes, narrowed: undefined, most: longestWalk.otherwise })]
  const isOfMany = others.every(each => isString(each) || isOfUpdate(each) || matchesMany(each, type))
  return isOfMany ? [look(request, options)] : []
}

/** True for a chain through very many resources, beside nothing rare. */
const leadsAlong = ({ criteria }: SearchRequest, { layout }: SearchOptions, type: string): boolean =>
  layout !== 'distributed' && criteria.some(leadsToMany) && criteria.every(each => matchesMany(each, type))

/**
 * True for a search by tokens alone. How many match, the planner can hardly know: it takes a token and its type for unrelated, and several codes that it
 * has never met for many.
 */
const isOfTokens = ({ criteria }: SearchRequest, { layout, isOfFewRows }: SearchOptions): boolean =>
  layout !== 'distributed' && !isOfFewRows && criteria.length > 0 && criteria.every(isPlainToken)

const isFromDate = (request: SearchRequest, { indexer, layout }: SearchOptions): boolean =>
  layout !== 'distributed' && isFromDateOn(request, indexer) && !isBackward(request.cursor)

/**
 * Steps of a search from a date on, before it walks along everything that is older. What has a rare token is better found than walked to, and what many
 * have is among the newest.
 */
function beforeWalk(
  request: SearchRequest,
  options: SearchOptions,
  read: (options: SearchOptions) => SearchStep<Page, PageRow>,
): Strategy<Page, PageRow> {
  const hasTokens = request.criteria.some(isPlainToken) && isOfDatesAndTokens(request)
  if (!hasTokens || options.isOfFewRows) return fromDateOn(request, options, read)
  return [look(request, options), findFromDateOn(request, options), walkFromDayBefore(request, options, read)]
}

/** Steps along the newest of some codes. If more is asked for than when that was, few of them may match. */
function alongCodes(
  request: SearchRequest,
  options: SearchOptions,
  codes: readonly bigint[],
  narrowed: SearchStep<Page, PageRow>['within'],
): Strategy<Page, PageRow> {
  const walk = (how: SearchOptions, most?: number): SearchStep<Page, PageRow> =>
    walkCodes(request, how, { codes, narrowed, most })
  const isSure = request.criteria.length - clinicalDates(request).length === 1 || options.layout === 'distributed'
  const begin = (how: SearchOptions): SearchStep<Page, PageRow> => walk(how, isSure ? undefined : longestWalk.otherwise)
  if (isFromDate(request, options)) return [...fromDateOn(request, options, begin), walk(options)]
  if (isSure) return [walk(options)]
  const found = request.criteria.some(leadsToMany) ? [] : [findAll(request, options, { isKept: true })]
  return [begin(options), ...found, walk(options)]
}

/** Steps that read in the order of the last change, or of the clinical date from the oldest on; none for any other order. */
function alongTime(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow>[] {
  // Of several types, a caller that sees little of some and all of others would walk through all that it may not see.
  const isLittleOfSeveral = request.types.length > 1 && options.sketch?.isLittle
  if (isInOrderOfResources(request) && !isLittleOfSeveral) return [walkResources(request, options)]
  if (!beginsWithOldest(request, options.indexer)) return []
  const rest = isFromDateOn(request, options.indexer) ? [findFromDateOn(request, options)] : []
  return [oldestFirst(request, options), ...rest]
}

/** Steps of a search across types for the newest that have what many may share; none for any other. */
function acrossTypes(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow>[] {
  const { types, criteria } = request
  if (types.length === 1 || !isNewestFirst(request, options.indexer)) return []
  const isOfDate = (each: Criterion): each is ParamCriterion => types.every(type => isClinicalDate(each, type))
  if (criteria.every(each => isOfDate(each) && isLedTo(each))) return [readNewest(request, options)]
  const isShared = (each: Criterion): boolean => isPlainToken(each) && !isIdentifier(each)
  if (!criteria.every(each => isShared(each) || isOfUpdate(each) || isOfDate(each))) return []
  const beginning = beginningOf(request)
  return [...(beginning ? [findFrom(request, options, beginning)] : []), look(request, options)]
}

/** True if a word must be there: how many resources have it is not known before it is looked for. */
const isOfWords = ({ criteria }: SearchRequest): boolean => criteria.some(each => isText(each) && needsWord(each.query))

const isOfOneWord = (criterion: Criterion): boolean => isText(criterion) && needsOneWord(criterion.query)

const isText = (criterion: Criterion): criterion is TextCriterion => criterion.kind === 'text'
