// What other folders read of the store's tables inside statements of their own: fragments of SQL, so that one statement stays one.
// PostgreSQL takes a relation apart and plans the statement as if it named the tables.
import { shardSql } from './index/shard.ts'

/** The current version of each resource. Found by (type, id). */
export const currentVersions =
  '(select d.type, d.id, r.version, r.body from directory d join resource r using (shard, key))'

/** Current and former versions. Found by (type, id). */
export const allVersions = `(select * from ${currentVersions} union all select d.type, d.id, h.version, h.body from directory d join history h using (shard, type, id))`

/** Current versions with the columns that decide which callers see them. Found by (type, id). */
export const currentEntries =
  '(select d.type, d.id, r.version, s.subject, s.author, s.about, s.tokens from directory d join resource r using (shard, key) join search s using (shard, key))'

/** Current versions that are about one patient. Found by (patient, type). */
export const aboutPatient =
  '(select s.patient, s.type, s.author, r.id, r.updated_at, r.body from search s join resource r using (shard, key))'

/** The condition that a resource is stored. */
export const isStored = (type: string, id: string): string =>
  `exists (select 1 from directory placed join resource stored using (shard, key) where placed.type = ${type} and placed.id = ${id})`

/** The author of the current version. */
export const authorOf = (type: string, id: string): string =>
  `(select entry.author from directory placed join search entry using (shard, key) where placed.type = ${type} and placed.id = ${id})`

// Of given names: the directory is asked for these first, in a part of its own, so that an engine that distributes the tables of
// resources does not join all of it (docs/decisions/0092-portable-statements.md).

const placed = (names: string): string =>
  `(select n.*, d.shard, d.key from ${names} n join directory d using (type, id)) placed`

/** Current versions of the names with their bodies. @param names a relation with the columns type and id */
export const versionsNow = (names: string): string =>
  `(select placed.*, r.version, r.body from ${placed(names)} join resource r using (shard, key))`

/** Current versions with the columns that decide which callers see them. @param names a relation with the columns type and id */
export const entriesOf = (names: string): string =>
  `(select placed.type, placed.id, r.version, s.subject, s.author, s.about, s.tokens
    from ${placed(names)} join resource r using (shard, key) join search s using (shard, key))`

/** Superseded versions and deletions. @param names a relation with the columns type, id and version */
export const versionsOf = (names: string): string =>
  `(select h.type, h.id, h.version, h.subject, h.author, h.about, h.tokens, h.body from ${placed(names)} join history h using (shard, type, id, version))`

/** The last of the former versions that meet a condition on `h`, and on `placed`. @param names a relation with the columns type and id */
export const lastVersionsOf = (names: string, condition: string): string =>
  `(select h.* from (
      select h.shard, h.type, h.id, max(h.version) as version from ${placed(names)} join history h using (shard, type, id)
      where ${condition} group by h.shard, h.type, h.id
    ) last join history h on h.shard = last.shard and h.type = last.type and h.id = last.id and h.version = last.version)`

/** Hashes of patients and of the clients that wrote their current versions. @param patients an array of hashes */
export const authorsOf = (patients: string): string =>
  `(select s.self, s.author from search s
    where s.shard = any(array(select ${shardSql('self')} from unnest(${patients}) as self)) and s.self = any(${patients}))`
