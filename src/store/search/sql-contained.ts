// A chain that ends inside of the resource itself, in what it contains (https://hl7.org/fhir/R4/search.html#contained).
import { containedPosting } from '../index/contained.ts'
import type { ParamKey } from '../index/postings.ts'
import type { Criterion } from './request.ts'
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
    indexer: { ...context.indexer, columns: () => ({ date: undefined, patient: new Set() }) },
  }
  const isThere = `${row}.tokens && ${postingArray(context, [containedPosting(key, type)])}`
  return `(${isThere} and ${conditionOf(criterion, row, inside)})`
}

/** True for what is never asked of contained resources: they have no id of their own, no time, and nobody refers to them. */
export function isOnlyOutside(criterion: Criterion): boolean {
  if (criterion.kind === 'param') return criterion.param.code === '_id' || criterion.param.code === '_lastUpdated'
  return ['has', 'list', 'compartment', 'text'].includes(criterion.kind)
}
