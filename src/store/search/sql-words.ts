// Strings as conditions on the table `word` (https://hl7.org/fhir/R4/search.html#string).
import { foldedWord } from '../index-draft.ts'
import { unescaped } from './query-text.ts'
import type { ParamCriterion, ParamOperator } from './request.ts'
import { anyOf, likeText, numbersOf, type SqlContext } from './sql-context.ts'

/** Greater than every text with the prefix, in the byte order of the C collation. */
export const afterAll = '\u{10FFFF}'

export function stringCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const conditions = criterion.values.map(value => {
    const text = unescaped(value)
    const folded = foldedWord(text)
    if (criterion.operator) return compared(criterion.operator, folded, context)
    if (criterion.modifier === 'exact')
      return `(v.folded = ${context.bind(folded)} and v.exact = ${context.bind(text)})`
    if (criterion.modifier === 'contains') return `v.folded like ${context.bind(`%${likeText(folded)}%`)}`
    return startsWith(folded, context)
  })
  return wordCondition(criterion, anyOf(conditions), row, context)
}

const signs: Readonly<Partial<Record<ParamOperator, string>>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  lt: '<',
  ge: '>=',
  le: '<=',
}

/** The order of the C collation is that of code points, as `_filter` asks. */
function compared(operator: ParamOperator, folded: string, { bind }: SqlContext): string {
  return operator === 'ew'
    ? `v.folded like ${bind(`%${likeText(folded)}`)}`
    : `v.folded ${signs[operator]} ${bind(folded)}`
}

export const startsWith = (folded: string, { bind }: SqlContext): string =>
  `(v.folded >= ${bind(folded)} and v.folded < ${bind(folded + afterAll)})`

export const wordCondition = (criterion: ParamCriterion, condition: string, row: string, context: SqlContext): string =>
  `${row}.key in (select v.key from word v where v.param = ${numbersOf(criterion, context)} and ${condition})`
