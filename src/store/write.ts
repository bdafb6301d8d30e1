// Writes resources: any number of creations, updates and deletions in a few set-based statements, history and index included.
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { authorHash } from './author.ts'
import { type Batch, put } from './batch.ts'
import { type Current, type Deleted, findCurrent, lockCurrent, type Stored } from './current.ts'
import { lockIndex } from './epoch.ts'
import type { Costly } from './index/account.ts'
import type { IndexEntry } from './index/draft.ts'
import type { Indexer } from './index/entry.ts'
import { notesOf } from './note.ts'
import { isCanonical, lockCanonicals, mustBeOnly, mustBeUnreserved } from './owners/canonicals.ts'
import { mustSpeakFor } from './owners/check.ts'
import { settleEntries } from './owners/entries.ts'
import { ownerFor } from './owners/party.ts'
import { createPause } from './pause.ts'
import { prepared, project, readied } from './projection.ts'
import type { Created, Row } from './row-arrays.ts'
import type { Replaced } from './rows.ts'
import { define } from './search-params/registry.ts'
import { suspend } from './search-params/suspension.ts'
import type { Session } from './session.ts'
import { methods, typeNumber, type WriteMethod } from './type-number.ts'

/** What writing takes: the connection, the caller, and the projections and followers to update. */
type Writing = Omit<Session, 'validate' | 'indexing'>

/** One change to one resource; at most one of a type and id in a batch. */
export interface Change {
  readonly method: WriteMethod
  readonly type: string
  readonly id: string
  /** The new content, without regard to id and meta.versionId; absent for DELETE. */
  readonly resource?: JsonObject
  /** The id is fresh from this server, so that nothing can be stored under it yet. */
  readonly fresh?: boolean
  /** Version the caller believes to be current (If-Match). */
  readonly ifMatch?: number
  /** The caller wants to create only (If-None-Match: *). */
  readonly createOnly?: boolean
  /** The search that led here, if one did. */
  readonly condition?: string
  /** The stored resource is derived from the request, so it is written even if nothing in it is new. */
  readonly isMade?: boolean
}

export interface Written {
  readonly type: string
  readonly id: string
  readonly version: number
  readonly updatedAt: Date
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'absent'
  /** The stored JSON; undefined after a deletion. */
  readonly body: string | undefined
}

/**
 * Applies the changes: all of them, or none. Outside of a transaction, types that `needsTransaction` names cannot be changed.
 * @returns one result for each change, in order.
 * @throws Failure PRECONDITION_FAILED for a wrong version; what `isRaceLost` and `isOutdated` tell if others were faster.
 */
export async function write(session: Writing, asked: readonly Change[]): Promise<Written[]> {
  const { on, projections } = session
  const changes = asked.map(each => withPrepared(session, each))
  const definitions = changes.some(change => change.type === 'SearchParameter')
  if (definitions) await lockIndex(on)
  await readied(on, projections, changes)
  await lockCanonicals(session, changes)
  const current = await currentOf(session, changes)
  const now = session.now()
  await mustSpeakFor(session, changes, current)
  await mustBeUnreserved(session, changes)
  mustBeAccepted(session, changes, current)
  const plans = changes.map(change => plan(change, current.get(nameOf(change)), now))
  const changed = plans.filter(isChanged)
  if (changed.length > 0) {
    const batch = await batchOf(session, changed)
    await (isSingle(session) ? session.together(session.database, batch) : put(on, batch))
    await followed(session, changed)
  }
  return plans.map(each => each.written)
}

/** True where a change is not part of a transaction. */
export const isSingle = ({ isInTransaction, principal }: Pick<Session, 'isInTransaction' | 'principal'>): boolean =>
  !isInTransaction && !principal.within

async function currentOf(session: Writing, changes: readonly Change[]): Promise<Current> {
  const known = changes.filter(change => !change.fresh)
  if (known.length === 0) return new Map()
  if (!isSingle(session)) return lockCurrent(session, known)
  const found = await Promise.all(known.map(each => findCurrent(session, each)))
  return new Map(found.flatMap(each => [...each]))
}

/** What the changes put into the tables. */
async function batchOf(session: Writing, changed: readonly Plan[]): Promise<Batch> {
  const of = (outcome: Written['outcome']): Plan[] => changed.filter(each => each.written.outcome === outcome)
  return {
    epoch: session.indexer.epoch,
    notes: await notesOf(session, changed),
    creations: await created(session, of('created')),
    updates: await replaced(session, of('updated')),
    removals: of('deleted').map(each => ({ ...each.written, key: each.stored!.key })),
  }
}

/** Has what depends on the changed resources follow them, as a part of the transaction. */
async function followed(session: Writing, changed: readonly Plan[]): Promise<void> {
  const { on, projections, principal } = session
  const updates = changed.filter(({ written: { outcome } }) => outcome === 'updated')
  await settleEntries(
    session,
    principal.party,
    updates.map(each => each.written),
  )
  await mustBeOnly(
    session,
    changed.map(({ change }) => change),
  )
  const definitions = changed.filter(isDefinition)
  if (definitions.length > 0)
    await define(
      on,
      definitions.map(each => ({ ...each.written, ...each })),
      { client: principal.author ?? '', limits: session.searchParameters },
    )
  await project(
    on,
    projections,
    changed.map(({ written: { type, id }, resource, change }) => ({ type, id, resource, isFresh: change.fresh })),
    principal,
  )
}

const isChanged = ({ written: { outcome } }: Plan): boolean => outcome !== 'unchanged' && outcome !== 'absent'

const isDefinition = ({ written: { type } }: Plan): boolean => type === 'SearchParameter'

/** True for types whose changes write more than their own rows: all of it happens, or nothing. */
export const needsTransaction = ({ projections, principal }: Writing, type: string): boolean =>
  type === 'SearchParameter' ||
  type === 'Organization' ||
  (isCanonical(type) && !principal.party.isService) ||
  projections.some(({ types }) => types.has(type))

/** Checks that the caller may write this. @throws Failure if it may not. */
function mustBeAccepted(
  { principal: { visibility }, indexer }: Writing,
  changes: readonly Change[],
  current: Current,
): void {
  if (!visibility) return
  for (const change of changes) {
    const body = change.type === 'Patient' ? current.get(nameOf(change))?.body : undefined
    const former = body ? (parseJson(body) as JsonObject) : undefined
    const objection = visibility.objection({ type: change.type, resource: change.resource, former }, indexer.base)
    if (objection) throw objection
  }
}

function withPrepared({ projections, principal, base }: Writing, change: Change): Change {
  if (!change.resource) return change
  const kept = base.kept(change.resource)
  const resource = prepared(projections, change.type, kept, principal)
  return resource === kept ? { ...change, resource } : { ...change, resource, isMade: true }
}

interface Plan {
  readonly change: Change
  readonly stored: Stored | undefined
  /** The row number under which it was stored until it was deleted; 0 if it never was. */
  readonly former: number
  readonly written: Written
  /** The resource as it is stored, id and meta filled in. */
  readonly resource: JsonObject | undefined
}

const nameOf = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`

function plan(change: Change, known: Stored | Deleted | undefined, now: Date): Plan {
  const stored = known?.body == null ? undefined : known
  const former = known?.key ?? 0
  checkPreconditions(change, stored)
  const { type, id } = change
  const version = (known?.version ?? 0) + 1
  // A version is always later than the one before it, even if the clock is behind.
  const updatedAt = known && known.updated_at >= now ? new Date(known.updated_at.getTime() + 1) : now
  if (!change.resource) {
    const outcome = stored ? 'deleted' : 'absent'
    return {
      change,
      stored,
      former,
      resource: undefined,
      written: { type, id, version, updatedAt, outcome, body: undefined },
    }
  }
  const resource = stamped(change.resource, id, version, updatedAt)
  if (stored && !change.isMade && isUnchanged(resource, stored)) {
    const same = {
      type,
      id,
      version: stored.version,
      updatedAt: stored.updated_at,
      outcome: 'unchanged' as const,
      body: stored.body,
    }
    return { change, stored, former, resource, written: same }
  }
  const outcome = stored ? 'updated' : 'created'
  return {
    change,
    stored,
    former,
    resource,
    written: { type, id, version, updatedAt, outcome, body: JSON.stringify(resource) },
  }
}

function checkPreconditions(change: Change, stored: Stored | undefined): void {
  if (change.ifMatch !== undefined && stored?.version !== change.ifMatch) {
    const now = stored ? `it is now at version ${stored.version}` : 'the resource no longer exists'
    throw new Failure(
      'PRECONDITION_FAILED',
      `${nameOf(change)} is not at version ${change.ifMatch} (If-Match): ${now}. Read it again, then repeat the change.`,
    )
  }
  if (change.createOnly && stored) {
    throw new Failure('PRECONDITION_FAILED', `${nameOf(change)} already exists (If-None-Match: *).`)
  }
}

/** The resource with its id, version and time; key order: resourceType, id, meta, then as it came. */
function stamped(resource: JsonObject, id: string, version: number, updatedAt: Date): JsonObject {
  const { resourceType, id: _id, meta, ...rest } = resource
  const { versionId: _version, lastUpdated: _updated, ...keptMeta } = isObject(meta) ? meta : {}
  return {
    resourceType,
    id,
    meta: { versionId: String(version), lastUpdated: updatedAt.toISOString(), ...keptMeta },
    ...rest,
  }
}

/** True if nothing but version and time differ: such an update makes no new version. */
function isUnchanged(resource: JsonObject, stored: Stored): boolean {
  const meta = resource['meta'] as JsonObject
  const asStored = {
    ...resource,
    meta: { ...meta, versionId: String(stored.version), lastUpdated: stored.updated_at.toISOString() },
  }
  return JSON.stringify(asStored) === stored.body
}

async function created({ on, indexer, principal }: Writing, plans: readonly Plan[]): Promise<Created[]> {
  const indexed = await indexedAll(indexer, plans)
  await suspend(on, costliest(indexed))
  const [author, owner] = [authorHash(principal.author), ownerFor(principal.party)]
  return plans.map((each, index) => ({
    ...row(each, indexed[index]!.entry),
    ...{ author, owner, isFresh: each.change.fresh === true, former: each.former },
  }))
}

/** What each is found by; others are answered in between. */
async function indexedAll(indexer: Indexer, plans: readonly Plan[]): Promise<ReturnType<Indexer['indexed']>[]> {
  const all: ReturnType<Indexer['indexed']>[] = []
  const pause = createPause()
  for (const { resource } of plans) {
    await pause.after(resource)
    all.push(indexer.indexed(resource!))
  }
  return all
}

async function replaced({ on, indexer }: Writing, plans: readonly Plan[]): Promise<Replaced[]> {
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

function row({ change, written }: Plan, entry: IndexEntry): Row {
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
