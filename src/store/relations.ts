// What other folders read of the store's tables inside statements of their own: fragments of SQL, so that one statement stays one.
// PostgreSQL takes a relation apart and plans the statement as if it named the tables.

/** The current version of each resource. Found by (type, id). */
export const currentVersions = '(select type, id, version, body from resource)'

/** Superseded versions and deletions; `body` is null after a deletion. Found by (type, id, version). */
export const formerVersions = '(select type, id, version, subject, author, about, body from history)'

/** Current and former versions. Found by (type, id). */
export const allVersions =
  '(select type, id, version, body from resource union all select type, id, version, body from history)'

/** Current versions with the columns that decide which callers see them. Found by (type, id). */
export const currentEntries =
  '(select r.type, r.id, r.version, s.subject, s.author, s.about, s.tokens from resource r join search s using (key))'

/** Current versions that are about one patient. Found by (patient, type). */
export const aboutPatient =
  '(select s.patient, s.type, s.author, r.id, r.updated_at, r.body from search s join resource r using (key))'

/** The condition that a resource is stored. */
export const isStored = (type: string, id: string): string =>
  `exists (select from resource stored where stored.type = ${type} and stored.id = ${id})`

/** The author of the current version. @param self hash of the resource */
export const authorOf = (self: string): string => `(select entry.author from search entry where entry.self = ${self})`

/**
 * The condition that a client wrote the current version. Both are hashes.
 * `offset 0`: PostgreSQL looks each one up, however many it expects.
 */
export const isAuthor = (author: string, self: string): string =>
  `exists (select from search entry where entry.self = ${self} and entry.author = ${author} offset 0)`
