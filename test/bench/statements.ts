// npm run bench -- statements: what a statement costs this process, beside the same by pg's own pool.
import pg from 'pg'
import { type Connection, openDatabase } from '../../src/db/database.ts'
import { borrowEmbedded } from '../../src/db/embedded.ts'
import { createLog } from '../../src/lib/log.ts'
import { line, median, table } from './figures.ts'

/** Statements under way at a time. */
const atOnce = 16

/** Rows of the answers: one, a page, everything about a patient. */
const sizes = [0, 1, 20, 310]

type Ask = (rows: number) => Promise<{ readonly length: number }>

const text = `select n as key, 96::int2 as type, md5(n::text) as id, repeat('{"resourceType":"Observation"}', 45) as body
  from generate_series(1, $1::int8) as n`
const statement = (rows: number) => ({ name: 'page', text, values: [rows] })

/** Prints a table: microseconds of this process's CPU for a statement, the median of the rounds. */
export async function benchStatements(dataDir: string, rounds: number): Promise<void> {
  const embedded = await borrowEmbedded(dataDir, 60, createLog('warn'))
  const database = openDatabase(embedded.connection, { poolSize: 10, statementTimeout: 60_000 })
  const pool = poolOf(embedded.connection)
  try {
    const ways: Readonly<Record<string, Ask>> = {
      pg: async rows => (await pool.query(statement(rows))).rows,
      here: rows => database.query({ ...statement(rows), isFixed: true }),
    }
    process.stdout.write(table(['rows', 'pg, CPU-µs', 'here, CPU-µs', 'ratio']))
    for (const rows of sizes) {
      const took: Record<string, number[]> = { pg: [], here: [] }
      for (let round = 0; round <= rounds; round++)
        for (const [name, ask] of Object.entries(ways)) {
          const each = await cpuOf(ask, rows)
          // The first round compiles.
          if (round > 0) took[name]!.push(each)
        }
      const [theirs, ours] = [median(took['pg']!), median(took['here']!)]
      process.stdout.write(line([rows, theirs.toFixed(1), ours.toFixed(1), (ours / theirs).toFixed(2)]))
    }
  } finally {
    await pool.end()
    await database.end()
    await embedded.stop()
  }
}

function poolOf(connection: Connection): pg.Pool {
  if (typeof connection === 'string') throw new Error('The embedded server has no URL.')
  return new pg.Pool({ ...connection, max: 12, pipeline: true } as pg.PoolConfig)
}

async function cpuOf(ask: Ask, rows: number): Promise<number> {
  const count = Math.ceil(300_000 / (rows + 10))
  let left = count
  const begun = process.cpuUsage()
  const asking = async (): Promise<void> => {
    while (left-- > 0) if ((await ask(rows)).length !== rows) throw new Error('An answer has not all rows.')
  }
  await Promise.all(Array.from({ length: atOnce }, asking))
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / count
}
