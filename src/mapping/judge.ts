// Reads a folder of maps and decides whether they can be served.

import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import type { TObject } from 'typebox'
import { NOWHERE, type Problem } from '../fml/problem.ts'
import { isExamples } from './examples.ts'
import { lookInto, readFiles, type SourceFile } from './files.ts'
import type { Need } from './needs.ts'
import { buildSet, isWarning, type MappingSet } from './set.ts'
import type { Verdicts } from './verdict.ts'

/** The standard that maps must meet. */
export interface Standard {
  /** The records that maps can use in addition to R4. */
  readonly shapes: readonly TObject[]
  /** What the service requires of the maps by name. */
  readonly needs: readonly Need[]
  /** True if there must be weights to match people by. */
  readonly needsMatching?: boolean
  /** True if there must be types of consent. */
  readonly needsConsents?: boolean
  /** What was said of maps before. */
  readonly verdicts?: Verdicts
}

/** Files, and the result of checking them. */
export interface Judged {
  readonly files: readonly SourceFile[]
  readonly set: MappingSet | undefined
  /** Why they are not served; none if they can be. */
  readonly problems: readonly Problem[]
}

/** The last set of these records, for all callers: compiled maps hold nothing of a service. */
const lastSets = new WeakMap<Standard['shapes'], MappingSet>()

/** Checks files; other work of the process runs between one map and the next. What has not changed is not read again. */
export async function judge(files: readonly SourceFile[], standard: Standard, before?: MappingSet): Promise<Judged> {
  const steps = buildSet(files, { ...standard, before: before ?? lastSets.get(standard.shapes) })
  for (;;) {
    const step = steps.next()
    if (step.done) {
      lastSets.set(standard.shapes, step.value)
      return { files, set: step.value, problems: step.value.problems.filter(each => !isWarning(each)) }
    }
    await breathe()
  }
}

/** The problem reported for a folder that cannot be read. */
export function unreadable(folder: string, error: unknown): Judged {
  const message = `the maps of this folder cannot be read: ${(error as Error).message}`
  return { files: [], set: undefined, problems: [{ message, span: NOWHERE, file: folder }] }
}

/** True if the maps can be served. */
export function isSound({ problems }: Judged): boolean {
  return problems.length === 0
}

/** True if nothing has changed between the two. */
export function isSame(judged: Judged, files: readonly SourceFile[]): boolean {
  if (!judged.set || judged.files.length !== files.length) return false
  return files.every(({ name, text, foreignLine }, index) => {
    const other = judged.files[index]!
    return other.name === name && other.text === text && other.foreignLine === foreignLine
  })
}

/** Milliseconds for which a folder must stay unchanged before it is read: a writer may not have finished. */
const CALM = 50
const PATIENCE = 100

/**
 * Returns the files of a folder without the examples of maps, as soon as no process is writing there.
 * @throws Error if they cannot be read.
 */
export async function calmFiles(folder: string): Promise<{ mark: string; files: SourceFile[] }> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    const { mark, files } = await lookInto(folder)
    await sleep(CALM)
    const read = await readFiles(folder, files).catch(() => undefined)
    if (read && (await lookInto(folder)).mark === mark) return { mark, files: read.filter(each => !isExamples(each)) }
  }
  throw new Error(`the files of ${folder} keep changing`)
}
