// One statement and its answer, and what PostgreSQL's errors mean to a caller.
import type { Socket } from 'node:net'
import type pg from 'pg'
import { Failure } from '../lib/failure.ts'
import { Asked } from './asked.ts'
import { isUnanswered, lostCodes, mayStore, NoServer, Unreplicated, unconfirmed } from './doubt.ts'
import { onConnection } from './retry.ts'
import type { Statement } from './statement.ts'

/**
 * The rows of a statement within a transaction: if it fails, what it did is undone.
 * @throws Failure that a caller can act on
 */
export async function ask<Row extends object>(on: pg.ClientBase, statement: Statement): Promise<Row[]> {
  try {
    return (await answerOf<Row>(on, statement)).rows
  } catch (error) {
    throw translated(error)
  }
}

/**
 * The rows of a statement that is a transaction of its own.
 * @throws Failure as `ask` does, and UNCONFIRMED if the statement may have stored something
 */
export async function askAlone<Row extends object>(on: pg.ClientBase, statement: Statement): Promise<Row[]> {
  try {
    return (await answerOf<Row>(on, statement)).rows
  } catch (error) {
    throw translatedAlone(error, statement)
  }
}

/**
 * The same on a connection of the pool, to which it returns only if nothing failed. If it is lost, a statement that only reads is
 * retried on another.
 */
export function askPool<Row extends object>(pool: pg.Pool, statement: Statement): Promise<Row[]> {
  return onConnection(
    statement,
    () => connectionOf(pool),
    async client => {
      try {
        const { rows } = await answerOf<Row>(client, statement)
        client.release()
        return rows
      } catch (error) {
        client.release(true)
        throw translatedAlone(error, statement)
      }
    },
  )
}

/** A connection of the pool. @throws Failure that a caller can act on */
export const connectionOf = (pool: pg.Pool): Promise<pg.PoolClient> =>
  pool.connect().catch(error => {
    throw translated(error)
  })

/** Returns the rows of PostgreSQL's answer, and what was done, as it says that: COMMIT, SELECT 3. @throws errors of pg */
export function answerOf<Row extends object>(
  on: pg.ClientBase,
  statement: Statement,
): Promise<{ readonly rows: Row[]; readonly command: string }> {
  return new Promise((done, fail) => {
    const asked = new Asked(statement, error => {
      if (!error && !asked.isUnreplicated) return done(contentsOf<Row>(asked))
      if (error && isReadOnly(error)) streamOf(on).destroy(error)
      fail(error ?? new Unreplicated())
    })
    ;(on as unknown as Asking).query(asked)
  })
}

const contentsOf = async <Row extends object>({ received, command }: Asked) => ({
  rows: received.finish() as Row[],
  command,
})

/** Members of pg that its types lack. */
interface Asking {
  query(asked: Asked): void
}

/** True if the server of the connection was the primary and is no more: all of the connection is of no use. */
const isReadOnly = (error: Error): boolean => (error as { code?: unknown }).code === '25006'

/** The stream of a connection. */
export const streamOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** What an error means for a statement that was sent as a transaction of its own. */
export const translatedAlone = (error: unknown, { text }: Pick<Statement, 'text'>): unknown =>
  isUnanswered(error) && mayStore(text) ? unconfirmed(error) : translated(error)

/** What says that the server cannot be used at the moment, or that the connection to it is lost. */
const outOfReach: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', ...lostCodes],
  ...['25006', '25P03', '25P04', '57P01', '57P02', '57P03'],
  // Another node that the server asks for a part of the answer: whatever the statement was to store is not stored.
  ...['08001', '08003', '08006'],
])

/** True if a connection could not be made because there is no server that takes it. */
export const isFatal = (error: unknown): boolean => {
  const cause = error instanceof Failure ? error.options.cause : error
  if (cause instanceof NoServer) return true
  return outOfReach.has(String((cause as { code?: unknown }).code)) || isUnanswered(cause)
}

/** Translates errors of PostgreSQL into failures that a caller can act on; returns unknown errors unchanged. */
export function translated(error: unknown): unknown {
  const code = (error as { code?: unknown }).code
  switch (code) {
    case '57014':
      return new Failure(
        'UNAVAILABLE',
        'The database cancelled the statement because it took too long: narrow the request.',
        { issue: 'too-costly', cause: error },
      )
    case '40001':
    case '40P01':
      return new Failure('CONFLICT', 'Another request changed the same data at the same time: try again.', {
        retryAfter: 1,
        cause: error,
      })
    case '53300':
      return temporarily(error)
  }
  if (outOfReach.has(String(code)) || error instanceof Unreplicated || isLostNode(error)) return temporarily(error)
  if (
    error instanceof Error &&
    /timeout exceeded when trying to connect|Connection terminated|not queryable/.test(error.message)
  ) {
    return new Failure('UNAVAILABLE', 'The service is busy: try again.', { retryAfter: 1, cause: error })
  }
  return error
}

/** True for what Citus says of a node that is lost in the middle of a transaction, with the code of internal errors. */
const isLostNode = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { code?: unknown }).code === 'XX000' &&
  error.message.startsWith('failure on connection marked as essential')

const temporarily = (cause: unknown): Failure =>
  new Failure('UNAVAILABLE', 'The database is temporarily unavailable: try again.', { retryAfter: 2, cause })
