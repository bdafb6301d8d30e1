// Postings of words: what `_text` and `_content` find a resource by (https://hl7.org/fhir/R4/search.html#content).
// A word is a hash of 64 bits, two neighbouring words are another: so phrases need no positions.
import { hash64, uncachedHash64 } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import { fold } from '../values.ts'
import { paramKey } from './postings.ts'
import { visitTexts } from './texts.ts'

/** Most different words, and pairs of them, that one resource is found by: a book of 25,000 words. More words are not found. */
const mostPostings = 50_000

// Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words: there each letter is a word, and a longer
// query a phrase of them.
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}])+/gu
const plainWords = /[a-z0-9]+/g

/** The words of a text: runs of letters and digits, without regard to case and accents. */
export function wordsOf(text: string): string[] {
  const folded = fold(text)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII is what most texts are, and is split ten times as fast
  return folded.match(/^[\x00-\x7f]*$/.test(folded) ? plainWords : words) ?? []
}

/** Two words that stand side by side. */
export const pairHash = (left: bigint, right: bigint): bigint => BigInt.asIntN(64, left * 3n + right)

/** An identifier, as one word. */
export const identifierHash = (value: string): bigint => hash64(`#${fold(value)}`)

/** Keeps the words of one type and kind of text apart from those of others. */
export const textSalt = (type: string, param: '_text' | '_content'): bigint => paramKey(type, param).salt

/** The postings of everything that can be read in a resource. */
export function textPostings(resource: JsonObject, type: string): bigint[] {
  const narratives: string[] = []
  const contents: string[] = []
  const found = new Set<bigint>()
  visitTexts(resource, {
    narrative: text => narratives.push(text),
    content: text => contents.push(text),
    identifier: value => found.add(identifierHash(value) ^ textSalt(type, '_content')),
  })
  for (const text of distinct(narratives)) addAll(found, text, textSalt(type, '_text'))
  for (const text of distinct(contents)) addAll(found, text, textSalt(type, '_content'))
  return [...found]
}

const distinct = (texts: readonly string[]): Iterable<string> => (texts.length > 1 ? new Set(texts) : texts)

function addAll(found: Set<bigint>, text: string, salt: bigint): void {
  if (found.size >= mostPostings) return
  for (const hash of saltedHashes(text, salt)) if (found.size < mostPostings) found.add(hash)
}

// Displays of codes recur in nearly every resource of a type.
const recent = new Map<bigint, Map<string, readonly bigint[]>>()
const mostRecent = 5000
const longestRecent = 200

function saltedHashes(text: string, salt: bigint): readonly bigint[] {
  let texts = recent.get(salt)
  if (!texts) recent.set(salt, (texts = new Map()))
  const known = texts.get(text)
  if (known) return known
  const hashes = hashText(text).map(hash => hash ^ salt)
  if (text.length <= longestRecent) {
    if (texts.size >= mostRecent) texts.clear()
    texts.set(text, hashes)
  }
  return hashes
}

/** Letters of one text in which words are looked for. */
const mostLetters = 500_000

/** The words of a text and its pairs of neighbours, hashed. */
function hashText(text: string): bigint[] {
  const single = wordsOf(text.slice(0, mostLetters)).slice(0, mostPostings).map(wordHash)
  return [...single, ...single.slice(1).map((hash, index) => pairHash(single[index]!, hash))]
}

const vocabulary = new Map<string, bigint>()
const mostWords = 100_000

/** The hash of a word; apart from those of codes, so that neither drives the other from its cache. */
export function wordHash(word: string): bigint {
  let hash = vocabulary.get(word)
  if (hash !== undefined) return hash
  hash = uncachedHash64(word)
  if (vocabulary.size >= mostWords) vocabulary.clear()
  vocabulary.set(word, hash)
  return hash
}
