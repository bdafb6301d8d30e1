// Sends a search, follows its pages, and says how they differ from what the model finds.
import { type Answer, type CallOptions, followed, idsOn, linkOf } from '../../../support/fhir.ts'
import { isInside, type Key, newestFirst, type Search, type Sight } from './queries.ts'
import { type Item, nameOf, type World } from './world.ts'

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>

export interface Client {
  readonly name: string
  readonly token: string
  readonly sight: Sight
}

/** Pages that are followed; what comes after them is compared by what it is not. */
const mostPages = 12

/** The search as it is sent: its path, and its parameters. */
function partsOf({
  types,
  compartment,
  criteria,
  sort,
  include,
  count,
  isCounted,
}: Search): [path: string, query: string] {
  const query: [string, string][] = [
    ...(types.length > 1 ? [['_type', types.join(',')] as [string, string]] : []),
    ...criteria.map(({ name, value }): [string, string] => [name, value]),
    ...(sort.length > 0
      ? [['_sort', sort.map(each => `${each.descending ? '-' : ''}${each.param}`).join(',')] as [string, string]]
      : []),
    ...(include ? [[include.name, include.value] as [string, string]] : []),
    ...(isCounted ? [['_total', 'accurate'] as [string, string]] : []),
    ['_count', `${count}`],
  ]
  const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return [[...(compartment ? [compartment] : []), ...(types.length > 1 ? [] : types)].join('/'), text]
}

export const textOf = (search: Search): string => partsOf(search).join('?')

/** Returns how the answer differs from what the model finds; undefined if it does not. */
export async function differenceOf(
  call: Call,
  world: World,
  search: Search,
  client: Client,
): Promise<string | undefined> {
  const { token, sight } = client
  const expected = search.types
    .flatMap(type => world.of[type])
    .filter(
      item =>
        (!search.compartment || isInside(item, search.compartment)) &&
        sight(item) &&
        search.criteria.every(each => each.holds(item, sight)),
    )
  const [path, query] = partsOf(search)
  const first = search.isPosted
    ? await call('POST', `${path === '' ? '' : `${path}/`}_search`, { token, body: new URLSearchParams(query) })
    : await call('GET', textOf(search), { token })
  const pages = await followed(call, first, 'next', { token, most: mostPages })
  const refused = pages.find(({ status }) => status !== 200)
  if (refused) return `${refused.status} ${refused.text.slice(0, 500)}`
  const found = idsOn(pages)
  const isWhole = linkOf(pages.at(-1)!.body, 'next') === undefined
  return (
    wrongMatches(search, expected, found, isWhole) ??
    wrongTotal(search, expected.length, pages[0]!.body.total) ??
    (await wrongWayBack(call, token, pages)) ??
    pages.map(({ body }) => wrongIncludes(world, search, sight, body)).find(each => each !== undefined)
  )
}

async function wrongWayBack(call: Call, token: string, pages: readonly Answer[]): Promise<string | undefined> {
  if (pages.length === 1) return undefined
  const back = await followed(call, pages.at(-1)!, 'previous', { token, most: mostPages })
  const [there, again] = [idsOn(pages), idsOn(back.reverse())]
  return `${there}` === `${again}`
    ? undefined
    : `on the way back, ${again.length} matches instead of the ${there.length}`
}

function wrongMatches(
  search: Search,
  expected: readonly Item[],
  found: readonly string[],
  isWhole: boolean,
): string | undefined {
  const byId = new Map(expected.map(item => [item.id, item]))
  const strange = found.filter(id => !byId.has(id))
  if (strange.length > 0) return `found ${some(strange)}, which the model does not find (${expected.length} expected)`
  if (new Set(found).size < found.length)
    return `found twice: ${some(found.filter((id, at) => found.indexOf(id) < at))}`
  if (isWhole && found.length < expected.length) {
    const ids = new Set(found)
    const lost = expected.filter(({ id }) => !ids.has(id)).map(({ id }) => id)
    return `found ${found.length} of ${expected.length}: not ${some(lost)}`
  }
  // A page ends where what it includes would be too much.
  const isShort = found.length < search.count * mostPages
  if (!isWhole && isShort && !search.include) return `pages of other sizes: ${found.length} in all`
  return wrongOrder(
    search,
    expected,
    found.map(id => byId.get(id)!),
  )
}

function wrongOrder({ types, sort }: Search, expected: readonly Item[], found: readonly Item[]): string | undefined {
  const newest = newestFirst(types)
  const keys = sort.length > 0 ? sort : newest ? [newest] : []
  const compare = (one: Item, other: Item): number => {
    for (const key of keys) {
      const order = compareBy(key, one, other)
      if (order !== 0) return order
    }
    return 0
  }
  const sorted = expected.toSorted(compare)
  const at = found.findIndex((item, index) => compare(item, sorted[index]!) !== 0)
  if (at < 0) return undefined
  const values = (item: Item): string => `${item.id} ${JSON.stringify(keys.map(key => key.of(item)))}`
  return `number ${at} is ${values(found[at]!)}, not as ${values(sorted[at]!)}`
}

/** What has no value comes last, whatever the direction. */
function compareBy({ of, descending }: Key, one: Item, other: Item): number {
  const [a, b] = [of(one), of(other)]
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return a === b ? 0 : a < b === descending ? 1 : -1
}

const wrongTotal = ({ isCounted }: Search, expected: number, total: unknown): string | undefined =>
  isCounted && total !== expected ? `the total is ${total}, not ${expected}` : undefined

function wrongIncludes(world: World, { include }: Search, sight: Sight, body: Answer['body']): string | undefined {
  const names = (mode: string): string[] =>
    (body.entry ?? [])
      .filter((each: { search: { mode: string } }) => each.search.mode === mode)
      .map(
        ({ resource: { resourceType, id } }: { resource: { resourceType: string; id: string } }) =>
          `${resourceType}/${id}`,
      )
  const matches = names('match')
  const expected = new Set(
    matches
      .flatMap(name => include?.of(world.named.get(name)!) ?? [])
      .filter(sight)
      .map(nameOf),
  )
  const found = names('include')
  const wrong = [...found.filter(name => !expected.has(name)), ...[...expected].filter(name => !found.includes(name))]
  return wrong.length > 0 || found.length > expected.size ? `includes differ: ${some(wrong)}` : undefined
}

const some = (ids: readonly string[]): string =>
  `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? `, … (${ids.length})` : ''}`
