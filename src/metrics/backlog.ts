// The backlogs in the database: webhooks, events, changes that the audit trail has yet to record. One statement for
// each scrape, for any number of them.
import type { Backlog, BacklogFigure } from '../db/backlog.ts'
import type { Queryable } from '../db/statement.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Log } from '../lib/log.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { type Figure, gauge, plain } from './figures.ts'

/** Milliseconds after which the scrape goes on without the database. */
const patience = 2000

type Row = Readonly<Record<string, number>>

/**
 * The figures of the database; of one that does not answer only that it does not. Requests that overlap share one answer.
 * @param backlogs what waits, by the folders that own the tables.
 * @param most rows that are counted of a kind; more are not looked at.
 */
export function createBacklog(
  database: Queryable,
  log: Log,
  backlogs: readonly Backlog[],
  most = 100_000,
): () => Promise<Figure[]> {
  const text = `select * from ${backlogs.map(({ name, query }) => `(${query}) ${name}`).join(', ')}`
  const asking = singleFlight<Row | undefined>(() =>
    database
      .query<Row>({ name: 'metrics-backlog', text, values: [most] })
      .then(rows => rows[0])
      .catch(err => void log.warn({ err }, 'metrics: could not count the backlogs')),
  )
  return async () => {
    const row = await withDeadline(asking.run(), patience, () => undefined)
    const help = `1 if the database responded within ${patience / 1000} s, otherwise 0.`
    const figures = row ? backlogs.flatMap(each => each.figures.map(figure => figureOf(figure, row, most))) : []
    return [plain('health_interop_database_up', help, row ? 1 : 0), ...figures]
  }
}

function figureOf({ name, help, states, isCapped }: BacklogFigure, row: Row, most: number): Figure {
  const description = isCapped ? `${help} At most ${most} are counted.` : help
  if (!states) return plain(name, description, row[name]!)
  return gauge(name, description, ...states.map(state => ({ value: row[state]!, labels: { state } })))
}
