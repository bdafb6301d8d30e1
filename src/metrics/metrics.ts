// The figures of the service for Prometheus: what its processes count, and what waits in the database.
import type { Backlog } from '../db/backlog.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../lib/log.ts'
import { createBacklog } from './backlog.ts'
import { gauge, textOf } from './figures.ts'
import type { Gather } from './gather.ts'
import { createMeters, type Meters } from './meters.ts'
import { measureProcess, processFigures } from './process.ts'

export interface MetricsParts {
  readonly database: Database
  readonly log: Log
  readonly version: string
  readonly environment: string
  readonly gather: Gather
  /** What waits in the database. */
  readonly backlogs: readonly Backlog[]
}

export interface Metrics extends Omit<Meters, 'figures'> {
  /** Begins to measure the process. */
  start(): void
  /** All figures of the service, in Prometheus' text format. @throws Failure UNAVAILABLE if the first process is silent. */
  text(): Promise<string>
}

export function createMetrics({ database, log, version, environment, gather, backlogs }: MetricsParts): Metrics {
  const { figures, ...meters } = createMeters(database)
  const gathered = gather(async () => [...(await figures()), ...(await processFigures())])
  const backlog = createBacklog(database, log, backlogs)
  const info = gauge('health_interop_info', 'The running version and environment.', {
    value: 1,
    labels: { version, environment },
  })
  return {
    ...meters,
    start: () => void measureProcess(),
    async text() {
      const [counted, waiting] = await Promise.all([gathered(), backlog()])
      return `${counted}\n${await textOf([info, ...waiting])}`
    },
  }
}
