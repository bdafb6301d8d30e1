// Whether PostgreSQL refused a row because its key is taken, told by SQLSTATE and table: an engine that splits tables names their
// parts, and the indexes of these, in its own way (docs/decisions/0092-portable-statements.md).

/** SQLSTATE unique_violation. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const uniqueViolation = '23505'

/**
 * True if an error of the database states that a unique index of the table, or of a part of it (`table_…`), already holds the key. An
 * error that names no table, as one that another node has passed on, counts for every table.
 */
export function isKeyTaken(error: unknown, table: string): boolean {
  const { code, table: named } = error as { code?: unknown; table?: unknown }
  if (code !== uniqueViolation) return false
  return typeof named !== 'string' || named === table || named.startsWith(`${table}_`)
}
