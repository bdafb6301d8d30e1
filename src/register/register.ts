// The register of people: who is registered that somebody could be, and how sure that is (decisions §2 by src/matching).

import { int8Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { blockingKeys } from '../matching/blocking.ts'
import { type Candidate, type Decision, decide } from '../matching/decide.ts'
import type { Features } from '../matching/person.ts'
import type { Matching } from '../matching/weights.ts'
import { createCounts, type Words } from './counts.ts'
import type { OwnNumber } from './patient.ts'
import { lockKeys, numberPosting } from './postings.ts'

/** What is known of the candidates beside the decision. */
export interface Verdict {
  readonly decision: Decision
  /** Current Health IDs of the candidates who have one. */
  readonly healthIds: ReadonlyMap<string, string>
  /** Ids of those who have the number that was asked for. */
  readonly numbered: ReadonlySet<string>
}

export interface Register {
  /** Compares somebody with all who are registered and share a blocking key, or have the number. */
  find(on: Queryable, person: Features, number?: OwnNumber): Promise<Verdict>
  /** Until the transaction ends nobody else registers anyone who could be the same person. */
  lock(on: Queryable, person: Features, number?: OwnNumber): Promise<void>
}

/** Of one key so many people are looked at, and of all keys so many are compared: those who share most. */
const MOST_BY_KEY = 500
const MOST_COMPARED = 100

interface Row {
  readonly patient: string
  readonly health_id: string | null
  readonly features: string
  readonly is_numbered: boolean
}

/** @param matching the weights as they are at the moment */
export function createRegister(matching: () => Matching): Register {
  const counts = createCounts()
  return {
    async find(on, person, number) {
      const rows = await candidates(on, person, number)
      const compared: Candidate[] = rows.map(({ patient, features }) => ({
        id: patient,
        features: JSON.parse(features) as Features,
      }))
      const weights = matching()
      const population =
        compared.length === 0 ? { people: 0 } : await counts.population(on, wordsOf(person, compared), weights)
      return {
        decision: decide(person, compared, weights, population),
        healthIds: new Map(rows.flatMap(({ patient, health_id: id }) => (id === null ? [] : [[patient, id] as const]))),
        numbered: new Set(rows.filter(row => row.is_numbered).map(({ patient }) => patient)),
      }
    },
    async lock(on, person, number) {
      await on.query({
        name: 'register-lock',
        text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
        values: [int8Array(lockKeys(person, number))],
      })
    },
  }
}

function candidates(on: Queryable, person: Features, number: OwnNumber | undefined): Promise<Row[]> {
  return on.query<Row>({
    name: 'register-candidates',
    isFixed: true,
    text: `with shared as (
        select s.self, count(*) as keys, bool_or(k.ord = $2) as is_numbered
        from unnest($1::bigint[]) with ordinality as k(posting, ord) cross join lateral (
          select p.self from person_posting p where p.posting = k.posting limit ${MOST_BY_KEY}) s
        group by s.self order by is_numbered desc, keys desc limit ${MOST_COMPARED}
      )
      select p.patient, p.health_id, p.features, s.is_numbered from shared s join person p using (self)`,
    values: [int8Array([...(number ? [numberPosting(number)] : []), ...blockingKeys(person)]), number ? 1 : 0],
  })
}

/** The words whose counts a decision may ask for: a given name may stand where the family name belongs. */
function wordsOf(person: Features, candidates: readonly Candidate[]): Words {
  const all = [person, ...candidates.map(({ features }) => features)]
  const given = new Set(all.flatMap(({ names }) => names.flatMap(name => [...name.given, ...name.family])))
  const family = new Set(person.names.flatMap(name => [...name.given, ...name.family]))
  return { given, family }
}
