// How long a request is worked on: until its client disconnects, and no statement longer than its kind permits.
import type { ServerResponse } from 'node:http'
import type { Asker } from '../access/caller.ts'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import type { Route } from './route.ts'

/** The status in logs and metrics for a request whose client did not wait for the reply; nginx uses the same. */
export const departed = 499

/** A signal that is aborted when the connection closes before the reply has been sent. */
export function departureOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const close = (): void => {
    if (!response.writableFinished)
      controller.abort(new Failure('UNAVAILABLE', 'The client closed its connection before the reply.'))
  }
  if (response.destroyed) close()
  else response.once('close', close)
  return controller.signal
}

export interface Sharing {
  /** Where each caller has its share. */
  readonly database: Pick<Database, 'as'>
  /** Milliseconds that one statement of a read or a search may take. */
  readonly searchTimeout: number
}

/** The caller with its share of the database, for as long as one request is worked on. */
export const sharing = <Who extends Asker>(
  { database, searchTimeout }: Sharing,
  caller: Who,
  { method, path }: Route,
  signal: AbortSignal,
): Who => {
  const isSearch = !path.includes('/$') && (method === 'GET' || path.endsWith('/_search'))
  return {
    ...caller,
    database: database.as({ who: caller.clientId, signal, limit: isSearch ? searchTimeout : undefined }),
  }
}
