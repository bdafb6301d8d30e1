// What is kept beside resources of some types: tables worked out from them, in the transaction that changes them, whoever does.
import type { Queryable } from '../db/statement.ts'
import type { JsonObject } from '../lib/json.ts'

/** A resource that has just been written. */
export interface Projected {
  readonly type: string
  readonly id: string
  /** As it is stored now; undefined if it is stored no more. */
  readonly resource: JsonObject | undefined
}

/** A table, or some, that follow resources. */
export interface Projection {
  /** The types that it follows. */
  readonly types: ReadonlySet<string>
  /**
   * Brings the tables up to date, within the transaction of the changes and after them: each resource comes once, and only
   * if it has changed. What it throws undoes the changes.
   */
  apply(on: Queryable, changes: readonly Projected[]): Promise<void>
}

/** Has every projection follow the changes that concern it. */
export async function project(
  on: Queryable,
  projections: readonly Projection[],
  changes: readonly Projected[],
): Promise<void> {
  for (const { types, apply } of projections) {
    const own = changes.filter(({ type }) => types.has(type))
    if (own.length > 0) await apply(on, own)
  }
}
