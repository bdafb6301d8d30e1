// Walk along the codes by which results are sorted, such as a status, where R4 gives all that there may be: for matches so many that sorting
// them all would take long. No index has the order, but one finds what has a code that few have, and the newest have the others.
import { type CodeGroups, codeGroups, groupOf } from '../code-groups.ts'
import { type Page, type PageRow, pageOf } from '../page.ts'
import type { Cursor, SearchRequest } from '../request.ts'
import { beyond, isBackward, isDateColumn, newestFirst, type Order, orderBy, valueOfMissing } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import { postingArray, type SearchOptions, type SqlContext } from '../sql-context.ts'
import {
  besideCount,
  conditions,
  firstRows,
  pageText,
  searchRowOf,
  statementOf,
  typeCondition,
  typeOfFound,
} from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { clinicalDates, isLedTo, isNewestFirst } from '../walk.ts'

/** Most resources that are looked at in the order of dates, and as many that are found by their codes: few of them do for most pages. */
const [few, many] = [1000, 20_000]

/** Steps for few resources, unless the page is large, and for many; none for any order but that of codes, each with the newest first. */
export function walkSortedCodes(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow>[] {
  const codes = sortedCodes(request, options)
  const sizes = request.count <= few / 5 ? [few, many] : [many]
  return codes ? sizes.map(most => walk(request, options, codes, most)) : []
}

/** The groups by which results are sorted, in the order in which the page is read, from that of the cursor on, if the newest come first in each. */
function sortedCodes(request: SearchRequest, { indexer, layout }: SearchOptions): CodeGroups | undefined {
  const { cursor } = request
  const [[type, ...otherTypes], [first, ...rest]] = [request.types, request.sort]
  if (type === undefined || first === undefined || otherTypes.length > 0 || layout === 'distributed') return
  if (!isNewestFirst({ ...request, sort: rest }, indexer)) return
  const all = codeGroups(first, type, indexer, valueOfMissing(first))
  if (!all) return
  const inOrder = isBackward(cursor) ? all.groups.toReversed() : all.groups
  const begin = cursor ? inOrder.findIndex(({ text }) => text === cursor.values[0]) : 0
  const groups = inOrder.slice(Math.max(0, begin))
  // No index leads to what has no code, so nothing that comes after it is reached.
  if (begin < 0 || groups.slice(0, -1).some(({ posting }) => posting === undefined)) return
  return { ...all, groups }
}

/** The place in the order of clinical dates where a walk along them begins: undefined for the newest; on the way back, behind the oldest. */
const beginOf = (cursor: Cursor | undefined): Cursor | undefined =>
  isBackward(cursor) ? { direction: 'previous', values: ['-9999999999999999'], key: 0 } : undefined

/**
 * Looks at the newest of the type, finds the first code that enough of them have to fill the page, and everything that has a code before that one.
 * On a later page, the code of the cursor is looked for from there on.
 */
const walk = (
  request: SearchRequest,
  options: SearchOptions,
  codes: CodeGroups,
  most: number,
): SearchStep<Page, PageRow> => ({
  name: `look at the newest ${most} for sorted codes, by a kept plan`,
  givesUp: `no code fills the page after ${most} resources, and more than ${most} have the codes before it`,
  statement() {
    const { context, where } = conditions(request, { ...options, isOfFewRows: true }, typeOfFound)
    const parts = partsOf(request, context, codes, where, most)
    const orders = [groupOrder('s', codes), newestFirst('s')]
    const page = pageText(request, context, {
      from: 'shown s',
      where: 'true',
      key: 's.key',
      orders,
      isNumbered: true,
    })
    const counted = `select case when is_open then ${most + 1} else (select count(*) from found) end as found from rare`
    return statementOf(`with ${parts.join(', ')} ${besideCount(counted, page)}`, context, true)
  },
  read: rows => (rows[0]!.found! > most ? undefined : pageOf(rows, request)),
})

/** The parts of the statement; the last one, `shown`, has the rows of the page and maybe more. */
function partsOf(
  request: SearchRequest,
  context: SqlContext,
  codes: CodeGroups,
  where: string,
  most: number,
): readonly string[] {
  const { cursor } = request
  const { groups, descending } = codes
  const size = context.bind(request.count)
  const columns = 's.shard, s.key, s.date, c.code'
  const coded = `cross join lateral (select ${groupOf(codes, context)} collate "C" as code offset 0) c`
  const among = (rows: string, condition: string): string =>
    `select ${columns} from ${rows} n ${searchRowOf('n', [where])} ${coded} where ${condition}`
  const newest = (from: Cursor | undefined): string => newestRows({ ...request, cursor: from }, context, most)
  const texts = `${context.bind(groups.map(({ text }) => text))}::text[]`
  const hashes = groups.map(({ posting }) => posting ?? 0n)
  const parts: string[] = []
  // The group of the cursor is read on from there, the others from their beginning, unless it fills the page.
  const first = cursor && `${context.bind(groups[0]!.text)}::text`
  const isWhole = `(select count(*) from near) < ${most}`
  if (cursor) {
    parts.push(`near as materialized ${newest({ ...cursor, values: [cursor.values[1]!] })}`)
    parts.push(`begun as materialized (${among('near', `c.code = ${first}`)})`)
  }
  const others = among(
    newest(beginOf(cursor)),
    first ? `c.code <> ${first} and (select count(*) from begun) <= ${size}` : 'c.code is not null',
  )
  const before = descending === isBackward(cursor) ? '<' : '>'
  const place = cursor ? [beyond(cursor, [groupOrder('c', codes), newestFirst('s')], 's.key', context)] : []
  parts.push(
    `seen as materialized (${first ? 'select * from begun union all ' : ''}${others})`,
    `frequent as materialized (select s.code from seen s group by s.code having count(*) > ${size}
      ${orderBy([groupOrder('s', codes)], ['s.code'], undefined, isBackward(cursor))} limit 1)`,
    // What the walk has come to the end of is known; the others before the frequent code are found. No posting says that there is no code.
    `rare as materialized (select array_agg(g.posting) as postings, coalesce(bool_or(g.posting = 0), false) as is_open
      from unnest(${texts}, ${postingArray(context, hashes)}) g(code, posting) left join frequent f on true
      where (f.code is null or g.code collate "C" ${before} f.code)${first ? ` and not (g.code = ${first} and ${isWhole})` : ''})`,
    `found as materialized (select ${columns} from search s ${coded}
      where ${['s.tokens && (select postings from rare where not is_open)', where, ...place].join(' and ')} limit ${most + 1})`,
    `shown as materialized (select * from found where (select count(*) from found) <= ${most}
      union all select * from seen where code = (select code from frequent)
      ${first ? `union all select * from begun where ${isWhole} and (select code from frequent) is distinct from ${first}` : ''})`,
  )
  return parts
}

const groupOrder = (row: string, { descending }: CodeGroups): Order => ({
  ...{ expression: `${row}.code`, type: 'text collate "C"', descending, usesResource: false },
})

/** The next resources of the type from a place in the order of clinical dates on, with those dates to which the index leads. */
const newestRows = (request: SearchRequest, context: SqlContext, most: number): string =>
  firstRows(
    request,
    context,
    {
      ...{ rows: 's.shard, s.key from search s', key: 's.key', orders: [newestFirst('s')] },
      conditions: [
        typeCondition(request, context),
        ...clinicalDates(request)
          .filter(each => isLedTo(each) && isDateColumn(each.param.code, request.types[0]!, context.indexer))
          .map(each => conditionOf(each, 's', context)),
      ],
    },
    most,
  )
