// Loads files into a store: a few transactions at a time, problems noted with their place, the rest goes on.
import type { Store } from '../store/store.ts'
import { type LoadUnit, unitsOf } from './entries.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { filesOf, itemsOf, type SourceLocation } from './read.ts'
import { batchSize, type Outcomes, type Problem, type WriteOutcome, writeUnits } from './write.ts'

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
  const later: LoadUnit[] = []
  const run: Run = {
    store,
    progress,
    lanes: createLanes(options.parallel),
    changed: () => options.changed?.(progress),
    stored: (type, outcome) => count(progress, type, outcome),
    failed: problem => progress.problems.push(problem),
    postpone: unit => later.push(unit),
  }
  for (const file of files) await loadFile(run, file.path, file.size)
  await run.lanes.idle()
  const last = { ...run, postpone: undefined }
  for (let from = 0; from < later.length; from += batchSize) {
    const units = later.slice(from, from + batchSize)
    await run.lanes.add(() => write(last, units))
  }
  await run.lanes.idle()
  return progress
}

interface Run extends Outcomes {
  readonly store: Store
  readonly progress: Progress
  readonly lanes: Lanes
  readonly changed: () => void
}

async function loadFile(run: Run, path: string, size: number): Promise<void> {
  let singles: LoadUnit[] = []
  const flush = async (): Promise<void> => {
    const units = singles
    singles = []
    if (units.length > 0) await run.lanes.add(() => write(run, units))
  }
  for await (const item of itemsOf(path)) {
    if ('problem' in item) {
      run.failed({ file: item.file, line: item.line, code: 'structure', message: item.problem })
      continue
    }
    for (const unit of understood(run, item)) {
      if (unit.isAtomic) await run.lanes.add(() => write(run, [unit]))
      else if (singles.push(unit) >= batchSize) await flush()
    }
  }
  await flush()
  run.progress.bytesDone += size
  run.changed()
}

function understood(run: Run, item: SourceLocation & { resource: Parameters<typeof unitsOf>[0] }): LoadUnit[] {
  try {
    return unitsOf(item.resource, { file: item.file, line: item.line })
  } catch (error) {
    run.failed({ file: item.file, line: item.line, code: 'structure', message: (error as Error).message })
    return []
  }
}

async function write(run: Run, units: readonly LoadUnit[]): Promise<void> {
  await writeUnits(run.store, units, run)
  run.changed()
}

function count(progress: Progress, type: string, outcome: WriteOutcome): void {
  progress[outcome]++
  if (outcome !== 'created' && outcome !== 'updated') return
  const counts = progress.counts.get(type) ?? { created: 0, updated: 0 }
  counts[outcome]++
  progress.counts.set(type, counts)
}
