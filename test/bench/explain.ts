// npm run bench -- explain: how a search is answered: the steps of its strategy, in order, with their SQL, and what PostgreSQL does.
import { byConsent } from '../../src/access/consent/visibility.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { borrowEmbedded } from '../../src/db/embedded.ts'
import type { Queryable, Statement } from '../../src/db/statement.ts'
import { isResourceType } from '../../src/definitions/r4.ts'
import { createLog } from '../../src/lib/log.ts'
import { type Base, createBase, fhirBase } from '../../src/store/base.ts'
import { readDataSet } from '../../src/store/data-set.ts'
import { createIndexer } from '../../src/store/index/entry.ts'
import { serviceParty } from '../../src/store/principal.ts'
import { planCount } from '../../src/store/search/count.ts'
import { parseSearch } from '../../src/store/search/parse.ts'
import { plan } from '../../src/store/search/plan.ts'
import type { SearchRequest } from '../../src/store/search/request.ts'
import { resolve } from '../../src/store/search/resolve.ts'
import { sourcesOf } from '../../src/store/search/run.ts'
import type { SearchOptions } from '../../src/store/search/sql-context.ts'
import { run, type Strategy } from '../../src/store/search/strategy.ts'
import { catchUp } from '../../src/store/search-params/catch-up.ts'
import { makeSketch } from '../../src/store/sketch.ts'

export interface Explained {
  /** `Observation?patient=p7&code=8302-2`. */
  readonly search: string
  /** Explains it for a client of this organisation, which sees by consent; undefined: for one that sees everything. */
  readonly organization: string | undefined
  /** A loaded folder: the search runs there. Undefined: its strategy alone is printed. */
  readonly dataDir: string | undefined
}

/** Prints the strategy of a search, and with a database each statement that it came to, as PostgreSQL explains it. */
export async function explain(asked: Explained): Promise<void> {
  if (asked.dataDir === undefined)
    return explainOn(asked, noDatabase, createBase({ origin: 'http://localhost', addresses: [], path: fhirBase }))
  const embedded = await borrowEmbedded(asked.dataDir, 10, createLog('warn'))
  const database = openDatabase(embedded.connection, { poolSize: 1, statementTimeout: 600_000 })
  try {
    const dataSet = await readDataSet(database)
    if (!dataSet) throw new Error(`Nothing was ever loaded into ${asked.dataDir}.`)
    await explainOn(asked, database, createBase({ ...dataSet, path: fhirBase }))
  } finally {
    await database.end()
    await embedded.stop()
  }
}

const noDatabase = {
  query: () => {
    throw new Error('The search looks something up before it becomes SQL: name a loaded folder with --data.')
  },
  run: () => Promise.resolve(),
}

async function explainOn({ search, organization }: Explained, on: Queryable, base: Base): Promise<void> {
  const indexer = createIndexer(base)
  if (on !== noDatabase) await catchUp(on as Database, indexer)
  const visibility = organization
    ? byConsent({ clientId: 'explain', organizationId: organization, purpose: '' })
    : undefined
  const sketch = visibility && on !== noDatabase ? await makeSketch(on, visibility) : undefined
  const options = { indexer, base, party: serviceParty, visibility, sketch, maySee: () => true, maxIncluded: 1000 }
  const request = await resolve(parsed(search, options), sourcesOf(on, options))
  const sees = organization ? `what is open to the organisation ${organization}` : 'everything'
  write(`GET ${search}\nfor a client that sees ${sees}`)
  await explained('the page', plan(request, options), on)
  if (request.total !== undefined && request.total !== 'none')
    await explained('the total', planCount(request, options), on)
}

function parsed(search: string, { indexer }: SearchOptions): SearchRequest {
  const [type = '', query = ''] = search.split(/\?(.*)/s)
  if (!isResourceType(type))
    throw new Error(`"${type}" is no resource type: write the search as Observation?patient=p7.`)
  const given = { params: indexer.params, strict: true, defaultCount: 20, maxCount: 1000 }
  return parseSearch([type], new URLSearchParams(query), given)
}

async function explained<Result, Row extends object>(
  what: string,
  strategy: Strategy<Result, Row>,
  on: Queryable,
): Promise<void> {
  write(`\nStrategy for ${what}\n\n${textOf(strategy)}`)
  if (on === noDatabase) return
  write(`What PostgreSQL did for ${what}\n`)
  await run(explaining(on), announced(strategy))
}

/** The steps as text, with their SQL and its values. */
function textOf<Result, Row extends object>(strategy: Strategy<Result, Row>, prefix = ''): string {
  const example = { patients: '{}', own: '{}' }
  return strategy
    .map(({ name, givesUp, statement, within }, at) => {
      const number = `${prefix}${at + 1}`
      const narrowed = within
        ? `   If the caller may see little, instead of what follows:\n\n${textOf(within(example), `${number}.`)}`
        : ''
      return `${number}. ${name}${givesUp ? `; gives up if ${givesUp}` : ''}\n${sqlOf(statement())}\n${narrowed}`
    })
    .join('')
}

function sqlOf({ text, values, isFixed }: Statement): string {
  const lines = text.split('\n').map(line => line.trim())
  const bound = values.map((value, at) => `$${at + 1} = ${shown(value)}`).join(', ')
  const kept = isFixed ? 'PostgreSQL keeps one plan for all values' : 'planned for these values'
  return [...lines.filter(Boolean), `-- ${bound}`, `-- ${kept}`].map(line => `   ${line}\n`).join('')
}

const shown = (value: unknown): string => (Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value))

/** The same steps, each of which prints its name when its turn comes. */
const announced = <Result, Row extends object>(strategy: Strategy<Result, Row>): Strategy<Result, Row> =>
  strategy.map(step => ({
    ...step,
    statement() {
      write(step.name)
      return step.statement()
    },
    ...(step.within && { within: reach => announced(step.within!(reach)) }),
  }))

/** Prints the plan of each statement, with its figures, before it is answered. */
const explaining = (on: Queryable): Queryable => ({
  ...on,
  async query<Row extends object>(statement: Statement): Promise<Row[]> {
    if (!statement.text.startsWith('explain')) {
      const text = `explain (analyze, buffers) ${statement.text}`
      const lines = await on.query<{ 'QUERY PLAN': string }>({ ...statement, name: undefined, text } as Statement)
      write(`${lines.map(line => `   ${line['QUERY PLAN']}\n`).join('')}`)
    }
    return on.query<Row>(statement)
  },
})

const write = (text: string): void => void process.stdout.write(`${text}\n`)
