// Health IDs that were given out, and to whom; merged patients lead to those who replace them.

import { textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { mint, neighbour, parse } from '../../lib/health-id.ts'
import { isStored } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'

/** Who answers for a Health ID now. */
export interface Holder {
  /** Id of the Patient. */
  readonly patient: string
  /**
   * The Health ID that this patient has now: the one that was asked for, if it is one of its own, or if the patient lost it and has
   * been given no other. Undefined if it has none.
   */
  readonly current: string | undefined
  /** True if others may be the same person: merged.ts knows. */
  readonly isMerged: boolean
}

/** A chain of merged patients is followed as far as this. */
const MOST_MERGED = 32

interface Link {
  readonly patient: string
  readonly current: string | null
  readonly is_replaced: boolean
  readonly is_stored: boolean
  readonly replaces: boolean
}

/**
 * Whose a Health ID is, a former one too: the patient who holds it, or whoever replaces that one. A circle of merged patients
 * leads nowhere, so it is not followed. Undefined if nobody who is stored answers for it.
 * @param healthId in canonical form
 */
export async function holderOf(on: Queryable, healthId: string): Promise<Holder | undefined> {
  const chain = await on.query<Link>({
    name: 'health-id-holder',
    isFixed: true,
    text: `with recursive chain(patient, hops) as (
        (select h.patient, 0 from health_id h where h.value = $1
          order by h.is_current desc, ${isStored('$2', 'h.patient')} desc limit 1)
        union all
        select l.by_patient, hops + 1 from chain join patient_replaced l using (patient) where hops < ${MOST_MERGED}
      )
      select c.patient,
        (select h.value from health_id h where h.patient = c.patient and h.is_current order by h.value = $1 desc, h.value limit 1) as current,
        exists (select from patient_replaced l where l.patient = c.patient) as is_replaced,
        ${isStored('$2', 'c.patient')} as is_stored,
        exists (select from patient_replaced l where l.by_patient = c.patient) as replaces
      from chain c order by c.hops`,
    values: [healthId, typeNumber('Patient')],
  })
  const last = chain.at(-1)
  const found = last?.is_replaced ? chain[0] : last
  if (!found?.is_stored) return undefined
  const { patient, current, replaces, is_replaced: isReplaced } = found
  // Nobody else holds what the patient has lost, or that one would have been found.
  const isOwn = found === chain[0] && !isReplaced
  return { patient, current: current ?? (isOwn ? healthId : undefined), isMerged: replaces || isReplaced }
}

/** Ids of the patients who answer for those of the texts that are Health IDs, as `holderOf` finds them. */
export async function holdersAmong(on: Queryable, texts: readonly string[]): Promise<string[]> {
  const readings = texts.map(parse).flatMap(reading => ('healthId' in reading ? [reading.healthId] : []))
  const holders = await Promise.all([...new Set(readings)].map(healthId => holderOf(on, healthId)))
  return [...new Set(holders.flatMap(holder => holder?.patient ?? []))]
}

/** Ids of a patient and of all whom it replaces, whatever was given to them under those. */
export async function mergedInto(on: Queryable, patient: string): Promise<string[]> {
  const rows = await on.query<{ patient: string }>({
    text: `with recursive merged(patient) as (
        select $1::text collate "C" union select l.patient from merged join patient_replaced l on l.by_patient = merged.patient
      )
      select patient from merged`,
    values: [patient],
  })
  return rows.map(row => row.patient)
}

/** The Health IDs that a patient had and nobody holds now. @param patient id of a Patient */
export async function lostHealthIds(on: Queryable, patient: string): Promise<string[]> {
  const rows = await on.query<{ value: string }>({
    name: 'health-ids-lost',
    text: `select h.value from health_id h where h.patient = $1
        and not exists (select from health_id held where held.value = h.value and held.is_current)
      order by h.value`,
    values: [patient],
  })
  return rows.map(row => row.value)
}

/** A new Health ID that nobody has had. @param minted makes one */
export async function freeHealthId(on: Queryable, country: string, minted = mint): Promise<string> {
  for (;;) {
    const healthId = minted(country)
    const taken = await on.query({
      name: 'health-id-taken',
      isFixed: true,
      text: 'select 1 from health_id where value = $1',
      values: [healthId],
    })
    if (taken.length === 0) return healthId
  }
}

/**
 * A Health ID as somebody wrote it, in canonical form.
 * @throws Failure INVALID_HEALTH_ID; with a suggestion only if that one is registered, and never acted upon.
 */
export async function readHealthId(on: Queryable, text: string, field: string): Promise<string> {
  const reading = parse(text)
  if ('healthId' in reading) return reading.healthId
  if (reading.fault === 'malformed')
    throw invalid(
      field,
      'A Health ID must have the form CC-XXXX-XXXX-XXXX: a country code and twelve letters or digits.',
    )
  const near = neighbour(reading.form)
  const suggestion = near !== undefined && (await holderOf(on, near)) ? near : undefined
  const message = 'The check symbols of this Health ID are wrong: compare it with the card.'
  throw invalid(field, message, suggestion)
}

function invalid(field: string, message: string, suggestion?: string): Failure {
  return new Failure('INVALID_HEALTH_ID', message, {
    details: [{ field, code: 'checksum', message }],
    ...(suggestion === undefined ? {} : { extra: { suggestion } }),
  })
}

/** The current Health IDs of patients, by their ids; of those who were merged that of whoever replaces them. */
export async function currentHealthIds(on: Queryable, patients: readonly string[]): Promise<Map<string, string>> {
  const rows = await on.query<{ patient: string; value: string }>({
    name: 'health-ids-current',
    isFixed: true,
    text: `with recursive chain(patient, holder, hops) as (
        select patient collate "C", patient collate "C", 0 from unnest($1::text[]) as patient
        union all
        select c.patient, l.by_patient, hops + 1 from chain c join patient_replaced l on l.patient = c.holder where hops < ${MOST_MERGED}
      )
      select distinct on (c.patient) c.patient, h.value from chain c join health_id h on h.patient = c.holder and h.is_current
      order by c.patient, c.hops desc, h.value`,
    values: [textArray(patients)],
  })
  return new Map(rows.map(({ patient, value }) => [patient, value]))
}
