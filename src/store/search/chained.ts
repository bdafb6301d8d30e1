// Chains, looked up from their end: each step runs first, so that the next one is planned for what it found. A few resources lead
// to those that refer to them, or that they refer to, by an index; very many are matched row by row.
import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import type { Criterion, Found, HasCriterion } from './request.ts'
import type { SearchOptions } from './sql-context.ts'
import { conditions, statementOf, typeOfFound } from './statement.ts'
import { findingAll } from './steps/from-date-on.ts'
import { isHeldBy, isPlainToken } from './walk.ts'

/** Most resources of one step that are listed. */
const mostFound = 1000

/** Most types of one step that are looked up; a step with more types runs as one statement. */
export const mostLookedUp = 8

/** Resources of a type that meet a criterion. */
interface Step {
  readonly type: string
  readonly criterion: Criterion
}

/** Returns what meets the criterion. */
export async function lookedUp(on: Queryable, step: Step, options: SearchOptions): Promise<Found> {
  const { context, text } = first(step, 's.self', options)
  const rows = await on.query<{ self: string }>(statementOf(`select found.self::text as self from ${text}`, context))
  return rows.length > mostFound ? 'many' : rows.map(({ self }) => BigInt(self))
}

/** Returns what the resources that meet the criterion refer to. */
export async function referredTo(on: Queryable, criterion: HasCriterion, options: SearchOptions): Promise<Found> {
  const step = { type: criterion.from, criterion: criterion.criterion }
  const isHeld = isHeldBy(criterion, options.indexer)
  const { context, text } = first(step, isHeld ? 'array[s.patient] as refs' : 's.refs', options)
  const salts = isHeld ? [0n] : options.indexer.params.keys(criterion.from, criterion.param.code).map(key => key.salt)
  const statement = `with found as materialized (select * from ${text})
    select (select count(*) from found) as found, (select array_agg(distinct ref # salt)::text[]
      from found, unnest(refs) as ref, unnest(${context.bind(int8Array(salts))}::bigint[]) as salt where ref is not null) as selves`
  const [row] = await on.query<{ found: number; selves: string[] | null }>(statementOf(statement, context))
  return row!.found > mostFound ? 'many' : (row!.selves ?? []).map(BigInt)
}

/** The first rows of what meets the criterion, and one more than are listed if there are that many. */
function first({ type, criterion }: Step, columns: string, options: SearchOptions) {
  const request = { types: [type], criteria: [criterion] }
  const typeColumn = isPlainToken(criterion) ? typeOfFound : 's.type'
  const { context, where } = conditions(request, findingAll(request, options), typeColumn)
  const text = `(select ${columns} from search s where ${where} offset 0) found limit ${context.bind(mostFound + 1)}`
  return { context, text }
}
