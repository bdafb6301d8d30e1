// The words that `_text` and `_content` look for: `(bone OR liver) AND metastases`, `"heart failure" -child`
// (https://hl7.org/fhir/R4/search.html#content).
import type { Failure } from '../../lib/failure.ts'
import { wordsOf } from '../index/text-postings.ts'
import { malformed, shown } from './query-text.ts'

/** Words side by side; `whole` is the piece as it stands, if it could be an identifier. */
export interface TextPhrase {
  readonly kind: 'phrase'
  readonly words: readonly string[]
  readonly whole: string | undefined
}

export type TextQuery =
  | TextPhrase
  | { readonly kind: 'and' | 'or'; readonly parts: readonly TextQuery[] }
  | { readonly kind: 'not'; readonly part: TextQuery }

/** True if nothing can match that has none of the words. */
export function needsWord(query: TextQuery): boolean {
  if (query.kind === 'phrase') return true
  if (query.kind === 'not') return false
  return query.kind === 'and' ? query.parts.some(needsWord) : query.parts.every(needsWord)
}

/** True if there is one word, or phrase, that all that match have. */
export function needsOneWord(query: TextQuery): boolean {
  if (query.kind === 'phrase') return true
  return query.kind === 'and' && query.parts.some(needsOneWord)
}

const mostWords = 100
const deepest = 20

interface Reader {
  readonly name: string
  readonly tokens: readonly string[]
  at: number
  words: number
}

/** Reads the words of a query; AND stands between them where nothing else does. @throws Failure MALFORMED_REQUEST. */
export function parseTextQuery(name: string, text: string): TextQuery {
  const quotes = text.split('"').length - 1
  if (quotes % 2 === 1) throw refused(name, 'a quote is not closed.')
  const reader: Reader = { name, tokens: tokensOf(text), at: 0, words: 0 }
  const query = readOr(reader, 0)
  if (reader.at < reader.tokens.length) throw refused(name, 'a ")" has no "(" before it.')
  if (!query) throw refused(name, `there is no word in "${shown(text)}".`)
  return query
}

// A dash is NOT only where it touches the word behind it and none before it.
const tokensOf = (text: string): string[] =>
  Array.from(text.matchAll(/"[^"]*"|[()]|(-(?=["(\p{L}\p{N}]))|[^\s"()]+/gu), ([all, not]) => (not ? 'NOT' : all))

const refused = (name: string, problem: string): Failure => malformed(name, `${name}: ${problem}`, 'value')

function readOr(reader: Reader, depth: number): TextQuery | undefined {
  const parts = [readAnd(reader, depth)]
  while (isWord(reader, 'or')) {
    reader.at += 1
    parts.push(readAnd(reader, depth))
  }
  if (parts.length > 1 && parts.includes(undefined)) throw refused(reader.name, 'OR stands between words.')
  return parts.length === 1 ? parts[0] : { kind: 'or', parts: parts as TextQuery[] }
}

function readAnd(reader: Reader, depth: number): TextQuery | undefined {
  const parts: TextQuery[] = []
  while (reader.at < reader.tokens.length && reader.tokens[reader.at] !== ')' && !isWord(reader, 'or')) {
    if (isWord(reader, 'and')) reader.at += 1
    else {
      const part = readOne(reader, depth)
      if (part) parts.push(part)
    }
  }
  return parts.length > 1 ? { kind: 'and', parts } : parts[0]
}

/** A word, a phrase or a group; undefined for what holds no letter, such as a dash between words. */
function readOne(reader: Reader, depth: number): TextQuery | undefined {
  if (depth > deepest) throw refused(reader.name, `more than ${deepest} nested brackets.`)
  if (isWord(reader, 'not')) {
    reader.at += 1
    const next = reader.tokens[reader.at]
    const part = next === undefined || next === ')' ? undefined : readOne(reader, depth + 1)
    if (!part) throw refused(reader.name, 'NOT must be followed by a word.')
    return { kind: 'not', part }
  }
  const token = reader.tokens[reader.at++]!
  if (token !== '(') return phrase(reader, token)
  const inner = readOr(reader, depth + 1)
  if (reader.tokens[reader.at++] !== ')') throw refused(reader.name, 'a "(" has no ")" after it.')
  return inner
}

function phrase(reader: Reader, token: string): TextPhrase | undefined {
  const text = token.replaceAll('"', '')
  if (/[\p{L}\p{N}][*?]|[*?][\p{L}\p{N}]/u.test(text) && !token.startsWith('"'))
    throw refused(reader.name, `only whole words are supported, without * or ?: "${shown(text)}".`)
  const words = wordsOf(text)
  reader.words += words.length
  if (reader.words > mostWords) throw refused(reader.name, `more than ${mostWords} words.`)
  return words.length > 0
    ? { kind: 'phrase', words, whole: /\s/.test(text.trim()) ? undefined : text.trim() }
    : undefined
}

const isWord = ({ tokens, at }: Reader, word: string): boolean => tokens[at]?.toLowerCase() === word
