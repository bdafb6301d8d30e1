// The part of a process that works on jobs: one at a time, under a lease that it renews. A job that it cannot finish,
// because the process stops or the database is unavailable, returns to the queue; a job whose lease it loses is
// dropped.
import type { Database } from '../../db/database.ts'
import { Failure, isOutage } from '../../lib/failure.ts'
import type { Log } from '../../lib/log.ts'
import { claimJob, endJob, type HeldJob, LeaseLost, releaseJob, renewLease } from './jobs.ts'

export interface RunnerParts {
  readonly database: Database
  readonly log: Log
  /** Works on a job until it is done, or the signal is aborted. */
  readonly work: (job: HeldJob, signal: AbortSignal) => Promise<void>
  /** Called with a job that this process worked on and whose lease it has lost. */
  readonly lost: (job: HeldJob) => Promise<void>
  readonly leaseSeconds: number
  /** When the result of a job that ends now is removed. */
  readonly expiry: () => Date
}

export interface Runner {
  /** Looks for a job at once. */
  wake(): void
  /** Puts the job in hand back and resolves when nothing is worked on any more. */
  close(): Promise<void>
}

/** Milliseconds between two polls for jobs that another process has queued. */
const lookEvery = 1000
/** Times that a job may be taken up without coming forward: whatever ends the process each time must not do so for ever. */
const mostAttempts = 5

export function startRunner(parts: RunnerParts): Runner {
  const stopping = new AbortController()
  let rouse = (): void => {}
  let isAwake = false
  const pause = (): Promise<void> =>
    new Promise(done => {
      const timer = setTimeout(done, isAwake ? 0 : lookEvery)
      rouse = () => {
        clearTimeout(timer)
        done()
      }
    })
  const running = (async () => {
    while (!stopping.signal.aborted) {
      isAwake = false
      if (!(await takeOne(parts, stopping.signal)) && !stopping.signal.aborted) await pause()
    }
  })()
  const wake = (): void => {
    isAwake = true
    rouse()
  }
  return {
    wake,
    async close() {
      stopping.abort(new Error('the process stops'))
      wake()
      await running
    },
  }
}

/** Works on a job if there is one; returns false if there is none, or the database cannot be reached. */
async function takeOne(parts: RunnerParts, stopping: AbortSignal): Promise<boolean> {
  const { database, log, leaseSeconds } = parts
  try {
    const job = await claimJob(database, leaseSeconds)
    if (!job) return false
    log.info({ job: job.id, kind: job.kind, attempt: job.attempts }, 'bulk: started')
    await workOn(parts, job, stopping)
    return true
  } catch (error) {
    log.warn({ err: error }, 'bulk: could not poll for jobs')
    return false
  }
}

async function workOn(parts: RunnerParts, job: HeldJob, stopping: AbortSignal): Promise<void> {
  const { database, leaseSeconds } = parts
  const ending = new AbortController()
  const beat = setInterval(
    () => {
      renewLease(database, job, leaseSeconds).catch(error => {
        if (error instanceof LeaseLost) ending.abort(error)
      })
    },
    (leaseSeconds * 1000) / 4,
  )
  try {
    if (job.attempts > mostAttempts) throw new Failure('INTERNAL_ERROR', `All ${mostAttempts} attempts failed.`)
    await parts.work(job, AbortSignal.any([stopping, ending.signal]))
    await endJob(database, job, parts.expiry(), undefined)
    parts.log.info({ job: job.id, kind: job.kind }, 'bulk: done')
  } catch (error) {
    await settleEnd(parts, job, error, { stopping, ending: ending.signal })
  } finally {
    clearInterval(beat)
  }
}

/** What becomes of a job that could not be finished. */
async function settleEnd(
  parts: RunnerParts,
  job: HeldJob,
  error: unknown,
  { stopping, ending }: { stopping: AbortSignal; ending: AbortSignal },
): Promise<void> {
  const { database, log } = parts
  if (error instanceof LeaseLost || ending.aborted) {
    log.info({ job: job.id, kind: job.kind }, 'bulk: cancelled, or taken over by another process')
    return parts.lost(job)
  }
  if (stopping.aborted || isOutage(error)) {
    log.info({ job: job.id, kind: job.kind }, 'bulk: returned to the queue')
    return releaseJob(database, job, !stopping.aborted)
  }
  log.error({ job: job.id, kind: job.kind, err: error }, 'bulk: failed')
  await endJob(database, job, parts.expiry(), problemOf(error)).catch(async failed => {
    if (!(failed instanceof LeaseLost)) throw failed
    await parts.lost(job)
  })
}

/** Returns the problem that the client receives. */
function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  if (['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? ''))
    return 'The disk of the service is full.'
  return 'An internal error occurred. Include the id in the address when you report it.'
}
