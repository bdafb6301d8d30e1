// The session of every operation of the store: a connection, a caller, and the parts that know FHIR.

import type { Queryable, Statement, Transactional } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import type { Base } from './base.ts'
import { isOutdated } from './epoch.ts'
import { nowBeyondFence } from './export/fence.ts'
import type { Indexer } from './index/entry.ts'
import type { Follower } from './note.ts'
import type { Registered } from './owners/speaking.ts'
import type { Interaction, Principal } from './principal.ts'
import type { Projection } from './projection.ts'
import { isOvertaken, isTaken } from './rows.ts'
import { parseSearch } from './search/parse.ts'
import type { SearchRequest } from './search/request.ts'
import type { SearchOptions } from './search/sql-context.ts'
import { isInUse, mustBeReady, notInUse } from './search-params/known.ts'
import type { DefinitionLimits } from './search-params/registry.ts'
import type { Indexing } from './search-params/reindex.ts'
import { suspensions } from './search-params/suspension.ts'
import type { SketchFor } from './sketch.ts'
import type { Growth } from './statistics.ts'
import type { Together } from './together.ts'
import type { Validate } from './validate.ts'

export interface StoreParts {
  readonly database: Transactional
  readonly indexer: Indexer
  readonly indexing: Indexing
  readonly validate: Validate
  /** What follows the resources that are written. */
  readonly projections: readonly Projection[]
  /** Keeps something of every change. */
  readonly follower: Follower
  readonly registered: Registered
  /** Of the data set, as the caller may name it. */
  readonly base: Base
  readonly now: () => Date
  /** How many search parameters may be defined. */
  readonly searchParameters: DefinitionLimits
  readonly defaultCount: number
  readonly maxCount: number
  /** Most resources that a page includes in addition to its matches. */
  readonly maxIncluded: number
  /** What lets searches of callers pass over what they may not see; absent: they look at every row. */
  readonly sketchFor?: SketchFor
  /** Receives how long each search took, in milliseconds. */
  readonly searched: (request: SearchRequest, milliseconds: number) => void
}

export interface Session extends StoreParts {
  /** Writes what is not part of a transaction. */
  readonly together: Together
  readonly growth: Growth
  /** The pool, or the transaction that the operation is part of. */
  readonly on: Queryable
  readonly principal: Principal
  readonly isInTransaction: boolean
}

const words: Readonly<Record<Interaction, string>> = {
  c: 'creating',
  r: 'reading',
  u: 'updating',
  d: 'deleting',
  s: 'searching',
}

/**
 * Checks that the caller may do this.
 * @throws Failure INSUFFICIENT_SCOPE if its scopes do not allow it; METHOD_NOT_ALLOWED for changes that no caller may make.
 */
export function mustBeAllowed(session: Session, type: string, interaction: Interaction): void {
  const isChange = 'cud'.includes(interaction)
  if (type === 'AuditEvent' && isChange)
    throw new Failure('METHOD_NOT_ALLOWED', 'AuditEvent is read-only: only the service writes the audit trail.', {
      headers: { allow: 'GET' },
    })
  if (isChange && session.principal.visibility?.override)
    throw new Failure(
      'FORBIDDEN',
      'Emergency access is read-only: remove X-Emergency-Access from requests that change data.',
    )
  if (session.principal.may(type, interaction)) return
  throw new Failure(
    'INSUFFICIENT_SCOPE',
    `The scopes of the token do not permit ${words[interaction]} ${type}: system/${type}.${interaction} does.`,
  )
}

const mostAttempts = 5

/**
 * Attempts after an outdated epoch: each attempt loads the newer state, so frequent changes by others are no reason to refuse it.
 */
const mostLessons = 500

/** Returns how often to attempt work that ended with this error. */
export const attemptsAfter = (error: unknown): number => (isOutdated(error) ? mostLessons : mostAttempts)

/** Losers of a race run one after another, so that they do not lose against each other again. */
export const inLine: Statement = { text: 'select pg_advisory_xact_lock(1, 1)', values: [] }

/**
 * Runs the work in a transaction: the one the session is in, or a new one. A new one that lost a race (a deadlock, or another
 * writer created the same id) is run again, and then finds what the other left behind.
 */
export async function inTransaction<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  if (session.isInTransaction) return work(session)
  return retried(session, (again, attempt) =>
    session.database.transaction(async on => {
      if (attempt > 1) await on.query(inLine)
      return work({ ...again, on, isInTransaction: true })
    }),
  )
}

/**
 * Runs the work, a transaction as a whole, again if it lost a race, if it was done without knowing of search parameters that were defined meanwhile, or if an export has promised to hold what came before.
 */
async function retried<T>(session: Session, work: (session: Session, attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const now = attempt > 1 ? await nowBeyondFence(session.database, session.now) : session.now
      return await work({ ...session, now }, attempt)
    } catch (error) {
      if (!isRaceLost(error) && !isOutdated(error)) throw error
      if (session.principal.within && mustStartOver(error)) throw error
      if (attempt >= attemptsAfter(error)) throw error instanceof Failure ? error : lost(error)
      if (isOutdated(error)) await session.indexing.catchUp()
    }
  }
}

/** True if another writer was faster, so that the same work may succeed when it is run again. */
export const isRaceLost = (error: unknown): boolean =>
  (error instanceof Failure && error.code === 'CONFLICT' && !error.options.isFinal) ||
  isTaken(error) ||
  isOvertaken(error)

/**
 * True if a part of a transaction cannot be retried alone: after a deadlock, since the other transaction still waits for the
 * earlier work; without knowing new search parameters, since reading them waits for the transactions that define them, and this may
 * be one.
 */
export const mustStartOver = (error: unknown): boolean =>
  isOutdated(error) || (error instanceof Failure && (error.cause as { code?: unknown })?.code === '40P01')

export function lost(cause: unknown): Failure {
  const message = 'Other requests keep changing the same resources: try again.'
  return new Failure('CONFLICT', message, { retryAfter: 1, cause })
}

/**
 * Waits a moment for parameters that were just defined.
 * @throws Failure UNAVAILABLE if that is not enough, VALIDATION_FAILED if one is suspended.
 */
export async function mustBeIndexed({ indexing, indexer }: Session, { own }: Used): Promise<void> {
  if (own.every(isInUse)) return
  await indexing.settle()
  mustBeReady(indexer.params, own)
}

type Used = Pick<SearchRequest, 'own'>

/**
 * Checks, after a search, that its parameters were in use while it ran: a writer that stores a resource without the values of one
 * suspends it in the same transaction or before, maybe a moment ago and in another process.
 * @throws Failure VALIDATION_FAILED if one was suspended meanwhile.
 */
export async function mustStillBeUsed({ on }: Pick<Session, 'on'>, { own }: Used): Promise<void> {
  if (own.length === 0) return
  const found = await suspensions(
    on,
    own.map(({ key }) => key.name),
  )
  const param = own.find(({ key }) => found.has(key.name))
  if (param) throw notInUse(param, found.get(param.key.name)!)
}

export function searchOptions(session: Session): SearchOptions {
  const { indexer, base, principal, maxIncluded, on } = session
  const { visibility, party } = principal
  const sketch = session.sketchFor?.(visibility)
  const maySee = (type: string): boolean => principal.may(type, 'r')
  return { indexer, base, layout: on.layout, visibility, sketch, party, maySee, maxIncluded }
}

/**
 * The parameters of a condition; clients also send it as a whole address, `Patient?identifier=1`.
 * @throws Failure MALFORMED_REQUEST if that names another type, or if one of several parameters has no value.
 */
export function conditionParams(type: string, query: string): [string, string][] {
  const [, named, rest] = /^(?:([A-Za-z]*)\?)?(.*)$/s.exec(query)!
  if (named && named !== type)
    throw new Failure(
      'MALFORMED_REQUEST',
      `The condition is for ${named.slice(0, 60)}, but the request is for ${type}.`,
    )
  const pairs = [...new URLSearchParams(rest)]
  const given = pairs.filter(([, value]) => !isNothing(value))
  const [empty] = pairs.filter(([, value]) => isNothing(value))
  if (empty && given.length > 0) throw withoutValue(empty[0].slice(0, 60))
  return given
}

/** True for a list of values in which there is none. */
const isNothing = (value: string): boolean => /^[\s,]*$/.test(value)

/** A search ignores a parameter without a value; a condition would match more than is meant, and somebody else. */
function withoutValue(name: string): Failure {
  const message = `The parameter ${name} of the condition has no value: specify one, or leave the parameter out.`
  return new Failure('MALFORMED_REQUEST', message, { details: [{ field: name, code: 'invalid', message }] })
}

/** Reads the query of a conditional request, in which nothing may be left out: an ignored parameter would match too much. */
export function parseConditional(session: Session, type: string, query: string): SearchRequest {
  const request = parseSearch([type], conditionParams(type, query), {
    params: session.indexer.params,
    strict: true,
    defaultCount: 2,
    maxCount: session.maxCount,
  })
  if (request.criteria.length === 0)
    throw new Failure('PRECONDITION_FAILED', 'The condition has no search parameter, so it would match everything.')
  return request
}
