// What forms and systems state where something is not known, as `mappings/matching.json` lists it: it counts as unknown.
import { isDay } from '../../lib/day.ts'
import { words } from './names.ts'
import { phoneOf } from './person.ts'
import { listIn, objectIn, type Reader, within } from './reading.ts'

/** What forms state where something is not known. */
export interface StandIns {
  /** In words, by the first word. */
  readonly names: ReadonlyMap<string, readonly (readonly string[])[]>
  /** Days: `1900-01-01`. */
  readonly birthDates: ReadonlySet<string>
  /** As `Features.phones` has them. */
  readonly phones: ReadonlySet<string>
  /** File numbers, as `numberWords` has them. */
  readonly numbers: ReadonlySet<string>
}

/** Reads the part of the file. */
export function standInsIn(value: unknown, reader: Reader): StandIns {
  const found = objectIn(value, ['names', 'birth_dates', 'phones', 'numbers'], reader)
  const list = <Item>(name: string, expected: string, read: (text: string) => Item | undefined): Item[] =>
    listIn(found[name], within(reader, name), expected, read)
  const names = new Map<string, string[][]>()
  for (const phrase of list('names', 'a text with letters, such as "baby"', nonEmptyWords))
    names.set(phrase[0]!, [...(names.get(phrase[0]!) ?? []), phrase])
  return {
    names,
    birthDates: new Set(list('birth_dates', 'a date, such as "1900-01-01"', text => (isDay(text) ? text : undefined))),
    phones: new Set(list('phones', 'a number of at least eight digits, such as "00000000"', text => phoneOf(text)[0])),
    numbers: new Set(
      list('numbers', 'a text with letters or digits, such as "n/a"', text => numberWords(text) || undefined),
    ),
  }
}

const nonEmptyWords = (text: string): string[] | undefined => {
  const found = words(text)
  return found.length > 0 ? found : undefined
}

/** True for a name, in words, that begins with what forms state where none is known. */
export function isStandIn(name: readonly string[], { names }: StandIns): boolean {
  const known = names.get(name[0] ?? '')
  return known?.some(phrase => phrase.every((word, index) => word === name[index])) ?? false
}

/** True for what forms state where a file has no number: `N/A`, `UNKNOWN`, `000`, `-`. */
export function isNoNumber(value: string, { numbers }: StandIns): boolean {
  const text = numberWords(value)
  return text === '' || numbers.has(text)
}

/** A file number without case, accents and punctuation; of nothing but zeros, one. */
const numberWords = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^0+$/, '0')
