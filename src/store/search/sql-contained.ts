// A chain that ends inside of the resource itself, in what it contains (https://hl7.org/fhir/R4/search.html#contained).
import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { containedPosting } from '../index/contained.ts'
import type { Indexer } from '../index/entry.ts'
import type { ParamKey } from '../index/postings.ts'
import type { ChainCriterion, Criterion } from './request.ts'
import { postingArray, type SqlContext } from './sql-context.ts'

/**
 * The condition that a contained resource of the type meets the criterion, on the row of its container. Of several contained
 * resources of one type behind one parameter each may meet a part of the criterion.
 */
export function insideContained(
  { key, type, criterion }: { key: ParamKey; type: string; criterion: Criterion },
  row: string,
  context: SqlContext,
  conditionOf: (criterion: Criterion, row: string, context: SqlContext) => string,
): string {
  const inside: SqlContext = {
    ...context,
    shift: key.salt,
    outside: context,
    // Nothing of a contained resource is in the columns of the row.
    indexer: { ...context.indexer, columns: () => noColumns },
  }
  const isThere = `${row}.tokens && ${postingArray(context, [containedPosting(key, type)])}`
  return `(${isThere} and ${conditionOf(criterion, row, inside)})`
}

const noColumns = { date: undefined, patient: new Set<string>(), usual: new Set<ParamKey>() }

/** True for a chain by way of the one patient that the resources of its types are about. */
export const isByPatient = ({ types, param, targets }: ChainCriterion, indexer: Pick<Indexer, 'columns'>): boolean =>
  types.every(type => indexer.columns(type).patient.has(param.code)) && targets.some(({ type }) => type === 'Patient')

/** True if the chain is followed by the column patient, which knows nothing of patients that a resource contains. */
export const isByColumn = (criterion: ChainCriterion, indexer: Pick<Indexer, 'columns'>): boolean =>
  isByPatient(criterion, indexer) && !criterion.meetsContainedPatients

/**
 * The patients that a chain by that column, and by nothing else, leads to; undefined if they are very many, or have not been looked up, and for
 * any other criterion.
 */
export function ledToPatients(criterion: Criterion, indexer: Pick<Indexer, 'columns'>): readonly bigint[] | undefined {
  if (criterion.kind !== 'chain' || !isByColumn(criterion, indexer)) return undefined
  const [target, ...others] = criterion.targets
  return target?.type !== 'Patient' || target.found === 'many' || others.length > 0 ? undefined : target.found
}

/** Postings of contained patients that have been met: what has been stored once is not looked for again. */
const met = new WeakMap<Indexer, Set<bigint>>()

/** True if some resource of the chain's types contains a Patient that the chain goes through. */
export async function meetsContainedPatients(
  { types, param }: ChainCriterion,
  { on, indexer }: { readonly on: Queryable; readonly indexer: Indexer },
): Promise<boolean> {
  const keys = types.flatMap(type => indexer.params.keys(type, param.code))
  const postings = keys.map(key => containedPosting(key, 'Patient'))
  const known = met.get(indexer) ?? new Set()
  met.set(indexer, known)
  if (postings.some(posting => known.has(posting))) return true
  const found = await on.query<object>({
    name: 'contained-patients',
    isFixed: true,
    // Materialized: for the first of the many that the planner expects, it would look through the table, and there is hardly ever one.
    text: `with containing as materialized (select 1 from search s where s.tokens && $1::bigint[])
      select 1 as found from containing limit 1`,
    values: [int8Array(postings)],
  })
  if (found.length > 0) for (const posting of postings) known.add(posting)
  return found.length > 0
}

/** True for criteria that never apply to contained resources: they have no id of their own, no time, and no references to them. */
export function isOnlyOutside(criterion: Criterion): boolean {
  if (criterion.kind === 'param') return criterion.param.code === '_id' || criterion.param.code === '_lastUpdated'
  return ['has', 'list', 'compartment', 'text'].includes(criterion.kind)
}
