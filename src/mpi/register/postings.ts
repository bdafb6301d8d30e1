// The 64-bit hashes by which people are found and counted: blocking keys, words of names, numbers of organisations.

import { uncachedHash64 } from '../../lib/hash.ts'
import { blockingKeys } from '../matching/blocking.ts'
import type { Features } from '../matching/person.ts'
import type { OwnNumber } from './patient.ts'

export type NameField = 'given' | 'family'

/** The posting of all people with a word in a name. Not cached in memory: names are personal data. */
export const namePosting = (field: NameField, word: string): bigint => uncachedHash64(`name ${field} ${word}`)

/** The posting of the person with this number at an organisation. */
export const numberPosting = ({ system, value }: OwnNumber): bigint => uncachedHash64(`number ${system}|${value}`)

/** Returns the words of a person's names, each once. */
function wordsIn({ names }: Features, field: NameField): string[] {
  return [...new Set(names.flatMap(name => name[field]))]
}

/** Returns all postings of a person, each once. */
export function postingsOf(person: Features, numbers: readonly OwnNumber[]): bigint[] {
  const words = (['given', 'family'] as const).flatMap(field =>
    wordsIn(person, field).map(word => namePosting(field, word)),
  )
  return [...new Set([...blockingKeys(person), ...words, ...numbers.map(numberPosting)])]
}

/**
 * Returns the keys to lock before a person may be registered: every other record that could be the same person shares
 * one. They are in one order.
 */
export function lockKeys(person: Features, number: OwnNumber | undefined): bigint[] {
  const keys = [...blockingKeys(person), ...(number ? [numberPosting(number)] : [])]
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1))
}
