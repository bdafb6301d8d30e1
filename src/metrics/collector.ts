// In the first of several processes: requests the metrics of the others, and adds them up for the process that is
// scraped.
import cluster, { type Worker } from 'node:cluster'
import { withDeadline } from '../lib/deadline.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { type Figure, sumOf, textOf } from './figures.ts'
import { type Said, workerFigures } from './gather.ts'

/** Milliseconds for which a process may keep the others waiting. */
const patience = 1000

/**
 * Answers the process that is scraped with the metrics of all `expected` processes.
 * Prometheus treats a counter that falls as one that restarted at zero, and counts all that is left of it as new. So
 * the sums never fall while the service runs: the counts that a process last reported stay in them when it ends, or
 * does not answer in time. What it counted after that is lost when it ends. A start of the whole service begins at
 * zero.
 */
export function collectFigures(expected: number): void {
  const reported = new Map<number, readonly Figure[]>()
  let gone: readonly Figure[] = []
  let heard: (worker: number, id: number) => void = () => {}
  let round = 0

  async function total(): Promise<string> {
    const id = ++round
    const asked = alive()
    const answered = new Set<number>()
    const all = new Promise<void>(done => {
      heard = (worker, of) => void (of === id && answered.add(worker).size >= asked.length && done())
    })
    for (const worker of asked) say(worker, { metrics: 'request', id })
    await withDeadline(all, patience, () => undefined)
    const known = [...reported].map(([worker, figures]) => (answered.has(worker) ? figures : figures.filter(isCount)))
    return textOf([...sumOf([...known, gone]), ...workerFigures(expected, Math.max(0, expected - answered.size))])
  }

  const totals = singleFlight(total)

  cluster.on('message', (worker, said: Partial<Said>) => {
    const { metrics, id = 0 } = said
    if (metrics === 'ask') void totals.run().then(text => say(worker, { metrics: 'total', id, text }))
    if (metrics === 'reply' && !worker.isDead()) {
      reported.set(worker.id, said.figures ?? [])
      heard(worker.id, id)
    }
  })
  cluster.on('exit', ({ id }) => {
    gone = sumOf([gone, (reported.get(id) ?? []).filter(isCount)])
    reported.delete(id)
  })
}

const alive = (): Worker[] =>
  Object.values(cluster.workers ?? {}).flatMap(worker => (worker?.isConnected() ? [worker] : []))

/** A process that has ended meanwhile receives nothing. */
const say = (worker: Worker, said: Said) => worker.isConnected() && worker.send(said, undefined, () => {})

const isCount = ({ type }: Figure): boolean => type !== 'gauge'
