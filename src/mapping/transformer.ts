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

/** The thread is started with the first job, and anew after one that took too long. */
export function createTransformer({ limit = 5000, queue = 20 }: TransformerOptions = {}): Transformer {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const start = (): Worker => {
    worker = new Worker(new URL('./worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
    })
    worker.unref()
    return worker
  }
  const stop = async (): Promise<void> => {
    const old = worker
    worker = undefined
    await old?.terminate()
  }
  const work = async (job: Job): Promise<Outcome> => {
    const outcome = await answerOf(worker ?? start(), job, limit).catch(async error => {
      await stop()
      throw error
    })
    if (outcome) return outcome
    await stop()
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

/** The outcome of a job; undefined if the thread ended or took too long. */
function answerOf(worker: Worker, job: Job, limit: number): Promise<Outcome | undefined> {
  return new Promise((done, fail) => {
    const settle = (outcome?: Outcome): void => {
      clearTimeout(timer)
      worker.off('message', settle).off('error', broken).off('exit', ended)
      worker.unref()
      done(outcome)
    }
    const ended = (): void => settle()
    const broken = (error: NodeJS.ErrnoException): void => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') fail(error)
      settle()
    }
    const timer = setTimeout(ended, limit)
    worker.on('message', settle).on('error', broken).on('exit', ended)
    worker.ref()
    worker.postMessage(job)
  })
}
