// Runs maps that come with requests in a thread, one after the other, each for a limited time: such a map can hold
// expressions that take for ever, and the service goes on answering.

import { Worker } from 'node:worker_threads'
import { Failure } from '../lib/failure.ts'
import type { Job, Outcome } from './job.ts'

export interface Transformer {
  /**
   * Runs a job when those before it are done.
   * @throws Failure VALIDATION_FAILED if it takes too long, UNAVAILABLE if too many are waiting.
   */
  run(job: Job): Promise<Outcome>
  close(): Promise<void>
}

export interface TransformerOptions {
  /** Milliseconds that one job may take. */
  readonly limit?: number
  /** Jobs that may wait. */
  readonly queue?: number
}

const MEGABYTES = 256

/** Milliseconds that the thread may take to start, which on a busy machine is not the fault of a map. */
const STARTS_WITHIN = 30_000

/** The thread is started with the first job, and anew after one that took too long. */
export function createTransformer({ limit = 5000, queue = 20 }: TransformerOptions = {}): Transformer {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const start = async (): Promise<Worker> => {
    worker = new Worker(new URL('./worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
    })
    if (await answerOf<'ready'>(worker, STARTS_WITHIN)) return worker
    throw new Failure('UNAVAILABLE', 'Transformations cannot be begun at the moment; try again.', { retryAfter: 5 })
  }
  const stop = async (): Promise<void> => {
    const old = worker
    worker = undefined
    await old?.terminate()
  }
  const work = async (job: Job): Promise<Outcome> => {
    let outcome: Outcome | undefined
    try {
      outcome = await answerOf<Outcome>(worker ?? (await start()), limit, job)
      if (outcome) return outcome
    } finally {
      if (!outcome) await stop()
    }
    throw new Failure(
      'VALIDATION_FAILED',
      `The map was stopped: it needs more than ${limit / 1000} s or ${MEGABYTES} MB.`,
      {
        issue: 'too-costly',
      },
    )
  }
  return {
    async run(job) {
      if (waiting >= queue)
        throw new Failure('UNAVAILABLE', 'Too many transformations are waiting; try again.', { retryAfter: 2 })
      waiting++
      const mine = last.then(() => work(job))
      last = mine.catch(() => {}).finally(() => waiting--)
      return mine
    },
    close: stop,
  }
}

/** The next message of the thread, which gets the job, if there is one; undefined if it ended or took too long. */
function answerOf<Message>(worker: Worker, limit: number, job?: Job): Promise<Message | undefined> {
  return new Promise((done, fail) => {
    const settle = (message?: Message): void => {
      clearTimeout(timer)
      worker.off('message', settle).off('error', broken).off('exit', ended)
      worker.unref()
      done(message)
    }
    const ended = (): void => settle()
    const broken = (error: NodeJS.ErrnoException): void => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') fail(error)
      settle()
    }
    const timer = setTimeout(ended, limit)
    worker.on('message', settle).on('error', broken).on('exit', ended)
    worker.ref()
    if (job) worker.postMessage(job)
  })
}
