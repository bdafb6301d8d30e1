// Decides how a page of matches is read: by which statements, in which order. Sends nothing to the database.
// `npm run bench -- explain` prints its plans; test/store/search/plan.test.ts lists them for the searches that clients send.
import { isLookedUp, suitsOnePlan } from './one-plan.ts'
import type { Page, PageRow } from './page.ts'
import { canNarrow, isNarrow } from './reach.ts'
import type { Criterion, SearchRequest, TextCriterion } from './request.ts'
import { isBackward } from './sort.ts'
import type { SearchOptions } from './sql-context.ts'
import { findAll } from './steps/find-all.ts'
import { findFromDateOn, fromDateOn } from './steps/from-date-on.ts'
import { beginsWithOldest, oldestFirst } from './steps/oldest-first.ts'
import { askReach, searchLittle, searchWithin } from './steps/reach.ts'
import { readInOrder } from './steps/read-in-order.ts'
import { isOfChanges, walkChanges } from './steps/walk-changes.ts'
import { walkCodes } from './steps/walk-codes.ts'
import { walkNewest } from './steps/walk-newest.ts'
import { sortedTexts, walkTexts } from './steps/walk-texts.ts'
import type { SearchStep, Strategy } from './strategy.ts'
import { needsOneWord, needsWord } from './text-query.ts'
import { isFromDateOn, isOfMagnitude, newestOf, walkedCodes } from './walk.ts'

/** Most of the newest resources that are looked at: after all that have a word were too many, and before all that have a value are found. */
const longestWalk = { forWords: 5000, forMagnitudes: 1000 }

/** How a page of a search is read, and one match more to know whether there is another page. */
export function plan(request: SearchRequest, options: SearchOptions): Strategy<Page, PageRow> {
  const isLittle = options.sketch?.isLittle && canNarrow(request, options)
  return isLittle ? [searchLittle(request, options), ...planAny(request, options)] : planAny(request, options)
}

function planAny(request: SearchRequest, options: SearchOptions): Strategy<Page, PageRow> {
  const narrowed = canNarrow(request, options) ? searchWithin(request, options) : undefined
  const newest = newestOf(request, options.indexer)
  const codes = newest && walkedCodes(request, newest, options.indexer)
  const isFixed = newest !== undefined && suitsOnePlan(request, newest, options.indexer)
  const read = (how: SearchOptions): SearchStep<Page, PageRow> =>
    codes
      ? walkCodes(request, how, codes, narrowed)
      : readInOrder(request, how, { isFixed, narrowed: isFixed ? narrowed : undefined })
  const isWhole = options.layout !== 'distributed'
  const isFromDate = newest !== undefined && isFromDateOn(request, options.indexer) && !isBackward(request.cursor)
  const fromDate = isFromDate && isWhole ? fromDateOn(request, options, read) : []
  if (codes || isFixed) return [...fromDate, read(options)]
  const texts = sortedTexts(request, options)
  const steps: SearchStep<Page, PageRow>[] = []
  // A statement that may find nothing, planned for its values each time, would cost more than asking first.
  if (narrowed) steps.push(askReach(request, options, narrowed))
  const along = isWhole && !request.criteria.some(isNarrow) ? alongTime(request, options) : []
  if (along.length > 0) return [...steps, ...along, ...(along.at(-1)!.givesUp ? [read(options)] : [])]
  const isNewestFirst = newest !== undefined && isOfWords(request) && request.criteria.every(isText)
  const isNewestOfMagnitude = newest !== undefined && isOfMagnitude(request)
  // The index of words finds one word in no time, whichever it is. Of many alternatives the planner has to know how frequent they are.
  const isKept = isLookedUp(request) || (isNewestFirst && request.criteria.some(isOfOneWord))
  if (isKept || isOfWords(request) || (texts && request.criteria.length > 0))
    steps.push(findAll(request, options, { isOfWords: isOfWords(request), isKept, isNewestFirst }))
  if (isNewestFirst) steps.push(walkNewest(request, options, longestWalk.forWords))
  if (isNewestOfMagnitude)
    steps.push(walkNewest(request, options, longestWalk.forMagnitudes), findAll(request, options))
  if (texts) steps.push(walkTexts(request, options, texts))
  return [...steps, ...fromDate, read(options)]
}

/** Steps that read in the order of the last change, or of the clinical date from the oldest on; none for any other order. */
function alongTime(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow>[] {
  if (isOfChanges(request)) return [walkChanges(request, options)]
  if (!beginsWithOldest(request, options.indexer)) return []
  const rest = isFromDateOn(request, options.indexer) ? [findFromDateOn(request, options)] : []
  return [oldestFirst(request, options), ...rest]
}

/** True if a word must be there: how many resources have it is not known before it is looked for. */
const isOfWords = ({ criteria }: SearchRequest): boolean => criteria.some(each => isText(each) && needsWord(each.query))

const isOfOneWord = (criterion: Criterion): boolean => isText(criterion) && needsOneWord(criterion.query)

const isText = (criterion: Criterion): criterion is TextCriterion => criterion.kind === 'text'
