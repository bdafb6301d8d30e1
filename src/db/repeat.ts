// What a lost connection left without an answer is asked again, on another connection, if that stores nothing twice.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Failure } from '../lib/failure.ts'
import { Cut, isUnanswered, mayStore, Unreplicated } from './doubt.ts'
import type { Statement } from './statement.ts'

/** What PostgreSQL says as it ends a session: what was under way is undone. */
const endings: ReadonlySet<string> = new Set(['57P01', '57P02'])

/** True if the connection was lost before the answer: only of a statement that stores nothing it is known what came of it. */
export function isLost(error: unknown): boolean {
  const cause = error instanceof Failure ? error.options.cause : error
  if (cause instanceof Unreplicated || cause instanceof Cut) return false
  if (cause instanceof pg.DatabaseError) return endings.has(String(cause.code))
  return isUnanswered(cause) || (cause instanceof Error && cause.message.endsWith('is not queryable'))
}

/** Milliseconds before a statement is asked again, each time: connections are often lost together, and not in the same moment. */
const pauses: readonly number[] = [0, 20, 100]

/** Times that a statement is asked again at most. */
export const mostRepeats = pauses.length

/** Waits before a statement is asked again. @param left how many times it can be */
export const pauseBefore = (left: number): Promise<unknown> => sleep(pauses[mostRepeats - left])

/** True if the statement only reads and its connection was lost before the answer, so that another connection can be asked. */
export const canRepeat = (error: unknown, { text }: Pick<Statement, 'text'>): boolean =>
  isLost(error) && !mayStore(text)
