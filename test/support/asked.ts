// Which parts of the tables of resources PostgreSQL reads and writes while something is done: every plan comes back as a notice of
// auto_explain (https://www.postgresql.org/docs/current/auto-explain.html), with how often each of its nodes ran.
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { inBuckets, intoParts } from './parts.ts'

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Loops'?: number
  readonly Plans?: readonly Node[]
}

/** A statement that ran, and the numbers of the parts that it looked at. */
export interface Asked {
  readonly text: string
  readonly parts: ReadonlySet<number>
}

export interface Hearing {
  /** Counts what the tables hold, so that plans are those of large tables. */
  analyze(): Promise<void>
  /** In as many parts as it was made with. */
  readonly connection: TestDatabase
  /** Returns what ran since the last call, as far as it names a table of resources. */
  taken(): Asked[]
  close(): void
}

/** A database in parts, whose plans are heard in this process. @param count parts */
export async function hearing(count: number): Promise<Hearing> {
  const connection = await createTestDatabase()
  const client = new pg.Client({ ...connection })
  await client.connect()
  await intoParts(client, count)
  const settings = {
    ...{ log_min_duration: 0, log_analyze: 'on', log_timing: 'off', log_format: 'json', log_level: 'warning' },
    ...{ log_nested_statements: 'off', log_parameter_max_length: 0 },
  }
  await client.query(`alter database ${connection.database} set session_preload_libraries = 'auto_explain'`)
  for (const [name, value] of Object.entries(settings))
    await client.query(`alter database ${connection.database} set auto_explain.${name} = '${value}'`)
  // As with large tables, in which nothing is found but by an index.
  for (const way of ['seqscan', 'hashjoin', 'mergejoin'])
    await client.query(`alter database ${connection.database} set enable_${way} = off`)
  await client.end()
  let heard: Asked[] = []
  const connect = pg.Client.prototype.connect
  const { database } = connection
  pg.Client.prototype.connect = function (this: pg.Client, ...given: [never]) {
    if (this.database === database) this.on('notice', ({ message }) => heard.push(...askedIn(message ?? '')))
    return connect.apply(this, given)
  } as typeof connect
  return {
    connection,
    async analyze() {
      const beside = new pg.Client({ ...connection })
      await beside.connect()
      await beside.query('analyze')
      await beside.end()
    },
    taken() {
      const all = heard.filter(({ parts }) => parts.size > 0)
      heard = []
      return all
    },
    close: () => void (pg.Client.prototype.connect = connect),
  }
}

const pattern = new RegExp(`^(?:${inBuckets.join('|')})_part(\\d+)$`)

function askedIn(message: string): Asked[] {
  const at = message.indexOf('{')
  if (!message.includes('plan:') || at < 0) return []
  const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(at)) as { 'Query Text': string; Plan: Node }
  const parts = nodesOf(plan).flatMap(({ 'Relation Name': table, 'Actual Loops': loops }) => {
    const part = loops === 0 ? undefined : pattern.exec(table ?? '')?.[1]
    return part === undefined ? [] : [Number(part)]
  })
  return [{ text, parts: new Set(parts) }]
}

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
