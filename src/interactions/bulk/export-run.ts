// Runs an export: waits for writes under way, lists the resources, and writes them out slice by slice. The progress of
// the job is recorded after every slice, so that the next process to take it over continues from there.
import type { Database } from '../../db/database.ts'
import type { DeletionPlace } from '../../store/export/deletions.ts'
import type { Slice } from '../../store/export/export.ts'
import type { ExportScope } from '../../store/export/scope.ts'
import type { Store } from '../../store/store.ts'
import { project } from '../projection.ts'
import type { Output, Outputs } from './files.ts'
import { advanceJob, type HeldJob } from './jobs.ts'
import type { ExportOrder, Note } from './order.ts'
import { outcomeLine } from './outcome.ts'

export interface ExportParts {
  readonly database: Database
  readonly job: HeldJob
  /** Of the client that started the job, with the rights that its token had then. */
  readonly store: Store
  readonly outputs: Outputs
  /** Most resources of a file. */
  readonly fileResources: number
  readonly signal: AbortSignal
  readonly now: () => Date
}

/** Resolves when all files are written. @throws LeaseLost, the signal's reason, or whatever went wrong. */
export async function runExport(parts: ExportParts): Promise<void> {
  const { job, store } = parts
  const order = job.request as ExportOrder
  const scope: ExportScope = { ...order, job: job.id }
  const time = job.transactionTime ?? (await begin(parts))
  let { stage } = job
  if (stage === 'new') {
    await store.exporting().settle(time, parts.signal)
    // A process that has lost the job must not list it again for the one that holds it now.
    await store
      .exporting()
      .list(scope, parts.fileResources, (on, total) => advanceJob(on, job, { stage: 'writing', total }), parts.signal)
    stage = 'writing'
  }
  if (stage === 'writing') {
    await writeSlices(parts, order)
    await noteAll(parts, order.notes)
    await advanceJob(parts.database, job, { stage: (stage = 'deletions') })
  }
  if (stage === 'deletions' && scope.since !== undefined)
    await writeDeletions(parts, { ...scope, since: scope.since }, time)
  await store.exporting().forget(parts.database, [job.id])
}

/** Sets the time of an export once, for every process that continues it. */
async function begin({ database, job, now }: ExportParts): Promise<Date> {
  const transactionTime = now()
  await advanceJob(database, job, { transactionTime })
  return transactionTime
}

async function writeSlices(parts: ExportParts, order: ExportOrder): Promise<void> {
  const { database, job, store, outputs, signal, fileResources } = parts
  const cut = order.elements.length > 0 ? { elements: order.elements } : undefined
  let file: Output | undefined
  for (;;) {
    signal.throwIfAborted()
    const slice = await store.exporting().next(job.id)
    if (!slice) break
    file = await fileFor(outputs, file, slice, fileResources)
    for await (const bodies of store.exporting().bodies(slice))
      await file.add(cut ? bodies.map(body => project(String(body), cut)) : bodies)
    await file.flush()
    const written = file
    await database.transaction(async on => {
      await advanceJob(on, job, { more: slice.size })
      await outputs.note(on, written)
      await store.exporting().drop(on, slice)
    })
  }
  await file?.close()
}

/** The file under way if the slice fits into it, else a new one. */
async function fileFor(outputs: Outputs, file: Output | undefined, slice: Slice, most: number): Promise<Output> {
  if (file?.type === slice.type && file.count + slice.size <= most) return file
  await file?.close()
  return outputs.open('output', slice.type)
}

/** What was not done as it was asked, an OperationOutcome each. */
async function noteAll({ database, job, outputs }: ExportParts, notes: readonly Note[]): Promise<void> {
  if (notes.length === 0) return
  const file = await outputs.open('error', 'OperationOutcome')
  await file.add(notes.map(({ code, text }) => outcomeLine('warning', code, text)))
  await file.flush()
  await database.transaction(async on => {
    await advanceJob(on, job, { stage: 'deletions' })
    await outputs.note(on, file)
  })
  await file.close()
}

/** Deletions of one Bundle. */
const mostInBundle = 100

async function writeDeletions(
  { database, job, store, outputs, signal }: ExportParts,
  scope: ExportScope & { readonly since: number },
  time: Date,
): Promise<void> {
  let place = job.place as DeletionPlace | undefined
  let file: Output | undefined
  do {
    signal.throwIfAborted()
    const page = await store.exporting().deletions(scope, time, place)
    place = page.next
    if (page.gone.length === 0) continue
    file ??= await outputs.open('deleted', 'Bundle')
    await file.add(bundleLines(page.gone))
    await file.flush()
    const written = file
    await database.transaction(async on => {
      await advanceJob(on, job, place ? { place } : { stage: 'written' })
      await outputs.note(on, written)
    })
  } while (place !== undefined)
  await file?.close()
}

/** Transaction Bundles that would delete the same elsewhere. */
function bundleLines(gone: readonly { type: string; id: string }[]): string[] {
  const lines: string[] = []
  for (let from = 0; from < gone.length; from += mostInBundle) {
    const entry = gone
      .slice(from, from + mostInBundle)
      .map(({ type, id }) => ({ request: { method: 'DELETE', url: `${type}/${id}` } }))
    lines.push(JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }))
  }
  return lines
}
