// Counts how many people are registered, and how many of them have a name: exactly where they are few, estimated from a
// sample where they are many. No counter is kept when people are written, so writers never wait for each other.

import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import type { Population } from '../matching/decide.ts'
import type { ShareOf } from '../matching/score.ts'
import type { Matching } from '../matching/weights.ts'
import { type NameField, namePosting } from './postings.ts'

/** Above this many, the number of people is an estimate (3 % off, mostly), and so is that of people with a name (6 %). */
const MOST_PEOPLE = 1024
const MOST_BEARERS = 256

/** How long an estimate is kept. In milliseconds. */
const LIFE = 60_000
const MOST_REMEMBERED = 20_000

/** A name of its own has at least this many people: fewer may be slips of the pen. */
const FEW = 3

/** Words of names by field. */
export type Words = Readonly<Record<NameField, ReadonlySet<string>>>

export interface Counts {
  /** Returns how many people are registered. */
  people(on: Queryable): Promise<number>
  /** Returns the registered population, and how common the words are. */
  population(on: Queryable, words: Words, matching: Matching): Promise<Population>
}

interface Sample {
  readonly count: number
  /** The highest hash among those counted. */
  readonly last: number
}

interface Estimate {
  readonly count: number
  readonly until: number
}

/** Caches estimates for a minute; small numbers are counted every time. */
export function createCounts(now: () => number = Date.now): Counts {
  let people: Estimate | undefined
  const common = new Map<bigint, Estimate>()
  const known = (posting: bigint): number | undefined => {
    const estimate = common.get(posting)
    return estimate && estimate.until > now() ? estimate.count : undefined
  }
  const countPeople = async (on: Queryable): Promise<number> => {
    if (people && people.until > now()) return people.count
    const [sample] = await on.query<Sample>({
      name: 'register-people',
      isFixed: true,
      text: `select count(*)::integer as count, max(self)::double precision as last
        from (select self from person order by self limit ${MOST_PEOPLE}) first`,
      values: [],
    })
    people = { count: estimated(sample!, MOST_PEOPLE), until: now() + LIFE }
    return people.count
  }
  const countBearers = async (on: Queryable, postings: readonly bigint[]): Promise<Map<bigint, number>> => {
    const counts = new Map<bigint, number>()
    const unknown = postings.filter(posting => {
      const count = known(posting)
      if (count !== undefined) counts.set(posting, count)
      return count === undefined
    })
    if (unknown.length === 0) return counts
    for (const { ord, ...sample } of await bearers(on, unknown)) {
      const posting = unknown[ord - 1]!
      counts.set(posting, estimated(sample, MOST_BEARERS))
      if (sample.count < MOST_BEARERS) continue
      if (common.size >= MOST_REMEMBERED) common.clear()
      common.set(posting, { count: estimated(sample, MOST_BEARERS), until: now() + LIFE })
    }
    return counts
  }
  return {
    people: countPeople,
    async population(on, words, matching) {
      const postings = postingsBy(words)
      const [total, counts] = await Promise.all([countPeople(on), countBearers(on, [...postings.values()])])
      const countOf = (field: NameField, word: string): number | undefined => {
        const posting = postings.get(`${field} ${word}`)
        return posting === undefined ? undefined : counts.get(posting)
      }
      return { people: total, shareOf: sharesBy(countOf, total, matching) }
    },
  }
}

/** The posting of each word, by field and word. */
function postingsBy(words: Words): Map<string, bigint> {
  const fields = ['given', 'family'] as const
  return new Map(
    fields.flatMap(field => [...words[field]].map(word => [`${field} ${word}`, namePosting(field, word)] as const)),
  )
}

function bearers(on: Queryable, postings: readonly bigint[]): Promise<(Sample & { ord: number })[]> {
  return on.query({
    name: 'register-bearers',
    isFixed: true,
    text: `select ord::integer, n.count, n.last from unnest($1::bigint[]) with ordinality as w(posting, ord) cross join lateral (
        select count(*)::integer as count, max(self)::double precision as last from (
          select self from person_posting p where p.posting = w.posting order by self limit ${MOST_BEARERS}) first
      ) n where n.count > 0`,
    values: [int8Array(postings)],
  })
}

/**
 * Estimates a number of which the first `most`, in order of hashes, are a sample. Hashes are spread evenly over 64
 * bits, so the sample's share of their range is its share of the whole.
 */
function estimated({ count, last }: Sample, most: number): number {
  if (count < most) return count
  return Math.round((most - 1) / ((last + 2 ** 63) / 2 ** 64))
}

/** A small register says little about a country, and one or two people do not make a name of its own. */
function sharesBy(
  countOf: (field: NameField, word: string) => number | undefined,
  people: number,
  matching: Matching,
): ShareOf {
  const total = Math.max(people, matching.smallestPopulation)
  return (field, word) => {
    const count = countOf(field, word)
    if (count === undefined) return undefined
    const share = count / total
    return count >= FEW || share < matching.ownNameShare ? share : undefined
  }
}
