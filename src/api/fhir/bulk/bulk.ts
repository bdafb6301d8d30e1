// Bulk Data, put together: the routes that take orders and hand out results, and the runner that does the work.
// https://hl7.org/fhir/uv/bulkdata/STU2/export.html

import { type Caller, createCaller, system } from '../../../access/caller.ts'
import type { AuditWriter } from '../../../audit/writer.ts'
import type { Database } from '../../../db/database.ts'
import type { Route } from '../../../http/route.ts'
import { runExport } from '../../../interactions/bulk/export-run.ts'
import { takeUpFiles } from '../../../interactions/bulk/files.ts'
import { createFolder, type Folder } from '../../../interactions/bulk/folder.ts'
import { runImport } from '../../../interactions/bulk/import-run.ts'
import { type HeldJob, type JobLimits, knownJobs, removeExpired } from '../../../interactions/bulk/jobs.ts'
import { download, type Origins } from '../../../interactions/bulk/receive.ts'
import { type Runner, startRunner } from '../../../interactions/bulk/runner.ts'
import type { Log } from '../../../lib/log.ts'
import type { Store } from '../../../store/store.ts'
import { bulkRoutes } from './routes.ts'

export interface BulkOptions {
  readonly database: Database
  readonly storeFor: (caller: Caller) => Store
  readonly audit: Pick<AuditWriter, 'noteFor'>
  readonly log: Log
  /** Files of jobs lie in its folder `bulk`. */
  readonly dataDir: string
  /** Most resources of an exported file. */
  readonly fileResources: number
  /** Hours for which a result is kept. */
  readonly expiryHours: number
  readonly leaseSeconds: number
  readonly limits: JobLimits
  /** Largest file of an import, and the longest line in it. */
  readonly importBytes: number
  readonly lineBytes: number
  readonly origins: Origins
  readonly now?: () => Date
  readonly fetch?: typeof globalThis.fetch
}

export interface Bulk {
  readonly routes: readonly Route[]
  /** Begins to work on jobs, in a process that serves. */
  start(): void
  close(): Promise<void>
}

/** Milliseconds between two clean-ups of expired jobs, and the age at which a folder without a job is abandoned. */
const tidyEvery = 600_000
const remainsAge = 5 * 3_600_000

export function createBulk(options: BulkOptions): Bulk {
  const { database, storeFor, audit, log, limits, now = () => new Date(), fetch = globalThis.fetch } = options
  const folder = createFolder(options.dataDir)
  let runner: Runner | undefined
  let tidying: NodeJS.Timeout | undefined
  const { importBytes: most, origins } = options
  const work = async (job: HeldJob, signal: AbortSignal): Promise<void> => {
    const { id: requestId, clientId, organizationId, purpose } = job
    const note = audit.noteFor({ clientId, organizationId, tokenId: '', address: '', requestId, purpose })
    const store = storeFor({ ...createCaller(job), note })
    const outputs = await takeUpFiles(database, folder, job)
    const parts = { database, job, store, outputs, signal, now }
    try {
      if (job.kind === 'export') await runExport({ ...parts, fileResources: options.fileResources })
      else
        await runImport({
          ...parts,
          folder,
          mostBytes: options.lineBytes,
          download: (url, path, ending) => download(url, path, { fetch, origins, most, signal: ending }),
        })
    } finally {
      await outputs.close()
    }
  }
  const tidyUp = (): void =>
    void tidy(database, storeFor(system), folder, now()).catch(error =>
      log.warn({ err: error }, 'bulk: could not delete expired jobs'),
    )
  return {
    routes: bulkRoutes({
      database,
      storeFor,
      folder,
      limits,
      importBytes: most,
      origins,
      now,
      wake: () => runner?.wake(),
    }),
    start() {
      const expiry = (): Date => new Date(now().getTime() + options.expiryHours * 3_600_000)
      const lost = async (job: HeldJob): Promise<void> => {
        if (!(await knownJobs(database, [job.id])).has(job.id)) await folder.remove(job.id)
      }
      runner = startRunner({ database, log, work, lost, leaseSeconds: options.leaseSeconds, expiry })
      tidying = setInterval(tidyUp, tidyEvery).unref()
      tidyUp()
    },
    async close() {
      clearInterval(tidying)
      await runner?.close()
    },
  }
}

/** Removes what has expired, and folders that belong to no job: their process ended while it received a file. */
async function tidy(database: Database, store: Store, folder: Folder, now: Date): Promise<void> {
  const expired = await database.transaction(async on => {
    const jobs = await removeExpired(on, now)
    if (jobs.length > 0) await store.exporting().forget(on, jobs)
    return jobs
  })
  for (const job of expired) await folder.remove(job)
  const old = await folder.olderThan(new Date(now.getTime() - remainsAge))
  if (old.length === 0) return
  const known = await knownJobs(database, old)
  for (const job of old) if (!known.has(job)) await folder.remove(job)
}
