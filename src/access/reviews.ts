// Reviews in general: Tasks that the service opens for people of an organisation, and who these people are.
import { int8Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { authorHash } from '../store/author.ts'
import { currentEntries } from '../store/relations.ts'
import { typeNumber } from '../store/type-number.ts'
import { isAdministrator, type UserCaller } from './caller.ts'

/**
 * Returns the organisation for which a user reviews; undefined for administrators, who review for all.
 * @throws Failure FORBIDDEN for a user who is neither a privacy officer of an organisation nor an administrator
 */
export function reviewingFor(caller: UserCaller): string | undefined {
  const { roles, organizationId } = caller
  if (isAdministrator(caller)) return undefined
  if (roles.includes('privacy_officer') && organizationId !== '') return organizationId
  throw new Failure('FORBIDDEN', 'Reviews are for privacy officers of an organisation and for administrators.')
}

/** Returns those of the Tasks (ids) that the service wrote: clients with the scope can write such Tasks as well, which prove nothing. */
export async function writtenByService(on: Queryable, tasks: readonly string[]): Promise<ReadonlySet<string>> {
  return recordedBy(on, 'Task', tasks, [undefined])
}

/**
 * Returns those of the resources (ids) that one of the authors created.
 * @param authors clients (ids) and organisations of agents (`Organization/<id>`); undefined: the service itself
 */
export async function recordedBy(
  on: Queryable,
  type: string,
  ids: readonly string[],
  authors: readonly (string | undefined)[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ id: string }>({
    name: 'recorded-by',
    text: `select e.id from ${currentEntries} e where e.type = $1::smallint and e.id = any($2::text[]) and e.author = any($3::bigint[])`,
    values: [typeNumber(type), textArray(ids), int8Array(authors.map(authorHash))],
  })
  return new Set(rows.map(({ id }) => id))
}
