// What other folders read of the store's tables inside statements of their own: fragments of SQL, so that one statement stays one.
// PostgreSQL takes a relation apart and plans the statement as if it named the tables.
import { shardSql } from './index/shard.ts'

/** The current version of each resource. Found by (type, id). */
export const currentVersions =
  '(select d.type, d.id, r.version, r.body from directory d join resource r using (shard, key))'

/** Superseded versions and deletions; `body` is null after a deletion. Found by (type, id, version). */
export const formerVersions =
  '(select d.type, d.id, h.version, h.subject, h.author, h.about, h.body from directory d join history h using (shard, type, id))'

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
  `exists (select from directory placed join resource stored using (shard, key) where placed.type = ${type} and placed.id = ${id})`

/** The author of the current version. */
export const authorOf = (type: string, id: string): string =>
  `(select entry.author from directory placed join search entry using (shard, key) where placed.type = ${type} and placed.id = ${id})`

/**
 * The condition that a client wrote the current version of a Patient. Both are hashes.
 * `offset 0`: PostgreSQL looks each one up, however many it expects.
 */
export const isAuthor = (author: string, self: string): string =>
  `exists (select from search entry where entry.shard = ${shardSql(self)} and entry.self = ${self} and entry.author = ${author} offset 0)`
