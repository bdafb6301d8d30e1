// Writes resources: any number of creations, updates and deletions in a few set-based statements, history and index included.
import { int2Array, textArray } from '../db/arrays.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import type { Note } from './access.ts'
import { authorHash } from './author.ts'
import { lockIndex } from './epoch.ts'
import type { Costly } from './index/account.ts'
import type { IndexEntry } from './index/draft.ts'
import type { Indexer } from './index/entry.ts'
import { notesOf, notifyCommitted, writeNote } from './note.ts'
import { isCanonical, lockCanonicals, mustBeOnly, mustBeUnreserved } from './owners/canonicals.ts'
import { mustSpeakFor } from './owners/check.ts'
import { settleEntries } from './owners/entries.ts'
import { ownerFor } from './owners/party.ts'
import { createPause } from './pause.ts'
import { prepared, project, readied } from './projection.ts'
import type { Row } from './row-arrays.ts'
import * as rows from './rows.ts'
import { define } from './search-params/registry.ts'
import { suspend } from './search-params/suspension.ts'
import type { Session } from './session.ts'
import { mustSee } from './sight.ts'
import { methods, typeName, typeNumber, type WriteMethod } from './type-number.ts'

/** What writing takes: the connection, the caller, and the projections and followers to update. */
export type Writing = Pick<
  Session,
  'on' | 'indexer' | 'principal' | 'projections' | 'follower' | 'registered' | 'base' | 'now' | 'searchParameters'
>

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

interface Stored {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

/** The last version of a resource that is deleted now: a resource created again under its id continues from it. */
interface Deleted extends Omit<Stored, 'key' | 'body'> {
  readonly key: null
  readonly body: null
}

/**
 * Applies the changes; within a transaction they are atomic, and without one a batch of fresh creations is too.
 * Changes of the types that `needsTransaction` names need one.
 * @returns one result for each change, in order.
 * @throws Failure PRECONDITION_FAILED for a wrong version; what `retried` understands if others were faster.
 */
export async function write(session: Writing, asked: readonly Change[]): Promise<Written[]> {
  const { on, projections, principal } = session
  const changes = asked.map(each => withPrepared(session, each))
  const definitions = changes.some(change => change.type === 'SearchParameter')
  if (definitions) await lockIndex(on)
  await readied(on, projections, changes)
  await lockCanonicals(session, changes)
  const known = changes.filter(change => !change.fresh)
  const current = known.length > 0 ? await lockCurrent(session, known) : new Map<string, Stored | Deleted>()
  const now = session.now()
  await mustSpeakFor(session, changes, current)
  await mustBeUnreserved(session, changes)
  mustBeAccepted(session, changes, current)
  const plans = changes.map(change => plan(change, current.get(nameOf(change)), now))
  const creations = plans.filter(each => each.written.outcome === 'created')
  const updates = plans.filter(each => each.written.outcome === 'updated')
  const deletions = plans.filter(each => each.written.outcome === 'deleted')
  if (deletions.length > 0)
    await rows.remove(
      on,
      deletions.map(each => ({ ...each.written, key: each.stored!.key })),
    )
  const changed = plans.filter(isChanged)
  const notes = await notesOf(session, changed)
  // A batch of creations is one statement, which may be all there is: then the notes have to be a part of it.
  const isOne = creations.length === plans.length && plans.length <= most
  for (const slice of slices(creations)) await create(session, slice, isOne ? notes : [])
  for (const slice of slices(updates)) await update(session, slice)
  await settleEntries(
    session,
    principal.party,
    updates.map(each => each.written),
  )
  await mustBeOnly(
    session,
    changed.map(({ change }) => change),
  )
  for (const note of notes) await (isOne ? notifyCommitted(on, note) : writeNote(on, note))
  if (definitions)
    await define(
      on,
      changed.filter(isDefinition).map(each => ({ ...each.written, ...each })),
      { client: principal.author ?? '', limits: session.searchParameters },
    )
  await project(
    on,
    projections,
    changed.map(({ written: { type, id }, resource }) => ({ type, id, resource })),
    principal,
  )
  return plans.map(each => each.written)
}

const isChanged = ({ written: { outcome } }: Plan): boolean => outcome !== 'unchanged' && outcome !== 'absent'

const isDefinition = ({ written: { type } }: Plan): boolean => type === 'SearchParameter'

/** True for types whose changes write more than their own rows: all of it happens, or nothing. */
export const needsTransaction = ({ projections, principal }: Writing, type: string): boolean =>
  type === 'SearchParameter' ||
  (isCanonical(type) && !principal.party.isService) ||
  projections.some(({ types }) => types.has(type))

/** Checks that the caller may write this. @throws Failure if it may not. */
function mustBeAccepted(
  { principal: { visibility }, indexer }: Writing,
  changes: readonly Change[],
  current: ReadonlyMap<string, Stored | Deleted>,
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
  readonly written: Written
  /** The resource as it is stored, id and meta filled in. */
  readonly resource: JsonObject | undefined
}

const nameOf = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`

/**
 * Returns the current rows of the changes, locked in one order so that concurrent batches wait for each other instead of
 * deadlocking; for deleted resources, their last version.
 * @throws Failure CONSENT_… if one exists that the caller may not see.
 */
export async function lockCurrent(
  session: Pick<Session, 'on' | 'principal'>,
  changes: readonly { readonly type: string; readonly id: string }[],
): Promise<Map<string, Stored | Deleted>> {
  const found = await session.on.query<Stored | Deleted>({
    name: 'lock-current',
    text: `with wanted as (
        select distinct type, id from unnest($1::smallint[], $2::text[]) as given(type, id)
      ), current as materialized (
        select r.key, r.type, r.id, r.version, r.updated_at, r.body from wanted join resource r using (type, id)
        order by r.type, r.id for update of r
      )
      select * from current
      union all
      select null, w.type, w.id, last.version, last.updated_at, null
      from wanted w cross join lateral (
        select h.version, h.updated_at from history h where h.type = w.type and h.id = w.id order by h.version desc limit 1
      ) last
      where not exists (select from current c where c.type = w.type and c.id = w.id)`,
    values: [int2Array(changes.map(change => typeNumber(change.type))), textArray(changes.map(change => change.id))],
  })
  await mustSee(session, changes)
  return new Map(found.map(row => [`${typeName(row.type)}/${row.id}`, row]))
}

function plan(change: Change, former: Stored | Deleted | undefined, now: Date): Plan {
  const stored = former?.key == null ? undefined : former
  checkPreconditions(change, stored)
  const { type, id } = change
  const version = (former?.version ?? 0) + 1
  // A version is always later than the one before it, even if the clock is behind.
  const updatedAt = former && former.updated_at >= now ? new Date(former.updated_at.getTime() + 1) : now
  if (!change.resource) {
    const outcome = stored ? 'deleted' : 'absent'
    return { change, stored, resource: undefined, written: { type, id, version, updatedAt, outcome, body: undefined } }
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
    return { change, stored, resource, written: same }
  }
  const outcome = stored ? 'updated' : 'created'
  return {
    change,
    stored,
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

async function create(
  { on, indexer, principal }: Writing,
  plans: readonly Plan[],
  notes: readonly Note[],
): Promise<void> {
  const { epoch } = indexer
  const indexed = await indexedAll(indexer, plans)
  const entries = plans.map((each, index) => row(each, indexed[index]!.entry))
  const isFresh = plans.every(each => each.change.fresh === true)
  const author = authorHash(principal.author)
  await suspend(on, costliest(indexed))
  await rows.insert(on, entries, { epoch, isFresh, author, owner: ownerFor(principal.party), notes })
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

async function update({ on, indexer }: Writing, plans: readonly Plan[]): Promise<void> {
  const { epoch } = indexer
  const indexed = await indexedAll(indexer, plans)
  const entries = plans.map((each, index) => {
    const { entry } = indexed[index]!
    const former = indexer.entry(parseJson(each.stored!.body) as JsonObject, true)
    return { ...row(each, entry), key: each.stored!.key, isReindexed: !sameEntry(entry, former) }
  })
  await suspend(on, costliest(indexed))
  await rows.replace(on, entries, epoch)
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

const most = 1000

function* slices<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += most) yield all.slice(from, from + most)
}
