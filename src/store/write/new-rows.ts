// The rows of new versions, with what each is found by.
import { type JsonObject, parseJson } from '../../lib/json.ts'
import { authorHash } from '../author.ts'
import type { Costly } from '../index/account.ts'
import type { IndexEntry } from '../index/draft.ts'
import type { Indexer } from '../index/entry.ts'
import { ownerFor } from '../owners/party.ts'
import { createPause } from '../pause.ts'
import type { Created, Row } from '../row-arrays.ts'
import type { Replaced } from '../rows.ts'
import { suspend } from '../search-params/suspension.ts'
import type { Session } from '../session.ts'
import { methods, typeNumber } from '../type-number.ts'
import type { NextVersion } from './next-version.ts'

type Indexing = Pick<Session, 'on' | 'indexer' | 'principal'>

/** Returns the rows of resources that are created. */
export async function created({ on, indexer, principal }: Indexing, plans: readonly NextVersion[]): Promise<Created[]> {
  const indexed = await indexedAll(indexer, plans)
  await suspend(on, costliest(indexed))
  const [author, owner] = [authorHash(principal.author), ownerFor(principal.party)]
  return plans.map((each, index) => ({
    ...row(each, indexed[index]!.entry),
    ...{ author, owner, isFresh: each.change.fresh === true, former: each.former },
  }))
}

/** What each is found by; others are answered in between. */
async function indexedAll(indexer: Indexer, plans: readonly NextVersion[]): Promise<ReturnType<Indexer['indexed']>[]> {
  const all: ReturnType<Indexer['indexed']>[] = []
  const pause = createPause()
  for (const { resource } of plans) {
    await pause.after(resource)
    all.push(indexer.indexed(resource!))
  }
  return all
}

/** Returns the rows of resources that are updated. */
export async function replaced({ on, indexer }: Indexing, plans: readonly NextVersion[]): Promise<Replaced[]> {
  const indexed = await indexedAll(indexer, plans)
  await suspend(on, costliest(indexed))
  return plans.map((each, index) => {
    const { entry } = indexed[index]!
    const former = indexer.entry(parseJson(each.stored!.body) as JsonObject, true)
    return { ...row(each, entry), key: each.stored!.key, isReindexed: !sameEntry(entry, former) }
  })
}

/** Each parameter once. */
const costliest = (indexed: readonly { readonly costly: readonly Costly[] }[]): Costly[] => [
  ...new Map(indexed.flatMap(({ costly }) => costly).map(each => [each.param, each])).values(),
]

function row({ change, written }: NextVersion, entry: IndexEntry): Row {
  return {
    type: typeNumber(written.type),
    id: written.id,
    version: written.version,
    method: methods[change.method],
    updatedAt: written.updatedAt,
    body: written.body!,
    entry,
  }
}

function sameEntry(left: IndexEntry, right: IndexEntry): boolean {
  const text = (entry: IndexEntry) =>
    JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
  return text(left) === text(right)
}
