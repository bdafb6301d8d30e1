// Scores how probable it is that two records are one person: the weights of what agrees, in bits (Fellegi and Sunter),
// and why.

import {
  compareBirth,
  compareNames,
  comparePhones,
  compareWhole,
  type Field,
  type Likeness,
  type NameLevel,
} from './compare.ts'
import type { BirthDate, Features, NameWords } from './person.ts'
import { isStandIn } from './stand-ins.ts'
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
  /** True if something rules out a match whatever else agrees: twins, and people of whom too little is known. */
  readonly isBlocked: boolean
  /** True if something that is known of both speaks against a match, even where an own number leads to it. */
  readonly isContradicted: boolean
}

/** Returns the share of people who have a name, or undefined if it is not counted. */
export type ShareOf = (field: 'given' | 'family', word: string) => number | undefined

/** Compares two people. */
export function score(a: Features, b: Features, matching: Matching, shareOf: ShareOf = () => undefined): Score {
  const parts = bestNames(a, b, matching, shareOf)
  const add = (field: Field, level: string | undefined): void => {
    if (level !== undefined) parts.push(partOf(field, level, matching))
  }
  add('birth_date', compareBirth(birthIn(a, matching), birthIn(b, matching)))
  add('birth_order', compareWhole(a.birthOrder, b.birthOrder))
  add('sex', compareWhole(a.sex, b.sex))
  add('phone', comparePhones(phonesIn(a, matching), phonesIn(b, matching)))
  const blocking = parts.filter(({ blocks }) => blocks)
  return {
    bits: sum(parts),
    parts,
    isBlocked: blocking.length > 0 || !isKnown(parts),
    isContradicted: blocking.some(part => !isVague(part, a, b)),
  }
}

/** True for a level that says that a field is not known well enough, not that it differs. */
function isVague({ level }: Part, { birth: a }: Features, { birth: b }: Features): boolean {
  return level === standIn || level === 'estimated' || (level === 'year' && (a?.day === '' || b?.day === ''))
}

/** The level of a given name that is not known: BABY. */
const standIn = 'stand_in'

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
  return (['given', 'family'] as const).flatMap((field): Part[] => {
    if ([one, other].some(each => isStandIn(each[field], matching.standIns)))
      return field === 'given' ? [{ field, level: standIn, bits: 0, blocks: true }] : []
    const likeness = field === 'given' ? givenLikeness(matching, shareOf) : matching.likeness
    const level = compareNames(one[field], other[field], likeness)
    if (level === undefined) return []
    if (field === 'given' && one.numbers !== other.numbers && !matching.fields.given[level]!.blocks)
      return [partOf(field, 'first_only', matching)]
    return [namePart(field, level, one[field], matching, shareOf)]
  })
}

/** Compares as if one of the two records had given name and family name exchanged. */
function exchanged(one: NameWords, other: NameWords, matching: Matching, shareOf: ShareOf): Part[] | undefined {
  if (one.numbers !== other.numbers) return undefined
  if ([one, other].some(each => isStandIn(each.given, matching.standIns) || isStandIn(each.family, matching.standIns)))
    return undefined
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

/** What forms state where a date or a number is not known is left out of the comparison. */
const birthIn = ({ birth }: Features, { standIns: { birthDates } }: Matching): BirthDate | undefined =>
  birth && birthDates.has(`${birth.year}-${birth.month}-${birth.day}`) ? undefined : birth

const phonesIn = ({ phones }: Features, { standIns }: Matching): readonly string[] =>
  phones.filter(phone => !standIns.phones.has(phone))

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
