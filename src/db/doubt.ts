// Changes of which nobody knows whether they are stored: the connection was lost after the commit was sent, or PostgreSQL gave up
// waiting for a standby to have it (https://www.postgresql.org/docs/18/warm-standby.html#SYNCHRONOUS-REPLICATION).
import pg from 'pg'
import { Failure } from '../lib/failure.ts'

/** The commit is on the primary; no standby has confirmed that it is there, too. */
export class Unreplicated extends Error {
  constructor() {
    super('The wait for a synchronous standby was cancelled: the commit is on the primary alone.')
  }
}

/** This process has cut the connection, after a silence of seconds or because its server cannot be used: another attempt would not help. */
export class Cut extends Error {
  constructor(why: string) {
    super(`Connection terminated: ${why}`)
  }
}

/** True for the notice of such a commit, in whichever language it is written. */
export const saysUnreplicated = ({ routine }: Pick<pg.DatabaseError, 'routine'>): boolean =>
  routine === 'SyncRepWaitForLSN'

/** Codes of system calls on a connection that was lost. */
export const lostCodes: ReadonlySet<string> = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
])

/**
 * True if the answer to a statement that was sent never came. What PostgreSQL reports itself, even as it ends the session, is an
 * answer: it does so at no moment in which a commit is under way.
 */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof Unreplicated) return true
  if (!(error instanceof Error) || error instanceof pg.DatabaseError) return false
  return lostCodes.has(String((error as { code?: unknown }).code)) || error.message.startsWith('Connection terminated')
}

/** Words with which a statement may store something, or have it stored by a function. */
const storing =
  /\b(insert|update|delete|merge|nextval|setval|pg_notify|audit_(settle|close|make_room)|for\s+(no\s+key\s+)?update|for\s+(key\s+)?share|into)\b/i

/** True unless the statement certainly only reads. */
export const mayStore = (text: string): boolean => !/^\s*(select|with|show|begin)\b/i.test(text) || storing.test(text)

/** The failure of a change that may have been stored. */
export const unconfirmed = (cause: unknown): Failure =>
  new Failure(
    'UNCONFIRMED',
    'The change may or may not have been stored, because the database did not confirm it: read what it concerns, or repeat the request with the same Idempotency-Key.',
    { retryAfter: 2, cause },
  )

/** True for the failure of a change that may have been stored. */
export const isInDoubt = (error: unknown): boolean => error instanceof Failure && error.code === 'UNCONFIRMED'

/** No server accepts changes; the message names each of several and the reason. */
export class NoServer extends Error {}
