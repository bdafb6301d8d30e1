// Writes resources: any number of creations, updates and deletions in a few set-based statements, history and index included.
import { type JsonObject, parseJson } from '../../lib/json.ts'
import { type Batch, put } from '../batch.ts'
import { type Current, findCurrent, lockCurrent } from '../current.ts'
import { lockIndex } from '../epoch.ts'
import { notesOf } from '../note.ts'
import { isCanonical, lockCanonicals, mustBeOnly, mustBeUnreserved } from '../owners/canonicals.ts'
import { mustSpeakFor } from '../owners/check.ts'
import { settleEntries } from '../owners/entries.ts'
import { isFollowedAlone, type Projected, prepared, project, readied } from '../projection.ts'
import { define } from '../search-params/registry.ts'
import type { Session } from '../session.ts'
import { mustBeWhole } from '../subsetted.ts'
import { created, replaced } from './new-rows.ts'
import { type Change, type NextVersion, nameOf, nextVersion, type Written } from './next-version.ts'

/** What writing takes: the connection, the caller, and the projections and followers to update. */
type Writing = Omit<Session, 'validate' | 'indexing'>

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
  const plans = changes.map(change => nextVersion(change, current.get(nameOf(change)), now))
  const changed = plans.filter(isChanged)
  if (changed.length > 0) {
    const batch = await batchOf(session, changed)
    if (isSingle(session)) await session.together(session.database, batch)
    else {
      await put(on, batch, projections)
      await followed(session, changed)
    }
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
async function batchOf(session: Writing, changed: readonly NextVersion[]): Promise<Batch> {
  const { projections } = session
  const isFollowed = ({ type }: Projected): boolean => projections.some(({ types }) => types.has(type))
  const of = (outcome: Written['outcome']): NextVersion[] => changed.filter(each => each.written.outcome === outcome)
  return {
    epoch: session.indexer.epoch,
    notes: await notesOf(session, changed),
    creations: await created(session, of('created')),
    updates: await replaced(session, of('updated')),
    removals: of('deleted').map(each => ({ ...each.written, key: each.stored!.key })),
    projected: isSingle(session) ? changed.map(projectedBy).filter(isFollowed) : [],
  }
}

/** Has what depends on the changed resources follow them, as a part of the transaction. */
async function followed(session: Writing, changed: readonly NextVersion[]): Promise<void> {
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
  await project(on, projections, changed.map(projectedBy), principal)
}

const projectedBy = ({ written: { type, id }, resource, change }: NextVersion): Projected => ({
  ...{ type, id, resource, isFresh: change.fresh },
})

const isChanged = ({ written: { outcome } }: NextVersion): boolean => outcome !== 'unchanged' && outcome !== 'absent'

const isDefinition = ({ written: { type } }: NextVersion): boolean => type === 'SearchParameter'

/** True for types whose changes write more than their own rows: all of it happens, or nothing. */
export const needsTransaction = ({ projections, principal }: Writing, type: string): boolean =>
  type === 'SearchParameter' ||
  type === 'Organization' ||
  (isCanonical(type) && !principal.party.isService) ||
  isFollowedAlone(projections, type)

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
  mustBeWhole(change.type, change.resource)
  const kept = base.kept(change.resource)
  const resource = prepared(projections, change.type, kept, principal)
  return resource === kept ? { ...change, resource } : { ...change, resource, isMade: true }
}
