// The versions of the files of the folder: those that were saved in the portal, with their author, and those that were found there.

import { hash } from 'node:crypto'
import type { Queryable, Transaction } from '../../db/statement.ts'
import type { Draft } from './asks.ts'

/** A file at a time. */
export interface Version {
  readonly id: string
  readonly savedAt: Date
  /** The e-mail address of the user; absent: changed in the folder. */
  readonly savedBy: string | undefined
  readonly text: string
}

/** Versions of a file that are kept. */
const KEPT = 200

/** The number of the lock that those hold who write files of the folder or their versions. */
const lockKey = 0x6d61_7073

/** The SHA-256 of a file's text, in hex. */
export const digestOf = (text: string): string => hash('sha256', text, 'hex')

/** Takes the lock of the folder until the end of the transaction. */
export async function lockFolder(transaction: Transaction): Promise<void> {
  await transaction.query({ name: 'mapping-lock', text: 'select pg_advisory_xact_lock($1)', values: [lockKey] })
}

/** Records files that differ from their last version, and removes the oldest versions. */
export async function recordVersions(
  transaction: Transaction,
  files: readonly (Draft & { readonly at: Date })[],
  author: string | undefined,
): Promise<void> {
  const values = [
    files.map(({ name }) => name),
    files.map(({ text }) => digestOf(text)),
    // A text of PostgreSQL has no such character.
    files.map(({ text }) => text.replaceAll('\0', '\ufffd')),
    files.map(({ at }) => at),
    author ?? null,
  ]
  await transaction.query({
    name: 'mapping-record',
    text: `insert into mapping_version (name, digest, text, saved_at, saved_by)
      select f.name, decode(f.digest, 'hex'), f.text, f.at, $5
        from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) f (name, digest, text, at)
       where decode(f.digest, 'hex') is distinct from
         (select v.digest from mapping_version v where v.name = f.name order by v.id desc limit 1)`,
    values,
  })
  await transaction.query({
    name: 'mapping-prune',
    text: `delete from mapping_version v using unnest($1::text[]) f (name)
       where v.name = f.name
         and v.id <= (select o.id from mapping_version o where o.name = f.name order by o.id desc offset $2 limit 1)`,
    values: [files.map(({ name }) => name), KEPT],
  })
}

interface Row {
  readonly id: string
  readonly saved_at: Date
  readonly saved_by: string | null
  readonly text: string
}

const versionOf = ({ id, saved_at, saved_by, text }: Row): Version => ({
  id,
  savedAt: saved_at,
  savedBy: saved_by ?? undefined,
  text,
})

/** The versions of a file, newest first, without their texts. */
export async function listVersions(database: Queryable, name: string): Promise<Omit<Version, 'text'>[]> {
  const rows = await database.query<Row>({
    name: 'mapping-versions',
    text: `select v.id::text, saved_at, saved_by, '' as text from mapping_version v where name = $1 order by v.id desc limit $2`,
    values: [name, KEPT],
  })
  return rows.map(versionOf)
}

/** A version of a file; undefined if there is none. */
export async function readVersion(database: Queryable, name: string, id: string): Promise<Version | undefined> {
  const [row] = await database.query<Row>({
    name: 'mapping-version',
    text: 'select id::text, saved_at, saved_by, text from mapping_version where name = $1 and id = $2::bigint',
    values: [name, id],
  })
  return row && versionOf(row)
}

/** The last version of each file. */
export async function lastVersions(database: Queryable): Promise<ReadonlyMap<string, Omit<Version, 'text'>>> {
  const rows = await database.query<Row & { readonly name: string }>({
    name: 'mapping-last-versions',
    text: `select distinct on (name) name, v.id::text, saved_at, saved_by, '' as text from mapping_version v order by name, v.id desc`,
    values: [],
  })
  return new Map(rows.map(row => [row.name, versionOf(row)]))
}
