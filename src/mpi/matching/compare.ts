// Compares two people field by field: to what level names, birth dates, birth orders, sexes and telephone numbers agree.

import { distance } from '../../lib/nearest.ts'
import { sound } from './names.ts'
import type { BirthDate } from './person.ts'
import { isOneSlip, jaroWinkler } from './similarity.ts'

/** The levels of each field, the best first. A value that is unknown on either side has no level and no weight. */
export const levels = {
  given: ['same', 'near', 'shortened', 'similar', 'first_only', 'part', 'different'],
  family: ['same', 'near', 'shortened', 'similar', 'first_only', 'part', 'different'],
  birth_date: ['same', 'same_first_of_january', 'day_and_month_swapped', 'one_part', 'estimated', 'year', 'different'],
  birth_order: ['same', 'different'],
  sex: ['same', 'different'],
  phone: ['same', 'near', 'different'],
} as const

export type Field = keyof typeof levels
export type NameLevel = (typeof levels)['given'][number]
type WholeLevel = (typeof levels)['sex' | 'birth_order'][number]
export type BirthLevel = (typeof levels)['birth_date'][number]

/** From which likeness (Jaro-Winkler) on words count as near and as similar. */
export interface Likeness {
  readonly near: number
  readonly similar: number
  /**
   * Returns true for words that many people have: of two such words neither is a slip of the other. Absent if names are
   * not counted.
   */
  readonly isOwnName?: (word: string) => boolean
}

/** A slip in the year of birth does not make a parent a child. */
const GENERATION = 14

/** A shorter name can become another name by one slip. */
const SHORT = 5

/** Compares the words of two names; returns undefined if one has none. */
export function compareNames(a: readonly string[], b: readonly string[], likeness: Likeness): NameLevel | undefined {
  if (a.length === 0 || b.length === 0) return undefined
  if (a.join('') === b.join('') || a.toSorted().join(' ') === b.toSorted().join(' ')) return 'same'
  const first = compareWords(a[0]!, b[0]!, likeness)
  if (first === 'same' || first === 'near') return compareRest(first, a.slice(1), b.slice(1), likeness)
  if (isJoined(a, b)) return 'near'
  if (first === 'similar') return 'similar'
  const isShared = a.some(each => b.some(other => isClose(compareWords(each, other, likeness))))
  return isShared ? 'part' : 'different'
}

/** Returns true for JEANPAUL and JEAN POL: written as one word and as two, with a slip at most. */
function isJoined(a: readonly string[], b: readonly string[]): boolean {
  const [joinedA, joinedB] = [a.join(''), b.join('')]
  return a.length !== b.length && joinedA.length >= SHORT && joinedB.length >= SHORT && distance(joinedA, joinedB) <= 1
}

/** Compares names whose first words agree. Twins often share one (MARIE CLAIRE, MARIE LOUISE), so the others count, too. */
function compareRest(
  first: 'same' | 'near',
  a: readonly string[],
  b: readonly string[],
  likeness: Likeness,
): NameLevel {
  if (a.length === 0 || b.length === 0) return first === 'same' ? 'shortened' : 'near'
  const agrees = a.some(each => b.some(other => isInitial(each, other) || isClose(compareWords(each, other, likeness))))
  return agrees ? 'near' : 'first_only'
}

function compareWords(a: string, b: string, likeness: Likeness): 'same' | 'near' | 'similar' | undefined {
  if (a === b) return 'same'
  if (sound(a) === sound(b)) return 'near'
  const alike = jaroWinkler(a, b)
  if (alike < likeness.similar) return undefined
  if (alike < likeness.near || distance(a, b) > slipsIn(Math.min(a.length, b.length))) return 'similar'
  return likeness.isOwnName?.(a) && likeness.isOwnName(b) ? 'similar' : 'near'
}

/**
 * Returns how many slips of the pen a name of this length permits: AWA and HAWA are two names, and so are ANGELA and
 * ANGELICA.
 */
function slipsIn(length: number): number {
  if (length < SHORT) return 0
  return length < 9 ? 1 : 2
}

function isClose(level: string | undefined): boolean {
  return level === 'same' || level === 'near'
}

function isInitial(a: string, b: string): boolean {
  return (a.length === 1 || b.length === 1) && a[0] === b[0]
}

/** Compares two birth dates; returns undefined if one is not known. */
export function compareBirth(a: BirthDate | undefined, b: BirthDate | undefined): BirthLevel | undefined {
  if (!a || !b) return undefined
  const isYear = a.year === b.year
  if (a.day === '' || b.day === '') return isYear ? 'year' : 'different'
  const [isMonth, isDay] = [a.month === b.month, a.day === b.day]
  if (isYear && isMonth && isDay) return isFirst(a) ? 'same_first_of_january' : 'same'
  if (isYear && a.month === b.day && a.day === b.month) return 'day_and_month_swapped'
  if (isYear && (isFirst(a) || isFirst(b))) return 'estimated'
  const apart = Math.abs(Number(a.year) - Number(b.year))
  const isNearYear = apart < GENERATION && (isOneSlip(a.year, b.year) || apart === 1)
  if ((isYear && isMonth !== isDay) || (isNearYear && isMonth && isDay)) return isFirst(a) ? 'different' : 'one_part'
  return isYear ? 'year' : 'different'
}

/** Where the day is unknown, forms state 1 January. */
function isFirst({ month, day }: BirthDate): boolean {
  return month === '01' && day === '01'
}

/** Compares two sexes, or two places in the order of a multiple birth; returns undefined if one is not known. */
export function compareWhole<T extends string | number>(a: T | undefined, b: T | undefined): WholeLevel | undefined {
  if (a === undefined || b === undefined) return undefined
  return a === b ? 'same' : 'different'
}

/** Returns the best level that any two of their numbers give. */
export function comparePhones(a: readonly string[], b: readonly string[]): 'same' | 'near' | 'different' | undefined {
  if (a.length === 0 || b.length === 0) return undefined
  if (a.some(each => b.includes(each))) return 'same'
  return a.some(each => b.some(other => isOneSlip(each, other))) ? 'near' : 'different'
}
