// What a resource is found by: every search parameter of its type, turned into postings, intervals and words.

import type { SearchParamModel } from '../definitions/model.ts'
import { searchParams, typeModel } from '../definitions/r4.ts'
import { compileTyped, type Typed } from '../fhirpath/compile.ts'
import { hash64 } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { clinicalDate } from './clinical-date.ts'
import { componentParams, isSingle, isStored, pathText, plainPath } from './param-paths.ts'
import * as postings from './postings.ts'
import { type ParamKey, paramKey } from './postings.ts'
import { fold, intervalOf, magnitudeOf, referenceTarget, stringsOf, type Token, tokensOf } from './values.ts'

/** A number, quantity or date that a resource is found by. */
export interface Span {
  readonly param: number
  readonly token: bigint
  readonly unit: bigint
  readonly low: number
  readonly high: number
}

/** A spoken text that stands for codes; texts recur, so each is stored once and found by its posting. */
export interface Term {
  readonly param: number
  readonly posting: bigint
  readonly folded: string
}

export interface Word {
  readonly param: number
  readonly folded: string
  readonly exact: string
}

/** Everything a resource is found by. */
export interface IndexEntry {
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
}

/** The ordering date of a resource without one: before every other. */
export const noDate = -(2 ** 53 - 1)

/** Most bytes of a folded text that are indexed; PostgreSQL's btree takes no entry above 2,704. */
const longestWord = 2400

interface Draft {
  tokens: Set<bigint>
  refs: Set<bigint>
  spans: Span[]
  words: Word[]
  terms: Term[]
  patient: bigint | undefined
  date: number
  dateHigh: number
}

type Extract = (focus: unknown, env: { resource: unknown }) => readonly Typed[]

interface Extractor {
  readonly key: ParamKey
  readonly run: Extract
  readonly add: (draft: Draft, values: readonly Typed[], resource: JsonObject) => void
}

/** How the type's column-held parameters are found, for the search planner. */
export interface Columns {
  /** Code of the date parameter that the columns date and date_high hold whole, if one is. */
  readonly date: string | undefined
  /** Codes of the reference parameters that the column patient holds whole. */
  readonly patient: ReadonlySet<string>
}

interface TypeIndex {
  readonly extractors: readonly Extractor[]
  readonly columns: Columns
}

/** Builds index entries; `base` is the address of this server's FHIR endpoint, so that absolute references to it are known as its own. */
export function createIndexer(base: string) {
  const types = new Map<string, TypeIndex>()
  const indexOf = (type: string): TypeIndex => {
    let index = types.get(type)
    if (!index) types.set(type, (index = compileType(type, base)))
    return index
  }
  return {
    columns: (type: string): Columns => indexOf(type).columns,
    entry(resource: JsonObject): IndexEntry {
      const type = String(resource['resourceType'])
      const draft: Draft = {
        tokens: new Set(),
        refs: new Set(),
        spans: [],
        words: [],
        terms: [],
        patient: undefined,
        date: noDate,
        dateHigh: noDate,
      }
      const env = { resource }
      for (const extractor of indexOf(type).extractors) {
        const values = extractor.run(resource, env)
        if (values.length === 0) continue
        draft.tokens.add(postings.present(extractor.key))
        extractor.add(draft, values, resource)
      }
      return {
        ...draft,
        self: postings.selfHash(type, String(resource['id'])),
        tokens: [...draft.tokens],
        refs: [...draft.refs],
      }
    },
  }
}

export type Indexer = ReturnType<typeof createIndexer>

// Held by the table `resource` itself, not by postings.
const elsewhere = new Set(['_id', '_lastUpdated', '_text', '_content', '_list', '_has', '_filter', '_type', '_query'])

function compileType(type: string, base: string): TypeIndex {
  const columns = columnsOf(type)
  const extractors: Extractor[] = []
  for (const param of searchParams(type).values()) {
    if (!param.expression || elsewhere.has(param.code) || !isStored(type, param.code)) continue
    const run: Extract = compileTyped(param.expression, { model: { typeModel }, type })
    const key = paramKey(type, param.code)
    extractors.push({ key, run, add: adder(param, key, type, base, columns) })
  }
  return { extractors, columns }
}

function columnsOf(type: string): Columns {
  const params = searchParams(type)
  const date = params.get(clinicalDate(type))
  const patient = params.get('patient')
  const held = new Set<string>()
  if (patient && isSingle(patient, type)) {
    for (const param of params.values()) {
      if (param.type === 'reference' && pathText(param, type) === pathText(patient, type)) held.add(param.code)
    }
  }
  return { date: date?.type === 'date' && isSingle(date, type) ? date.code : undefined, patient: held }
}

function adder(param: SearchParamModel, key: ParamKey, type: string, base: string, columns: Columns): Extractor['add'] {
  switch (param.type) {
    case 'token':
      return (draft, values) =>
        values.forEach(({ type: valueType, value }) =>
          tokensOf(valueType, value).forEach(token => addToken(draft, key, token)),
        )
    case 'reference':
      return (draft, values) => addReferences(draft, values, key, base, columns.patient.has(param.code))
    case 'date':
      return param.code === columns.date ? addOrderingDate : (draft, values) => addDates(draft, values, key)
    case 'number':
    case 'quantity':
      return (draft, values) => addMagnitudes(draft, values, key.number, 0n)
    case 'string':
      return (draft, values) => addWords(draft, values, key)
    case 'uri':
      return (draft, values) => values.forEach(({ value }) => typeof value === 'string' && addUri(draft, key, value))
    case 'composite':
      return compositeAdder(param, key, type, base)
    case 'special':
      return () => {}
  }
}

function addToken(draft: Draft, key: ParamKey, token: Token): void {
  if (token.code !== undefined) {
    draft.tokens.add(postings.codePosting(key, token.code))
    draft.tokens.add(postings.systemCodePosting(key, token.system ?? '', token.code))
    for (const kind of token.types ?? [])
      draft.tokens.add(postings.ofTypePosting(key, kind.system ?? '', kind.code ?? '', token.code))
  }
  if (token.system !== undefined) draft.tokens.add(postings.systemPosting(key, token.system))
  if (token.text !== undefined) {
    const folded = foldedWord(token.text)
    const posting = postings.textPosting(key, folded)
    if (!draft.tokens.has(posting)) draft.terms.push({ param: key.number, posting, folded })
    draft.tokens.add(posting)
  }
}

function addReferences(draft: Draft, values: readonly Typed[], key: ParamKey, base: string, isPatient: boolean): void {
  for (const { value } of values) {
    if (typeof value === 'string') {
      addUri(draft, key, value)
      continue
    }
    if (!isObject(value)) continue
    const target = typeof value['reference'] === 'string' ? referenceTarget(value['reference'], base) : undefined
    if (target) {
      draft.refs.add(postings.refPosting(key, target))
      if (isPatient && target.startsWith('Patient/')) draft.patient = hash64(target)
    }
    if (isObject(value['identifier'])) addIdentifier(draft, key, value['identifier'])
  }
}

function addIdentifier(draft: Draft, key: ParamKey, identifier: JsonObject): void {
  const [system, value] = [identifier['system'], identifier['value']]
  if (typeof value !== 'string') return
  draft.tokens.add(postings.identifierPosting(key, undefined, value))
  draft.tokens.add(postings.identifierPosting(key, typeof system === 'string' ? system : '', value))
}

function addUri(draft: Draft, key: ParamKey, uri: string): void {
  draft.tokens.add(postings.uriPosting(key, uri))
  const bar = uri.lastIndexOf('|')
  const plain = bar > 0 ? uri.slice(0, bar) : uri
  if (bar > 0) draft.tokens.add(postings.uriPosting(key, plain))
  for (const ancestor of postings.ancestors(plain)) draft.tokens.add(postings.belowPosting(key, ancestor))
}

function addOrderingDate(draft: Draft, values: readonly Typed[]): void {
  const interval = intervalOf(values[0]!.type, values[0]!.value)
  if (!interval) return
  draft.date = interval.low
  draft.dateHigh = interval.high
}

function addDates(draft: Draft, values: readonly Typed[], key: ParamKey, token = 0n): void {
  for (const { type, value } of values) {
    const interval = intervalOf(type, value)
    if (interval) draft.spans.push({ param: key.number, token, unit: 0n, ...interval })
  }
}

function addMagnitudes(draft: Draft, values: readonly Typed[], param: number, token: bigint): void {
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

function addWords(draft: Draft, values: readonly Typed[], key: ParamKey): void {
  for (const { type, value } of values) for (const part of stringsOf(type, value)) addWord(draft, key, part)
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

function addWord(draft: Draft, key: ParamKey, part: string): void {
  const word = { param: key.number, folded: foldedWord(part), exact: part }
  if (!draft.words.some(other => other.param === word.param && other.exact === word.exact)) draft.words.push(word)
}

interface Component {
  readonly type: SearchParamModel['type']
  readonly run: Extract
}

// Both components are read from the same element: that is what makes a composite.
function compositeAdder(param: SearchParamModel, key: ParamKey, type: string, base: string): Extractor['add'] {
  const [left, right, more] = componentsOf(param, type)
  if (!left || !right || more) return () => {}
  const add = isRange(right.type) ? addRangePair : addPair
  return (draft, values, resource) => {
    for (const element of values) {
      const lefts = left.run(element.value, { resource })
      const rights = lefts.length > 0 ? right.run(element.value, { resource }) : []
      if (rights.length > 0) add(draft, key, { left, right, lefts, rights, base })
    }
  }
}

interface Pair {
  readonly left: Component
  readonly right: Component
  readonly lefts: readonly Typed[]
  readonly rights: readonly Typed[]
  readonly base: string
}

/** True for the kinds of parameter that are stored as intervals. */
export const isRange = (kind: SearchParamModel['type']): boolean =>
  kind === 'quantity' || kind === 'number' || kind === 'date'

function addRangePair(draft: Draft, key: ParamKey, { right, lefts, rights }: Pair): void {
  const tokens = lefts.flatMap(({ type, value }) => tokensOf(type, value)).filter(token => token.code !== undefined)
  for (const { system = '', code } of tokens) {
    const token = postings.spanToken(system, code!)
    if (right.type === 'date') addDates(draft, rights, key, token)
    else addMagnitudes(draft, rights, key.number, token)
  }
}

function addPair(draft: Draft, key: ParamKey, { left, right, lefts, rights, base }: Pair): void {
  for (const one of lefts.flatMap(value => pairKeys(left.type, value, base))) {
    if (right.type === 'string') {
      for (const { type, value } of rights)
        for (const part of stringsOf(type, value)) addWord(draft, key, pairWord(one, part))
      continue
    }
    for (const other of rights.flatMap(value => pairKeys(right.type, value, base)))
      draft.tokens.add(postings.pairPosting(key, one, other))
  }
}

/** A pair whose second value is a string, which is searched by how it begins. */
export const pairWord = (left: string, text: string): string => `${left}$${text}`

/** Every way in which one component's value may be asked for. */
function pairKeys(kind: SearchParamModel['type'], { type, value }: Typed, base: string): string[] {
  if (kind === 'token') {
    return tokensOf(type, value).flatMap(({ system = '', code }) => [
      ...(code === undefined ? [] : [code, `${system}|${code}`]),
      ...(system ? [`${system}|`] : []),
    ])
  }
  if (kind === 'reference') {
    const reference = isObject(value) ? value['reference'] : value
    const target = typeof reference === 'string' ? referenceTarget(reference, base) : undefined
    return target ? [target] : []
  }
  return typeof value === 'string' ? [value] : []
}

/** The component parameters of a composite, compiled for the type of the element they are read from. */
function componentsOf(param: SearchParamModel, type: string): Component[] {
  const params = componentParams(param, type)
  const focus = plainPath(param.expression, type)?.type ?? type
  return (param.components ?? []).map((component, index) => {
    const run: Extract = compileTyped(component.expression, { model: { typeModel }, type: focus })
    return { type: params[index]?.type ?? 'token', run }
  })
}
