// What consent lets a client see, as conditions in SQL: the one place that decides it, for every statement that reads.
// A client sees what is about no patient, what it wrote itself, and what the patients concerned have opened to its
// organisation.

import { int2Array, int8Array, textArray } from '../../db/arrays.ts'
import { hash64 } from '../../lib/hash.ts'
import { authorHash, keysWrittenBy } from '../../store/author.ts'
import { noPatient, several } from '../../store/index/subject.ts'
import { typeNumber } from '../../store/type-number.ts'
import type { Visibility } from '../../store/visibility.ts'
import { objectionTo } from './objection.ts'
import { usualPurpose } from './purposes.ts'
import { refusal } from './refusal.ts'

type Bind = (value: unknown) => string

/** The client whose grants apply, and the purpose. */
export interface Viewer {
  readonly clientId: string
  /** Author of what it wrote; absent: the client. */
  readonly author?: string
  readonly organizationId: string
  /** Purpose of use, a code of v3-ActReason; empty: treatment. */
  readonly purpose: string
  /** Hashes of the patients whose records are open in an emergency. */
  readonly opened?: readonly bigint[]
}

/** Returns what consents open to a client at the moment of each statement. */
export function byConsent(viewer: Viewer): Visibility {
  const { clientId, organizationId, opened = [] } = viewer
  const author = authorHash(viewer.author ?? clientId)
  const organization = hash64(`Organization/${organizationId}`)
  const grantsBy = (bind: Bind) => grantsOf(bind(organization), bind(viewer.purpose || usualPurpose))
  const isOpen = (column: string, bind: Bind): string[] =>
    opened.length > 0 ? [`${column} = any(${bind(int8Array(opened))}::bigint[])`] : []
  const way = (bind: Bind, grants: Grants, tokens: string | undefined, isGranted = grants.open): Way => ({
    ...{ author: `${bind(author)}::bigint`, grants, tokens, isGranted },
    isOpen: column => isOpen(column, bind),
  })
  return {
    resource: (row, { bind }) => anyOf(ways(row, way(bind, grantsBy(bind), `${row}.tokens`))),
    // The codes of a former version are not kept, so consents by code open the current version only.
    version: (row, { bind }) => anyOf(ways(row, way(bind, grantsBy(bind), undefined))),
    among: (row, types, { bind }) => {
      const grants = grantsBy(bind)
      const isGranted: Grants['open'] = (...asked) =>
        `(granted.is_whole or (granted.patient is not null and ${grants.open(...asked)}))`
      const join = grants.joined('granted', `${row}.subject`, types, bind)
      return { join, condition: anyOf(ways(row, way(bind, grants, `${row}.tokens`, isGranted))) }
    },
    reach: (types, { bind }) =>
      reach(
        `${bind(organization)}::bigint`,
        `${bind(author)}::bigint`,
        `${bind(int8Array(opened))}::bigint[]`,
        `${bind(int2Array(types))}::smallint[]`,
      ),
    author: ({ bind }) => `${bind(author)}::bigint`,
    change: (row, { bind }) => `(${row}.type <> ${typeNumber('Consent')} or ${row}.author = ${bind(author)}::bigint)`,
    objection: (writing, base) => objectionTo(writing, organizationId, base),
    refusal: (on, subject) => refusal(on, subject, organizationId),
    closed: (patients, { bind }) => {
      const given = `unnest(${bind(int8Array(patients.map(patientHash)))}::bigint[], ${bind(textArray(patients))}::text[])`
      const isOpened = anyOf([
        ...isOpen('given.patient', bind),
        anyGrant(`${bind(organization)}::bigint`, 'given.patient'),
      ])
      return `(select array_agg(given.id) from ${given} as given(patient, id) where not ${isOpened})`
    },
  }
}

/** Clients, each as columns of a row: hashes of the client and of its organisation. */
export interface Viewers {
  readonly author: string
  readonly organization: string
}

/**
 * Returns the condition that clients see, for treatment, the resource of a row with the columns type, subject, author,
 * about and tokens: for statements that ask for many clients at once.
 */
export function seenBy({ author, organization }: Viewers, row: string): string {
  const grants = grantsOf(organization, `'${usualPurpose}'`)
  return anyOf(ways(row, { author, grants, tokens: `${row}.tokens`, isGranted: grants.open, isOpen: () => [] }))
}

/** The client that reads a row, and what is known of it. */
interface Way {
  /** Hash of the client. */
  readonly author: string
  readonly grants: Grants
  /** Conditions that a patient is open without consent. */
  readonly isOpen: (patient: string) => string[]
  readonly tokens: string | undefined
  readonly isGranted: Grants['open']
}

/**
 * Returns the conditions under which the columns subject, author and about of a row lead to a patient or author that
 * opens it.
 */
function ways(row: string, { author, grants, isOpen, tokens, isGranted }: Way): string[] {
  const opens = (patient: string, open = grants.open): string[] => [
    ...isOpen(patient),
    open(patient, `${row}.type`, tokens),
  ]
  return [
    `${row}.subject = ${noPatient}`,
    `${row}.author = ${author}`,
    ...opens(`${row}.subject`, isGranted),
    // Where a resource concerns several patients, all of them have to agree.
    `(${row}.subject = ${several} and ${row}.about is not null and not exists (
        select from unnest(${row}.about) as concerned(patient) where not ${anyOf(opens('concerned.patient'))}))`,
  ]
}

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' or ')})`

const patientHash = (id: string): bigint => hash64(`Patient/${id}`)

/** Conditions that there is a grant, as the statement begins. */
interface Grants {
  /**
   * One opens a resource of a type.
   * @param tokens the column of its postings; undefined: not known, so that only grants count that do not ask for them
   */
  open(patient: string, type: string, tokens: string | undefined): string
  /**
   * All patients at once, to be joined: `is_whole` if a grant opens whatever is of these types. For what looks at so many
   * rows that asking for each would cost more than reading all grants of the organisation.
   */
  joined(name: string, patient: string, types: readonly number[], bind: Bind): string
}

// `offset 0`: asked for one patient at a time, whatever the planner believes of their number.
function grantsOf(organization: string, purpose: string): Grants {
  const now = isNow(`${organization}::bigint`)
  const purposes = `(g.purposes is null or ${purpose}::text = any(g.purposes))`
  return {
    open: (patient, type, tokens) =>
      `exists (select from consent_grant g where ${now} and g.patient = ${patient}
        and (g.types is null or ${type} = any(g.types)) and ${purposes}
        and (g.codes is null${tokens ? ` or g.codes && ${tokens}` : ''})
        and (g.except_codes is null${tokens ? ` or not g.except_codes && ${tokens}` : ''}) offset 0)`,
    joined: (name, patient, types, bind) => `left join (
        select g.patient, bool_or(g.codes is null and g.except_codes is null
          and (g.types is null or g.types @> ${bind(int2Array(types))}::smallint[])) as is_whole
        from consent_grant g where ${now} and ${purposes} group by g.patient
      ) ${name} on ${name}.patient = ${patient}`,
  }
}

/**
 * Returns the condition that a consent opens something of the patient to the organisation, for any purpose. Both are
 * hashes.
 */
export const anyGrant = (organization: string, patient: string): string =>
  `exists (select from consent_grant g where ${isNow(organization)} and g.patient = ${patient} offset 0)`

const isNow = (organization: string): string =>
  `g.organization = ${organization} and g.starts_at <= statement_timestamp() and g.ends_at > statement_timestamp()`

/** Most grants, and most resources written by the client itself, that a search is narrowed to. */
const most = { grants: 200, own: 500 }

/** What is looked through is counted first, in the order of an index: an organisation with very many grants is soon passed. */
function reach(organization: string, author: string, opened: string, types: string): string {
  const first = `order by g.patient limit ${most.grants + 1}`
  const patients = `array(select g.patient from consent_grant g where ${isNow(organization)} ${first})`
  return `select found.patients, found.own from (
      select (${patients} || ${opened})::text as patients, ${keysWrittenBy(author, types, most.own)}::text as own
      where (select count(*) from (select from consent_grant g where g.organization = ${organization} ${first}) counted) <= ${most.grants} offset 0
    ) found where found.own is not null`
}
