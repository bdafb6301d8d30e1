// The figures of one moment in few numbers, and the curves that samples of many moments make.

/** What is kept of a scrape. Counts go on from the start of the service; the others are as they were. */
export interface Sample {
  readonly requests: number
  /** With a status from 400, and from 500. */
  readonly refused: number
  readonly failed: number
  /** Requests by the longest time that they took, in seconds, each bound with all below it. */
  readonly within: Readonly<Record<string, number>>
  readonly inFlight: number
  readonly connections: number
  /** Deliveries that are due, events and changes that wait. */
  readonly waiting: number
  /** Seconds by which the slowest process answers late. */
  readonly lag: number
  /** Bytes of all processes. */
  readonly memory: number
}

type Line = readonly [name: string, labels: string, value: number]

const linesIn = (text: string): Line[] =>
  [...text.matchAll(/^([a-z_\d]+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = '', value]) => [
    name!,
    labels,
    Number(value),
  ])

/** Returns the sum of each figure without its labels. */
export function totalsOf(text: string): ReadonlyMap<string, number> {
  const totals = new Map<string, number>()
  for (const [name, , value] of linesIn(text)) totals.set(name, (totals.get(name) ?? 0) + value)
  return totals
}

/** Reads what Prometheus would scrape. */
export function sampleOf(text: string): Sample {
  const lines = linesIn(text)
  const sum = (name: string, has = /(?:)/): number =>
    lines.reduce((total, [each, labels, value]) => (each === name && has.test(labels) ? total + value : total), 0)
  const within: Record<string, number> = {}
  for (const [name, labels, value] of lines) {
    const [, bound] = (name === 'http_request_duration_seconds_bucket' && /le="([^"]+)"/.exec(labels)) || []
    if (bound !== undefined) within[bound] = (within[bound] ?? 0) + value
  }
  return {
    requests: sum('http_requests_total'),
    refused: sum('http_requests_total', /status="4/),
    failed: sum('http_requests_total', /status="5/),
    within,
    inFlight: sum('http_requests_in_flight'),
    connections: sum('database_pool_connections', /state="(?:used|busy|waiting)"/),
    waiting: sum('webhook_queue_deliveries') + sum('event_outbox_events') + sum('audit_pending_changes'),
    lag: sum('nodejs_eventloop_lag_p99_seconds'),
    memory: sum('process_resident_memory_bytes'),
  }
}

/** A sample with its moment and the service that it is of: several may share a database. */
export interface TimedSample {
  readonly at: Date
  readonly instance: string
  readonly figures: Sample
}

/** What happened within a part of the time that is looked at. */
export interface Point {
  /** When the part begins. */
  readonly at: Date
  readonly requestsPerSecond: number
  readonly refusedPerSecond: number
  readonly failedPerSecond: number
  /** Within which 95 of 100 requests were answered, in seconds; undefined where there were none. */
  readonly p95: number | undefined
  readonly inFlight: number
  readonly connections: number
  readonly waiting: number
  readonly lag: number
  readonly memory: number
}

const counts = ['requests', 'refused', 'failed'] as const
const levels = ['inFlight', 'connections', 'waiting', 'lag', 'memory'] as const

/**
 * Returns the points of a curve, the oldest first, without those in which nothing was measured. Counts are differences of two samples of
 * one service; after a restart they begin anew. Of levels, the highest within the part counts.
 * @param samples in the order of time
 * @param width of a part, in ms
 */
export function pointsOf(samples: readonly TimedSample[], width: number): Point[] {
  const last = new Map<string, TimedSample>()
  const parts = new Map<number, Part>()
  for (const sample of samples) {
    const before = last.get(sample.instance)
    last.set(sample.instance, sample)
    const begin = Math.floor(sample.at.getTime() / width) * width
    const part = parts.get(begin) ?? newPart()
    parts.set(begin, part)
    add(part, sample, before)
  }
  return [...parts].sort(([one], [other]) => one - other).map(([begin, part]) => pointOf(begin, part))
}

interface Part {
  /** By instance, since their times go on beside each other. */
  readonly seconds: Map<string, number>
  readonly counted: Record<(typeof counts)[number], number>
  readonly within: Record<string, number>
  readonly highest: Map<string, Record<(typeof levels)[number], number>>
}

const newPart = (): Part => ({
  seconds: new Map(),
  counted: { requests: 0, refused: 0, failed: 0 },
  within: {},
  highest: new Map(),
})

function add(part: Part, { at, instance, figures }: TimedSample, before: TimedSample | undefined): void {
  const high = part.highest.get(instance)
  const level = (name: (typeof levels)[number]): number => Math.max(high?.[name] ?? 0, figures[name])
  part.highest.set(instance, {
    ...{ inFlight: level('inFlight'), connections: level('connections'), waiting: level('waiting') },
    ...{ lag: level('lag'), memory: level('memory') },
  })
  if (!before) return
  const isRestarted = figures.requests < before.figures.requests
  const since = (now: number, then: number | undefined): number => now - (isRestarted ? 0 : (then ?? 0))
  part.seconds.set(instance, (part.seconds.get(instance) ?? 0) + (at.getTime() - before.at.getTime()) / 1000)
  for (const name of counts) part.counted[name] += since(figures[name], before.figures[name])
  for (const [bound, count] of Object.entries(figures.within))
    part.within[bound] = (part.within[bound] ?? 0) + since(count, before.figures.within[bound])
}

function pointOf(begin: number, { seconds, counted, within, highest }: Part): Point {
  const time = Math.max(0, ...seconds.values())
  const rate = (count: number): number => (time > 0 ? count / time : 0)
  const all = [...highest.values()]
  const sum = (name: 'inFlight' | 'connections' | 'memory'): number =>
    all.reduce((total, each) => total + each[name], 0)
  const most = (name: 'waiting' | 'lag'): number => Math.max(...all.map(each => each[name]))
  return {
    at: new Date(begin),
    requestsPerSecond: rate(counted.requests),
    refusedPerSecond: rate(counted.refused),
    failedPerSecond: rate(counted.failed),
    p95: quantile(within, 0.95),
    ...{ inFlight: sum('inFlight'), connections: sum('connections'), memory: sum('memory') },
    // What waits in the database waits for all.
    ...{ waiting: most('waiting'), lag: most('lag') },
  }
}

/** The bound below which so many of all lie; beyond the last bound, the last one. */
function quantile(within: Readonly<Record<string, number>>, share: number): number | undefined {
  const all = within['+Inf'] ?? 0
  if (all <= 0) return undefined
  const bounds = Object.keys(within)
    .map(Number)
    .filter(Number.isFinite)
    .sort((a, b) => a - b)
  return bounds.find(bound => within[String(bound)]! >= share * all) ?? bounds.at(-1)
}
