// The register of people: which registered people a person could be, and how sure that is (decisions §2 by
// src/mpi/matching).

import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import type { JsonObject } from '../../lib/json.ts'
import { selfHash } from '../../store/index/postings.ts'
import { blockingKeys } from '../matching/blocking.ts'
import { type Candidate, type Decision, decide } from '../matching/decide.ts'
import { type Features, nobody } from '../matching/person.ts'
import { type Score, score } from '../matching/score.ts'
import { isNoNumber } from '../matching/stand-ins.ts'
import type { Matching } from '../matching/weights.ts'
import { createCounts, type Words } from './counts.ts'
import { withoutStandIns } from './known.ts'
import type { OwnNumber } from './patient.ts'
import { lockKeys, numberPosting } from './postings.ts'

/** What is known of the candidates beside the decision. */
export interface MatchVerdict {
  readonly decision: Decision
  /** Current Health IDs of the candidates that have one. */
  readonly healthIds: ReadonlyMap<string, string>
  /** Ids of the candidates that have the requested number. */
  readonly numbered: ReadonlySet<string>
}

export interface Register {
  /** False for a number that states that there is none (`N/A`): nobody is found by it. */
  isReal(number: OwnNumber): boolean
  /**
   * Decides whether a person is registered: compares with all who share a blocking key, or have the number. The other
   * candidates are exact where it is no match.
   */
  find(on: Queryable, person: Features, number?: OwnNumber): Promise<MatchVerdict>
  /** Returns the ids of the patients that have a number. */
  numbered(on: Queryable, number: OwnNumber): Promise<ReadonlySet<string>>
  /** Returns how a person compares with a registered patient, however common the names are; undefined if the patient is not registered. */
  compare(on: Queryable, person: Features, patient: string): Promise<Score | undefined>
  /** Returns the demographics that are sent, without stand-ins in place of which something better is stored. */
  known(sent: JsonObject, stored: JsonObject): JsonObject
  /** Returns all registered people that the person could be, exactly. */
  rank(on: Queryable, person: Features): Promise<Decision>
  /**
   * Until the transaction ends, no other one registers anyone who could be the same person; statements after the lock
   * see what other transactions committed before. The caller need not wait for the answer.
   */
  lock(on: Queryable, person: Features, number?: OwnNumber): Promise<void>
}

/** This many people are looked at per key, and this many are compared over all keys: the people who share most. */
const MOST_BY_KEY = 500
const MOST_COMPARED = 100

interface Row {
  readonly patient: string
  readonly health_id: string | null
  readonly features: string
  readonly is_numbered: boolean
}

/** The decision where no registered person is similar. */
const newPerson: Decision = { outcome: 'new', ranked: [], possible: 0 }

/** @param matching the weights as they are at the moment */
export function createRegister(matching: () => Matching): Register {
  const counts = createCounts()
  const counted = async (on: Queryable, person: Features, compared: readonly Candidate[], weights: Matching) =>
    decide(person, compared, weights, await counts.population(on, wordsOf(person, compared), weights))
  const decided = async (on: Queryable, person: Features, compared: readonly Candidate[]): Promise<Decision> => {
    if (compared.length === 0) return newPerson
    const weights = matching()
    return surely(person, compared, weights, await counts.people(on)) ?? counted(on, person, compared, weights)
  }
  return {
    isReal: ({ value }) => !isNoNumber(value, matching().standIns),
    async find(on, person, number) {
      const rows = await candidates(on, person, number)
      return {
        decision: await decided(on, person, rows.map(candidateOf)),
        healthIds: new Map(rows.flatMap(({ patient, health_id: id }) => (id === null ? [] : [[patient, id] as const]))),
        numbered: new Set(rows.filter(row => row.is_numbered).map(({ patient }) => patient)),
      }
    },
    async numbered(on, number) {
      const rows = await candidates(on, nobody, number)
      return new Set(rows.map(({ patient }) => patient))
    },
    async compare(on, person, patient) {
      const text = 'select features from person where self = $1'
      const [row] = await on.query<Pick<Row, 'features'>>({ text, values: [selfHash('Patient', patient)] })
      return row && score(person, JSON.parse(row.features) as Features, matching())
    },
    known: (sent, stored) => withoutStandIns(sent, stored, matching().standIns),
    async rank(on, person) {
      const compared = (await candidates(on, person, undefined)).map(candidateOf)
      return counted(on, person, compared, matching())
    },
    async lock(on, person, number) {
      await on.run({
        name: 'register-lock',
        text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
        values: [int8Array(lockKeys(person, number))],
      })
    },
  }
}

const candidateOf = ({ patient, features }: Row): Candidate => ({
  id: patient,
  features: JSON.parse(features) as Features,
})

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

/**
 * Returns a decision that is sure however common the names are, so that they need not be counted: it is a match even if
 * all people had the names, and no other candidate comes near it even if no other person had them.
 */
function surely(
  person: Features,
  compared: readonly Candidate[],
  weights: Matching,
  people: number,
): Decision | undefined {
  const common = decide(person, compared, weights, { people, shareOf: () => 1 })
  if (common.outcome !== 'match') return undefined
  const rare = decide(person, compared, weights, { people, shareOf: () => Number.MIN_VALUE })
  const least = common.ranked[0]!.score.bits
  const isAlone = rare.ranked.every(({ id, score }) => id === common.id || score.bits + weights.leadBits < least)
  return isAlone ? common : undefined
}

/** The words whose counts a decision may ask for: a given name may stand where the family name belongs. */
function wordsOf(person: Features, candidates: readonly Candidate[]): Words {
  const all = [person, ...candidates.map(({ features }) => features)]
  const given = new Set(all.flatMap(({ names }) => names.flatMap(name => [...name.given, ...name.family])))
  const family = new Set(person.names.flatMap(name => [...name.given, ...name.family]))
  return { given, family }
}
