// Scores how probable it is that two records are one person: the weights of what agrees, in bits (Fellegi and Sunter),
// and why.

import {
  compareBirth,
  compareNames,
  comparePhones,
  compareSex,
  type Field,
  type Likeness,
  type NameLevel,
} from './compare.ts'
import type { Features, NameWords } from './person.ts'
import type { Matching } from './weights.ts'

/** One reason of a score. */
interface Part {
  readonly field: Field | 'names_exchanged'
  readonly level: string
  readonly bits: number
  /** True if there is no match at this level. */
  readonly blocks: boolean
}

export interface Score {
  readonly bits: number
  readonly parts: readonly Part[]
  /** True if something rules out a match whatever else agrees: twins. */
  readonly isBlocked: boolean
}

/** Returns the share of people who have a name, or undefined if it is not counted. */
export type ShareOf = (field: 'given' | 'family', word: string) => number | undefined

/** Compares two people. */
export function score(a: Features, b: Features, matching: Matching, shareOf: ShareOf = () => undefined): Score {
  const parts = bestNames(a, b, matching, shareOf)
  const add = (field: Field, level: string | undefined): void => {
    if (level !== undefined) parts.push(partOf(field, level, matching))
  }
  add('birth_date', compareBirth(a.birth, b.birth))
  add('sex', compareSex(a.sex, b.sex))
  add('phone', comparePhones(a.phones, b.phones))
  return { bits: sum(parts), parts, isBlocked: parts.some(({ blocks }) => blocks) || !isKnown(parts) }
}

/** Returns a score in words, a line for each reason. It names levels, never the names of a person. */
export function explain({ parts }: Score): string[] {
  return parts.map(({ field, level, bits, blocks }) => {
    const weight = `${bits < 0 ? '' : '+'}${bits.toFixed(1)} bits`
    const words = [field, level].map(each => each.replaceAll('_', ' '))
    return `${words.join(': ')} (${weight}${blocks ? ', no match at this level' : ''})`
  })
}

/**
 * Without a given name and a birth date on both sides, a person cannot be distinguished from a twin, a parent or a
 * namesake.
 */
function isKnown(parts: readonly Part[]): boolean {
  return (['given', 'birth_date'] as const).every(field => parts.some(part => part.field === field))
}

/** Returns, of all names that both have had, the two that agree most. */
function bestNames(a: Features, b: Features, matching: Matching, shareOf: ShareOf): Part[] {
  let best: Part[] = []
  let most = Number.NEGATIVE_INFINITY
  for (const one of a.names) {
    for (const other of b.names) {
      for (const parts of [straight(one, other, matching, shareOf), exchanged(one, other, matching, shareOf)]) {
        if (!parts || sum(parts) <= most) continue
        best = parts
        most = sum(parts)
      }
    }
  }
  return best
}

function straight(one: NameWords, other: NameWords, matching: Matching, shareOf: ShareOf): Part[] {
  return (['given', 'family'] as const).flatMap(field => {
    const likeness = field === 'given' ? givenLikeness(matching, shareOf) : matching.likeness
    const level = compareNames(one[field], other[field], likeness)
    return level ? [namePart(field, level, one[field], matching, shareOf)] : []
  })
}

/** Compares as if one of the two records had given name and family name exchanged. */
function exchanged(one: NameWords, other: NameWords, matching: Matching, shareOf: ShareOf): Part[] | undefined {
  const likeness = givenLikeness(matching, shareOf)
  const given = agreement(one.given, other.family, likeness)
  const family = agreement(one.family, other.given, likeness)
  if (!given || !family) return undefined
  return [
    namePart('given', given, one.given, matching, shareOf),
    namePart('family', family, one.family, matching, shareOf),
    { field: 'names_exchanged', level: 'yes', bits: matching.exchangedBits, blocks: false },
  ]
}

/** Twins often have similar names, MARIA and MARIE: two given names that are both common are two names. */
function givenLikeness({ likeness, ownNameShare }: Matching, shareOf: ShareOf): Likeness {
  return { ...likeness, isOwnName: word => (shareOf('given', word) ?? 0) >= ownNameShare }
}

function agreement(a: readonly string[], b: readonly string[], likeness: Likeness): NameLevel | undefined {
  const level = compareNames(a, b, likeness)
  return level === 'same' || level === 'near' || level === 'shortened' ? level : undefined
}

function namePart(
  field: 'given' | 'family',
  level: NameLevel,
  name: readonly string[],
  matching: Matching,
  shareOf: ShareOf,
): Part {
  const part = partOf(field, level, matching)
  if (level !== 'same' && level !== 'shortened') return part
  const counted = (level === 'same' ? name : name.slice(0, 1)).flatMap(word => shareOf(field, word) ?? [])
  if (counted.length === 0) return part
  const rarity = Math.log2(matching.usualShares[field] / Math.min(...counted))
  const most = matching.rarityBits
  return { ...part, bits: part.bits + Math.max(-most, Math.min(most, rarity)) }
}

function partOf(field: Field, level: string, { fields }: Matching): Part {
  return { field, level, ...fields[field][level]! }
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((total, { bits }) => total + bits, 0)
}
