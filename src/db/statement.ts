// A statement for PostgreSQL, and what can run it: a pool, a transaction, a part of one.

import type { Memory } from '../lib/blocks.ts'
import type { LookUp, Placed } from './look-up.ts'

/** A parameterised statement; with a name it is prepared once per connection. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly name?: string
  /** True if one plan suits all values, as for a look-up by a unique key; without effect in transactions. */
  readonly isFixed?: boolean
  /** Where long texts of its column `body` stay, each as a StoredText; absent: they are strings. */
  readonly memory?: Memory
}

/** Where the tables of resources are: on one server, or in parts on several nodes (docs/operations.md, "Several nodes"). */
export type Layout = 'whole' | 'distributed'

/** Something that answers statements: the pool, or one transaction of it. */
export interface Queryable {
  /** Absent: `whole`. */
  readonly layout?: Layout
  /** The rows of the answer, in order. */
  query<Row extends object>(statement: Statement): Promise<Row[]>
  /**
   * Runs a statement whose result is not needed. A transaction does not wait for it: if it fails, the transaction fails with its
   * error.
   */
  run(statement: Statement): Promise<void>
  /** The row of a unique key, by a statement that look-ups of other requests may share; absent: `query` answers it. */
  lookUp?<Row extends Placed>(lookUp: LookUp): Promise<Row | undefined>
  /** Does work that shares statements with that of other clients, as soon as this client may have more of it under way; absent: at once. */
  sharing?<T>(work: () => Promise<T>): Promise<T>
  /**
   * Returns where statements that change nothing may run until one answer is complete: a standby that shows all that was acknowledged
   * before the call, or this; absent: this. A transaction has none, since its statements see what it wrote.
   * @throws Failure UNAVAILABLE when the database cannot be reached.
   */
  reading?(): Promise<Queryable>
}

/** Returns where statements that change nothing may run until one answer is complete (`Queryable.reading`). */
export const readingOf = async (on: Queryable): Promise<Queryable> => (on.reading ? on.reading() : on)

/** What can do several things as a whole: the pool, or a transaction, within which a part can be undone alone (a savepoint). */
export interface Transactional extends Queryable {
  /**
   * Runs `work` in one READ COMMITTED transaction, planned as statements that one plan suits (valuePlans turns that off): committed when it returns, rolled back when it throws.
   * @throws Failure CONFLICT after a deadlock, UNAVAILABLE when the database cannot be reached or a statement took too long.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
}

export interface Transaction extends Transactional {
  /** Runs work once everything is committed, the transactions around this one too, and before the caller receives the result. */
  afterwards(work: () => unknown): void
}
