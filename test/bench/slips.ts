// The slips that people make who write down a person once more, from a seed, so that a run can be repeated.

import type { Person } from '../../src/mpi/matching/person.ts'

/** Someone with one name, all of it known. */
export interface Registered {
  readonly given: string
  readonly family: string
  readonly birthDate: string
  readonly sex: string
  readonly phone: string
}

export interface Dice {
  /** From 0 up to 1. */
  next(): number
  below(limit: number): number
  /** True with this probability. */
  hits(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Dice that fall the same for the same seed (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { next, below, hits: probability => next() < probability, pick: list => list[below(list.length)]! }
}

/** How often what goes wrong when someone is written down once more. */
const RATES = {
  nameTypo: 0.075,
  nameSpelling: 0.03,
  namesExchanged: 0.03,
  givenShortened: 0.2,
  familyChanged: 0.01,
  birthDate: 0.055,
  phone: 0.5,
  sexUnknown: 0.02,
  sexWrong: 0.003,
}

/** The same person, written down by somebody else on another day. */
export function writtenAgain(person: Registered, strangers: readonly Registered[], dice: Dice): Person {
  let given = person.given
  if (dice.hits(RATES.givenShortened)) given = given.split(' ')[0]!
  given = nameAgain(given, dice)
  const family = nameAgain(dice.hits(RATES.familyChanged) ? dice.pick(strangers).family : person.family, dice)
  const birthDate = dice.hits(RATES.birthDate) ? wrongDate(person.birthDate, dice) : person.birthDate
  const sex = dice.hits(RATES.sexUnknown) ? 'unknown' : dice.hits(RATES.sexWrong) ? otherSex(person.sex) : person.sex
  const phone = phoneAgain(person.phone, dice)
  const name = dice.hits(RATES.namesExchanged) ? { given: family, family: given } : { given, family }
  return { names: [name], birthDate, sex, phones: phone ? [phone] : [] }
}

export function asPerson({ given, family, birthDate, sex, phone }: Registered): Person {
  return { names: [{ given, family }], birthDate, sex, phones: [phone] }
}

function otherSex(sex: string): string {
  return sex === 'male' ? 'female' : 'male'
}

function phoneAgain(phone: string, dice: Dice): string | undefined {
  if (!dice.hits(RATES.phone)) return dice.hits(0.3) ? `+1 ${phone}` : phone
  if (dice.hits(0.5)) return undefined
  return dice.hits(0.1) ? typo(phone, dice, '0123456789') : newPhone(dice)
}

export function newPhone(dice: Dice): string {
  return `555-${String(dice.below(1e7)).padStart(7, '0')}`
}

const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/y/, 'i'],
  [/ph/, 'f'],
  [/ou/, 'u'],
  [/k/, 'c'],
  [/z/, 's'],
  [/ll/, 'l'],
  [/ss/, 's'],
]

function nameAgain(name: string, dice: Dice): string {
  let again = name
  if (dice.hits(RATES.nameSpelling)) again = SPELLINGS.reduce((text, [from, to]) => text.replace(from, to), again)
  if (dice.hits(RATES.nameTypo)) again = typo(again, dice, 'abcdefghijklmnopqrstuvwxyz')
  return dice.hits(0.1) ? again.toUpperCase() : again
}

/** One slip: a letter wrong, left out, doubled or added, or two neighbours swapped. */
function typo(text: string, dice: Dice, letters: string): string {
  const at = dice.below(text.length)
  const [before, after] = [text.slice(0, at), text.slice(at + 1)]
  const kind = dice.below(4)
  if (kind === 0) return before + dice.pick([...letters]) + after
  if (kind === 1 && text.length > 3) return before + after
  if (kind === 2) return before + text[at] + dice.pick([...letters]) + after
  return after === '' ? text.slice(0, -2) + text.at(-1) + text.at(-2) : before + after[0] + text[at] + after.slice(1)
}

/** Day and month swapped, 1 January, or a day, month or year that is another. */
function wrongDate(date: string, dice: Dice): string {
  const [year, month, day] = date.split('-') as [string, string, string]
  const kind = dice.below(5)
  if (kind === 0 && Number(day) <= 12) return `${year}-${day}-${month}`
  if (kind === 1) return `${year}-01-01`
  if (kind === 2) return `${year}-${two(1 + dice.below(12))}-${day}`
  if (kind === 3) return `${Number(year) + dice.pick([-1, 1, 10, -10])}-${month}-${day}`
  return `${year}-${month}-${two(1 + dice.below(28))}`
}

export function two(number: number): string {
  return String(number).padStart(2, '0')
}
