// How a search is answered: steps, each of one statement, tried in order until one of them has the result.
import type { Queryable, Statement } from '../../db/statement.ts'
import type { Reach } from '../visibility.ts'

/** One statement, and what its rows decide. */
export interface SearchStep<Result, Row extends object> {
  readonly name: string
  /** When its rows leave the search to the next step; undefined for a step that always has the result. */
  readonly givesUp?: string
  /** Builds the statement. Nothing is built before it is the turn of the step. */
  readonly statement: () => Statement
  /** Returns the result, or undefined to give up. */
  readonly read: (rows: readonly Row[]) => Result | undefined
  /**
   * The strategy that takes over if the rows list what the caller may see, because that is little: it reads only that. Absent for a
   * step that does not check.
   */
  readonly within?: (reach: Reach) => Strategy<Result, Row>
}

/** The steps in the order in which they are tried. The last one never gives up. */
export type Strategy<Result, Row extends object> = readonly SearchStep<Result, Row>[]

/** Runs the steps until one of them has the result. */
export async function run<Result, Row extends object>(on: Queryable, strategy: Strategy<Result, Row>): Promise<Result> {
  for (const step of strategy) {
    const rows = await on.query<Row>(step.statement())
    const reach = step.within && reachIn(rows)
    if (reach) return run(on, step.within!(reach))
    const result = step.read(rows)
    if (result !== undefined) return result
  }
  throw new Error('No step of the search has a result.')
}

/** What the rows say that the caller may see; undefined if that is not little. */
function reachIn([first]: readonly Partial<Reach>[]): Reach | undefined {
  return first?.patients && first.own ? { patients: first.patients, own: first.own } : undefined
}
