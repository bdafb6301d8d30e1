// Strings as conditions on the table `word` (https://hl7.org/fhir/R4/search.html#string).
import { int4Array, textArray } from '../../db/arrays.ts'
import { prepared } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { foldedWord } from '../index/draft.ts'
import type { Indexer } from '../index/entry.ts'
import { gramsOf } from '../index/grams.ts'
import { createBinder } from './binder.ts'
import { unescaped } from './query-text.ts'
import type { ParamCriterion, ParamOperator } from './request.ts'
import { anyOf, likeText, numbersOf, type SqlContext } from './sql-context.ts'

/** Greater than every text with the prefix, in the byte order of the C collation. */
const afterAll = '\u{10FFFF}'

export const stringCondition = (criterion: ParamCriterion, row: string, context: SqlContext): string =>
  wordCondition(criterion, textCondition(criterion, context), row, context)

/** The condition on the row `v` of `word` that it is a text of a parameter, and meets a criterion of strings. */
export const wordOf = (criterion: ParamCriterion, context: SqlContext): string =>
  isWord(criterion, textCondition(criterion, context), context)

function textCondition(criterion: ParamCriterion, context: SqlContext): string {
  if (asksWithin(criterion)) return withinCondition(criterion, context)
  const conditions = criterion.values.map(value => {
    const text = unescaped(value)
    const folded = foldedWord(text)
    if (criterion.operator) return `v.folded ${signs[criterion.operator]} ${context.bind(folded)}`
    if (criterion.modifier === 'exact')
      return `(v.folded = ${context.bind(folded)} and v.exact = ${context.bind(text)})`
    return startsWith(folded, context)
  })
  return anyOf(conditions)
}

/** True for what is found anywhere in a string, so that the order of the strings does not help. */
export const asksWithin = ({ param, modifier, operator }: ParamCriterion): boolean =>
  param.type === 'string' && (modifier === 'contains' || operator === 'ew')

function withinCondition(criterion: ParamCriterion, context: SqlContext): string {
  // Those that were looked up are strings of resources of their own.
  if (criterion.strings && context.shift === undefined)
    return `v.folded = any(${context.bind(textArray(criterion.strings))}::text[])`
  return `(v.param, v.folded) in (${termsWith(criterion, 'd.param, d.folded', context)})`
}

/** Texts of the table `term` that contain one of the values, found by their runs of three letters if a value has any. */
export function termsWith(
  criterion: ParamCriterion,
  columns: string,
  context: Pick<SqlContext, 'bind' | 'indexer'>,
): string {
  const conditions = criterion.values.map(value => {
    const folded = foldedWord(unescaped(value))
    const like = `d.folded like ${context.bind(`%${likeText(folded)}${criterion.operator === 'ew' ? '' : '%'}`)}`
    const grams = gramsOf(folded)
    return grams.length > 0 ? `(d.grams @> ${context.bind(int4Array(grams))}::integer[] and ${like})` : like
  })
  return `select ${columns} from term d where d.param = ${numbersOf(criterion, context)} and ${anyOf(conditions)}`
}

/** Most texts that are looked up one by one. */
const mostTexts = 1000

/**
 * Returns the postings of the display texts that contain one of the values. They are found first, so that the search is planned for
 * them; undefined if they are too many.
 */
export async function findTexts(criterion: ParamCriterion, on: Terms): Promise<bigint[] | undefined> {
  const found = await findTerms(criterion, 'd.posting::text as term', on)
  return found?.map(BigInt)
}

/** The strings that contain one of the values, likewise. */
export const findStrings = (criterion: ParamCriterion, on: Terms): Promise<string[] | undefined> =>
  findTerms(criterion, 'd.folded as term', on)

interface Terms {
  readonly on: Queryable
  readonly indexer: Indexer
}

async function findTerms(
  criterion: ParamCriterion,
  column: string,
  { on, indexer }: Terms,
): Promise<string[] | undefined> {
  const context = { ...createBinder(), indexer }
  const text = `${termsWith(criterion, column, context)} limit ${mostTexts + 1}`
  const rows = await on.query<{ term: string }>(prepared(text, context))
  return rows.length > mostTexts ? undefined : rows.map(row => row.term)
}

const signs: Readonly<Partial<Record<ParamOperator, string>>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  lt: '<',
  ge: '>=',
  le: '<=',
}

export const startsWith = (folded: string, { bind }: SqlContext): string =>
  `(v.folded >= ${bind(folded)} and v.folded < ${bind(folded + afterAll)})`

export const wordCondition = (criterion: ParamCriterion, condition: string, row: string, context: SqlContext): string =>
  `(${row}.shard, ${row}.key) in (select v.shard, v.key from word v where ${isWord(criterion, condition, context)})`

const isWord = (criterion: ParamCriterion, condition: string, context: SqlContext): string =>
  `v.param = ${numbersOf(criterion, context)} and ${condition}`
