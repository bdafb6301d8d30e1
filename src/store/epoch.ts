// The state that every writer must know before it writes (index_epoch in the migration 0003-writing): the users' search parameters,
// and the types whose every change has a follower.
import type { Queryable } from '../db/statement.ts'

/** Announces that there is a new epoch. */
export const channel = 'search_parameters'

/** Waits until no process is indexing, and lets none begin until the transaction ends. */
export async function lockIndex(on: Queryable): Promise<void> {
  await on.query({
    text: `select pg_advisory_xact_lock(1, 2), set_config('index.is_locked', 'here', true)`,
    values: [],
  })
}

/** Starts a new epoch: once the transaction ends, every writer reloads its state. The transaction must hold the index lock. */
export async function nextEpoch(on: Queryable): Promise<void> {
  await on.query({ text: `select nextval('index_epoch')`, values: [] })
  await on.query({ text: `select pg_notify('${channel}', '')`, values: [] })
}

/** True if the error reports an epoch newer than that of the writer. */
export const isOutdated = (error: unknown): boolean => (error as { code?: unknown }).code === 'HI001'
