// One statement and its answer, and what PostgreSQL's errors mean to a caller.
import type pg from 'pg'
import { Failure } from '../lib/failure.ts'
import type { Statement } from './statement.ts'

/** The rows that a statement gives, or a failure that a caller can act on. */
export async function ask<Row extends object>(on: pg.Pool | pg.PoolClient, statement: Statement): Promise<Row[]> {
  try {
    const { text, values, name } = statement
    const result = await on.query<Row>(
      name ? { text, values: values as unknown[], name } : { text, values: values as unknown[] },
    )
    return result.rows
  } catch (error) {
    throw translated(error)
  }
}

/** Turns what PostgreSQL says into what a caller can act on; anything unknown passes as it is. */
export function translated(error: unknown): unknown {
  const code = (error as { code?: unknown }).code
  switch (code) {
    case '57014':
      return new Failure(
        'UNAVAILABLE',
        'The database ended the statement because it took too long: narrow the request.',
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
      return new Failure('UNAVAILABLE', 'The database cannot be reached at the moment: try again.', {
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
