// Loads files into a store: a few transactions at a time, problems noted with their place, the rest goes on.
import type { Store } from '../store/store.ts'
import { type LoadUnit, nameOf, unitsOf } from './entries.ts'
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
 * again after everything else. Of single resources with one id the later one counts.
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
  const waiting = new Set<string>()
  const run: Run = {
    store,
    progress,
    waiting,
    underWay: new Set(),
    lanes: createLanes(options.parallel),
    changed: () => options.changed?.(progress),
    stored: (type, outcome) => count(progress, type, outcome),
    failed: problem => progress.problems.push(problem),
    postpone(unit) {
      const name = unit.isAtomic ? undefined : nameOf(unit)
      if (name !== undefined) waiting.add(name)
      later.push(unit)
    },
  }
  for (const file of files) await loadFile(run, file.path, file.size)
  await run.lanes.idle()
  const last = { ...run, postpone: undefined, waiting: new Set<string>() }
  for (let from = 0; from < later.length; from += batchSize)
    await writeInOrder(last, later.slice(from, from + batchSize))
  await run.lanes.idle()
  return progress
}

interface Run extends Outcomes {
  readonly store: Store
  readonly progress: Progress
  readonly lanes: Lanes
  /** Single resources of which one waits for the end, which no later one is to overtake. */
  readonly waiting: Set<string>
  /** Single resources that lanes write now. */
  readonly underWay: Set<string>
  readonly changed: () => void
}

async function loadFile(run: Run, path: string, size: number): Promise<void> {
  let singles: LoadUnit[] = []
  const names = new Set<string>()
  const flush = async (): Promise<void> => {
    const units = singles
    singles = []
    names.clear()
    await writeInOrder(run, units)
  }
  for await (const item of itemsOf(path)) {
    if ('problem' in item) {
      run.failed({ file: item.file, line: item.line, code: 'structure', message: item.problem })
      continue
    }
    for (const unit of understood(run, item)) {
      if (unit.isAtomic) {
        await run.lanes.add(() => write(run, [unit]))
        continue
      }
      const name = nameOf(unit) ?? ''
      if (names.has(name)) await flush()
      if (name !== '') names.add(name)
      if (singles.push(unit) >= batchSize) await flush()
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

/** Writes units in a lane, unless another lane writes one of the same resources: then after it. */
async function writeInOrder(run: Run, units: readonly LoadUnit[]): Promise<void> {
  const { lanes, underWay } = run
  const names = units.flatMap(unit => (unit.isAtomic ? [] : (nameOf(unit) ?? [])))
  if (names.some(name => underWay.has(name))) await lanes.idle()
  const free = units.filter(unit => !mustWait(run, unit))
  if (free.length === 0) return
  for (const name of names) underWay.add(name)
  await lanes.add(() =>
    write(run, free).finally(() => {
      for (const name of names) underWay.delete(name)
    }),
  )
}

/** Has a resource wait behind an earlier one of its id; returns whether it has to. */
function mustWait({ waiting, postpone }: Run, unit: LoadUnit): boolean {
  const name = unit.isAtomic ? undefined : nameOf(unit)
  if (!postpone || name === undefined || !waiting.has(name)) return false
  postpone(unit)
  return true
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
