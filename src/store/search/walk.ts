// When a search is best answered by walking the newest resources of a code, or of a few, until the page is full.
// Without a patient to narrow it, a frequent code has too many matches to sort, and a page needs only the first of them.
import { clinicalDate, mainCode } from '../index/clinical-date.ts'
import type { Indexer } from '../index/entry.ts'
import { plainPath, storedKeys } from '../index/param-paths.ts'
import { codePosting } from '../index/postings.ts'
import type { Criterion, Found, HasCriterion, ParamCriterion, Prefix, SearchRequest, Sought } from './request.ts'
import { isDateColumn } from './sort.ts'
import type { SearchOptions } from './sql-context.ts'
import { prefixOf, queryToken } from './values.ts'

export const isPlainToken = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' &&
  criterion.param.type === 'token' &&
  criterion.modifier === '' &&
  criterion.param.code !== '_id'

/** Most codes of one search that are walked, each by itself. */
export const mostWalked = 20

/** The postings in the table `coded` along which a search for the newest of a type is walked; undefined if it is better read otherwise. */
export function walkedCodes(
  { criteria }: SearchRequest,
  type: string,
  { indexer, layout }: SearchOptions,
): readonly bigint[] | undefined {
  // An engine that distributes the tables takes no limit before a chain.
  if (layout === 'distributed' && criteria.some(leadsToMany)) return undefined
  const [named, ...more] = criteria.filter(criterion => isMainCode(criterion, type, indexer))
  const others = criteria.filter(criterion => criterion !== named)
  if (!named || more.length > 0 || !others.every(criterion => matchesMany(criterion, type))) return undefined
  const key = storedKeys(type, mainCode(type))[0]!
  return codesOf(named as ParamCriterion)?.map(code => codePosting(key, code))
}

/** True if the newest clinical date comes first, as it does without a sort, and a column holds that date whole, whichever the type. */
export function isNewestFirst({ types, sort: [first, ...others] }: SearchRequest, indexer: Indexer): boolean {
  if (others.length > 0) return false
  return first === undefined || (first.descending && types.every(type => isDateColumn(first.param.code, type, indexer)))
}

/** The type of a search for the newest of one type. */
export const newestOf = (request: SearchRequest, indexer: Indexer): string | undefined =>
  request.types.length === 1 && isNewestFirst(request, indexer) ? request.types[0] : undefined

function isMainCode(criterion: Criterion, type: string, indexer: Indexer): boolean {
  if (!isPlainToken(criterion)) return false
  const keys = indexer.params.keys(type, criterion.param.code)
  return keys.length === 1 && keys[0]!.name === `${type}.${mainCode(type)}`
}

function codesOf({ param, values }: ParamCriterion): string[] | undefined {
  const codes = [...new Set(values.map(value => queryToken(param.code, value).code))]
  return codes.length <= mostWalked && codes.every(code => code !== undefined) ? codes : undefined
}

/** What each step of a chain, or of its reverse, leads through, as far as it has been looked up. */
const foundBy = (criterion: Criterion): readonly (Found | undefined)[] =>
  criterion.kind === 'chain'
    ? criterion.targets.map(({ found }) => found)
    : criterion.kind === 'has'
      ? [criterion.found]
      : []

/** True for a chain, or its reverse, that leads through very many resources. */
export const leadsToMany = (criterion: Criterion): boolean => foundBy(criterion).includes('many')

/** True for one that leads through few, all of which are known. */
export function leadsToFew(criterion: Criterion): boolean {
  const found = foundBy(criterion)
  return found.length > 0 && found.every(each => each !== undefined && each !== 'many')
}

/** True for what many resources may share, so that a walk may soon find some: their date, category or status, or what a chain leads to. */
export function matchesMany(criterion: Criterion, type: string): boolean {
  if (isClinicalDate(criterion, type) || leadsToMany(criterion)) return true
  if (!isPlainToken(criterion)) return false
  return criterion.param.code === 'category' || plainPath(criterion.param.expression, type)?.type === 'code'
}

/**
 * True for a search by a number or a quantity that nothing rare is asked for beside. How many have such a value is not known before it is looked for:
 * statistics are of the values of all parameters together.
 */
export const isOfMagnitude = ({ types: [type], criteria }: SearchRequest): boolean =>
  criteria.some(isMagnitude) && criteria.every(each => isMagnitude(each) || matchesMany(each, type!))

const isMagnitude = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.modifier === '' && ['number', 'quantity'].includes(criterion.param.type)

/** True for a plain criterion on the date by which results are ordered. */
export function isClinicalDate(criterion: Criterion, type: string): boolean {
  return criterion.kind === 'param' && criterion.modifier === '' && criterion.param.code === clinicalDate(type)
}

/** The criteria of a search of one type that are plain ones on that date. */
export const clinicalDates = ({ types: [type], criteria }: Sought): ParamCriterion[] =>
  criteria.filter(each => isClinicalDate(each, type!)) as ParamCriterion[]

/** True for a search of one type by its clinical date alone, the oldest first. */
export function isOldestFirst({ types: [type, ...others], sort }: SearchRequest, indexer: Indexer): boolean {
  const [first, ...more] = sort
  if (type === undefined || first === undefined || others.length + more.length > 0 || first.descending) return false
  return isDateColumn(first.param.code, type, indexer)
}

/** True if the column patient of the resources that refer to a Patient has what the parameter refers to. */
export const isHeldBy = ({ from, param, types }: HasCriterion, { columns }: Indexer): boolean =>
  types.length === 1 && types[0] === 'Patient' && columns(from).patient.has(param.code)

/** True for a search by nothing but tokens and clinical dates, one date at a time. */
export const isOfDatesAndTokens = (request: Sought): boolean =>
  request.criteria.every(each => isPlainToken(each) || isClinicalDate(each, request.types[0]!)) &&
  clinicalDates(request).every(({ values, operator }) => values.length === 1 && operator === undefined)

/** What an interval that begins long before the date may meet. */
const openEnded: ReadonlySet<Prefix> = new Set(['gt', 'ge', 'ap'])

/** True for one plain date whose matches are next to each other in the order of dates, so that an index leads to them. */
export const isLedTo = ({ operator, values: [value, ...others] }: ParamCriterion): boolean =>
  operator === undefined && others.length === 0 && !openEnded.has(prefixOf(value!)) && prefixOf(value!) !== 'ne'

/** True for a plain criterion on the time of the last change. */
export const isOfUpdate = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' && criterion.param.code === '_lastUpdated' && criterion.modifier === ''

/**
 * True for a search of one type from a date on, maybe of a code or a status, and maybe changed at some time: the newest match, unless nothing is that new, or what began long
 * before and lasts.
 */
export const isFromDateOn = (request: Sought, indexer: Indexer): boolean =>
  request.types.length === 1 &&
  isDateColumn(clinicalDate(request.types[0]!), request.types[0]!, indexer) &&
  isOfDatesAndTokens({ ...request, criteria: request.criteria.filter(each => !isOfUpdate(each)) }) &&
  clinicalDates(request).some(({ values: [value] }) => openEnded.has(prefixOf(value!)))
