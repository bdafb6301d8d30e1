// The figures of the process itself: processor, memory, event loop. They are measured once, however many applications it holds.
import { collectDefaultMetrics, Registry } from 'prom-client'
import { type Figure, figuresOf, type Joined } from './figures.ts'

let measured: Registry | undefined

/** Begins to measure, unless it has begun already. */
export function measureProcess(): Registry {
  if (measured) return measured
  measured = new Registry()
  collectDefaultMetrics({ register: measured, eventLoopMonitoringPrecision: tick * 1000 })
  return measured
}

/** What was measured, each with how it is joined with that of other processes. */
export async function processFigures(): Promise<Figure[]> {
  const figures = await figuresOf(measureProcess())
  return figures.map(figure => ({
    ...figure,
    aggregator: joined[figure.name] ?? figure.aggregator,
    values: timed.has(figure.name) ? figure.values.map(withoutTick) : figure.values,
  }))
}

/** Seconds between two looks at the event loop. */
const tick = 0.01

/** Where Node measures from one look to the next: an idle process would seem to be late by the time between them. */
const timed = new Set(['max', 'mean', 'p50', 'p90', 'p99'].map(name => `nodejs_eventloop_lag_${name}_seconds`))

const withoutTick = (each: Figure['values'][number]) => ({ ...each, value: Math.max(0, each.value - tick) })

/** Where prom-client would add or average what says more as that of the slowest process, or of the one that began last. */
const joined: Readonly<Record<string, Joined>> = {
  process_start_time_seconds: 'max',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  nodejs_eventloop_lag_min_seconds: 'omit',
  nodejs_eventloop_lag_stddev_seconds: 'omit',
  // The same as nodejs_active_resources, by a way that Node has given up.
  nodejs_active_handles: 'omit',
  nodejs_active_handles_total: 'omit',
  nodejs_active_requests: 'omit',
  nodejs_active_requests_total: 'omit',
}
