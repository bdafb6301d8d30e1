// What people are found by and counted by, as 64-bit hashes: blocking keys, words of names, numbers of organisations.

import { uncachedHash64 } from '../../lib/hash.ts'
import { blockingKeys } from '../matching/blocking.ts'
import type { Features } from '../matching/person.ts'
import type { OwnNumber } from './patient.ts'

export type NameField = 'given' | 'family'

/** Everybody who has a word in a name. Not remembered in memory: names are personal data. */
export const namePosting = (field: NameField, word: string): bigint => uncachedHash64(`name ${field} ${word}`)

/** Whoever has this number in the files of an organisation. */
export const numberPosting = ({ system, value }: OwnNumber): bigint => uncachedHash64(`number ${system}|${value}`)

/** The words of somebody's names, each once. */
function wordsIn({ names }: Features, field: NameField): string[] {
  return [...new Set(names.flatMap(name => name[field]))]
}

/** All postings of somebody, each once. */
export function postingsOf(person: Features, numbers: readonly OwnNumber[]): bigint[] {
  const words = (['given', 'family'] as const).flatMap(field =>
    wordsIn(person, field).map(word => namePosting(field, word)),
  )
  return [...new Set([...blockingKeys(person), ...words, ...numbers.map(numberPosting)])]
}

/** What has to be locked before somebody may be registered: whoever else could be the same person shares one, in one order. */
export function lockKeys(person: Features, number: OwnNumber | undefined): bigint[] {
  const keys = [...blockingKeys(person), ...(number ? [numberPosting(number)] : [])]
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1))
}
