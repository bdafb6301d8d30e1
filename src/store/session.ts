// What every operation of the store works with: a connection, a caller, and the parts that know FHIR.
import type { Database, Queryable } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import type { Indexer } from './index-entry.ts'
import { parseSearch } from './search/parse.ts'
import type { SearchRequest } from './search/request.ts'
import type { SearchOptions } from './search/run.ts'
import type { Validate } from './validate.ts'

/** create, read, update, delete and search, as SMART v2 abbreviates them. */
export type Interaction = 'c' | 'r' | 'u' | 'd' | 's'

/** The store's view of who asks; the policy floor supplies it. */
export interface Principal {
  may(type: string, interaction: Interaction): boolean
}

export interface StoreParts {
  readonly database: Database
  readonly indexer: Indexer
  readonly validate: Validate
  /** Address of this server's FHIR endpoint, without trailing slash. */
  readonly base: string
  readonly now: () => Date
  readonly defaultCount: number
  readonly maxCount: number
}

export interface Session extends StoreParts {
  /** The pool, or the transaction that the operation is part of. */
  readonly on: Queryable
  readonly principal: Principal
  readonly isInTransaction: boolean
}

const words: Readonly<Record<Interaction, string>> = { c: 'create', r: 'read', u: 'update', d: 'delete', s: 'search' }

/** @throws Failure INSUFFICIENT_SCOPE unless the caller may. */
export function mustBeAllowed(session: Session, type: string, interaction: Interaction): void {
  if (session.principal.may(type, interaction)) return
  throw new Failure(
    'INSUFFICIENT_SCOPE',
    `The token's scopes do not allow to ${words[interaction]} ${type}; system/${type}.${interaction} would.`,
  )
}

const mostAttempts = 3

/**
 * Runs the work in a transaction: the one the session is in, or a new one. A new one that lost a race (a deadlock, or
 * somebody else created the same id) is run again, for then the work finds what the other left behind.
 */
export async function inTransaction<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  if (session.isInTransaction) return work(session)
  for (let attempt = 1; ; attempt++) {
    try {
      return await session.database.transaction(on => work({ ...session, on, isInTransaction: true }))
    } catch (error) {
      const isRaceLost = error instanceof Failure && error.code === 'CONFLICT'
      if (!isRaceLost || attempt === mostAttempts) throw error
    }
  }
}

export function searchOptions(session: Session): SearchOptions {
  return { indexer: session.indexer, base: session.base, maySee: type => session.principal.may(type, 'r') }
}

/** Reads the query of a conditional request, in which nothing may be left out: an ignored parameter would match too much. */
export function parseConditional(session: Session, type: string, query: string): SearchRequest {
  const params = [...new URLSearchParams(query.replace(/^[A-Za-z]*\?/, ''))].filter(([, value]) => value !== '')
  const request = parseSearch([type], params, { strict: true, defaultCount: 2, maxCount: session.maxCount })
  if (request.criteria.length === 0)
    throw new Failure('PRECONDITION_FAILED', 'The condition names no search parameter, so it would match everything.')
  return request
}
