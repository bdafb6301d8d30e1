// The codes by which results can be sorted without a look at the resources, such as a status: where R4 gives all that there may be, the index says
// which of them a resource has.
import { closedCodes, plainCodePosting } from '../index/param-paths.ts'
import { isOwn } from '../search-params/known.ts'
import type { SortKey } from './request.ts'
import { postingArray, type SqlContext } from './sql-context.ts'

/** Resources that share a code, or have none. */
interface CodeGroup {
  /** The code, or what stands for none in the order. */
  readonly text: string
  /** What finds them; undefined for those without a code where these have no posting. */
  readonly posting: bigint | undefined
}

/** The groups of a type, in the order of the sort: those without a code are the last. */
export interface CodeGroups {
  readonly groups: readonly CodeGroup[]
  readonly descending: boolean
  /** A posting of what has any code. */
  readonly present: bigint
}

/** Most codes that a row is compared with. */
const mostCodes = 30

/** The groups by which a type is sorted; undefined if its codes are not known. @param missing what stands for no code in the order */
export function codeGroups(
  { param, descending }: SortKey,
  type: string,
  { params, columns }: SqlContext['indexer'],
  missing: string,
): CodeGroups | undefined {
  if (param.type !== 'token' || isOwn(param)) return undefined
  const codes = closedCodes(param, type)
  const [key, ...others] = params.keys(type, param.code)
  if (!codes || codes.length > mostCodes || key === undefined || others.length > 0) return undefined
  const sorted = [...new Set(codes)].sort().map(text => ({ text, posting: plainCodePosting(type, key, text) }))
  const last: CodeGroup = { text: missing, posting: columns(type).usual.has(key) ? key.absent : undefined }
  return { groups: [...(descending ? sorted.reverse() : sorted), last], descending, present: key.present }
}

/** The text of the group that the row `s` of `search` belongs to; null for any other group. */
export function groupOf(
  { groups, present }: Pick<CodeGroups, 'groups' | 'present'>,
  context: Pick<SqlContext, 'bind'>,
): string {
  const cases = groups.map(({ text, posting }) => {
    const isThere = `s.tokens && ${postingArray(context, [posting ?? present])}`
    return `when ${posting === undefined ? `not (${isThere})` : isThere} then ${context.bind(text)}::text`
  })
  return `(case ${cases.join(' ')} end)`
}
