// What whoever writes has to know, and that nobody writes without knowing it (index_epoch in the migration 0003-writing): the users'
// search parameters, and the types of which somebody follows every change.
import type { Queryable } from '../db/statement.ts'

/** Announces that there is a new epoch. */
export const channel = 'search_parameters'

/** Waits until nobody indexes anything, and lets nobody begin until the transaction ends. */
export async function lockIndex(on: Queryable): Promise<void> {
  await on.query({
    text: `select pg_advisory_xact_lock(1, 2), set_config('index.is_locked', 'here', true)`,
    values: [],
  })
}

/** Has every writer learn anew, from the end of the transaction on, which holds the index. */
export async function nextEpoch(on: Queryable): Promise<void> {
  await on.query({ text: `select nextval('index_epoch')`, values: [] })
  await on.query({ text: `select pg_notify('${channel}', '')`, values: [] })
}

/** True if the error says that there is a new epoch of which the writer had not learnt. */
export const isOutdated = (error: unknown): boolean => (error as { code?: unknown }).code === 'HI001'
