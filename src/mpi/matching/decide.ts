// Decides whether a person is already registered: match, ambiguous, possible or new (decisions §2). Pure: the caller,
// which holds the locks of the blocking keys, fetches the candidates, calls this, and acts.

import type { Features } from './person.ts'
import { type Score, type ShareOf, score } from './score.ts'
import type { Matching } from './weights.ts'

/** A registered person who shares a blocking key. */
export interface Candidate {
  readonly id: string
  readonly features: Features
}

/** The population that is registered. */
export interface Population {
  readonly people: number
  /** Without it, twins with similar names (MARIA, MARIE) are taken for each other. */
  readonly shareOf?: ShareOf
}

/** https://hl7.org/fhir/R4/valueset-match-grade.html */
export type Grade = 'certain' | 'probable' | 'possible' | 'certainly-not'

export interface Ranked {
  readonly id: string
  readonly score: Score
  /** The probability that this is the person, other candidates aside: 0 to 1. */
  readonly probability: number
  readonly grade: Grade
}

/**
 * - `match`: `id` is the person
 * - `ambiguous`: most probably one of the first two is, and nothing distinguishes them
 * - `possible`: needs review
 * - `new`: no registered person is similar
 */
export interface Decision {
  readonly outcome: 'match' | 'ambiguous' | 'possible' | 'new'
  /** The id of the registered person; with `match` only. */
  readonly id?: string
  /** All candidates, the likeliest first. */
  readonly ranked: readonly Ranked[]
  /** How many candidates need review: `possible_duplicates`. */
  readonly possible: number
}

/** Compares a person with all who share a blocking key. */
export function decide(
  person: Features,
  candidates: readonly Candidate[],
  matching: Matching,
  population: Population,
): Decision {
  const scored = candidates
    .map(({ id, features }) => ({ id, score: score(person, features, matching, population.shareOf) }))
    .sort((a, b) => b.score.bits - a.score.bits || (a.id < b.id ? -1 : 1))
  const [best, next] = scored
  const limits = limitsFor(matching, population)
  const isSure = best !== undefined && !best.score.isBlocked && best.score.bits >= limits.match
  const isAlone = !next || best!.score.bits - next.score.bits > matching.leadBits
  const ranked = scored.map(each => rankedBy(each, limits, isAlone && isSure && each === best))
  const possible = ranked.filter(({ grade }) => grade !== 'certainly-not').length
  if (isSure && isAlone) return { outcome: 'match', id: best.id, ranked, possible: possible - 1 }
  return { outcome: isSure ? 'ambiguous' : possible > 0 ? 'possible' : 'new', ranked, possible }
}

interface Limits {
  /** The prior: log2 of the number of people it could be. */
  readonly prior: number
  readonly match: number
  readonly review: number
}

/** Returns from how many bits on it is a match, and from how many on it needs review; both grow with the population. */
export function limitsFor(matching: Matching, { people }: Population): Limits {
  const prior = Math.log2(Math.max(people, matching.smallestPopulation))
  return { prior, match: prior + odds(matching.certainty), review: prior + odds(matching.review) }
}

function rankedBy(each: { id: string; score: Score }, limits: Limits, isTheOne: boolean): Ranked {
  const { bits, isBlocked } = each.score
  const probability = 1 / (1 + 2 ** (limits.prior - bits))
  if (isTheOne) return { ...each, probability, grade: 'certain' }
  if (bits < limits.review) return { ...each, probability, grade: 'certainly-not' }
  return { ...each, probability, grade: bits >= limits.match && !isBlocked ? 'probable' : 'possible' }
}

function odds(probability: number): number {
  return Math.log2(probability / (1 - probability))
}
