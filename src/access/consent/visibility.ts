// What consent lets a client see, as conditions in SQL: the one place that decides it, for every statement that reads.
// A client sees what is about no patient, what it wrote itself, and what the patients concerned have opened to its
// organisation.

import { int2Array, int8Array, textArray } from '../../db/arrays.ts'
import { hash64 } from '../../lib/hash.ts'
import { authorHash, keysWrittenBy, writtenMuch, wroteAtMost } from '../../store/author.ts'
import { noPatient, several } from '../../store/index/subject.ts'
import { type Sketch, sketchBits } from '../../store/sketch.ts'
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
  const way = (bind: Bind): Way => ({
    ...{ author: `${bind(author)}::bigint`, grants: grantsBy(bind) },
    opened: opened.length > 0 ? `${bind(int8Array(opened))}::bigint[]` : undefined,
  })
  return {
    resource: (row, { bind }) => anyOf(ways(row, way(bind))),
    likely: (row, { bind, sketch }) =>
      anyOf([
        ...likelyGranted(`${bind(organization)}::bigint`, `${row}.subject`, sketch, bind),
        `${row}.author = ${bind(author)}::bigint`,
        ...isOpen(`${row}.subject`, bind),
      ]),
    group: `${organizationId} ${author}`,
    sketched: ({ bind }) => sketched(`${bind(organization)}::bigint`, `${bind(author)}::bigint`),
    divided: (row, types, { bind }) => {
      const grants = grantsBy(bind)
      const surely = [
        `${row}.subject = ${noPatient}`,
        `${row}.author = ${bind(author)}::bigint`,
        ...isOpen(`${row}.subject`, bind),
        grants.whole(`${row}.subject`, types, bind),
      ]
      return { surely: anyOf(surely), maybe: anyOf([`${row}.subject = ${several}`, grants.partial(`${row}.subject`)]) }
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
      const hashes = `${bind(int8Array(patients.map(patientHash)))}::bigint[]`
      const granted = `array(select g.patient from consent_grant g where ${isNow(`${bind(organization)}::bigint`, 'g.organization + 0')} and g.patient = any(${hashes}))`
      const open = opened.length > 0 ? `${granted} || ${bind(int8Array(opened))}::bigint[]` : granted
      return `(select array_agg(given.id) from unnest(${hashes}, ${bind(textArray(patients))}::text[]) as given(patient, id)
        where given.patient <> all(${open}))`
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
  return anyOf(ways(row, { author, grants, opened: undefined }))
}

/** The client that reads a row, and what is known of it. */
interface Way {
  /** Hash of the client. */
  readonly author: string
  readonly grants: Grants
  /** Array of the patients that are open without consent, as their hashes; undefined: none. */
  readonly opened: string | undefined
}

/**
 * Returns the conditions under which the columns type, subject, author, about and tokens of a row lead to a patient or author that
 * opens it.
 */
function ways(row: string, { author, grants, opened }: Way): string[] {
  const asked = { type: `${row}.type`, tokens: `${row}.tokens` }
  return [
    `${row}.subject = ${noPatient}`,
    `${row}.author = ${author}`,
    ...(opened ? [`${row}.subject = any(${opened})`] : []),
    `exists (${grants.open(`${row}.subject`, asked)})`,
    // Where a resource concerns several patients, all of them have to agree.
    `(${row}.subject = ${several} and ${row}.about is not null
      and ${row}.about <@ (${opened ? `${opened} || ` : ''}array(${grants.openAmong(`${row}.about`, asked)})))`,
  ]
}

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' or ')})`

const patientHash = (id: string): bigint => hash64(`Patient/${id}`)

/** What a grant is asked about, as columns of a row. */
interface Asked {
  readonly type: string
  /** Its postings; null: not known, so that only grants count that do not ask for them. */
  readonly tokens: string
}

/** The grants there are as the statement begins. */
interface Grants {
  /** Selects the patient of those that open a resource. */
  open(patient: string, asked: Asked): string
  /** Selects the patients, of an array, of those that open a resource. */
  openAmong(patients: string, asked: Asked): string
  /** The condition that one opens whatever is of these types. Grants may be asked for one by one, or read all at once: as the planner sees fit. */
  whole(patient: string, types: readonly number[], bind: Bind): string
  /** The condition that one opens something that may be less. */
  partial(patient: string): string
}

function grantsOf(organization: string, purpose: string): Grants {
  const now = isNow(`${organization}::bigint`)
  const purposes = `(g.purposes is null or ${purpose}::text = any(g.purposes))`
  // `offset 0`: asked for one patient at a time, whatever the planner believes of their number.
  const opening = (which: string, { type, tokens }: Asked): string =>
    `select g.patient from consent_grant g where ${which} and (g.types is null or ${type} = any(g.types)) and ${purposes}
        and (g.codes is null or g.codes && ${tokens})
        and (g.except_codes is null or not g.except_codes && ${tokens}) offset 0`
  return {
    open: (patient, asked) => opening(`${now} and g.patient = ${patient}`, asked),
    // `+ 0`: found by the patients, who are few; an organisation can have any number of grants.
    openAmong: (patients, asked) =>
      opening(`${isNow(`${organization}::bigint`, 'g.organization + 0')} and g.patient = any(${patients})`, asked),
    whole: (patient, types, bind) =>
      `exists (select 1 from consent_grant g where ${now} and g.patient = ${patient} and ${purposes}
        and g.codes is null and g.except_codes is null
        and (g.types is null or g.types @> ${bind(int2Array(types))}::smallint[]))`,
    partial: patient =>
      `exists (select 1 from consent_grant g where ${now} and g.patient = ${patient} and ${purposes}
        and (g.codes is not null or g.except_codes is not null or g.types is not null))`,
  }
}

/**
 * Returns the condition that a consent opens something of the patient to the organisation, for any purpose. Both are
 * hashes.
 */
export const anyGrant = (organization: string, patient: string): string =>
  `exists (select 1 from consent_grant g where ${isNow(organization)} and g.patient = ${patient} offset 0)`

/** The same of a column `subject`, and maybe for others: for those whose bit is set, and those whose grants the sketch may lack. */
function likelyGranted(organization: string, subject: string, sketch: Sketch | undefined, bind: Bind): string[] {
  if (!sketch?.field) return [`${subject} in (${noPatient}, ${several})`, anyGrant(organization, subject)]
  const { bits, since } = sketch.field
  return [
    // Not `= 1`: of that, the planner expects one row in two hundred, and of this, one in three.
    `get_bit(${bind(bits)}::bytea, ${subject} & ${sketchBits - 1}) > 0`,
    `${subject} = any(array(select g.patient from consent_grant g
      where g.organization = ${organization} and g.added >= ${bind(since)}::xid8))`,
  ]
}

/**
 * What a statement sees that a former one did not was added by a transaction that had not ended then: those from `since` on. Whatever
 * their time, grants count: a sketch lasts longer than a moment.
 */
const sketched = (organization: string, author: string): string =>
  `select now.since::text, found.count > ${most.grants} as is_many,
      found.count <= ${most.grants} and ${wroteAtMost(author, most.own)} as is_little,
      ${writtenMuch(author, most.own)} as much,
      case when found.count <= ${most.sketched} and (select count(*) from (
        select 1 from consent_grant g where g.organization = ${organization} and g.added >= now.since limit ${most.unsettled + 1}) late
      ) <= ${most.unsettled} then coalesce(found.marks, '{}') end as marks
    from (select pg_snapshot_xmin(pg_current_snapshot()) as since) now, (
      select count(*), array_agg((g.patient & ${sketchBits - 1})::integer) as marks from (
        select g.patient from consent_grant g where g.organization = ${organization} limit ${most.sketched + 1}) g) found`

const isNow = (organization: string, column = 'g.organization'): string =>
  `${column} = ${organization} and g.starts_at <= statement_timestamp() and g.ends_at > statement_timestamp()`

/**
 * `grants`, `own`: most grants, and most resources written by the client itself, that a search is narrowed to. `sketched`: most grants
 * of a sketch, which then has a quarter of its bits set; `unsettled`: most of them that it lacks from the beginning.
 */
const most = { grants: 200, own: 500, sketched: sketchBits / 4, unsettled: 1000 }

/** What is looked through is counted first, in the order of an index: an organisation with very many grants is soon passed. */
function reach(organization: string, author: string, opened: string, types: string): string {
  const first = `order by g.patient limit ${most.grants + 1}`
  const patients = `array(select g.patient from consent_grant g where ${isNow(organization)} ${first})`
  return `select found.patients, found.own from (
      select (${patients} || ${opened})::text as patients, ${keysWrittenBy(author, types, most.own)}::text as own
      where (select count(*) from (select 1 from consent_grant g where g.organization = ${organization} ${first}) counted) <= ${most.grants} offset 0
    ) found where found.own is not null`
}
