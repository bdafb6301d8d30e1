// The next version of a resource that is to be changed: what is stored of it, and what the client hears.
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Deleted, Stored } from '../current.ts'
import type { WriteMethod } from '../type-number.ts'

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

/** What a change leads to. */
export interface NextVersion {
  readonly change: Change
  readonly stored: Stored | undefined
  /** The row number under which it was stored until it was deleted; 0 if it never was. */
  readonly former: number
  readonly written: Written
  /** The resource as it is stored, id and meta filled in. */
  readonly resource: JsonObject | undefined
}

/** Returns `Type/id`. */
export const nameOf = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`

/**
 * Returns what the change leads to.
 * @param known the current version, or the last one of a deleted resource
 * @throws Failure PRECONDITION_FAILED if a precondition of the change does not hold
 */
export function nextVersion(change: Change, known: Stored | Deleted | undefined, now: Date): NextVersion {
  const stored = known?.body == null ? undefined : known
  const former = known?.key ?? 0
  checkPreconditions(change, stored)
  const version = (known?.version ?? 0) + 1
  // A version is always later than the one before it, even if the clock is behind.
  const updatedAt = known && known.updated_at >= now ? new Date(known.updated_at.getTime() + 1) : now
  const resource = change.resource && stamped(change.resource, change.id, version, updatedAt)
  return { change, stored, former, resource, written: writtenOf(change, stored, resource, { version, updatedAt }) }
}

function writtenOf(
  { type, id, isMade }: Change,
  stored: Stored | undefined,
  resource: JsonObject | undefined,
  next: Pick<Written, 'version' | 'updatedAt'>,
): Written {
  if (!resource) return { type, id, ...next, outcome: stored ? 'deleted' : 'absent', body: undefined }
  if (stored && !isMade && isUnchanged(resource, stored))
    return { type, id, version: stored.version, updatedAt: stored.updated_at, outcome: 'unchanged', body: stored.body }
  return { type, id, ...next, outcome: stored ? 'updated' : 'created', body: JSON.stringify(resource) }
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
