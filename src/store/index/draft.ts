// An index entry in the making: how each kind of value is added to it.
import type { Steps, Typed } from '../../fhirpath/compile.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import { isJsonNumber, isObject, type JsonObject, numberOf } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import type { OwnParam } from '../search-params/known.ts'
import { fold, intervalOf, magnitudeOf, referenceTarget, stringsOf, type Token } from '../values.ts'
import type { ParamKey } from './postings.ts'
import * as postings from './postings.ts'
import type { Presence } from './presence.ts'
import type { Subject } from './subject.ts'

/** A number, quantity or date that a resource is found by. */
interface Span {
  readonly param: number
  readonly token: bigint
  readonly unit: bigint
  readonly low: number
  readonly high: number
}

/** A string, or the display text of a code; texts recur, so each is stored once and found by its posting. */
interface Term {
  readonly param: number
  readonly posting: bigint
  readonly folded: string
}

interface Word {
  readonly param: number
  readonly folded: string
  readonly exact: string
}

/** Everything a resource is found by, and whose data it is. */
export interface IndexEntry extends Subject {
  readonly self: bigint
  /** Hash of the one patient the resource is about; undefined if the type may have several, or this one has none. */
  readonly patient: bigint | undefined
  readonly date: number
  readonly dateHigh: number
  readonly tokens: readonly bigint[]
  readonly refs: readonly bigint[]
  readonly spans: readonly Span[]
  readonly words: readonly Word[]
  readonly terms: readonly Term[]
  /** Postings of the words that can be read in it. */
  readonly texts: readonly bigint[]
  /** Postings of the resource's main codes, without their systems. */
  readonly codes: readonly bigint[]
}

/** What a resource is found by in addition, once a further parameter is defined. */
export type Addition = Pick<IndexEntry, 'tokens' | 'refs' | 'spans' | 'words' | 'terms'>

/** The ordering date of a resource without one: before every other. */
export const noDate = -(2 ** 53 - 1)

/** Most bytes of a folded text that are indexed; PostgreSQL's btree takes no entry above 2,704. */
const longestWord = 2400

export interface Draft {
  /** Most entries that it may have. */
  readonly most: number
  tokens: Set<bigint>
  refs: Set<bigint>
  spans: Span[]
  words: Word[]
  /** Parameters and texts of `words`. */
  known: Set<string>
  terms: Term[]
  codes: Set<bigint>
  patient: bigint | undefined
  date: number
  dateHigh: number
}

/** @throws Failure VALIDATION_FAILED that names the search parameter whose values are too many. */
export function mustFit({ most, tokens, refs, spans, words, terms }: Draft, { name }: ParamKey): void {
  if (tokens.size + refs.size + spans.length + words.length + terms.length <= most) return
  const message = `The values of ${name} create more than ${most} index entries: split the resource.`
  throw new Failure('VALIDATION_FAILED', message, {
    issue: 'too-costly',
    details: [{ field: name, code: 'too-costly', message }],
  })
}

/** Evaluates an expression on a focus within a resource. */
export type Extract = (focus: unknown, env: { resource: unknown }, steps?: Steps) => readonly Typed[]

export interface Extractor {
  readonly key: ParamKey
  /** Lists of properties: a resource that has none of one list has no value of the parameter. Empty: not known. */
  readonly needs: readonly (readonly string[])[]
  /** The parameter, if a user defined it: then the work for it is charged. */
  readonly own?: OwnParam
  readonly presence: Presence
  readonly run: Extract
  readonly add: (draft: Draft, values: readonly Typed[], resource: JsonObject, steps?: Steps) => void
}

/** @param isBare the parameter reads nothing that has a system */
export function addToken(draft: Draft, key: ParamKey, token: Token, base: Base, isBare = false): void {
  const system = token.system === undefined ? undefined : base.system(token.system)
  if (token.code !== undefined) {
    const [code, ofSystem] = key.codes(system ?? '', token.code)
    draft.tokens.add(ofSystem)
    if (!isBare) draft.tokens.add(code)
    for (const kind of token.types ?? [])
      draft.tokens.add(postings.ofTypePosting(key, kind.system ?? '', kind.code ?? '', token.code))
  }
  if (system !== undefined) draft.tokens.add(postings.systemPosting(key, system))
  if (token.text !== undefined) {
    const folded = foldedWord(token.text)
    const posting = postings.textPosting(key, folded)
    if (!draft.tokens.has(posting)) draft.terms.push({ param: key.number, posting, folded })
    draft.tokens.add(posting)
  }
}

/** Adds the codes of the parameter that identifies what the resource is. */
export function addMainCode(draft: Draft, key: ParamKey, token: Token): void {
  if (token.code !== undefined) draft.codes.add(postings.codePosting(key, token.code))
}

/**
 * What a reference to a patient by a parameter says: whom the resource is about; that it is in the patient's compartment; nothing of
 * the kind.
 */
export type PatientRole = 'subject' | 'member' | undefined

export function addReferences(
  draft: Draft,
  values: readonly Typed[],
  key: ParamKey,
  base: Base,
  role: PatientRole,
): void {
  for (const { value } of values) {
    if (typeof value === 'string') {
      addUri(draft, key, value)
      continue
    }
    if (!isObject(value)) continue
    const target = targetOf(value, base)
    if (target) {
      draft.refs.add(postings.refPosting(key, target))
      if (role && target.startsWith('Patient/')) {
        if (role === 'subject') draft.patient = hash64(target)
        else draft.tokens.add(postings.ofSomePatient)
      }
    }
    if (isObject(value['identifier'])) addIdentifier(draft, key, value['identifier'], base)
  }
}

/** What a reference points at; of a resource in its place, as with `Bundle.composition`, itself. */
function targetOf({ reference, resourceType, id }: JsonObject, base: Base): string | undefined {
  if (typeof reference === 'string') return referenceTarget(reference, base)
  return typeof resourceType === 'string' && typeof id === 'string' ? `${resourceType}/${id}` : undefined
}

function addIdentifier(draft: Draft, key: ParamKey, identifier: JsonObject, base: Base): void {
  const [system, value] = [identifier['system'], identifier['value']]
  if (typeof value !== 'string') return
  draft.tokens.add(postings.identifierPosting(key, undefined, value))
  draft.tokens.add(postings.identifierPosting(key, typeof system === 'string' ? base.system(system) : '', value))
}

export function addUri(draft: Draft, key: ParamKey, uri: string): void {
  draft.tokens.add(postings.uriPosting(key, uri))
  const bar = uri.lastIndexOf('|')
  const plain = bar > 0 ? uri.slice(0, bar) : uri
  if (bar > 0) {
    draft.tokens.add(postings.uriPosting(key, plain))
    for (const version of postings.versionsAbove(uri)) draft.tokens.add(postings.belowPosting(key, version))
  }
  for (const ancestor of postings.ancestors(plain)) draft.tokens.add(postings.belowPosting(key, ancestor))
}

export function addOrderingDate(draft: Draft, values: readonly Typed[]): void {
  const interval = intervalOf(values[0]!.type, values[0]!.value)
  if (!interval) return
  draft.date = interval.low
  draft.dateHigh = interval.high
}

export function addDates(draft: Draft, values: readonly Typed[], key: ParamKey, token = 0n): void {
  for (const { type, value } of values) {
    const interval = intervalOf(type, value)
    if (interval) draft.spans.push({ param: key.number, token, unit: 0n, ...interval })
  }
}

export function addMagnitudes(draft: Draft, values: readonly Typed[], param: number, token: bigint): void {
  for (const { type, value } of values) {
    const magnitude = magnitudeOf(type, value)
    if (!magnitude) continue
    const { low, high, system = '', code, unit } = magnitude
    draft.spans.push({
      param,
      token,
      unit: code || unit ? postings.unitNumber(code ? system : '', (code ?? unit)!) : 0n,
      low,
      high,
    })
    if (code && unit && unit !== code)
      draft.spans.push({ param, token, unit: postings.unitNumber('', unit), low, high })
  }
}

/** A place on the globe: its latitude stands in the column low, its longitude in high. */
export function addPositions(draft: Draft, values: readonly Typed[], key: ParamKey): void {
  for (const { value } of values) {
    const [latitude, longitude] = isObject(value) ? [value['latitude'], value['longitude']] : []
    if (isJsonNumber(latitude) && isJsonNumber(longitude))
      draft.spans.push({ param: key.number, token: 0n, unit: 0n, low: numberOf(latitude), high: numberOf(longitude) })
  }
}

export function addWords(draft: Draft, values: readonly Typed[], key: ParamKey): void {
  const folded = new Set<string>()
  for (const { type, value } of values)
    for (const part of stringsOf(type, value)) folded.add(addWord(draft, key, part).folded)
  for (const each of folded)
    draft.terms.push({ param: key.number, posting: postings.textPosting(key, each), folded: each })
}

/** A text as the index holds it: folded, and cut to what a btree entry can hold. */
export function foldedWord(part: string): string {
  const folded = fold(part)
  if (Buffer.byteLength(folded) <= longestWord) return folded
  return Buffer.from(folded)
    .subarray(0, longestWord)
    .toString()
    .replace(/\uFFFD+$/, '')
}

export function addWord(draft: Draft, key: ParamKey, part: string): Word {
  const word = { param: key.number, folded: foldedWord(part), exact: part }
  const name = `${key.number} ${part}`
  if (!draft.known.has(name)) draft.words.push(word)
  draft.known.add(name)
  return word
}
