// Assigned Health IDs and their patients; merged patients lead to those that replace them.

import { textArray } from '../../db/arrays.ts'
import { lookUp, type Placed, questionOf } from '../../db/look-up.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { mint, neighbour, parse } from '../../lib/health-id.ts'
import { currentVersions } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'

/** The patient that holds a Health ID now. */
export interface Holder {
  /** Id of the Patient. */
  readonly patient: string
  /**
   * The current Health ID of this patient: the requested one, if it is one of its own, or if the patient lost it and
   * has no other. Undefined if it has none.
   */
  readonly current: string | undefined
  /** True if other records may be the same person: see merged.ts. */
  readonly isMerged: boolean
}

/** A chain of merged patients is followed this far. */
const MOST_MERGED = 32

/** A patient on the way from one that has or had a Health ID to the one that replaces it last. */
interface Link {
  /** The patient that it begins with. */
  readonly first: string
  /** Whether that one has the Health ID now. */
  readonly is_current: boolean
  readonly patient: string
  readonly current: string | null
  readonly is_replaced: boolean
  readonly is_stored: boolean
  readonly replaces: boolean
}

/**
 * Returns the holder of a Health ID, also of a former one: the patient that has it, or the one that replaces that
 * patient. A circle of merged patients leads nowhere, so it is not followed. Returns undefined if no stored patient
 * holds it.
 * @param healthId in canonical form
 */
export async function holderOf(on: Queryable, healthId: string): Promise<Holder | undefined> {
  const chains = await chainsOf(on, healthId)
  // The patient that has the Health ID comes first; otherwise any that is stored.
  const chain = chains.find(([first]) => first!.is_current || first!.is_stored) ?? chains[0]
  const last = chain?.at(-1)
  const found = last?.is_replaced ? chain![0] : last
  if (!found?.is_stored) return undefined
  const { patient, current, replaces, is_replaced: isReplaced } = found
  // No other patient holds what this one has lost, or that one would have been found.
  const isOwn = found === chain![0] && !isReplaced
  return { patient, current: current ?? (isOwn ? healthId : undefined), isMerged: replaces || isReplaced }
}

/** The chains of a Health ID, one after the other. */
interface Chains extends Placed {
  readonly links: readonly Link[]
}

/** What is asked about Health IDs: the walk is done before FHIR tables are read (docs/decisions/0092-portable-statements.md). */
const askedChains = questionOf({
  name: 'health-id-holder',
  text: `with walked as materialized (
      with recursive chain(place, value, first, is_current, patient, hops) as (
        select asked.place, h.value, h.patient, h.is_current, h.patient, 0
        from unnest($2::text[]) with ordinality as asked(value, place) join health_id h using (value)
        union all
        select c.place, c.value, c.first, c.is_current, l.by_patient, hops + 1 from chain c join patient_replaced l using (patient)
        where hops < ${MOST_MERGED}
      )
      select c.*,
        (select h.value from health_id h where h.patient = c.patient and h.is_current order by h.value = c.value desc, h.value limit 1) as current,
        exists (select from patient_replaced l where l.patient = c.patient) as is_replaced,
        exists (select from patient_replaced l where l.by_patient = c.patient) as replaces
      from chain c
    ), stored as materialized (
      select array_agg(r.id) as ids from walked join ${currentVersions} r on r.type = $1 and r.id = walked.patient
    )
    select place::integer, json_agg(json_build_object('first', first, 'is_current', is_current, 'patient', patient, 'current', current,
      'is_replaced', is_replaced, 'replaces', replaces, 'is_stored', coalesce(patient = any(stored.ids), false)
    ) order by is_current desc, first, hops) as links
    from walked, stored group by place`,
  constants: [typeNumber('Patient')],
  arrays: [textArray],
})

/** Returns the chains of patients that begin with those that have or had a Health ID; the one that has it comes first. */
async function chainsOf(on: Queryable, healthId: string): Promise<Link[][]> {
  const found = await lookUp<Chains>(on, { question: askedChains, key: [healthId] })
  return [...Map.groupBy(found?.links ?? [], ({ first }) => first).values()]
}

/** Returns the ids of the patients that hold those of the texts that are Health IDs, as `holderOf` finds them. */
export async function holdersAmong(on: Queryable, texts: readonly string[]): Promise<string[]> {
  const readings = texts.map(parse).flatMap(reading => ('healthId' in reading ? [reading.healthId] : []))
  const holders = await Promise.all([...new Set(readings)].map(healthId => holderOf(on, healthId)))
  return [...new Set(holders.flatMap(holder => holder?.patient ?? []))]
}

/** Returns the ids of a patient and of all patients that it replaces, transitively. */
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

/** Returns the id of the patient that replaces a patient last, or its own; circles of merged patients end anywhere. */
export async function survivorOf(on: Queryable, patient: string): Promise<string> {
  const [last] = await on.query<{ holder: string }>({
    name: 'merged-survivor',
    text: `with recursive chain(holder, hops) as (
        select $1::text collate "C", 0
        union all
        select l.by_patient, hops + 1 from chain c join patient_replaced l on l.patient = c.holder where hops < ${MOST_MERGED}
      )
      select holder from chain order by hops desc limit 1`,
    values: [patient],
  })
  return last!.holder
}

/** Returns the Health IDs that a patient had and that no patient holds now. @param patient id of a Patient */
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

/** Returns a new Health ID that no patient has had. @param minted makes one */
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
 * Reads a Health ID as entered, and returns it in canonical form.
 * @throws Failure INVALID_HEALTH_ID, with a suggestion only if that one is registered; a suggestion is never acted
 * upon.
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

/** Returns the current Health IDs of patients, by their ids; for merged patients, that of the patient that replaces them. */
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
