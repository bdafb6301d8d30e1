// Retries what a lost connection left without an answer, on another connection, where nothing can be stored twice.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Failure } from '../lib/failure.ts'
import { Cut, isUnanswered, mayStore, Unreplicated } from './doubt.ts'
import type { Statement } from './statement.ts'

/** What PostgreSQL says as it ends a session: what was under way is undone. */
const endings: ReadonlySet<string> = new Set(['57P01', '57P02'])

/** The message of pg's pool for a connection that did not open in time. */
const tooLate = 'Connection terminated due to connection timeout'

/** True if the connection was lost before the answer: only of a statement that stores nothing it is known what came of it. */
export function isLost(error: unknown): boolean {
  const cause = error instanceof Failure ? error.options.cause : error
  if (cause instanceof Unreplicated || cause instanceof Cut) return false
  if (cause instanceof pg.DatabaseError) return endings.has(String(cause.code))
  if (!(cause instanceof Error) || cause.message === tooLate) return false
  return isUnanswered(cause) || cause.message.endsWith('is not queryable')
}

/** True if the statement only reads and its connection was lost before the answer, so that another connection can be asked. */
export const canRetry = (error: unknown, { text }: Pick<Statement, 'text'>): boolean => isLost(error) && !mayStore(text)

/** Milliseconds before each retry: connections are often lost together, and not in the same moment. */
const pauses: readonly number[] = [0, 20, 100]

/**
 * Does the work, and up to three times again.
 * @param mayRetry receives what the work threw
 * @throws what the work throws at last
 */
export async function retrying<T>(
  mayRetry: (error: unknown) => boolean,
  work: (isRetry: boolean) => Promise<T>,
): Promise<T> {
  let isRetry = false
  for (const pause of pauses) {
    try {
      return await work(isRetry)
    } catch (error) {
      if (!mayRetry(error)) throw error
    }
    await sleep(pause)
    isRetry = true
  }
  return work(isRetry)
}

/** Has a connection run the statement; if it is lost and the statement only reads, another one. @param connect is not retried itself */
export function onConnection<Client, T>(
  statement: Statement,
  connect: () => Promise<Client>,
  run: (client: Client) => Promise<T>,
): Promise<T> {
  let isConnected = false
  return retrying(
    error => isConnected && canRetry(error, statement),
    async () => {
      isConnected = false
      const client = await connect()
      isConnected = true
      return run(client)
    },
  )
}
