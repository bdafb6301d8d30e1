// A person in the form in which people are compared: normalised once (decisions §2: normalise).

import { phonetic, words } from './names.ts'

/** What is known of a person, as written. */
export interface Person {
  /** Several where someone has had several: a maiden name. */
  readonly names: readonly { readonly given?: string; readonly family?: string }[]
  /** A day; FHIR knows months and years alone, too: 1984-03-12, 1984-03, 1984. */
  readonly birthDate?: string
  /** The place in the order of a multiple birth, the first 1. */
  readonly birthOrder?: number
  readonly sex?: string
  readonly phones?: readonly string[]
}

export interface NameWords {
  readonly given: readonly string[]
  readonly family: readonly string[]
  /** The numbers in the name, in ascending order: TWIN 1 and TWIN 2 are two people. Absent if there are none. */
  readonly numbers?: string
}

export interface BirthDate {
  readonly year: string
  /** Empty if not known. */
  readonly month: string
  readonly day: string
}

/** What is compared. */
export interface Features {
  readonly names: readonly NameWords[]
  readonly birth: BirthDate | undefined
  readonly birthOrder?: number
  readonly sex: 'male' | 'female' | undefined
  readonly phones: readonly string[]
}

/** Somebody of whom nothing is known. */
export const nobody: Features = { names: [], birth: undefined, sex: undefined, phones: [] }

/** More would make too many blocking keys; no real record has more. */
const MOST = { names: 4, words: 6, phones: 4 }

/** Normalises a person for comparison. */
export function featuresOf({ names, birthDate, birthOrder, sex, phones }: Person): Features {
  return {
    names: names
      .slice(0, MOST.names)
      .map(({ given, family }) => ({ given: wordsOf(given), family: wordsOf(family), ...numbersIn(given, family) }))
      .filter(({ given, family }) => given.length + family.length > 0),
    birth: birthOf(birthDate),
    ...(birthOrder === undefined ? {} : { birthOrder }),
    sex: sex === 'male' || sex === 'female' ? sex : undefined,
    phones: [...new Set(phones?.flatMap(phoneOf))].slice(0, MOST.phones),
  }
}

/** How the words of a name sound, each sound once. */
export function soundsOf(name: readonly string[]): string[] {
  return [...new Set(name.map(phonetic).filter(key => key !== ''))]
}

function wordsOf(text: string | undefined): string[] {
  return words(text ?? '').slice(0, MOST.words)
}

/** Roman numbers have two letters at least, since one letter is an initial. */
function numbersIn(given = '', family = ''): Pick<NameWords, 'numbers'> {
  const text = `${given} ${family}`.slice(0, 400).normalize('NFKD')
  const found = text.match(/\p{Nd}+|(?<=\s)(?:I{2,3}|IV|VI{1,3}|IX)(?!\p{L})/gu)
  return found ? { numbers: found.sort().join(' ') } : {}
}

function birthOf(text: string | undefined): BirthDate | undefined {
  const found = text?.match(/^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/)
  return found ? { year: found[1]!, month: found[2] ?? '', day: found[3] ?? '' } : undefined
}

/**
 * The last eight digits: a number is the same with and without its country, and with the digit that was put before
 * Cameroon's numbers in 2014. Shorter ones say nothing.
 */
export function phoneOf(text: string): string[] {
  const digits = text.normalize('NFKD').replace(/\D/g, '')
  return digits.length < 8 ? [] : [digits.slice(-8)]
}
