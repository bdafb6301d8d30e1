// What a process counts while it works: requests, connections to the database, attempts to deliver webhooks. Names and
// units are by https://prometheus.io/docs/practices/naming/. Labels take few values, and never identify a person.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import { type Figure, figuresOf } from './figures.ts'

/** A request that was answered. */
interface Answered {
  readonly method: string
  /** The pattern of its route; undefined: no route has its address. */
  readonly route: string | undefined
  readonly status: number
  readonly seconds: number
}

export interface Meters {
  /** A request has come. */
  readonly begun: () => void
  /** It is answered. */
  readonly answered: (request: Answered) => void
  /** A webhook was sent, or withheld at the last moment. */
  readonly attempted: (outcome: string, milliseconds: number) => void
  /** A line of the audit trail's anchor was written to its file or sent to its collector, or could not be. */
  readonly anchored: (target: 'file' | 'url', outcome: 'written' | 'failed') => void
  /** A period of the audit trail was archived, or could not be. */
  readonly archived: (outcome: 'written' | 'failed') => void
  /** So many requests are not in the request log. */
  readonly unlogged: (requests: number) => void
  figures(): Promise<Figure[]>
}

export function createMeters(database: Pick<Database, 'connections' | 'outages' | 'standbys'>): Meters {
  const registry = new Registry()
  const requests = createRequests(registry)
  const attempted = createAttempts(registry)
  const anchored = createAnchored(registry)
  const archived = createArchived(registry)
  const unlogged = createUnlogged(registry)
  countConnections(registry, database)
  countStandbys(registry, database)
  countOutages(registry, database)
  return { ...requests, attempted, anchored, archived, unlogged, figures: () => figuresOf(registry) }
}

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What is counted of the requests with one method to one route. */
interface Line {
  readonly duration: { observe(seconds: number): void }
  readonly counters: Map<number, { inc(): void }>
}

function createRequests(registry: Registry): Pick<Meters, 'begun' | 'answered'> {
  const registers = [registry]
  const total = new Counter({
    ...{ name: 'http_requests_total', help: 'Completed HTTP requests.', registers },
    labelNames: ['method', 'route', 'status'],
  })
  const duration = new Histogram({
    ...{ name: 'http_request_duration_seconds', help: 'Duration of HTTP requests in seconds.', registers },
    labelNames: ['method', 'route'],
    buckets: requestSeconds,
  })
  let inFlight = 0
  new Gauge({
    ...{ name: 'http_requests_in_flight', help: 'HTTP requests in progress.', registers },
    collect() {
      this.set(inFlight)
    },
  })
  // By route, then method: what the library makes of labels costs more than all the rest.
  const lines = new Map<string, Map<string, Line>>()
  const lineOf = (method: string, route: string): Line => {
    const ofRoute = getOr(lines, route, () => new Map<string, Line>())
    return getOr(ofRoute, method, () => ({ duration: duration.labels(named(method), route), counters: new Map() }))
  }
  return {
    begun: () => void inFlight++,
    answered({ method, route = 'none', status, seconds }) {
      inFlight--
      const line = lineOf(method, route)
      line.duration.observe(seconds)
      getOr(line.counters, status, () => total.labels(named(method), route, String(status))).inc()
    },
  }
}

function getOr<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A request may have any of the three dozen methods that Node can read. */
const named = (method: string): string => (methods.has(method) ? method : 'other')

const outcomes = ['delivered', 'failed', 'exhausted', 'withheld']
const attemptSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function createAttempts(registry: Registry): Meters['attempted'] {
  const registers = [registry]
  const total = new Counter({
    name: 'webhook_attempts_total',
    help: 'Webhook delivery attempts. exhausted: the last attempt failed. withheld: nothing was sent because the subscriber may no longer access the data.',
    labelNames: ['outcome'],
    registers,
  })
  const duration = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Duration of webhook delivery attempts in seconds.',
    buckets: attemptSeconds,
    registers,
  })
  // So that the first failure is a change from zero, which alerts can see.
  for (const outcome of outcomes) total.inc({ outcome }, 0)
  return (outcome, milliseconds) => {
    total.inc({ outcome })
    if (outcome !== 'withheld') duration.observe(milliseconds / 1000)
  }
}

function createAnchored(registry: Registry): Meters['anchored'] {
  const total = new Counter({
    name: 'audit_anchor_lines_total',
    help: 'Lines of the audit trail anchor, by target (file, url) and outcome (written, failed).',
    labelNames: ['target', 'outcome'],
    registers: [registry],
  })
  for (const target of ['file', 'url']) for (const outcome of ['written', 'failed']) total.inc({ target, outcome }, 0)
  return (target, outcome) => total.inc({ target, outcome })
}

function createArchived(registry: Registry): Meters['archived'] {
  const total = new Counter({
    name: 'audit_archives_total',
    help: 'Periods of the audit trail that were archived, or could not be, by outcome (written, failed).',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of ['written', 'failed']) total.inc({ outcome }, 0)
  return outcome => total.inc({ outcome })
}

function createUnlogged(registry: Registry): Meters['unlogged'] {
  const total = new Counter({
    name: 'request_log_dropped_total',
    help: 'Requests that are not in the request log, because it could not be written fast enough.',
    registers: [registry],
  })
  return requests => total.inc(requests)
}

function countStandbys(registry: Registry, database: Pick<Database, 'standbys'>): void {
  const registers = [registry]
  new Gauge({
    name: 'database_standby_used',
    help: 'Processes whose reads run on the standby; 0: it is left out.',
    labelNames: ['standby'],
    registers,
    collect() {
      for (const { standby, isUsed } of database.standbys()) this.set({ standby }, isUsed ? 1 : 0)
    },
  })
  new Counter({
    name: 'database_standby_reads_total',
    help: 'Reads for a standby. answered: there. moved: begun there and completed on the primary. late: on the primary, because the standby was behind.',
    labelNames: ['standby', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const { standby, reads, moved, late } of database.standbys())
        for (const [outcome, count] of Object.entries({ answered: reads - moved, moved, late }))
          this.inc({ standby, outcome }, count)
    },
  })
}

function countConnections(registry: Registry, database: Pick<Database, 'connections'>): void {
  new Gauge({
    name: 'database_pool_connections',
    help: 'Database connections. planned: for statements planned for their values. fixed: for cached plans and transactions. waiting: requests that wait for a connection.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const { pool, ...states } of database.connections())
        for (const [state, count] of Object.entries(states)) this.set({ pool, state }, count)
    },
  })
}

/** Of the process that saw the most: all of them lose the same database. */
function countOutages(registry: Registry, database: Pick<Database, 'outages'>): void {
  const common = { aggregator: 'max' as const, registers: [registry] }
  new Counter({
    ...common,
    name: 'database_outages_total',
    help: 'Times that the database could not be reached, or that no server of several accepted changes.',
    collect() {
      this.reset()
      this.inc(database.outages().count)
    },
  })
  new Counter({
    ...common,
    name: 'database_outage_seconds_total',
    help: 'Seconds of these times, the current one included.',
    collect() {
      this.reset()
      this.inc(database.outages().seconds)
    },
  })
}
