// Loads files into a store: a few transactions at a time, problems noted with their place, the rest goes on.
import { Failure } from '../lib/failure.ts'
import type { Store } from '../store/store.ts'
import type { TransactionEntry } from '../store/transaction.ts'
import type { Written } from '../store/write.ts'
import { type Unit, unitsOf } from './entries.ts'
import { filesOf, itemsOf, type Place } from './read.ts'

export interface Problem extends Place {
  readonly message: string
}

/** What a load has come to so far. */
export interface Progress {
  readonly bytesTotal: number
  bytesDone: number
  /** By resource type. */
  readonly counts: Map<string, { created: number; updated: number }>
  created: number
  updated: number
  unchanged: number
  deleted: number
  readonly problems: Problem[]
}

export interface LoadOptions {
  readonly paths: readonly string[]
  /** Transactions in flight at a time. */
  readonly parallel: number
  readonly changed?: (progress: Progress) => void
}

/** Single resources that share a trip to the database. */
const batchSize = 200

/**
 * Loads everything under the paths. Units that only fail because something they refer to is not there yet are tried
 * again after everything else.
 * @throws Error for a path that does not exist; Failure UNAVAILABLE if the database goes away.
 */
export async function load(store: Store, options: LoadOptions): Promise<Progress> {
  const files = await filesOf(options.paths)
  const progress: Progress = {
    bytesTotal: files.reduce((sum, file) => sum + file.size, 0),
    bytesDone: 0,
    counts: new Map(),
    created: 0,
    updated: 0,
    unchanged: 0,
    deleted: 0,
    problems: [],
  }
  const later: Unit[] = []
  const run: Run = {
    store,
    progress,
    postpone: unit => later.push(unit),
    lanes: createLanes(options.parallel),
    changed: () => options.changed?.(progress),
  }
  for (const file of files) await loadFile(run, file.path, file.size)
  await run.lanes.idle()
  const last = { ...run, postpone: undefined }
  for (let from = 0; from < later.length; from += batchSize) {
    const units = later.slice(from, from + batchSize)
    await run.lanes.add(() => writeUnits(last, units))
  }
  await run.lanes.idle()
  return progress
}

interface Run {
  readonly store: Store
  readonly progress: Progress
  readonly lanes: Lanes
  readonly changed: () => void
  /** Keeps a unit for the end; undefined when this is the end. */
  readonly postpone: ((unit: Unit) => void) | undefined
}

async function loadFile(run: Run, path: string, size: number): Promise<void> {
  let singles: Unit[] = []
  const flush = async (): Promise<void> => {
    const units = singles
    singles = []
    if (units.length > 0) await run.lanes.add(() => writeUnits(run, units))
  }
  for await (const item of itemsOf(path)) {
    if ('problem' in item) {
      run.progress.problems.push({ file: item.file, line: item.line, message: item.problem })
      continue
    }
    for (const unit of understood(run, item)) {
      if (unit.isAtomic) await run.lanes.add(() => writeUnits(run, [unit]))
      else if (singles.push(unit) >= batchSize) await flush()
    }
  }
  await flush()
  run.progress.bytesDone += size
  run.changed()
}

function understood(run: Run, item: Place & { resource: Parameters<typeof unitsOf>[0] }): Unit[] {
  try {
    return unitsOf(item.resource, { file: item.file, line: item.line })
  } catch (error) {
    run.progress.problems.push({ file: item.file, line: item.line, message: (error as Error).message })
    return []
  }
}

/** Writes units in one transaction; if one of several is at fault, each is tried by itself. */
async function writeUnits(run: Run, units: readonly Unit[]): Promise<void> {
  const entries = units.flatMap(unit => unit.entries)
  try {
    const results = await retried(() => run.store.transaction(entries, () => Promise.resolve(undefined)))
    results.forEach((result, index) => 'written' in result && count(run.progress, entries[index]!, result.written))
    run.changed()
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'UNAVAILABLE') throw error
    if (units.length > 1) for (const unit of units) await writeUnits(run, [unit])
    else if (run.postpone && error.issue === 'not-found') run.postpone(units[0]!)
    else run.progress.problems.push({ file: units[0]!.file, line: units[0]!.line, message: messageOf(error) })
  }
}

/** Two transactions that touch the same resources may have to be run one after the other. */
async function retried<T>(work: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (tries > 1 && error instanceof Failure && error.code === 'CONFLICT') return retried(work, tries - 1)
    throw error
  }
}

function messageOf(failure: Failure): string {
  const details = failure.options.details ?? []
  if (details.length === 0) return failure.message
  const shown = details.slice(0, 3).map(detail => `${detail.field ?? ''}: ${detail.message}`)
  return `${shown.join(' · ')}${details.length > 3 ? ` · and ${details.length - 3} more` : ''}`
}

function count(progress: Progress, { type }: TransactionEntry, written: Written | undefined): void {
  if (!written || written.outcome === 'absent') return
  progress[written.outcome]++
  if (written.outcome !== 'created' && written.outcome !== 'updated') return
  const counts = progress.counts.get(type) ?? { created: 0, updated: 0 }
  counts[written.outcome]++
  progress.counts.set(type, counts)
}

interface Lanes {
  /** Starts the work as soon as a lane is free, and resolves when it has started. @throws what earlier work threw. */
  add(work: () => Promise<void>): Promise<void>
  idle(): Promise<void>
}

/** A bounded number of works at a time, so that reading waits for writing. */
function createLanes(width: number): Lanes {
  const running = new Set<Promise<void>>()
  let failed: unknown
  const check = (): void => {
    if (failed !== undefined) throw failed
  }
  return {
    async add(work) {
      while (running.size >= width) await Promise.race(running)
      check()
      const task: Promise<void> = work()
        .catch(error => {
          failed ??= error
        })
        .finally(() => running.delete(task))
      running.add(task)
    },
    async idle() {
      await Promise.all(running)
      check()
    },
  }
}
