// Runs an import: downloads the files, then stores them line by line with the machinery of `npm run load`. After every
// window of lines the place is noted. After a crash, lines after it may be stored twice, which changes nothing, because
// every resource is put under an id that is the same each time.
import { createReadStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Failure } from '../../lib/failure.ts'
import { isBlank, linesOf } from '../../load/lines.ts'
import type { ImportParts } from './import-parts.ts'
import { createWindow } from './import-window.ts'
import { type Input, inputName, inputsOf, noteDone, noteFetched, noteStep } from './inputs.ts'
import { advanceJob } from './jobs.ts'

/** Lines of one input that may wait for its end because what they refer to has not come yet. */
const mostPostponed = 10_000

/** Resolves when every line has been tried. @throws LeaseLost, the signal's reason, or whatever went wrong. */
export async function runImport(parts: ImportParts): Promise<void> {
  const { database, job } = parts
  if (!job.transactionTime) await advanceJob(database, job, { transactionTime: parts.now() })
  for (const input of await inputsOf(database, job.id))
    if (input.bytes === undefined && !input.isDone) await fetchInput(parts, input)
  const inputs = await inputsOf(database, job.id)
  const total = inputs.reduce((sum, input) => sum + (input.bytes ?? 0), 0)
  await advanceJob(database, job, { total })
  for (const input of inputs) if (!input.isDone) await readInput(parts, input)
  for (const input of await inputsOf(database, job.id)) if (!input.isDone) await readPostponed(parts, input)
  for (const { number } of inputs) await rm(parts.folder.path(job.id, inputName(number)), { force: true })
}

/** What cannot be had is a problem of that input alone. */
async function fetchInput(parts: ImportParts, input: Input): Promise<void> {
  const { database, job, folder, signal } = parts
  // Another process that has lost the job, and does not know it yet, may still be fetching the same.
  const own = folder.path(job.id, `${inputName(input.number)}-${job.lease.slice(0, 8)}`)
  try {
    const bytes = await parts.download(input.url!, own, signal)
    await database.transaction(async on => {
      await advanceJob(on, job, {})
      await rename(own, folder.path(job.id, inputName(input.number)))
      await noteFetched(on, job.id, input.number, bytes)
    })
  } catch (error) {
    if (!(error instanceof Failure) || signal.aborted) throw error
    const window = createWindow(parts, input)
    await rm(own, { force: true })
    window.failed({ file: input.label, line: 0, code: error.issue, message: error.message })
    await window.note((on, counts) => noteDone(on, job.id, input.number, counts))
  }
}

async function readInput(parts: ImportParts, input: Input): Promise<void> {
  const { job, folder, mostBytes, signal } = parts
  const stream = createReadStream(folder.path(job.id, inputName(input.number)), {
    start: input.position,
    highWaterMark: 256 * 1024,
  })
  const window = createWindow(parts, input)
  let waiting = input.postponed.length
  let place = { position: input.position, line: input.line }
  const note = async (): Promise<void> => {
    await window.write(waiting < mostPostponed)
    const postponed = window.postponed()
    waiting += postponed.length
    await window.note((on, counts) => noteStep(on, job.id, input.number, { ...place, postponed, counts }))
  }
  for await (const line of linesOf(stream, { mostBytes, start: input.position, line: input.line })) {
    signal.throwIfAborted()
    if (!isBlank(line) && !window.add(line)) {
      await note()
      window.add(line)
    }
    place = { position: line.end, line: line.line }
  }
  await note()
}

/** The lines whose references had not come when they were read. */
async function readPostponed(parts: ImportParts, input: Input): Promise<void> {
  const { job, folder, mostBytes } = parts
  const window = createWindow(parts, input)
  const path = folder.path(job.id, inputName(input.number))
  for (const { position, line } of input.postponed) {
    parts.signal.throwIfAborted()
    const stream = createReadStream(path, { start: position })
    for await (const found of linesOf(stream, { mostBytes, start: position, line: line - 1 })) {
      if (!window.add(found)) {
        await window.write(false)
        window.add(found)
      }
      break
    }
  }
  await window.write(false)
  await window.note((on, counts) => noteDone(on, job.id, input.number, counts))
}
