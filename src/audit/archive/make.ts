// Archives periods of the trail: each is closed, written to a file, read back and verified, and only then leaves the database.
import { hash, type KeyObject } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../db/database.ts'
import { type ChainRow, chainsOfPeriod } from '../chain.ts'
import { placeOf } from '../walk.ts'
import { type Archive, recordArchive, sealOfArchive } from './archive.ts'
import { claimPeriod, closePeriod, duePeriods, lingering, removeRows } from './due.ts'
import { type ArchiveReading, readArchive } from './read.ts'
import { type EndedPeriod, writeArchive } from './write.ts'

export interface ArchiveParts {
  readonly database: Database
  /** Of the seals. */
  readonly key: KeyObject
  /** Of the files. */
  readonly folder: string
  /** Ends the work. */
  readonly signal?: AbortSignal | undefined
}

export type NewArchive = Omit<Archive, 'archivedAt'>

/** The rows of the period, or its file, are not what was written. They stay where they are. */
export class ArchiveError extends Error {}

/**
 * Archives the periods that ended so many days ago, the oldest first. One that another process archives is left to it.
 * @param made called after each
 * @throws the first error when all are done: ArchiveError if a period is broken, or that of the file system or the database
 */
export async function archiveDue(
  parts: ArchiveParts,
  days: number,
  made: (archive: NewArchive) => void,
): Promise<void> {
  const { database } = parts
  for (const period of await lingering(database)) await removeRows(database, period)
  const failures: unknown[] = []
  for (const period of await duePeriods(database, days)) {
    parts.signal?.throwIfAborted()
    const giveBack = await claimPeriod(database, period.number)
    if (!giveBack) continue
    await archive(parts, period)
      .then(made, error => failures.push(error))
      .finally(giveBack)
  }
  if (failures.length > 0) throw failures[0]
}

async function archive({ database, key, folder, signal }: ArchiveParts, period: EndedPeriod): Promise<NewArchive> {
  await closePeriod(database, period.number)
  const chains = await chainsOfPeriod(database, period.number)
  const file = nameOf(period, chains)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, file)
  await writeArchive(database, period, chains, path, signal)
  const reading = await readArchive(path, { period: period.number, chains, key, signal })
  if (!reading) throw new ArchiveError(`${path} was removed while period ${period.number} was archived.`)
  const problem = problemOf(reading, file)
  if (problem !== undefined) {
    await rm(path)
    throw new ArchiveError(`Period ${period.number} of the audit trail is broken, and is not archived. ${problem}.`)
  }
  const { broken: _broken, problem: _problem, ...facts } = reading
  const found = { period: period.number, file, ...facts }
  const made = { ...found, seal: sealOfArchive(key, found) }
  await recordArchive(database, made)
  await removeRows(database, period.number)
  return made
}

/** Two files have the same name only if they hold the same rows, which the heads follow from. */
function nameOf({ number, beganAt }: EndedPeriod, chains: readonly ChainRow[]): string {
  const heads = hash('sha256', chains.map(({ number, head }) => `${number} ${head}`).join('\n'), 'hex')
  return `audit-${number}-${beganAt.toISOString().slice(0, 10)}-${heads.slice(0, 16)}.ndjson.gz`
}

function problemOf({ broken: [first], problem }: ArchiveReading, file: string): string | undefined {
  if (first) return `${placeOf(first).replace(/^c/, 'C')}: ${first.problem}`
  return problem === undefined ? undefined : `${file}: ${problem}`
}
