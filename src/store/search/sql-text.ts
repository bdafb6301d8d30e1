// `_text` and `_content` as conditions on the postings of words (https://hl7.org/fhir/R4/search.html#content).
import { identifierHash, pairHash, textSalt, wordHash } from '../index/text-postings.ts'
import { unescaped } from './query-text.ts'
import type { TextCriterion } from './request.ts'
import { postingArray, type SqlContext } from './sql-context.ts'
import { parseTextQuery, type TextPhrase, type TextQuery } from './text-query.ts'

/** Reads `_text=…` or `_content=…`; of several values separated by commas one must be met. */
export function readText(
  types: readonly string[],
  param: '_text' | '_content',
  values: readonly string[],
): TextCriterion {
  const parts = values.map(value => parseTextQuery(param, unescaped(value)))
  return { kind: 'text', types, param, query: parts.length === 1 ? parts[0]! : { kind: 'or', parts } }
}

export function textCondition(criterion: TextCriterion, row: string, context: SqlContext): string {
  // The narrative is content too, but its words are stored once.
  const params = criterion.param === '_text' ? (['_text'] as const) : (['_text', '_content'] as const)
  const salts = criterion.types.flatMap(type => params.map(param => textSalt(type, param)))
  const has = (hash: bigint): string =>
    `${row}.texts && ${postingArray(
      context,
      salts.map(salt => hash ^ salt),
    )}`
  return conditionOf(criterion.query, criterion.param === '_content', has)
}

function conditionOf(query: TextQuery, isContent: boolean, has: (hash: bigint) => string): string {
  if (query.kind === 'not') return `not (${conditionOf(query.part, isContent, has)})`
  if (query.kind !== 'phrase')
    return `(${query.parts.map(part => conditionOf(part, isContent, has)).join(` ${query.kind} `)})`
  const asWords = phraseHashes(query).map(has).join(' and ')
  return isContent && query.whole !== undefined ? `(${asWords} or ${has(identifierHash(query.whole))})` : `(${asWords})`
}

/** A word is itself; of several, each two neighbours stand side by side. */
function phraseHashes({ words }: TextPhrase): bigint[] {
  const hashes = words.map(wordHash)
  return hashes.length === 1 ? hashes : hashes.slice(1).map((hash, index) => pairHash(hashes[index]!, hash))
}
