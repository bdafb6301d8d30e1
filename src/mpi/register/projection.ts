// The register of people follows every Patient that is written, by any author: two statements, however many Patients
// there are.

import { int4Array, int8Array, textArray } from '../../db/arrays.ts'
import type { Queryable, Statement } from '../../db/statement.ts'
import { isKeyTaken } from '../../db/taken.ts'
import { Failure } from '../../lib/failure.ts'
import type { JsonObject } from '../../lib/json.ts'
import { selfHash } from '../../store/index/postings.ts'
import type { Projected, Projection } from '../../store/projection.ts'
import { featuresOf } from '../matching/person.ts'
import {
  type Addresses,
  healthIdsOf,
  mustHoldHealthIds,
  mustNameFew,
  ownNumbersOf,
  personOf,
  replacementOf,
} from './patient.ts'
import { postingsOf } from './postings.ts'

/** The projection that keeps the register. */
export function createRegisterProjection(addresses: Addresses): Projection {
  const follow = async (on: Queryable, changes: readonly Projected[]): Promise<void> => {
    const stored = changes.flatMap(({ id, resource }) => (resource ? [entryOf(id, resource, addresses)] : []))
    const known = changes.filter(({ isFresh }) => !isFresh)
    if (known.length > 0) await on.run(forgetting(known, stored))
    if (stored.length > 0) await enter(on, entering(stored), stored)
  }
  const types = new Set(['Patient'])
  return { types, apply: follow, anew: follow, shared: types }
}

/** The entry of a patient in the register. */
interface Entry {
  readonly id: string
  readonly current: readonly string[]
  readonly former: readonly string[]
  readonly replacedBy: string | undefined
  /** Absent for patients that searches must not find. */
  readonly found: { readonly features: string; readonly postings: readonly bigint[] } | undefined
}

function entryOf(id: string, patient: JsonObject, addresses: Addresses): Entry {
  mustHoldHealthIds(patient, addresses)
  mustNameFew(patient)
  const replacedBy = replacementOf(patient, addresses)
  const isFound = replacedBy === undefined && patient['active'] !== false
  const features = isFound ? featuresOf(personOf(patient)) : undefined
  return {
    id,
    ...healthIdsOf(patient, addresses),
    replacedBy,
    found: features && {
      features: JSON.stringify(features),
      postings: postingsOf(features, ownNumbersOf(patient, addresses)),
    },
  }
}

/** Health IDs that a patient no longer has become former ones. A merged patient that is deleted stays merged. */
function forgetting(changes: readonly Projected[], stored: readonly Entry[]): Statement {
  const current = stored.flatMap(({ id, current: values }) => values.map(value => ({ id, value })))
  return {
    name: 'register-forget',
    text: `with former as (
        delete from person where self = any($1::bigint[]) returning self, postings
      ), postings as (
        delete from person_posting p using (select self, unnest(postings) as posting from former) f
        where p.posting = f.posting and p.self = f.self
      ), links as (
        delete from patient_replaced where patient = any($3::text[])
      )
      update health_id h set is_current = false
      where h.patient = any($2::text[]) and h.is_current
        and not exists (select from unnest($4::text[], $5::text[]) as kept(value, patient)
          where kept.value = h.value and kept.patient = h.patient)`,
    values: [
      int8Array(changes.map(({ id }) => selfHash('Patient', id))),
      textArray(changes.map(({ id }) => id)),
      textArray(stored.map(({ id }) => id)),
      textArray(current.map(({ value }) => value)),
      textArray(current.map(({ id }) => id)),
    ],
  }
}

function entering(stored: readonly Entry[]): Statement {
  const found = stored.filter(({ found }) => found !== undefined)
  const [firsts, lasts] = slicesOf(found.map(({ found }) => found!.postings.length))
  const ids = stored.flatMap(({ id, current, former }) => [
    ...current.map(value => ({ id, value, isCurrent: 1 })),
    ...former.map(value => ({ id, value, isCurrent: 0 })),
  ])
  const replaced = stored.filter(({ replacedBy }) => replacedBy !== undefined)
  return {
    name: 'register-enter',
    text: `with found as (
        select self, patient, health_id, features, ($6::bigint[])[first:last] as postings
        from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $12::integer[])
          as given(self, patient, health_id, features, first, last)
      ), people as (
        insert into person (self, patient, health_id, features, postings)
        select self, patient, nullif(health_id, ''), features, postings from found
      ), postings as (
        insert into person_posting (posting, self) select posting, self from found, unnest(postings) as posting
      ), links as (
        insert into patient_replaced (patient, by_patient) select * from unnest($10::text[], $11::text[])
      )
      insert into health_id (value, patient, is_current)
      select value, patient, is_current = 1 from unnest($7::text[], $8::text[], $9::integer[]) as given(value, patient, is_current)
      order by value
      on conflict (value, patient) do update set is_current = excluded.is_current
      where health_id.is_current <> excluded.is_current`,
    values: [
      int8Array(found.map(({ id }) => selfHash('Patient', id))),
      textArray(found.map(({ id }) => id)),
      textArray(found.map(({ current }) => current[0] ?? '')),
      textArray(found.map(({ found }) => found!.features)),
      int4Array(firsts),
      int8Array(found.flatMap(({ found }) => found!.postings)),
      textArray(ids.map(({ value }) => value)),
      textArray(ids.map(({ id }) => id)),
      int4Array(ids.map(({ isCurrent }) => isCurrent)),
      textArray(replaced.map(({ id }) => id)),
      textArray(replaced.map(({ replacedBy }) => replacedBy!)),
      int4Array(lasts),
    ],
  }
}

/** Where each of several lists begins and ends when they stand one behind the other, counted from 1. */
function slicesOf(lengths: readonly number[]): [number[], number[]] {
  const firsts: number[] = []
  const lasts: number[] = []
  let end = 0
  for (const length of lengths) {
    firsts.push(end + 1)
    lasts.push((end += length))
  }
  return [firsts, lasts]
}

/** @throws Failure CONFLICT if another patient holds one of the Health IDs. */
async function enter(on: Queryable, statement: Statement, stored: readonly Entry[]): Promise<void> {
  if (stored.every(({ current }) => current.length === 0)) return on.run(statement)
  try {
    await on.query(statement)
  } catch (error) {
    // A row with the same patient is updated, so only the index of current Health IDs refuses one.
    if (!isKeyTaken(error, 'health_id')) throw error
    throw new Failure(
      'CONFLICT',
      'Another Patient has this Health ID. A Health ID belongs to one person: if both are the same person, merge them (Patient/$merge).',
      { issue: 'duplicate', cause: error },
    )
  }
}
