// Reads, compiles and runs maps that come with requests, in processes of their own, each step with a time limit: such a map can hold
// expressions that never end or take all memory, and the service must go on answering. Clients share them, and none has more than one.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { Failure } from '../lib/failure.ts'
import type { SourceFile } from './files.ts'
import type { Job, JobOutcome } from './job.ts'
import type { Study } from './study.ts'
import type { Ask, DeskReply, DeskTask } from './workbench/asks.ts'
import type { Task } from './worker.ts'

export interface Transformer {
  /**
   * Runs a job when it is the client's turn.
   * @throws Failure VALIDATION_FAILED if it takes too long, RATE_LIMITED if too many of the client wait, UNAVAILABLE if too many in all.
   */
  run(client: string, job: Job): Promise<JobOutcome>
  /** Returns the static facts of maps: read in a process too, since they may be of any size. @throws Failure as `run`. */
  study(client: string, files: readonly SourceFile[]): Promise<readonly Study[]>
  /** Answers what the workbench asks about files that are being written. @throws Failure as `run`. */
  ask<Kind extends Ask['kind']>(client: string, task: DeskTask): Promise<DeskReply<Kind>>
  close(): Promise<void>
}

export interface TransformerOptions {
  /** Milliseconds that one step may take: to read maps, or to compile and run one. */
  readonly limit?: number
  /** Processes; one client has one at a time. */
  readonly processes?: number
  /** The memory of each. */
  readonly megabytes?: number
}

/** All that a process has of the environment, which holds the secrets of the service. */
const ofZone = process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] }

/** Milliseconds that a process may take to start, which on a busy machine is not the fault of a map. */
const STARTS_WITHIN = 30_000

/** Starts processes when they are needed, and replaces them after a task that took too long. */
export function createTransformer({
  limit = 5000,
  processes = 2,
  megabytes = 256,
}: TransformerOptions = {}): Transformer {
  const places = createConcurrencyLimit({
    name: 'processes for maps',
    total: processes,
    perClient: 1,
    waitingPerClient: 10,
    waiting: 100,
    patience: 30_000,
  })
  const all = new Set<ChildProcess>()
  const idle: ChildProcess[] = []
  let isClosed = false
  const start = async (): Promise<ChildProcess> => {
    const worker = fork(new URL('./container.ts', import.meta.url), [String(megabytes)], {
      env: ofZone,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    all.add(worker)
    worker.once('exit', () => forget(worker))
    if (await answerOf<'ready'>(worker, STARTS_WITHIN)) return worker
    await end(worker)
    throw new Failure('UNAVAILABLE', 'Transformations are temporarily unavailable: try again.', { retryAfter: 5 })
  }
  const forget = (worker: ChildProcess): void => {
    all.delete(worker)
    const place = idle.indexOf(worker)
    if (place >= 0) idle.splice(place, 1)
  }
  const end = async (worker: ChildProcess): Promise<void> => {
    forget(worker)
    if (worker.exitCode !== null || worker.signalCode !== null) return
    worker.ref()
    const ended = once(worker, 'exit')
    worker.kill('SIGKILL')
    await ended
  }
  const work = async <Result>(client: string, task: Task): Promise<Result> => {
    const permit = await places.take(client)
    let worker: ChildProcess | undefined
    let result: Result | undefined
    try {
      if (isClosed) throw new Failure('UNAVAILABLE', 'The service is shutting down: try again.', { retryAfter: 5 })
      worker = idle.pop() ?? (await start())
      result = await answerOf<Result>(worker, limit, task)
    } finally {
      // A process that gave no answer is ended before its place is given away.
      if (worker && result) idle.push(worker)
      else if (worker) await end(worker)
      permit.release()
    }
    if (result) return result
    throw new Failure(
      'VALIDATION_FAILED',
      `The map was stopped: it used more than ${limit / 1000} s or ${megabytes} MB.`,
      { issue: 'too-costly' },
    )
  }
  return {
    run: (client, job) => work(client, { job }),
    study: (client, files) => work(client, { files }),
    ask: (client, desk) => work(client, { desk }),
    async close() {
      isClosed = true
      await Promise.all([...all].map(end))
    },
  }
}

/** The next message of the process, which gets the task, if there is one; undefined if it ended or took too long. */
function answerOf<Message>(worker: ChildProcess, limit: number, task?: Task): Promise<Message | undefined> {
  return new Promise((done, fail) => {
    const settle = (message?: Message | Error): void => {
      clearTimeout(timer)
      worker.off('message', settle).off('error', ended).off('exit', ended)
      hold(worker, 'unref')
      if (message instanceof Error) fail(message)
      else done(message)
    }
    const ended = (): void => settle()
    const timer = setTimeout(ended, limit)
    worker.on('message', settle).on('error', ended).on('exit', ended)
    hold(worker, 'ref')
    if (task) worker.send(task)
  })
}

/** Whether the service waits for the process before it ends: only while it works. */
function hold(worker: ChildProcess, how: 'ref' | 'unref'): void {
  worker[how]()
  worker.channel?.[how]()
}
