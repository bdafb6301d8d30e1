// The table consent_grant: computed from all consents of a patient in the transaction that changes one of them, so a
// revocation applies from the next statement on.

import { int8Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { endOfYears } from '../../lib/day.ts'
import { hash64 } from '../../lib/hash.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import type { Projected, Projection } from '../../store/projection.ts'
import { aboutPatient, allVersions, lastVersionsOf } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'
import { objects } from '../../store/values.ts'
import { mustBeFew } from './bounded.ts'
import { postingsOf } from './codes.ts'
import { type Grant, grantsOf } from './grants.ts'
import { guardRules } from './guard.ts'
import { rulesOf } from './rules.ts'

/** Returns, for each patient (ids), all patients that are the same person, itself first. */
export type MergedWith = (on: Queryable, patients: readonly string[]) => Promise<Persons>

export interface ConsentProjectionParts {
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  readonly mergedWith: MergedWith
  /** The clock by which periods are read. */
  readonly now: () => Date
}

export function consentProjection({ base, mergedWith, now }: ConsentProjectionParts): Projection {
  const follow = async (on: Queryable, changes: readonly Projected[]): Promise<void> => {
    const mattering = changes.filter(each => each.type === 'Consent' || mayBeMerged(each))
    if (mattering.length === 0) return
    const named = await concerned(on, mattering)
    if (named.length === 0) return
    const persons = await alone(on, named, mergedWith)
    await replace(on, persons, await consentsOf(on, [...persons.keys()]), base, now().getTime())
  }
  return {
    types: new Set(['Consent', 'Patient']),
    anew: follow,
    shared: new Set(['Patient']),
    async apply(on, changes, writer) {
      const written = changes.filter(({ type }) => type === 'Consent')
      const same = async (id: string) => (await mergedWith(on, [id])).get(id)!
      if (written.length > 0) {
        await guardRules(on, written, writer, { base, now, same })
        await mustBeFew(on, written, writer, base)
      }
      await follow(on, changes)
    },
  }
}

/** Patients, each with all patients that are the same person. */
type Persons = ReadonlyMap<string, readonly string[]>

const patientHash = (id: string): bigint => hash64(`Patient/${id}`)

const patientReference = 'Patient/([A-Za-z0-9.-]{1,64})'
/** Finds the id whatever the reference begins with, as merges do: those that are locked must not be fewer than those that are merged. */
const referredPatient = new RegExp(`.*${patientReference}`)

/** The patient that a Consent names, whether stored or not: grants of a deleted record are revoked as well. */
const named = `substring(c.body::json #>> '{patient,reference}' from '.*${patientReference}')`

/**
 * Returns the ids of the patients that consents are about or were about before, and of those whose merge begins or
 * ends: also where a refusal left neither of them a permission. A merge has a link on each of two Patients, and both
 * can be written at the same moment: each change concerns both, so that the later one sees the earlier.
 */
async function concerned(on: Queryable, changes: readonly Projected[]): Promise<string[]> {
  const rows = await on.query<{ id: string }>({
    name: 'consent-concerned',
    text: `with linked(id, body) as materialized (
        select former.id, former.body
        from ${lastVersionsOf(`(select ${typeNumber('Patient')}::smallint as type, id from unnest($1::text[]) as given(id))`, 'h.body is not null')} former
        where former.body like '%"replace%'
      )
      select ${named} as id from ${allVersions} c
      where c.type = ${typeNumber('Consent')} and c.id = any($1::text[]) and ${named} is not null
      union
      select id from linked
      union
      select (regexp_matches(body, '${patientReference}', 'g'))[1] from linked
      union
      select unnest($2::text[])`,
    values: [textArray(changes.map(({ id }) => id)), textArray(changes.flatMap(linkedNow))],
  })
  return rows.map(({ id }) => id)
}

const linksIn = ({ resource }: Projected): JsonObject[] =>
  objects(resource?.['link']).filter(({ type }) => type === 'replaces' || type === 'replaced-by')

/** The ids of a Patient that is merged by its own words, and of those that it names. */
function linkedNow(change: Projected): string[] {
  const links = linksIn(change)
  const others = links.flatMap(({ other }) =>
    isObject(other) ? (referredPatient.exec(String(other['reference']))?.[1] ?? []) : [],
  )
  return links.length > 0 ? [change.id, ...others] : []
}

/** A patient that was just created without a link is not merged with any other. */
function mayBeMerged(change: Projected): boolean {
  const meta = change.resource?.['meta'] as { versionId?: string } | undefined
  return linksIn(change).length > 0 || meta?.versionId !== '1'
}

/**
 * Locks these patients and all that are the same person, and returns them. A merge that commits while it waits for the
 * locks is found by asking again with the locks held.
 */
async function alone(on: Queryable, named: readonly string[], mergedWith: MergedWith): Promise<Persons> {
  const locked = new Set<string>()
  for (;;) {
    const groups = await mergedWith(on, named)
    const others = [...groups.values()].flatMap(group => group.map(each => [each, group] as const))
    const persons = new Map([...others, ...groups])
    const missing = [...persons.keys()].filter(each => !locked.has(each))
    if (missing.length === 0) return persons
    await lock(on, missing)
    for (const each of missing) locked.add(each)
  }
}

/** No other transaction computes these grants until this one ends, and the next one sees the consents of this one. */
async function lock(on: Queryable, patients: readonly string[]): Promise<void> {
  await on.query({
    name: 'consent-lock',
    text: 'select pg_advisory_xact_lock(patient) from (select unnest($1::bigint[]) as patient order by 1) patients',
    values: [int8Array(patients.map(patientHash))],
  })
}

interface Found {
  readonly patient: string
  readonly author: string
  readonly body: string
}

async function consentsOf(on: Queryable, patients: readonly string[]): Promise<Found[]> {
  const rows = await on.query<{ ord: number; author: string; body: string }>({
    name: 'consents-of',
    text: `select ord, coalesce(w.party, c.author)::text as author, c.body from unnest($1::bigint[]) with ordinality as given(patient, ord)
      join ${aboutPatient} c on c.patient = given.patient and c.type = ${typeNumber('Consent')}
      left join consent_recorder w on w.consent = c.id`,
    values: [int8Array(patients.map(patientHash))],
  })
  return rows.map(({ ord, ...found }) => ({ patient: patients[ord - 1]!, ...found }))
}

async function replace(
  on: Queryable,
  persons: Persons,
  consents: readonly Found[],
  base: Base,
  now: number,
): Promise<void> {
  const byPatient = Map.groupBy(consents, ({ patient }) => patient)
  const rulesIn = ({ author, body }: Found) =>
    rulesOf(parseJson(body) as JsonObject, base).map(rule => ({ ...rule, author }))
  const rows = [...persons].flatMap(([patient, same]) => {
    const found = same.flatMap(each => byPatient.get(each) ?? [])
    return grantsOf(found.flatMap(rulesIn), now).map(grant => rowOf(patient, grant))
  })
  await on.run({
    name: 'consent-grants',
    text: replaceText,
    values: [int8Array([...persons.keys()].map(patientHash)), JSON.stringify(rows)],
  })
}

const said = 'patient, organization, types, codes, except_codes, purposes'

// As JSON, since arrays of unequal length cannot be nested; hashes as texts, since they are longer than a double holds.
const replaceText = `with gone as (
    delete from consent_grant where patient = any($1::bigint[]) returning ${said}, starts_at, ends_at
  ), fresh as (
    insert into consent_grant
    select patient, organization, starts_at, ends_at, types, codes, except_codes, purposes, consent
    from json_to_recordset($2) as given(patient bigint, organization bigint, starts_at timestamptz, ends_at timestamptz,
      types smallint[], codes bigint[], except_codes bigint[], purposes text[], consent text)
    returning ${said}, starts_at, ends_at
  ), narrowed as (
    select organization, max(clock_timestamp()) as at from gone where not exists (
      select 1 from fresh where (${said.replaceAll(/\w+/g, 'fresh.$&')}) is not distinct from (${said.replaceAll(/\w+/g, 'gone.$&')})
        and fresh.starts_at <= gone.starts_at and fresh.ends_at >= gone.ends_at)
    group by organization
  )
  insert into consent_narrowed select organization, at from narrowed order by organization
  on conflict (organization) do update set at = excluded.at`

function rowOf(patient: string, { organization, from, until, types, codes, except, purposes, consent }: Grant) {
  const hashes = (list: readonly bigint[]): string[] => list.map(String)
  return {
    patient: String(patientHash(patient)),
    organization: String(hash64(organization)),
    starts_at: moment(from),
    ends_at: moment(until),
    types: types?.map(typeNumber),
    codes: codes && hashes(postingsOf(codes, types)),
    except_codes: except.length > 0 ? hashes(postingsOf(except, types)) : undefined,
    purposes,
    consent,
  }
}

function moment(time: number): string {
  if (time >= endOfYears) return 'infinity'
  return Number.isFinite(time) ? new Date(time).toISOString() : '-infinity'
}
