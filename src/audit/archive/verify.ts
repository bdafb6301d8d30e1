// Checks the archives of the trail: that each file is the one that was made, and what it holds.
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import type { SeenHead } from '../anchored.ts'
import type { ArchivedPeriod } from '../verify.ts'
import { type Break, placeOf } from '../walk.ts'
import { sealOfArchive } from './archive.ts'
import { readArchive } from './read.ts'

export interface ArchiveVerdict {
  readonly period: number
  readonly file: string
  /** Rows that were found good. */
  readonly rows: number
  /** The first broken row of every chain that has one. */
  readonly broken: readonly Break[]
  /** What is wrong with the file itself, in words; undefined: nothing. */
  readonly problem: string | undefined
}

/** @param known heads that were seen before, which must still be in the trail */
export async function verifyArchives(
  folder: string,
  archived: readonly ArchivedPeriod[],
  key: KeyObject,
  known: readonly SeenHead[],
): Promise<ArchiveVerdict[]> {
  const verdicts: ArchiveVerdict[] = []
  for (const period of archived) verdicts.push(await verifyArchive(folder, period, key, known))
  return verdicts
}

async function verifyArchive(
  folder: string,
  { archive, chains }: ArchivedPeriod,
  key: KeyObject,
  known: readonly SeenHead[],
): Promise<ArchiveVerdict> {
  const { period, file } = archive
  const unread = (problem: string): ArchiveVerdict => ({ period, file, rows: 0, broken: [], problem })
  if (archive.seal !== sealOfArchive(key, archive))
    return unread('what the database says of it was not sealed with the key of this deployment')
  try {
    const reading = await readArchive(join(folder, file), { period, chains, key, known })
    if (!reading) return unread(`it is not in ${folder}`)
    const { rows, broken, problem, sha256 } = reading
    const isOther = sha256 !== archive.sha256 || rows !== archive.rows
    return {
      period,
      file,
      rows,
      broken,
      problem: problem ?? (isOther ? 'it is not the file that was written' : undefined),
    }
  } catch (error) {
    return unread(`it cannot be read: ${(error as Error).message}`)
  }
}

/** What is archived, in lines of text. */
export function archivesText(folder: string, verdicts: readonly ArchiveVerdict[]): string {
  if (verdicts.length === 0) return ''
  const rows = verdicts.reduce((sum, each) => sum + each.rows, 0)
  const broken = verdicts.filter(each => !isWhole(each))
  if (broken.length === 0) return `The archives are intact: ${rows} rows in ${verdicts.length} files in ${folder}.\n`
  return ['The archives are broken.', ...broken.flatMap(linesOf), ''].join('\n')
}

const linesOf = ({ file, problem, broken }: ArchiveVerdict): string[] => [
  ...(problem === undefined ? [] : [`  ${file}: ${problem}`]),
  ...broken.map(each => `  ${file}: ${placeOf(each)}: ${each.problem}`),
]

/** True if nothing is wrong with an archive. */
export const isWhole = ({ problem, broken }: ArchiveVerdict): boolean => problem === undefined && broken.length === 0
