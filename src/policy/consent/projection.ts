// The table consent_grant: worked out from all consents of a patient, in the transaction that changes one of them, so that
// what a revocation takes away is gone with the next statement that reads.
import { int8Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { hash64 } from '../../lib/hash.ts'
import { type JsonObject, parseJson } from '../../lib/json.ts'
import type { Projected, Projection } from '../../store/projection.ts'
import { typeNumber } from '../../store/type-number.ts'
import { postingsOf } from './codes.ts'
import { type Grant, grantsOf } from './grants.ts'
import { rulesOf } from './rules.ts'

/** @param base address of this server's FHIR endpoint; @param now in whose light periods are read */
export function consentProjection(base: string, now: () => Date): Projection {
  return {
    types: new Set(['Consent']),
    async apply(on, changes) {
      const patients = await lockPatients(on, changes)
      if (patients.length === 0) return
      const consents = await consentsOf(on, patients)
      await replace(on, patients, consents, base, now().getTime())
    },
  }
}

/**
 * Hashes of the patients whom the consents are about, or were about before; nobody else works out their grants until this
 * transaction ends, and whoever comes next finds the consents of this one.
 */
async function lockPatients(on: Queryable, changes: readonly Projected[]): Promise<string[]> {
  const rows = await on.query<{ patient: string }>({
    name: 'consent-lock',
    text: `select patient::text, pg_advisory_xact_lock(patient) from (
        select patient from (
          select s.patient from search s where s.self = any($1::bigint[])
          union
          select h.subject from history h where h.type = ${typeNumber('Consent')} and h.id = any($2::text[])
        ) concerned where patient is not null and patient not in (0, 1) order by patient
      ) patients`,
    values: [int8Array(changes.map(({ id }) => hash64(`Consent/${id}`))), textArray(changes.map(({ id }) => id))],
  })
  return rows.map(row => row.patient)
}

interface Found {
  readonly patient: string
  readonly body: string
}

const consentsOf = (on: Queryable, patients: readonly string[]): Promise<Found[]> =>
  on.query<Found>({
    name: 'consents-of',
    text: `select s.patient::text, r.body from search s join resource r using (key)
      where s.patient = any($1::bigint[]) and s.type = ${typeNumber('Consent')}`,
    values: [int8Array(patients.map(BigInt))],
  })

async function replace(
  on: Queryable,
  patients: readonly string[],
  consents: readonly Found[],
  base: string,
  now: number,
): Promise<void> {
  const byPatient = Map.groupBy(consents, ({ patient }) => patient)
  const rows = [...byPatient].flatMap(([patient, found]) => {
    const rules = found.flatMap(({ body }) => rulesOf(parseJson(body) as JsonObject, base))
    return grantsOf(rules, now).map(grant => rowOf(patient, grant))
  })
  await on.run({
    name: 'consent-clear',
    text: 'delete from consent_grant where patient = any($1::bigint[])',
    values: [int8Array(patients.map(BigInt))],
  })
  if (rows.length > 0) await on.run({ name: 'consent-grants', text: insertText, values: [JSON.stringify(rows)] })
}

// As JSON, since arrays of unequal length cannot be nested; hashes as texts, since they are longer than a double holds.
const insertText = `insert into consent_grant
  select patient, organization, starts_at, ends_at, types, codes, except_codes, purposes, consent
  from json_to_recordset($1) as given(patient bigint, organization bigint, starts_at timestamptz, ends_at timestamptz,
    types smallint[], codes bigint[], except_codes bigint[], purposes text[], consent text)`

function rowOf(patient: string, { organization, from, until, types, codes, except, purposes, consent }: Grant) {
  const hashes = (list: readonly bigint[]): string[] => list.map(String)
  return {
    patient,
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
  if (Number.isFinite(time)) return new Date(time).toISOString()
  return time < 0 ? '-infinity' : 'infinity'
}
