// Values as searches compare them: what an element says, and what is looked for.
import type { Random } from '../../../support/random.ts'

/** From the first millisecond up to, and without, the last. */
export type Span = readonly [low: number, high: number]

export interface Coding {
  readonly system?: string
  readonly code: string
}

export interface Quantity {
  readonly value: number
  readonly unit: string
}

/** A date as FHIR writes it, and the time that it means. */
export interface Moment {
  readonly text: string
  readonly span: Span
}

const two = (number: number): string => String(number).padStart(2, '0')
const minute = 60_000

/** A date of the years 2005 to 2024: a year, a month, a day, or an instant in a time zone. */
export function momentBy(
  random: Random,
  precision = random.pick(['year', 'month', 'day', 'day', 'second', 'second']),
): Moment {
  const [year, month, day] = [2005 + random.below(20), random.below(12), 1 + random.below(28)]
  if (precision === 'year') return { text: `${year}`, span: [Date.UTC(year), Date.UTC(year + 1)] }
  const text = `${year}-${two(month + 1)}`
  if (precision === 'month') return { text, span: [Date.UTC(year, month), Date.UTC(year, month + 1)] }
  if (precision === 'day')
    return { text: `${text}-${two(day)}`, span: [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)] }
  const [hour, past, zone] = [random.below(24), random.below(60), random.pick([0, 0, 120, -330])]
  const low = Date.UTC(year, month, day, hour, past) - zone * minute
  const offset = zone === 0 ? 'Z' : zone > 0 ? '+02:00' : '-05:30'
  return { text: `${text}-${two(day)}T${two(hour)}:${two(past)}:00${offset}`, span: [low, low + 1000] }
}

const within = (inner: Span, outer: Span): boolean => outer[0] <= inner[0] && inner[1] <= outer[1]

/** What a prefix asks of an element's span, beside that of the search: https://hl7.org/fhir/R4/search.html#prefix. */
export const prefixes: Readonly<Record<string, (element: Span, asked: Span) => boolean>> = {
  '': within,
  eq: within,
  ne: (element, asked) => !within(element, asked),
  gt: (element, asked) => element[1] > asked[1],
  lt: (element, asked) => element[0] < asked[0],
  ge: (element, asked) => element[1] > asked[1] || within(element, asked),
  le: (element, asked) => element[0] < asked[0] || within(element, asked),
  sa: (element, asked) => element[0] >= asked[1],
  eb: (element, asked) => element[1] <= asked[0],
}

/** Without case and accents. */
export const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
