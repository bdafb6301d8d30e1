// The weights of matching, as `mappings/matching.json` holds them. For a wrong file, the error states what is wrong and
// where.

import { type Field, type Likeness, levels } from './compare.ts'
import { numberIn, objectIn, type Reader, shareIn, within } from './reading.ts'
import { type StandIns, standInsIn } from './stand-ins.ts'

/** What it says that a field compares to a level. */
interface Weight {
  /** log2 of how much more often pairs of one person compare so than pairs of two people. */
  readonly bits: number
  /** True if there is no match at this level, whatever else agrees. */
  readonly blocks: boolean
}

export interface Matching {
  readonly certainty: number
  readonly review: number
  readonly leadBits: number
  readonly smallestPopulation: number
  readonly likeness: Likeness
  /** From which share of people on a given name is one of its own, not a slip of another. */
  readonly ownNameShare: number
  /** The most that the rarity of a name adds or takes. */
  readonly rarityBits: number
  readonly standIns: StandIns
  /** What it costs to take a given name for a family name. */
  readonly exchangedBits: number
  /** The share of people with the same name, where names are not counted. */
  readonly usualShares: Readonly<Record<'given' | 'family', number>>
  readonly fields: Readonly<Record<Field, Readonly<Record<string, Weight>>>>
}

/**
 * Reads a file of weights.
 * @param file its name in messages
 * @throws Error with a line for each thing that is wrong: the file, the place in it, and what is expected there.
 */
export function readMatching(text: string, file: string): Matching {
  const judged = judgeMatching(parsed(text, file))
  if ('matching' in judged) return judged.matching
  throw new Error(judged.problems.map(each => `${file}: ${each}`).join('\n'))
}

/**
 * Returns the weights that a file holds, or all that is wrong with it; each message begins with the place:
 * `fields.sex.levels`.
 */
export function judgeMatching(value: unknown): { matching: Matching } | { problems: readonly string[] } {
  const problems: string[] = []
  const matching = matchingOf(value, { path: '', problems })
  return problems.length > 0 ? { problems } : { matching }
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file}: this is not JSON: ${(cause as Error).message}`, { cause })
  }
}

function matchingOf(value: unknown, reader: Reader): Matching {
  const parts = ['decision', 'likeness', 'rarity', 'stand_ins', 'names_exchanged', 'fields']
  const [file, at] = [objectIn(value, parts, reader), (part: string) => within(reader, part)]
  const decisionNames = ['certainty', 'review', 'lead_bits', 'smallest_population']
  const decision = objectIn(file['decision'], decisionNames, at('decision'))
  const likeness = objectIn(file['likeness'], ['near', 'similar', 'own_name'], at('likeness'))
  const exchanged = objectIn(file['names_exchanged'], ['same_person'], at('names_exchanged'))
  const fields = objectIn(file['fields'], Object.keys(levels), at('fields'))
  const shares = Object.fromEntries(
    Object.keys(levels).map(field => [field, sharesOf(fields[field], field as Field, within(at('fields'), field))]),
  ) as Record<Field, Record<string, Shares>>
  const matching: Matching = {
    certainty: shareIn(decision, 'certainty', at('decision')),
    review: shareIn(decision, 'review', at('decision')),
    leadBits: numberIn(decision, 'lead_bits', at('decision'), 0, 100),
    smallestPopulation: numberIn(decision, 'smallest_population', at('decision'), 1, 1e10),
    likeness: {
      near: shareIn(likeness, 'near', at('likeness')),
      similar: shareIn(likeness, 'similar', at('likeness')),
    },
    ownNameShare: shareIn(likeness, 'own_name', at('likeness')),
    rarityBits: numberIn(objectIn(file['rarity'], ['most_bits'], at('rarity')), 'most_bits', at('rarity'), 0, 20),
    standIns: standInsIn(file['stand_ins'], at('stand_ins')),
    exchangedBits: Math.log2(shareIn(exchanged, 'same_person', at('names_exchanged'))),
    usualShares: { given: shares.given['same']!.other, family: shares.family['same']!.other },
    fields: mapValues(shares, field => mapValues(field, weightOf)),
  }
  if (reader.problems.length === 0) checkOrder(matching, reader)
  return matching
}

function checkOrder({ certainty, review, likeness }: Matching, { problems }: Reader): void {
  if (certainty <= review) problems.push('decision.certainty must be greater than decision.review')
  if (likeness.near <= likeness.similar) problems.push('likeness.near must be greater than likeness.similar')
}

interface Shares {
  readonly same: number
  readonly other: number
  readonly blocks: boolean
}

function sharesOf(value: unknown, field: Field, reader: Reader): Record<string, Shares> {
  const before = reader.problems.length
  const inner = within(reader, 'levels')
  const found = objectIn(objectIn(value, ['levels'], reader)['levels'], levels[field], inner)
  const shares = Object.fromEntries(levels[field].map(level => [level, levelOf(found[level], within(inner, level))]))
  if (value !== undefined && reader.problems.length === before)
    for (const [side, name] of [['same', 'same_person'] as const, ['other', 'other_people'] as const]) {
      const sum = Object.values(shares).reduce((total, each) => total + each[side], 0)
      if (Math.abs(sum - 1) > 0.02)
        reader.problems.push(
          `${inner.path}: the shares ${name} add up to ${Number(sum.toFixed(4))}; every pair has one level, so they must add up to 1`,
        )
    }
  return shares
}

function levelOf(value: unknown, reader: Reader): Shares {
  const found = objectIn(value, ['same_person', 'other_people'], reader, ['blocks_match'])
  const blocks = found['blocks_match'] ?? false
  if (typeof blocks !== 'boolean') reader.problems.push(`${within(reader, 'blocks_match').path} must be true or false`)
  return {
    same: shareIn(found, 'same_person', reader),
    other: shareIn(found, 'other_people', reader),
    blocks: blocks === true,
  }
}

function weightOf({ same, other, blocks }: Shares): Weight {
  return { bits: Math.log2(same / other), blocks }
}

function mapValues<K extends string, V, W>(object: Readonly<Record<K, V>>, change: (value: V) => W): Record<K, W> {
  return Object.fromEntries(Object.entries<V>(object).map(([key, value]) => [key, change(value)])) as Record<K, W>
}
