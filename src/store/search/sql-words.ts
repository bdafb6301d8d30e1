// Strings as conditions on the table `word` (https://hl7.org/fhir/R4/search.html#string).
import { foldedWord } from '../index-draft.ts'
import { unescaped } from './query-text.ts'
import type { ParamCriterion } from './request.ts'
import { anyOf, likeText, numbersOf, type SqlContext } from './sql-context.ts'

/** Greater than every text with the prefix, in the byte order of the C collation. */
export const afterAll = '\u{10FFFF}'

export function stringCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const conditions = criterion.values.map(value => {
    const text = unescaped(value)
    const folded = foldedWord(text)
    if (criterion.modifier === 'exact')
      return `(v.folded = ${context.bind(folded)} and v.exact = ${context.bind(text)})`
    if (criterion.modifier === 'contains') return `v.folded like ${context.bind(`%${likeText(folded)}%`)}`
    return startsWith(folded, context)
  })
  return wordCondition(criterion, anyOf(conditions), row, context)
}

export const startsWith = (folded: string, { bind }: SqlContext): string =>
  `(v.folded >= ${bind(folded)} and v.folded < ${bind(folded + afterAll)})`

export const wordCondition = (criterion: ParamCriterion, condition: string, row: string, context: SqlContext): string =>
  `${row}.key in (select v.key from word v where v.param = ${numbersOf(criterion, context)} and ${condition})`
