// Projections: tables derived from resources of some types and updated in the transaction that changes them, for every writer.
import type { Queryable } from '../db/statement.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Principal } from './principal.ts'

/** A resource that has just been written. */
export interface Projected {
  readonly type: string
  readonly id: string
  /** The stored version; undefined after a deletion. */
  readonly resource: JsonObject | undefined
  /** True for an id that the service has just made up: no table has rows of it. */
  readonly isFresh?: boolean
}

/** The writer of a resource; without an author: the service itself. */
export type Writer = Pick<Principal, 'author' | 'may' | 'party'>

/** Tables that follow resources. */
export interface Projection {
  /** The types that it follows. */
  readonly types: ReadonlySet<string>
  /**
   * What is stored in the place of a resource that is to be written; absent: the resource itself.
   * @throws Failure if it cannot be taken
   */
  readonly prepared?: (resource: JsonObject, writer: Writer) => JsonObject
  /**
   * Takes the locks that must come first, within the transaction of the changes and before them: waiting for one while holding
   * others could deadlock.
   */
  readonly ready?: (on: Queryable, resources: readonly JsonObject[]) => Promise<void>
  /**
   * Brings the tables up to date, within the transaction of the changes and after them: each resource comes once, and only
   * if it has changed. What it throws undoes the changes.
   * @param writer who made them
   */
  apply(on: Queryable, changes: readonly Projected[], writer: Writer): Promise<void>
  /**
   * Brings the tables up to date with resources that have not changed but now read differently: they name an address that became
   * one of the service's own. Absent: the tables do not depend on addresses.
   */
  readonly anew?: (on: Queryable, stored: readonly Projected[]) => Promise<void>
  /**
   * Those of its types whose single changes share a transaction with those of other writers: `anew` does for them what `apply` does,
   * whoever made them, and they need no `ready`. Absent: none.
   */
  readonly shared?: ReadonlySet<string>
}

/** Has projections take the locks they need before anything is written. */
export async function readied(
  on: Queryable,
  projections: readonly Projection[],
  changes: readonly { readonly type: string; readonly resource?: JsonObject }[],
): Promise<void> {
  for (const { types, ready } of projections) {
    const own = ready ? changes.flatMap(({ type, resource }) => (resource && types.has(type) ? [resource] : [])) : []
    if (own.length > 0) await ready!(on, own)
  }
}

/** Returns what to store for a resource. @throws Failure if a projection refuses it. */
export function prepared(
  projections: readonly Projection[],
  type: string,
  resource: JsonObject,
  writer: Writer,
): JsonObject {
  return projections.reduce(
    (made, { types, prepared: prepare }) => (prepare && types.has(type) ? prepare(made, writer) : made),
    resource,
  )
}

/** True for types whose changes have to be followed in a transaction that their writer shares with nobody. */
export const isFollowedAlone = (projections: readonly Projection[], type: string): boolean =>
  projections.some(({ types, shared }) => types.has(type) && !shared?.has(type))

/** Has every projection follow the changes, of several writers, that concern it and that it shares. */
export async function projectShared(
  on: Queryable,
  projections: readonly Projection[],
  changes: readonly Projected[],
): Promise<void> {
  for (const { shared, anew } of projections) {
    const own = changes.filter(({ type }) => shared?.has(type))
    if (own.length > 0) await anew!(on, own)
  }
}

/** Has every projection follow the changes that concern it. */
export async function project(
  on: Queryable,
  projections: readonly Projection[],
  changes: readonly Projected[],
  writer: Writer,
): Promise<void> {
  for (const { types, apply } of projections) {
    const own = changes.filter(({ type }) => types.has(type))
    if (own.length > 0) await apply(on, own, writer)
  }
}
