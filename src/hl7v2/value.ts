// Fields taken apart: repetitions, components and subcomponents, by the data types of the dictionary, as JSON that maps read.

import { type Delimiters, unescapeText } from './delimiters.ts'
import { dataTypes, type Part } from './dictionary.ts'
import type { MessageProblem } from './problem.ts'
import { dateOf, dateTimeOf, isNoDate, timeOf, type Zone } from './time.ts'

/** A value as maps read it: an object by elements, or a text. */
export type FieldValue = string | { readonly [element: string]: FieldValue | readonly FieldValue[] }

export interface FieldReading {
  readonly delimiters: Delimiters
  readonly zone: Zone
  /** Receives what is wrong with the value that is read, by its component if it has some. */
  readonly note: (problem: Pick<MessageProblem, 'code' | 'message' | 'component' | 'repetition'>) => void
  /** Receives the place of an explicit null, `""`: what is stored is to be deleted. */
  readonly deleted: (component: number | undefined) => void
}

/** The deletion of what is stored, which is not the same as saying nothing. */
const NULL = '""'

/** What systems write where an order, a visit or a person has no number. It is not one number that all of them share. */
const NO_NUMBER =
  /^(?:[^\p{L}\p{N}"]+|0+|9{7,}|x{1,3}|n\.?\/?[acdrs]\.?|nil|none|null|unk(?:nown)?|inconnue?|aucune?|néant)$/iu

const isNumbered = (type: string): boolean => type === 'EI' || type === 'CX'

/** True for a field of numbers each of which stands for none. */
export function statesNoNumber(raw: string, type: string, { repetition, component }: Delimiters): boolean {
  return isNumbered(type) && raw.split(repetition).every(each => NO_NUMBER.test(each.split(component)[0]!.trim()))
}

/** Returns the values of a field: a list if it repeats; undefined if there is none. */
export function fieldValue(
  raw: string,
  part: Part,
  reading: FieldReading,
): FieldValue | readonly FieldValue[] | undefined {
  const { repetition } = reading.delimiters
  // A text that does not repeat was written without escapes: the sign is part of it.
  const isWhole = !part.repeats && isText(part.type)
  const all = isWhole || !raw.includes(repetition) ? [raw] : raw.split(repetition)
  const values = all.map(each => readValue(each, part.type, reading))
  const present = values.filter(each => each !== undefined)
  if (part.repeats) return present.length > 0 ? present : undefined
  if (present.length > 1) reading.note({ code: 102, message: 'the field repeats; only its first value is used' })
  return present[0]
}

/** Returns a value of a data type; undefined if there is none. */
export function readValue(raw: string, type: string, reading: FieldReading, depth = 0): FieldValue | undefined {
  const trimmed = raw.trim()
  if (trimmed === '') return undefined
  if (trimmed === NULL) {
    reading.deleted(undefined)
    return undefined
  }
  const parts = dataTypes.get(type)
  if (isNumbered(type) && NO_NUMBER.test(trimmed.split(signAt(depth, reading))[0]!.trim())) return undefined
  if (parts && depth < 2) return composite(raw, parts, reading, depth)
  if (parts) return composite(raw, parts, { ...reading, delimiters: { ...reading.delimiters, subcomponent: '\0' } }, 2)
  return primitive(raw, type, reading, depth)
}

function composite(raw: string, parts: readonly Part[], reading: FieldReading, depth: number): FieldValue | undefined {
  const pieces = raw.split(signAt(depth, reading))
  const found: Record<string, FieldValue> = {}
  for (const [index, { element, type }] of parts.slice(0, pieces.length).entries()) {
    const value = readValue(pieces[index]!, type, within(reading, depth, index + 1), depth + 1)
    if (value !== undefined) found[element] = value
  }
  const more = pieces.slice(parts.length).filter(each => each.trim() !== '')
  if (more.length > 0) found['more'] = more.map(each => unescapeText(each, reading.delimiters)) as never
  return Object.keys(found).length > 0 ? found : undefined
}

/** The component that what is noted and deleted is about. */
function within(reading: FieldReading, depth: number, component: number): FieldReading {
  if (depth > 0) return reading
  return {
    ...reading,
    note: problem => reading.note({ component, ...problem }),
    deleted: () => reading.deleted(component),
  }
}

/** The sign between the parts of a value: of a field, or of a component. */
const signAt = (depth: number, { delimiters }: FieldReading): string =>
  depth === 0 ? delimiters.component : delimiters.subcomponent

const isText = (type: string): boolean => type === 'ST' || type === 'TX' || type === 'FT'

function primitive(raw: string, type: string, reading: FieldReading, depth: number): FieldValue | undefined {
  // What looks like components of a text is the text; of anything else the first one is the value.
  const own = isText(type) ? raw : firstPiece(raw, reading, depth)
  const text = printable(unescapeText(own, reading.delimiters), reading)
  if (isText(type)) return text.replace(/\s+$/, '').replace(/^[ \t]+/, '') || undefined
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return type === 'DTM' || type === 'DT' || type === 'TM' ? timed(trimmed, type, reading) : trimmed
}

/** Control characters have no meaning in texts, and FHIR's cannot hold them. */
function printable(text: string, { note }: FieldReading): string {
  const clean = text.replace(/(?![\t\n\r])\p{Cc}/gu, '')
  if (clean !== text) note({ code: 102, message: 'control characters are left out' })
  return clean
}

function firstPiece(raw: string, reading: FieldReading, depth: number): string {
  const [first = '', ...more] = raw.split(signAt(depth, reading))
  // Older versions add the precision of a time and other components that say nothing of their own.
  if (more.some(each => each.trim() !== ''))
    reading.note({ code: 102, message: 'components behind the first are not used' })
  return first
}

function timed(text: string, type: 'DTM' | 'DT' | 'TM', { zone, note }: FieldReading): string | undefined {
  if (type !== 'TM' && isNoDate(text)) return undefined
  const value = type === 'DTM' ? dateTimeOf(text, zone) : type === 'DT' ? dateOf(text) : timeOf(text)
  if (value !== undefined) return value
  const form = type === 'TM' ? 'HHMM[SS[.S]]' : type === 'DT' ? 'YYYY[MM[DD]]' : 'YYYY[MM[DD[HH[MM[SS[.S]]]]]][+ZZZZ]'
  note({ code: 102, message: `there is no such ${type === 'TM' ? 'time' : 'date'}; its form is ${form}` })
  return undefined
}
