// One statement and its answer, and what PostgreSQL's errors mean to a caller.
import type { Socket } from 'node:net'
import pg from 'pg'
import { Failure } from '../lib/failure.ts'
import type { Statement } from './statement.ts'

/** The rows that a statement gives, or a failure that a caller can act on. */
export async function ask<Row extends object>(on: pg.Pool | pg.ClientBase, statement: Statement): Promise<Row[]> {
  try {
    return (await answerOf<Row>(on, statement)).rows
  } catch (error) {
    throw translated(error)
  }
}

/** Returns the answer of pg. The query is made here: from an object pg would copy each property by its descriptor. @throws errors of pg */
export function answerOf<Row extends object>(
  on: pg.Pool | pg.ClientBase,
  { text, values, name }: Statement,
): Promise<pg.QueryResult<Row>> {
  const query = Object.assign(new pg.Query(text, values as unknown[]), { name })
  return new Promise((done, fail) => {
    const answered = (error: Error | undefined, result: pg.QueryResult<Row>): void =>
      error ? fail(error) : done(result)
    ;(on as unknown as Asked<Row>).query(query, undefined, answered)
  })
}

/** Members of pg that its types lack. */
interface Asked<Row extends object> {
  query(
    query: object,
    values: undefined,
    answered: (error: Error | undefined, result: pg.QueryResult<Row>) => void,
  ): void
}

/** The stream of a connection. */
export const streamOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

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
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ENOENT':
    case '25P03':
    case '57P01':
    case '57P02':
    case '57P03':
    case '53300':
      return new Failure('UNAVAILABLE', 'The database is temporarily unavailable: try again.', {
        retryAfter: 2,
        cause: error,
      })
  }
  if (
    error instanceof Error &&
    /timeout exceeded when trying to connect|Connection terminated|not queryable/.test(error.message)
  ) {
    return new Failure('UNAVAILABLE', 'The service is busy: try again.', { retryAfter: 1, cause: error })
  }
  return error
}
