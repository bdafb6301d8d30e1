// Runs an import: downloads the files, then stores them line by line with the machinery of `npm run load`. After every
// window of lines the place is noted. After a crash, lines after it may be stored twice, which changes nothing, because
// every resource is put under an id that is the same each time.
import { createReadStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Failure } from '../../lib/failure.ts'
import { isBlank, type Line, linesOf } from '../../load/lines.ts'
import type { ImportParts } from './import-parts.ts'
import { createWindow, nameIn, type WaitingLines } from './import-window.ts'
import { type Input, inputName, inputsOf, noteDone, noteFetched, noteStep } from './inputs.ts'
import { advanceJob } from './jobs.ts'

/** Resolves when every line has been tried. @throws LeaseLost, the signal's reason, or whatever went wrong. */
export async function runImport(parts: ImportParts): Promise<void> {
  const { database, job } = parts
  if (!job.transactionTime) await advanceJob(database, job, { transactionTime: parts.now() })
  for (const input of await inputsOf(database, job.id))
    if (input.bytes === undefined && !input.isDone) await fetchInput(parts, input)
  const inputs = await inputsOf(database, job.id)
  const total = inputs.reduce((sum, input) => sum + (input.bytes ?? 0), 0)
  // Noted once: who takes the job up again has not come forward by that.
  if (job.total === undefined) await advanceJob(database, job, { total })
  const waiting = await waitingIn(parts, inputs)
  for (const input of inputs) if (!input.isDone) await readInput(parts, input, waiting)
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

/** What the lines that wait already are about, as a process before this one has left them. */
async function waitingIn(parts: ImportParts, inputs: readonly Input[]): Promise<WaitingLines> {
  const waiting: WaitingLines = { names: new Set(), lines: 0 }
  for (const input of inputs)
    for await (const line of postponedLines(parts, input)) {
      const name = nameIn(line, input, parts)
      if (name !== undefined) waiting.names.add(name)
      waiting.lines++
    }
  return waiting
}

async function readInput(parts: ImportParts, input: Input, waiting: WaitingLines): Promise<void> {
  const { job, folder, mostBytes, signal } = parts
  const stream = createReadStream(folder.path(job.id, inputName(input.number)), {
    start: input.position,
    highWaterMark: 256 * 1024,
  })
  const window = createWindow(parts, input, waiting)
  let place = { position: input.position, line: input.line }
  const note = async (): Promise<void> => {
    await window.write()
    const postponed = window.postponed()
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

/** Tries the lines again whose references had not come when they were read, and those that are not to overtake them. */
async function readPostponed(parts: ImportParts, input: Input): Promise<void> {
  const { job } = parts
  const window = createWindow(parts, input)
  for await (const line of postponedLines(parts, input)) {
    if (window.add(line)) continue
    await window.write()
    window.add(line)
  }
  await window.write()
  await window.note((on, counts) => noteDone(on, job.id, input.number, counts))
}

async function* postponedLines({ job, folder, mostBytes, signal }: ImportParts, input: Input): AsyncGenerator<Line> {
  const path = folder.path(job.id, inputName(input.number))
  for (const { position, line } of input.postponed) {
    signal.throwIfAborted()
    const stream = createReadStream(path, { start: position })
    for await (const found of linesOf(stream, { mostBytes, start: position, line: line - 1 })) {
      yield found
      break
    }
  }
}
