// Some lines of an import on their way into the store: written together, then noted together, problems included.
import type { Queryable } from '../../db/statement.ts'
import { isResourceType } from '../../definitions/r4.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { type LoadUnit, nameOf, unitOf } from '../../load/entries.ts'
import { createLanes } from '../../load/lanes.ts'
import type { Line } from '../../load/lines.ts'
import { itemOf } from '../../load/read.ts'
import { batchSize, type Problem, type WriteOutcome, writeUnits } from '../../load/write.ts'
import type { Store } from '../../store/store.ts'
import type { Output } from './files.ts'
import type { ImportOrder } from './import-order.ts'
import type { ImportParts } from './import-parts.ts'
import type { Counts, Input, Postponed } from './inputs.ts'
import { advanceJob } from './jobs.ts'
import { outcomeLine } from './outcome.ts'

/** Transactions in flight at a time. */
const parallel = 4
/** Lines and bytes of lines between two notes. */
const mostLines = 8 * batchSize
const mostBytes = 16 * 1024 * 1024

export interface Window {
  /** Takes a line in; false if the window has to be written first. */
  add(line: Line): boolean
  failed(problem: Problem): void
  write(): Promise<void>
  /** Lines that are to be tried again, since the last note. */
  postponed(): readonly Postponed[]
  /** Notes what came of the lines, and, in the same transaction, what else is to be noted. @throws LeaseLost. */
  note(also: (on: Queryable, counts: Counts) => Promise<void>): Promise<void>
}

/** The resources of which a line waits for the end, `Patient/1`, and how many lines do. */
export interface WaitingLines {
  readonly names: Set<string>
  lines: number
}

/** Lines of an import that may wait for its end because what they refer to has not come yet. */
const mostWaiting = 10_000

interface Placed extends LoadUnit {
  readonly start: number
}

interface Tally {
  readonly counts: { -readonly [Name in keyof Counts]: number }
  readonly problems: string[]
  readonly postponed: Postponed[]
}

const newTally = (): Tally => ({
  counts: { created: 0, updated: 0, unchanged: 0, failed: 0 },
  problems: [],
  postponed: [],
})

/** Lines that are to be written together. */
interface Batch {
  readonly units: Placed[]
  /** What they write: `Patient/1`. */
  readonly names: Set<string>
  bytes: number
}

const newBatch = (): Batch => ({ units: [], names: new Set(), bytes: 0 })

/** @param waiting what waits for the end, and what lines of this window are added to; undefined when this is the end. */
export function createWindow(parts: ImportParts, input: Input, waiting?: WaitingLines): Window {
  const { store } = parts
  const { source } = parts.job.request as ImportOrder
  const note = createNotes(parts, input)
  let tally = newTally()
  let batch = newBatch()
  const failed = ({ file, line, code, message }: Problem): void => {
    tally.counts.failed++
    tally.problems.push(outcomeLine('error', code, `${file}:${line}: ${message}`))
  }
  const postpone = (unit: Placed): void => {
    waiting!.names.add(nameOf(unit)!)
    waiting!.lines++
    tally.postponed.push({ position: unit.start, line: unit.line })
  }
  return {
    failed,
    postponed: () => tally.postponed,
    add(line) {
      if (batch.units.length >= mostLines || batch.bytes > mostBytes) return false
      const unit = unitFrom(line, { input, source, store, failed })
      if (!unit) return true
      // Of two lines with one id the later one counts, so they are not written side by side, and none overtakes one that waits.
      const name = nameOf(unit)!
      if (batch.names.has(name)) return false
      const placed = { ...unit, start: line.start }
      if (waiting?.names.has(name)) {
        if (waiting.lines < mostWaiting) postpone(placed)
        else failed({ file: input.label, line: line.line, code: 'too-costly', message: waitsInVain(name) })
        return true
      }
      batch.names.add(name)
      batch.units.push(placed)
      batch.bytes += line.bytes?.length ?? 0
      return true
    },
    async write() {
      const mayWait = waiting !== undefined && waiting.lines < mostWaiting
      await writeAll(store, batch.units, {
        stored: (_type, outcome) => countIn(tally, outcome),
        failed,
        postpone: mayWait ? unit => postpone(unit as Placed) : undefined,
      })
      batch = newBatch()
    },
    async note(also) {
      await note(tally, also)
      tally = newTally()
    },
  }
}

function countIn({ counts }: Tally, outcome: WriteOutcome): void {
  if (outcome !== 'deleted') counts[outcome]++
}

const waitsInVain = (name: string): string =>
  `an earlier line with ${name} waits for what it refers to, and more than ${mostWaiting} lines wait: import what they refer to first`

async function writeAll(
  store: Store,
  units: readonly Placed[],
  outcomes: Parameters<typeof writeUnits>[2],
): Promise<void> {
  const lanes = createLanes(parallel)
  for (let from = 0; from < units.length; from += batchSize)
    await lanes.add(() => writeUnits(store, units.slice(from, from + batchSize), outcomes))
  await lanes.idle()
}

/** Notes tallies of one input; its problems go to one file. */
function createNotes({ database, job, outputs, signal }: ImportParts, input: Input) {
  let errors: Output | undefined
  return async ({ counts, problems }: Tally, also: (on: Queryable, counts: Counts) => Promise<void>): Promise<void> => {
    signal.throwIfAborted()
    if (problems.length > 0) {
      errors ??= await outputs.open('error', 'OperationOutcome', input.number)
      await errors.add(problems)
      await errors.flush()
    }
    const noted = errors
    await database.transaction(async on => {
      await advanceJob(on, job, { more: counts.created + counts.updated + counts.unchanged + counts.failed })
      if (noted) await outputs.note(on, noted)
      await also(on, counts)
    })
  }
}

interface Reading {
  readonly input: Input
  readonly source: string | undefined
  readonly store: Store
  readonly failed: (problem: Problem) => void
}

/** What a line writes, `Patient/1`; undefined if that is nothing. */
export function nameIn(line: Line, input: Input, { store, job }: ImportParts): string | undefined {
  const { source } = job.request as ImportOrder
  const unit = unitFrom(line, { input, source, store, failed: () => undefined })
  return unit && nameOf(unit)
}

/** Returns what a line is to store, or undefined if that is nothing, and then the reason is recorded. */
function unitFrom(line: Line, { input, source, store, failed }: Reading): LoadUnit | undefined {
  const place = { file: input.label, line: line.line }
  const item = itemOf(line, input.label)
  if ('problem' in item) return void failed({ ...place, code: 'structure', message: item.problem })
  const type = String(item.resource['resourceType'])
  const refused = (code: string, message: string): undefined => void failed({ ...place, code, message })
  if (!isResourceType(type)) return refused('value', `"${type.slice(0, 60)}" is not a resource type of R4`)
  if (input.type !== undefined && type !== input.type)
    return refused('value', `this is a ${type}, but the manifest declares the file as ${input.type}`)
  if (!store.may(type, 'u'))
    return refused('forbidden', `the scopes do not permit writing ${type}: system/${type}.u does`)
  try {
    return unitOf(source === undefined ? item.resource : withSource(item.resource, source), place)
  } catch (error) {
    return refused('value', (error as Error).message)
  }
}

/** "If Resource.meta.source is absent, servers SHOULD populate it with the inputSource value." */
function withSource(resource: JsonObject, source: string): JsonObject {
  const meta = isObject(resource['meta']) ? resource['meta'] : {}
  return { ...resource, meta: { ...meta, source: meta['source'] ?? source } }
}
