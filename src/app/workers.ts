// Several processes that answer requests: the first process starts them, tells them when to serve, replaces those that end, and
// loads nothing of what they do. One of them prepares the database before the others open it.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Connection } from '../db/database.ts'
import type { Config } from '../lib/config.ts'
import type { Log } from '../lib/log.ts'
import { collectFigures } from '../metrics/collector.ts'
import type { Stop } from './stop.ts'

/** What a process that answers requests waits for while it loads. */
export interface ServingOrder {
  readonly connection: Connection
  /** It migrates the database and puts demo data in place before it serves. */
  readonly prepares: boolean
}

interface Said {
  readonly order: ServingOrder
}

/** Resolves with the order of the first process. Call it before anything else is awaited, so that none is missed. */
export function ordered(): Promise<ServingOrder> {
  return new Promise(done => {
    process.on('message', ({ order }: Partial<Said>) => order && done(order))
  })
}

/** The process that prepares the database ended, and has written why. */
export class PreparationError extends Error {}

export interface Workers {
  /**
   * Resolves when all of them serve.
   * @throws PreparationError
   */
  begin(connection: Connection): Promise<void>
  close(): Promise<void>
}

/** Starts the processes, which load the service until `begin` has a database for them. */
export function startWorkers(config: Config, log: Log, stop: Stop): Workers {
  let isClosing = false
  let prepared: ServingOrder | undefined
  const fork = (): Worker => {
    const worker = cluster.fork({ PORT: String(config.port), BASE_URL: config.baseUrl })
    if (prepared) send(worker, prepared)
    return worker
  }
  collectFigures(config.workers)
  const first = fork()
  for (let count = 1; count < config.workers; count++) fork()
  cluster.on('exit', (worker, code, signal) => {
    // Without the one that prepares the database there is no start.
    if (isClosing || (!prepared && worker === first)) return
    log.error({ worker: worker.process.pid, code, signal }, 'a worker process ended; starting another one')
    setTimeout(() => !isClosing && fork(), 500)
  })
  return {
    async begin(connection) {
      const all = listening(config.workers)
      send(first, { connection, prepares: true })
      await Promise.race([once(first, 'listening'), failed(first)])
      prepared = { connection, prepares: false }
      for (const worker of alive()) if (worker !== first) send(worker, prepared)
      await all
    },
    async close() {
      isClosing = true
      await Promise.all(alive().map(worker => end(worker, stop.left('workers'))))
    },
  }
}

const alive = (): Worker[] => Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined)

/** A process that has ended meanwhile receives nothing. */
function send(worker: Worker, order: ServingOrder): void {
  const said: Said = { order }
  if (worker.isConnected()) worker.send(said, undefined, () => {})
}

/** Resolves when so many processes have begun to listen. */
function listening(count: number): Promise<void> {
  return new Promise(done => {
    let begun = 0
    cluster.on('listening', () => ++begun === count && done())
  })
}

async function failed(worker: Worker): Promise<never> {
  if (!worker.isDead()) await once(worker, 'exit')
  throw new PreparationError()
}

/** Ends a process, after so many milliseconds in any case. */
async function end(worker: Worker, most: number): Promise<void> {
  if (worker.isDead()) return
  const ended = once(worker, 'exit')
  worker.process.kill('SIGTERM')
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), most)
  await ended.finally(() => clearTimeout(timer))
}
