// What consent lets a client see, as conditions in SQL: the one place where that is decided, for every statement that reads.
// A client sees what is about nobody, what it wrote itself, and what the patients concerned have opened to its organisation.

import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { hash64 } from '../../lib/hash.ts'
import { authorHash } from '../../store/author.ts'
import { nobody, several } from '../../store/index/subject.ts'
import { typeNumber } from '../../store/type-number.ts'
import type { Visibility } from '../../store/visibility.ts'
import { objectionTo } from './objection.ts'
import { usualPurpose } from './purposes.ts'
import { refusal } from './refusal.ts'

type Bind = (value: unknown) => string

/** Whose consents count, and what for. */
export interface Viewer {
  /** Author of what it wrote. */
  readonly clientId: string
  readonly organizationId: string
  /** Purpose of use, a code of v3-ActReason; empty: treatment. */
  readonly purpose: string
  /** Hashes of the patients whose records are open in an emergency. */
  readonly opened?: readonly bigint[]
}

/** What consents open to a client, at the moment of each statement. */
export function byConsent(viewer: Viewer): Visibility {
  const { clientId, organizationId, opened = [] } = viewer
  const author = authorHash(clientId)
  const organization = hash64(`Organization/${organizationId}`)
  const isOpen = (column: string, bind: Bind): string[] =>
    opened.length > 0 ? [`${column} = any(${bind(int8Array(opened))}::bigint[])`] : []
  const grants = (bind: Bind) => grantsFor(bind(organization), bind(viewer.purpose || usualPurpose))
  /** The columns subject, author and about of a row lead to somebody who opens it. */
  const ways = (row: string, bind: Bind, tokens: string | undefined): string[] => {
    const isGranted = grants(bind)
    const opens = (patient: string): string[] => [isGranted(patient, `${row}.type`, tokens), ...isOpen(patient, bind)]
    return [
      `${row}.subject = ${nobody}`,
      ...opens(`${row}.subject`),
      `${row}.author = ${bind(author)}::bigint`,
      // Where several are concerned, all of them have to agree.
      `(${row}.subject = ${several} and ${row}.about is not null and not exists (
        select from unnest(${row}.about) as concerned(patient) where not ${anyOf(opens('concerned.patient'))}))`,
    ]
  }
  const ofResource = (row: string, bind: Bind): string => anyOf(ways(row, bind, `${row}.tokens`))
  return {
    resource: (row, { bind }) => ofResource(row, bind),
    // What codes a former version had is not kept, so that consents by code open the current one alone.
    version: (row, { bind }) => anyOf(ways(row, bind, undefined)),
    change: (row, { bind }) => `(${row}.type <> ${typeNumber('Consent')} or ${row}.author = ${bind(author)}::bigint)`,
    objection: (writing, base) => objectionTo(writing, organizationId, base),
    refusal: (on, subject) => refusal(on, subject, organizationId),
    closed: (on, patients) => closedAmong(on, patients, organization, opened),
  }
}

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' or ')})`

/**
 * The condition that a grant opens a resource of a type, as the statement begins.
 * @param tokens the column of its postings; undefined: not known, so that only grants count that do not ask for them
 */
const grantsFor =
  (organization: string, purpose: string) =>
  (patient: string, type: string, tokens: string | undefined): string =>
    `exists (select from consent_grant g where g.organization = ${organization}::bigint and g.patient = ${patient}
      and g.starts_at <= statement_timestamp() and g.ends_at > statement_timestamp()
      and (g.types is null or ${type} = any(g.types)) and (g.purposes is null or ${purpose}::text = any(g.purposes))
      and (g.codes is null${tokens ? ` or g.codes && ${tokens}` : ''})
      and (g.except_codes is null${tokens ? ` or not g.except_codes && ${tokens}` : ''}))`

async function closedAmong(
  on: Queryable,
  patients: readonly string[],
  organization: bigint,
  opened: readonly bigint[],
): Promise<string[]> {
  const hashes = patients.map(id => hash64(`Patient/${id}`))
  const rows = await on.query<{ ord: number }>({
    name: 'consent-closed',
    text: `select ord from unnest($1::bigint[]) with ordinality as given(patient, ord)
      where not exists (select from consent_grant g where g.organization = $2 and g.patient = given.patient
        and g.starts_at <= statement_timestamp() and g.ends_at > statement_timestamp())`,
    values: [int8Array(hashes), organization],
  })
  return rows.map(({ ord }) => patients[ord - 1]!).filter((_, index) => !opened.includes(hashes[rows[index]!.ord - 1]!))
}
