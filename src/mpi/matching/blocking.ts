// Blocking keys: two records of one person share at least one. A transaction that holds the locks of all keys of a
// person, taken in ascending order, is therefore alone with every record that could match (decisions §2).

import { uncachedHash64 } from '../../lib/hash.ts'
import { type Features, type NameWords, soundsOf } from './person.ts'

/**
 * Returns the keys of a person, each once, ascending: 64-bit hashes, so that they reveal nothing by themselves. A
 * changed file of weights does not change them: what is stored stays comparable.
 */
export function blockingKeys(person: Features): bigint[] {
  const texts = new Set<string>(person.phones.map(phone => `phone ${phone}`))
  for (const name of person.names) for (const text of textsOf(name, person)) texts.add(text)
  return [...texts].map(text => uncachedHash64(`block ${text}`)).sort((a, b) => (a < b ? -1 : 1))
}

function textsOf(name: NameWords, { birth }: Features): string[] {
  if (birth === undefined) return []
  const { year, month, day } = birth
  const sounds = soundsOf([...name.given, ...name.family]).sort()
  const texts = pairs(sounds).map(pair => `year ${year} ${pair}`)
  if (day === '') return texts
  const [given, family] = [soundsOf(name.given.slice(0, 1)), soundsOf(name.family.slice(0, 1))]
  texts.push(...sounds.map(each => `date ${year}-${month}-${day} ${each}`))
  texts.push(`day ${month}-${day} ${[...given, ...family].sort().join(' ')}`)
  return texts
}

function pairs(sounds: readonly string[]): string[] {
  return sounds.flatMap((first, index) => sounds.slice(index + 1).map(second => `${first} ${second}`))
}
