// Turns criteria into SQL conditions on one row of the table `search`. Values only ever travel as parameters.
import { Failure } from '../../lib/failure.ts'
import * as postings from '../index/postings.ts'
import { typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { typeArray } from './binder.ts'
import { listCondition } from './lists.ts'
import { unescaped } from './query-text.ts'
import { dateCondition, type Ends } from './ranges.ts'
import type { ChainCriterion, Criterion, HasCriterion, ParamCriterion } from './request.ts'
import { compartmentCondition } from './sql-compartment.ts'
import { compositeCondition } from './sql-composites.ts'
import { insideContained, isByColumn, isOnlyOutside } from './sql-contained.ts'
import { anyOf, postingArray, type SqlContext } from './sql-context.ts'
import { missingCondition } from './sql-missing.ts'
import { nearCondition } from './sql-near.ts'
import { isAboutPatient, isInBucketOf, referenceCondition } from './sql-references.ts'
import { dateParamCondition, magnitudeCondition } from './sql-spans.ts'
import { textCondition } from './sql-text.ts'
import { tokenCondition, uriCondition } from './sql-tokens.ts'
import { stringCondition } from './sql-words.ts'
import { undatedCondition } from './undated.ts'
import { queryDate } from './values.ts'
import { isHeldBy, isPlainToken } from './walk.ts'

/** A condition that holds for the row `row` of search exactly if its resource meets the criterion. */
export function conditionOf(criterion: Criterion, row: string, context: SqlContext): string {
  if (context.shift !== undefined && isOnlyOutside(criterion)) return 'false'
  switch (criterion.kind) {
    case 'and':
    case 'or':
      return `(${criterion.parts.map(part => conditionOf(part, row, context)).join(` ${criterion.kind} `)})`
    case 'not':
      // Not just `not`: a resource without a patient is not about a patient.
      return `((${conditionOf(criterion.part, row, context)}) is not true)`
    case 'chain':
      return chainCondition(criterion, row, context)
    case 'has':
      return hasCondition(criterion, row, context)
    case 'list':
      return listCondition(criterion, row, context)
    case 'text':
      return textCondition(criterion, row, context)
    case 'compartment':
      return compartmentCondition(criterion, row, context)
    case 'undated':
      return undatedCondition(criterion, row, context)
    case 'param':
      return paramCondition(criterion, row, context)
  }
}

function paramCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
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
      return nearCondition(criterion, row, context)
  }
}

function idCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier !== '' && criterion.modifier !== 'not')
    throw new Failure('MALFORMED_REQUEST', `:${criterion.modifier} is not supported on _id, which supports :not.`)
  const ids = [...new Set(criterion.values.map(unescaped))]
  const hashes = criterion.types.flatMap(type =>
    ids.map(id => postings.selfHash(type, id.replace(new RegExp(`^${type}/`), ''))),
  )
  const found = isOneOf(hashes, criterion.types, row, context)
  return criterion.modifier === 'not' ? `not (${found})` : `(${found})`
}

/** The row is one of these resources, by their hashes. */
function isOneOf(selves: readonly bigint[], types: readonly string[], row: string, context: SqlContext): string {
  const isAmong = `${row}.self = any(${postingArray(context, selves)})`
  const isOfPatients = selves.length > 0 && types.every(type => type === 'Patient')
  return isOfPatients ? `(${isAmong} and ${isInBucketOf(row, selves, context)})` : isAmong
}

function lastUpdatedCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (isFollowed(context))
    return `exists (select 1 from resource u where u.shard = ${row}.shard and u.key = ${row}.key and ${updatedCondition(criterion, context)} offset 0)`
  const types = typeArray(criterion.types, context)
  return `(${row}.shard, ${row}.key) in (select u.shard, u.key from resource u where u.type = any(${types}) and ${updatedCondition(criterion, context)})`
}

/** The condition of `_lastUpdated` on the row `u` of `resource`. */
export function updatedCondition(criterion: ParamCriterion, context: SqlContext): string {
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
  return anyOf(conditions)
}

const saltArray = (types: readonly string[], code: string, context: SqlContext): string =>
  postingArray(
    context,
    types.flatMap(type => context.indexer.params.keys(type, code)).map(key => key.salt),
  )

function chainCondition(criterion: ChainCriterion, row: string, context: SqlContext): string {
  const { param, types } = criterion
  const held = isByColumn(criterion, context.indexer)
  const conditions = criterion.targets.map(target => {
    const isHeld = held && target.type === 'Patient'
    if (target.found && target.found !== 'many')
      return isHeld ? isAboutOneOf(target.found, row, context) : refersTo(target.found, criterion, row, context)
    const inner = context.nextAlias()
    const found = metBy(inner, target, context.outside ?? context, !isFollowed(context))
    if (isHeld)
      return isFollowed(context)
        ? `exists (select 1 from search ${inner} where ${inner}.shard = ${row}.shard and ${inner}.self = ${row}.patient and ${found} offset 0)`
        : `${row}.patient in (select ${inner}.self from search ${inner} where ${found})`
    const salts = saltArray(types, param.code, context)
    if (isFollowed(context))
      return `exists (select 1 from unnest(${row}.refs) as ref, unnest(${salts}) as salt, lateral ${rowsOf(inner, `${inner}.self = ref # salt`)} where ${found} offset 0)`
    if (target.found === 'many') {
      const many = isAmong(`${inner}.self`, `search ${inner} where ${found}`, context)
      return `(select bool_or((ref # salt) in ${many}) from unnest(${row}.refs) as ref, unnest(${salts}) as salt)`
    }
    return `${row}.refs && (select coalesce(array_agg(${inner}.self # salt), '{}') from search ${inner}, unnest(${salts}) as salt where ${found})`
  })
  if (context.shift === undefined && !held) conditions.push(...containedConditions(criterion, row, context))
  return anyOf(conditions)
}

/** The rows that an index leads to from another row. `offset 0`: no other index is asked, which might lead to very many, once for each row. */
const rowsOf = (alias: string, condition: string): string =>
  `(select ${alias}.* from search ${alias} where ${condition} offset 0) ${alias}`

/**
 * What very many other rows have, for an expression in which PostgreSQL keeps it as a table of hashes. As a part of the statement, it is worked out
 * once: where a row looks in it, the planner would think that each row works it out anew, and be blind to all other costs.
 */
function isAmong(self: string, rows: string, { parts, nextAlias }: SqlContext): string {
  if (!parts) return `(select ${self} from ${rows})`
  const name = `${nextAlias()}_many`
  // As an array: it is made a table of hashes only if few rows are expected, and of an array ten are.
  parts.push(`${name} as materialized (select unnest(array_agg(${self})) as self from ${rows})`)
  return `(select self from ${name})`
}

/** True if what is in other rows is looked for from each row. `offset 0` keeps the planner from beginning at its other end. */
const isFollowed = ({ isOfFewRows, layout }: SqlContext): boolean => isOfFewRows === true && layout !== 'distributed'

/**
 * The condition that a row is of the type, meets the criterion, and may be seen.
 * @param isFound true if the criterion is what finds the row
 */
function metBy(
  row: string,
  { type, criterion }: { readonly type: string; readonly criterion: Criterion },
  context: SqlContext,
  isFound: boolean,
): string {
  const isOfType = `${row}.type = ${typeNumber(type)}`
  // Postings include the type. In this form the planner takes it for nearly always true, and looks for no index of types.
  const typed = isFound && isPlainToken(criterion) ? `(${isOfType})::integer <> 0` : isOfType
  return [typed, conditionOf(criterion, row, context), ...seen(row, context)].join(' and ')
}

/** The row is about one of these patients. */
function isAboutOneOf(patients: readonly bigint[], row: string, context: SqlContext): string {
  const [first, ...more] = patients
  if (first === undefined) return 'false'
  if (more.length === 0) return isAboutPatient(row, context.bind(first))
  return `(${row}.patient = any(${postingArray(context, patients)}) and ${isInBucketOf(row, patients, context)})`
}

/** The row refers to one of these resources by the parameter of the chain. */
function refersTo(
  found: readonly bigint[],
  { types, param }: ChainCriterion,
  row: string,
  context: SqlContext,
): string {
  const salts = types.flatMap(type => context.indexer.params.keys(type, param.code)).map(key => key.salt)
  const postings = found.flatMap(self => salts.map(salt => self ^ salt))
  return postings.length === 0 ? 'false' : `${row}.refs && ${postingArray(context, postings)}`
}

function containedConditions({ param, types, targets }: ChainCriterion, row: string, context: SqlContext): string[] {
  const keys = types.flatMap(type => context.indexer.params.keys(type, param.code))
  return targets.flatMap(target => keys.map(key => insideContained({ key, ...target }, row, context, conditionOf)))
}

function hasCondition(criterion: HasCriterion, row: string, context: SqlContext): string {
  const { from, param, types, found: known } = criterion
  if (known && known !== 'many') return known.length === 0 ? 'false' : isOneOf(known, types, row, context)
  const inner = context.nextAlias()
  const isHeld = isHeldBy(criterion, context.indexer)
  const step = { type: from, criterion: criterion.criterion }
  const found = metBy(inner, step, context, !isHeld && !isFollowed(context))
  if (isHeld)
    return isFollowed(context)
      ? `exists (select 1 from search ${inner} where ${inner}.shard = ${row}.shard and ${inner}.patient = ${row}.self and ${found} offset 0)`
      : `${row}.self in (select ${inner}.patient from search ${inner} where ${found})`
  const salts = saltArray([from], param.code, context)
  if (isFollowed(context))
    // As a part of its own, planned to be read whole: for the first row of many that the planner expects, it would look through the table.
    return `exists (with ${inner} as materialized (select * from search l where l.refs && (select array_agg(${row}.self # salt) from unnest(${salts}) as salt))
      select 1 from ${inner} where ${found})`
  const referred = `search ${inner}, unnest(${inner}.refs) as ref, unnest(${salts}) as salt where ${found}`
  // An expression: the planner cannot know how many these are, and would compare each with each.
  if (known === 'many' && context.isLed !== true)
    return `(${row}.self in ${isAmong('ref # salt', referred, context)})::integer <> 0`
  // `offset 0`: of what it cannot see through, it expects 200, and not three.
  return `${row}.self in (select led.self from (select ref # salt as self from ${referred} offset 0) led)`
}
