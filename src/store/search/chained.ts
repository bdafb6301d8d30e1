// Chains, looked up from their end: each step runs first, so that the next one is planned for what it found. A few resources lead
// to those that refer to them by the index of postings; very many are matched row by row.
import { prepared } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import type { ChainTarget } from './request.ts'
import type { SearchOptions } from './sql-context.ts'
import { conditions } from './statement.ts'

/** Most resources of one step whose references are looked up one by one. */
const mostFound = 1000

/** Most types of one step that are looked up; a step with more types runs as one statement. */
export const mostLookedUp = 8

/** Returns the step with what it finds, or marked as finding too many. */
export async function lookedUp(on: Queryable, target: ChainTarget, options: SearchOptions): Promise<ChainTarget> {
  const { context, where } = conditions({ types: [target.type], criteria: [target.criterion] }, options)
  const text = `select found.self::text as self from (select s.self from search s where ${where} offset 0) found
    limit ${context.bind(mostFound + 1)}`
  const rows = await on.query<{ self: string }>(prepared(text, context))
  return { ...target, found: rows.length > mostFound ? 'many' : rows.map(({ self }) => BigInt(self)) }
}
