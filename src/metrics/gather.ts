// How the process that is scraped obtains the metrics of all: a single process has them, one of several requests them
// from the first (collector.ts).
import { withDeadline } from '../lib/deadline.ts'
import { Failure } from '../lib/failure.ts'
import { type Figure, plain, textOf } from './figures.ts'

/**
 * Messages between processes. `request`: the first process requests the metrics of a process; `total`: it returns those of
 * all.
 */
export type Said =
  | { readonly metrics: 'ask'; readonly id: number }
  | { readonly metrics: 'request'; readonly id: number }
  | { readonly metrics: 'reply'; readonly id: number; readonly figures: readonly Figure[] }
  | { readonly metrics: 'total'; readonly id: number; readonly text: string }

/** Turns a function that reads a process's own metrics into one that returns those of all processes, as text. */
export type Gather = (own: () => Promise<Figure[]>) => () => Promise<string>

/** How many processes there should be, and how many of them are not in the figures. */
export const workerFigures = (expected: number, missing: number): Figure[] => [
  plain('health_interop_workers', 'Configured worker processes (WORKERS).', expected),
  plain(
    'health_interop_workers_missing',
    'Worker processes that did not report in time: their counters keep the last reported values, and gauges exclude them.',
    missing,
  ),
]

/** For a process that answers all requests. */
export const alone: Gather = own => async () => textOf([...(await own()), ...workerFigures(1, 0)])

/** Milliseconds that the first process may take. */
const patience = 3000

/** For one of several processes. */
export const fromAll: Gather = own => {
  let last = 0
  const waiting = new Map<number, (text: string) => void>()
  const say = (said: Said) => process.connected && process.send!(said, undefined, undefined, () => {})
  process.on('message', (said: Partial<Said>) => {
    const { metrics, id = 0 } = said
    if (metrics === 'request') void own().then(figures => say({ metrics: 'reply', id, figures }))
    if (metrics === 'total') waiting.get(id)?.(said.text ?? '')
  })
  return () => {
    const id = ++last
    const text = new Promise<string>(done => waiting.set(id, done))
    say({ metrics: 'ask', id })
    return withDeadline(text, patience, () => {
      throw silent()
    }).finally(() => waiting.delete(id))
  }
}

const silent = (): Failure =>
  new Failure('UNAVAILABLE', 'The metrics of all processes are temporarily unavailable: try again.', { retryAfter: 1 })
