// What the database keeps of an archived period: which file holds it, and what proves that the file is the one.
import { createHmac, type KeyObject } from 'node:crypto'
import type { Queryable } from '../../db/statement.ts'

/** A file, as reading it found it. */
export interface FileFacts {
  readonly bytes: number
  /** In hex. */
  readonly sha256: string
  readonly chains: number
  readonly rows: number
}

export interface Archive extends FileFacts {
  readonly period: number
  /** Its name in the folder of archives. */
  readonly file: string
  /** When its oldest and newest rows were recorded; null: it has none. */
  readonly firstAt: Date | null
  readonly lastAt: Date | null
  readonly archivedAt: Date
  /** In hex. */
  readonly seal: string
}

type Sealed = Pick<Archive, 'period' | 'file' | keyof FileFacts>

/** Proves that this deployment made the file. Seals of heads begin with a digit, and those of the anchor's lines with another word. */
export const sealOfArchive = (key: KeyObject, { period, file, bytes, sha256, chains, rows }: Sealed): string =>
  createHmac('sha256', key)
    .update(`archive ${JSON.stringify([period, file, bytes, sha256, chains, rows])}`)
    .digest('hex')

/** Returns the archives in the order of their periods. */
export async function archivesOf(on: Queryable): Promise<Archive[]> {
  return on.query<Archive>({
    text: `select period, file, bytes, encode(sha256, 'hex') as sha256, chains, rows, first_at as "firstAt", last_at as "lastAt",
        archived_at as "archivedAt", encode(seal, 'hex') as seal
      from audit_archive order by period`,
    values: [],
  })
}

/** Records the archive of a period, unless another process has. */
export async function recordArchive(on: Queryable, archive: Omit<Archive, 'archivedAt'>): Promise<void> {
  const { period, file, bytes, sha256, chains, rows, firstAt, lastAt, seal } = archive
  await on.run({
    text: `insert into audit_archive (period, file, bytes, sha256, chains, rows, first_at, last_at, seal)
      values ($1, $2, $3, decode($4, 'hex'), $5, $6, $7, $8, decode($9, 'hex')) on conflict (period) do nothing`,
    values: [period, file, bytes, sha256, chains, rows, firstAt, lastAt, seal],
  })
}

/** The part of the trail that is not in the database any more. */
export interface Archived {
  /** When the newest of its rows was recorded. */
  readonly until: Date
  /** Its last period. */
  readonly period: number
}

/** Returns undefined if nothing is archived. */
export async function archivedPart(on: Queryable): Promise<Archived | undefined> {
  const [found] = await on.query<{ until: Date | null; period: number | null }>({
    text: 'select max(last_at) as until, max(period) as period from audit_archive',
    values: [],
  })
  return found?.until && found.period !== null ? { until: found.until, period: found.period } : undefined
}
