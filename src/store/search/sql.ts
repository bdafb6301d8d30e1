// Turns criteria into SQL conditions on one row of the table `search`. Values only ever travel as parameters.
import { int2Array, int4Array, int8Array } from '../../db/arrays.ts'
import type { SearchParamModel } from '../../definitions/model.ts'
import { resourceTypes, valueSetHas } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import { foldedWord, type Indexer, isRange, noDate, pairWord } from '../index-entry.ts'
import { codeValueSet, componentParams, storedKeys } from '../param-paths.ts'
import type { ParamKey } from '../postings.ts'
import * as postings from '../postings.ts'
import { typeNumber } from '../type-number.ts'
import { fold, referenceTarget } from '../values.ts'
import { splitEscaped, unescaped } from './parse.ts'
import { columnEnds, dateCondition, type Ends, numberCondition, spanEnds } from './ranges.ts'
import type { ChainCriterion, Criterion, HasCriterion, ParamCriterion, Prefix } from './request.ts'
import { type QueryQuantity, type QueryToken, queryDate, queryNumber, queryQuantity, queryToken } from './values.ts'

/** Collects the parameters of a statement. */
export interface Binder {
  readonly values: unknown[]
  /** Adds a value and returns its placeholder. */
  bind(value: unknown): string
}

export function createBinder(): Binder {
  const values: unknown[] = []
  return { values, bind: value => `$${values.push(value)}` }
}

export interface SqlContext extends Binder {
  readonly indexer: Indexer
  /** Address of this server's FHIR endpoint. */
  readonly base: string
  /** Number of the next table alias. */
  alias: number
  /**
   * True if a token is asked for beside a patient: then both are looked up in the index of postings, which meets only
   * the resources that have both, instead of walking through everything about the patient.
   */
  readonly meetsInPostings: boolean
}

const postingArray = (context: SqlContext, hashes: readonly bigint[]): string =>
  `${context.bind(int8Array(hashes))}::bigint[]`

/** A condition that holds for the row `row` of search exactly if its resource meets the criterion. */
export function conditionOf(criterion: Criterion, row: string, context: SqlContext): string {
  if (criterion.kind === 'chain') return chainCondition(criterion, row, context)
  if (criterion.kind === 'has') return hasCondition(criterion, row, context)
  if (criterion.modifier === 'missing') return missingCondition(criterion, row, context)
  if (criterion.param.code === '_id') return idCondition(criterion, row, context)
  if (criterion.param.code === '_lastUpdated') return lastUpdatedCondition(criterion, row, context)
  switch (criterion.param.type) {
    case 'token':
      return tokenCondition(criterion, row, context)
    case 'reference':
      return referenceCondition(criterion, row, context)
    case 'date':
      return dateParamCondition(criterion, row, context)
    case 'number':
    case 'quantity':
      return magnitudeCondition(criterion, row, context)
    case 'string':
      return stringCondition(criterion, row, context)
    case 'uri':
      return uriCondition(criterion, row, context)
    case 'composite':
      return compositeCondition(criterion, row, context)
    case 'special':
      throw new Failure('MALFORMED_REQUEST', `The parameter ${criterion.param.code} is not supported here.`)
  }
}

/** Every key under which the parameter's values are stored, for each type of a search across types. */
const keysOf = (criterion: ParamCriterion): ParamKey[] =>
  criterion.types.flatMap(type => storedKeys(type, criterion.param.code))

const numbersOf = (criterion: ParamCriterion, context: SqlContext): string =>
  `any(${context.bind(int4Array(keysOf(criterion).map(key => key.number)))}::integer[])`

const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 1 ? conditions[0]! : `(${conditions.join(' or ')})`

function missingCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const value = criterion.values[0]
  if (criterion.values.length !== 1 || (value !== 'true' && value !== 'false'))
    throw new Failure('MALFORMED_REQUEST', `${criterion.param.code}:missing must be true or false.`)
  const has =
    criterion.param.code === '_id' || criterion.param.code === '_lastUpdated'
      ? 'true'
      : `${row}.tokens && ${postingArray(context, keysOf(criterion).map(postings.present))}`
  return value === 'true' ? `not (${has})` : has
}

function idCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier !== '' && criterion.modifier !== 'not')
    throw new Failure('MALFORMED_REQUEST', `:${criterion.modifier} is not supported on _id; it takes :not.`)
  const ids = [...new Set(criterion.values.map(unescaped))]
  const hashes = criterion.types.flatMap(type =>
    ids.map(id => postings.selfHash(type, id.replace(new RegExp(`^${type}/`), ''))),
  )
  const found = `${row}.self = any(${postingArray(context, hashes)})`
  return criterion.modifier === 'not' ? `not (${found})` : found
}

function lastUpdatedCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const types = context.bind(int2Array(criterion.types.map(typeNumber)))
  const time: Ends = {
    low: 'extract(epoch from u.updated_at) * 1000',
    high: 'extract(epoch from u.updated_at) * 1000',
    type: 'double precision',
  }
  const conditions = criterion.values.map(value => {
    const { prefix, interval } = queryDate('_lastUpdated', value)
    const at = (ms: number): string => `to_timestamp(${context.bind(ms)}::double precision / 1000)`
    if (prefix === 'ap' || prefix === 'ne') return dateCondition(prefix, interval, time, context)
    if (prefix === 'eq') return `(u.updated_at >= ${at(interval.low)} and u.updated_at < ${at(interval.high + 1)})`
    if (prefix === 'gt' || prefix === 'sa') return `u.updated_at >= ${at(interval.high + 1)}`
    if (prefix === 'ge') return `u.updated_at >= ${at(interval.low)}`
    return prefix === 'le' ? `u.updated_at < ${at(interval.high + 1)}` : `u.updated_at < ${at(interval.low)}`
  })
  return `${row}.key in (select u.key from resource u where u.type = any(${types}::smallint[]) and ${anyOf(conditions)})`
}

function tokenCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier === 'text') return textCondition(criterion, row, context)
  const hashes = criterion.values.flatMap(value =>
    criterion.types.flatMap(type =>
      storedKeys(type, criterion.param.code).flatMap(key => tokenPostings(criterion, type, key, value)),
    ),
  )
  const found = hashes.length > 0 ? `${row}.tokens && ${postingArray(context, hashes)}` : 'false'
  return criterion.modifier === 'not' ? `not (${found})` : found
}

function tokenPostings(criterion: ParamCriterion, type: string, key: ParamKey, value: string): bigint[] {
  const { code } = criterion.param
  if (criterion.modifier === 'of-type') {
    const parts = splitEscaped(value, '|').map(unescaped)
    if (parts.length !== 3) throw new Failure('MALFORMED_REQUEST', `${code}:of-type is system|code|value.`)
    return [postings.ofTypePosting(key, parts[0]!, parts[1]!, parts[2]!)]
  }
  const token = withoutImplied(queryToken(code, value), criterion.param, type)
  if (!token) return []
  if (token.system === undefined) return [postings.codePosting(key, token.code!)]
  return [
    token.code === undefined
      ? postings.systemPosting(key, token.system)
      : postings.systemCodePosting(key, token.system, token.code),
  ]
}

/** The token as the index has it where the element is a bare code, whose system is implied; undefined if it cannot be there. */
function withoutImplied(token: QueryToken, param: SearchParamModel, type: string): QueryToken | undefined {
  const implied = token.system && token.code !== undefined ? codeValueSet(param, type) : undefined
  if (!implied) return token
  return valueSetHas(implied, token.code!, token.system) ? { system: undefined, code: token.code } : undefined
}

function textCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const terms = criterion.values.map(value => `v.folded like ${context.bind(`%${likeText(fold(unescaped(value)))}%`)}`)
  return `${row}.tokens && (select coalesce(array_agg(v.posting), '{}') from term v where v.param = ${numbersOf(criterion, context)} and ${anyOf(terms)})`
}

const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

function referenceCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier === 'identifier') {
    const hashes = criterion.values.flatMap(value => {
      const { system, code } = queryToken(criterion.param.code, value)
      return keysOf(criterion).map(key => postings.identifierPosting(key, system, code ?? ''))
    })
    return `${row}.tokens && ${postingArray(context, hashes)}`
  }
  const targets = criterion.values.flatMap(value => targetsOf(criterion, unescaped(value), context.base))
  const patients = targets.filter(target => target.startsWith('Patient/'))
  const held =
    !context.meetsInPostings &&
    criterion.types.length === 1 &&
    context.indexer.columns(criterion.types[0]!).patient.has(criterion.param.code)
  const others = held ? targets.filter(target => !target.startsWith('Patient/')) : targets
  const conditions: string[] = []
  if (held && patients.length === 1) conditions.push(`${row}.patient = ${context.bind(hash64(patients[0]!))}::bigint`)
  if (held && patients.length > 1)
    conditions.push(`${row}.patient = any(${postingArray(context, patients.map(hash64))})`)
  if (others.length > 0)
    conditions.push(
      `${row}.refs && ${postingArray(
        context,
        keysOf(criterion).flatMap(key => others.map(target => postings.refPosting(key, target))),
      )}`,
    )
  const uris = others.filter(isUri)
  if (uris.length > 0)
    conditions.push(
      `${row}.tokens && ${postingArray(
        context,
        keysOf(criterion).flatMap(key => uris.map(uri => postings.uriPosting(key, uri))),
      )}`,
    )
  return conditions.length > 0 ? anyOf(conditions) : 'false'
}

const isUri = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(text)

/** What a reference value may stand for: an id alone means any type that the parameter may point at. */
function targetsOf(criterion: ParamCriterion, value: string, base: string): string[] {
  const { param, modifier } = criterion
  const target = referenceTarget(value, base)
  if (!target) return []
  if (isUri(target)) return [target]
  const [type, id] = target.split('/')
  if (id !== undefined) return modifier === '' || modifier === type ? [target] : []
  const types = modifier ? [modifier] : (param.targets ?? resourceTypes)
  return types.map(each => `${each}/${type}`)
}

function dateParamCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.types.length > 1 || context.indexer.columns(criterion.types[0]!).date !== criterion.param.code)
    return magnitudeCondition(criterion, row, context)
  const conditions = criterion.values.map(value => {
    const { prefix, interval } = queryDate(criterion.param.code, value)
    const condition = dateCondition(prefix, interval, columnEnds(row), context)
    return reachesBack.has(prefix) ? `(${condition} and ${row}.date > ${noDate})` : condition
  })
  return anyOf(conditions)
}

/** The prefixes that would find resources without a date too, whose place in the order is before every date. */
const reachesBack = new Set<Prefix>(['ne', 'lt', 'le', 'eb'])

const spanCondition = (row: string, which: string, condition: string): string =>
  `${row}.key in (select v.key from span v where ${which} and ${condition})`

function magnitudeCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const conditions = criterion.values.map(value => rangeCondition(criterion.param, value, context))
  return spanCondition(row, `v.param = ${numbersOf(criterion, context)} and v.token = 0`, anyOf(conditions))
}

function quantityCondition(quantity: QueryQuantity, context: SqlContext): string {
  const amount = numberCondition(quantity, context)
  if (quantity.unit === '' && !quantity.system) return amount
  return `(${amount} and ${unitCondition(quantity, context)})`
}

function unitCondition({ system, unit }: QueryQuantity, { bind }: SqlContext): string {
  const ofCode = () => `v.unit >> 32 = ${bind(postings.unitCode(unit))}::bigint`
  const ofSystem = (uri: string) => `v.unit & 4294967295 = ${bind(postings.unitSystem(uri))}::bigint`
  if (system === undefined) return `(${ofCode()} or ${ofSystem(unit)})`
  if (system === '') return ofCode()
  return unit === '' ? ofSystem(system) : `v.unit = ${bind(postings.unitNumber(system, unit))}::bigint`
}

/** Greater than every text with the prefix, in the byte order of the C collation. */
const afterAll = '\u{10FFFF}'

function stringCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
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

const startsWith = (folded: string, { bind }: SqlContext): string =>
  `(v.folded >= ${bind(folded)} and v.folded < ${bind(folded + afterAll)})`

const wordCondition = (criterion: ParamCriterion, condition: string, row: string, context: SqlContext): string =>
  `${row}.key in (select v.key from word v where v.param = ${numbersOf(criterion, context)} and ${condition})`

function uriCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const hashes = criterion.values.flatMap(value => {
    const uri = unescaped(value)
    return keysOf(criterion).flatMap(key => {
      if (criterion.modifier === 'below') return [postings.belowPosting(key, uri.replace(/\/+$/, ''))]
      if (criterion.modifier === 'above')
        return postings.ancestors(uri).map(ancestor => postings.uriPosting(key, ancestor))
      return [postings.uriPosting(key, uri)]
    })
  })
  return `${row}.tokens && ${postingArray(context, hashes)}`
}

function compositeCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const { param, types } = criterion
  const [left, right, more] = componentParams(param, types[0]!)
  if (more) throw new Failure('MALFORMED_REQUEST', `${param.code} has three components, which is not supported.`)
  const conditions = criterion.values.map(value => {
    const parts = splitEscaped(value, '$')
    if (parts.length !== 2 || parts.includes(''))
      throw new Failure('MALFORMED_REQUEST', `${param.code}: two values joined by $, e.g. ${param.code}=8480-6$gt120.`)
    if (left && right && isRange(right.type))
      return rangePairCondition(criterion, left, right, parts as [string, string], row, context)
    const one = pairText(criterion, left, parts[0]!, context)
    if (right?.type === 'string') {
      const folded = foldedWord(pairWord(one, unescaped(parts[1]!)))
      return wordCondition(criterion, startsWith(folded, context), row, context)
    }
    const other = pairText(criterion, right, parts[1]!, context)
    const hashes = keysOf(criterion).map(key => postings.pairPosting(key, one, other))
    return `${row}.tokens && ${postingArray(context, hashes)}`
  })
  return anyOf(conditions)
}

// span.token holds 32 bits of the code: the 64-bit posting of the component's own parameter decides.
function rangePairCondition(
  criterion: ParamCriterion,
  left: SearchParamModel,
  right: SearchParamModel,
  [one, other]: [string, string],
  row: string,
  context: SqlContext,
): string {
  const { system, code } = queryToken(criterion.param.code, one)
  if (code === undefined)
    throw new Failure('MALFORMED_REQUEST', `${criterion.param.code}: the first component needs a code.`)
  const [low, high] =
    system === undefined
      ? postings.spanTokenRange(code)
      : [postings.spanToken(system, code), postings.spanToken(system, code)]
  const which = `v.param = ${numbersOf(criterion, context)} and v.token between ${context.bind(low)}::bigint and ${context.bind(high)}::bigint`
  const range = spanCondition(row, which, rangeCondition(right, other, context))
  return `(${range} and ${tokenCondition({ ...criterion, param: left, modifier: '', values: [one] }, row, context)})`
}

function rangeCondition(param: SearchParamModel, value: string, context: SqlContext): string {
  if (param.type === 'quantity') return quantityCondition(queryQuantity(param.code, value), context)
  if (param.type === 'number') return numberCondition(queryNumber(param.code, unescaped(value)), context)
  const { prefix, interval } = queryDate(param.code, value)
  return dateCondition(prefix, interval, spanEnds, context)
}

/** A component's value in the form in which the index writes it. */
function pairText(
  { param, types }: ParamCriterion,
  component: SearchParamModel | undefined,
  text: string,
  { base }: SqlContext,
): string {
  if (component?.type === 'reference') return referenceTarget(unescaped(text), base) ?? text
  if (component && component.type !== 'token') return unescaped(text)
  const token = queryToken(param.code, text)
  const { system, code } = (component && withoutImplied(token, component, types[0]!)) ?? token
  return system === undefined ? code! : `${system}|${code ?? ''}`
}

const saltArray = (types: readonly string[], code: string, context: SqlContext): string =>
  postingArray(
    context,
    types.flatMap(type => storedKeys(type, code)).map(key => key.salt),
  )

function chainCondition(criterion: ChainCriterion, row: string, context: SqlContext): string {
  const { param, types } = criterion
  const held = types.length === 1 && context.indexer.columns(types[0]!).patient.has(param.code)
  const conditions = criterion.targets.map(target => {
    const inner = `t${context.alias++}`
    const found = `${inner}.type = ${typeNumber(target.type)} and ${conditionOf(target.criterion, inner, context)}`
    if (held && target.type === 'Patient')
      return `${row}.patient in (select ${inner}.self from search ${inner} where ${found})`
    const salts = saltArray(types, param.code, context)
    return `${row}.refs && (select coalesce(array_agg(${inner}.self # salt), '{}') from search ${inner}, unnest(${salts}) as salt where ${found})`
  })
  return anyOf(conditions)
}

function hasCondition(criterion: HasCriterion, row: string, context: SqlContext): string {
  const inner = `t${context.alias++}`
  const found = `${inner}.type = ${typeNumber(criterion.from)} and ${conditionOf(criterion.criterion, inner, context)}`
  const held = context.indexer.columns(criterion.from).patient.has(criterion.param.code)
  if (held && criterion.types.length === 1 && criterion.types[0] === 'Patient')
    return `${row}.self in (select ${inner}.patient from search ${inner} where ${found})`
  const salts = saltArray([criterion.from], criterion.param.code, context)
  return `${row}.self in (select ref # salt from search ${inner}, unnest(${inner}.refs) as ref, unnest(${salts}) as salt where ${found})`
}
