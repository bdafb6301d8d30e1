// What PostgreSQL does to answer: a database that has every statement explained, with its figures, before it is answered.
import type { Database } from '../../src/db/database.ts'
import { createLookUps } from '../../src/db/look-up.ts'
import type { Statement } from '../../src/db/statement.ts'

/** A node of a plan, as `explain (analyze, format json)` has it. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** A database that behaves as the one it wraps, and hands over the plan of whatever is asked outside of transactions. */
export function explaining(database: Database, heard: (nodes: readonly PlanNode[]) => void): Database {
  async function query<Row extends object>(statement: Statement): Promise<Row[]> {
    const { text, values, isFixed } = statement
    const [explained] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
      text: `explain (analyze, format json) ${text}`,
      values,
      isFixed,
    })
    heard(nodesOf(explained!['QUERY PLAN'][0].Plan))
    return database.query<Row>(statement)
  }
  return { ...database, query, lookUp: createLookUps(query) }
}

/** The plan of a statement for any values, as PostgreSQL keeps it. */
export async function planFor(database: Database, text: string): Promise<PlanNode[]> {
  const [explained] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
    text: `explain (generic_plan, format json) ${text}`,
    values: [],
  })
  return nodesOf(explained!['QUERY PLAN'][0].Plan)
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
