// Dates and times in other forms than FHIR's: `toDate('dd/MM/yyyy')`. http://hl7.org/fhirpath/#datedatetime-string-format-codes

import { formatTemporal, parseTemporal, type Temporal } from './temporal.ts'

type Kind = Temporal['kind']

const CODES = {
  yyyy: ['year', '(\\d{4})'],
  yy: ['year', '(\\d{2})'],
  MM: ['month', '(\\d{2})'],
  M: ['month', '(\\d{1,2})'],
  dd: ['day', '(\\d{2})'],
  d: ['day', '(\\d{1,2})'],
  HH: ['hour', '(\\d{2})'],
  H: ['hour', '(\\d{1,2})'],
  hh: ['hour', '(\\d{2})'],
  h: ['hour', '(\\d{1,2})'],
  mm: ['minute', '(\\d{2})'],
  m: ['minute', '(\\d{1,2})'],
  ss: ['second', '(\\d{2})'],
  s: ['second', '(\\d{1,2})'],
  a: ['half', '([AaPp][Mm]?)'],
  Z: ['zone', '(Z|[+-]\\d{2}:?\\d{2})'],
} as const

type Field = (typeof CODES)[keyof typeof CODES][0] | 'fraction'

interface DateFormat {
  readonly pattern: RegExp
  readonly fields: readonly Field[]
  /** Hours are of half a day. */
  readonly isHalved: boolean
}

const LONGEST = 100
const MOST_FORMATS = 200
const formats = new Map<string, DateFormat | string>()

/** What is wrong with a format for values of this kind; undefined if it can be used. */
export function formatProblem(format: string, kind: Kind): string | undefined {
  const found = formatOf(format, kind)
  return typeof found === 'string' ? found : undefined
}

/**
 * Reads a text of this format as a date, dateTime or time as FHIR writes it; undefined where the text does not have the
 * format, or names a day that does not exist, and for formats that `formatProblem` refuses.
 */
export function parseFormatted(text: string, format: string, kind: Kind): string | undefined {
  const known = formatOf(format, kind)
  if (typeof known === 'string' || text.length > LONGEST) return undefined
  const match = known.pattern.exec(text)
  if (!match) return undefined
  const values = new Map(known.fields.map((field, index) => [field, match[index + 1]!]))
  const temporal = temporalOf(values, known.isHalved, kind)
  const written = temporal && formatTemporal(temporal)
  return written && parseTemporal(written, kind) ? written : undefined
}

function formatOf(format: string, kind: Kind): DateFormat | string {
  const key = `${kind} ${format}`
  let found = formats.get(key)
  if (found === undefined) {
    found = compiled(format, kind)
    if (formats.size < MOST_FORMATS) formats.set(key, found)
  }
  return found
}

function compiled(format: string, kind: Kind): DateFormat | string {
  if (format.length > LONGEST) return `a format has at most ${LONGEST} characters`
  const fields: Field[] = []
  let source = ''
  for (const [code] of format.matchAll(/yyyy|yy|M{1,4}|d{1,2}|h{1,2}|H{1,2}|m{1,2}|s{1,2}|S+|[YD]+|[\s\S]/g)) {
    if (/^(?:MMM|[YDz]|y$)/.test(code)) return unknownCode(code)
    const known = code.startsWith('S')
      ? fraction(code)
      : Object.hasOwn(CODES, code)
        ? CODES[code as keyof typeof CODES]
        : undefined
    if (known && fields.includes(known[0])) return `the format contains the ${known[0]} twice`
    if (known) fields.push(known[0])
    source += known ? known[1] : code.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  }
  const isHalved = /h/.test(format)
  return missing(fields, isHalved, kind) ?? { pattern: new RegExp(`^${source}$`), fields, isHalved }
}

function fraction({ length }: string): readonly ['fraction', string] {
  return ['fraction', `(\\d{${length}})`]
}

function unknownCode(code: string): string {
  if (code === 'z' || code.startsWith('MMM'))
    return `the format code \`${code}\` is not supported: names of months and zones differ by language`
  return `\`${code}\` is not a format code; did you mean \`${code.startsWith('D') ? 'dd' : 'yyyy'}\`?`
}

/** Each field and the one that it makes no sense without. */
const NEEDS: readonly (readonly [field: Field, needed: Field, code: string])[] = [
  ['month', 'year', 'yyyy'],
  ['day', 'month', 'MM'],
  ['minute', 'hour', 'HH'],
  ['second', 'minute', 'mm'],
  ['fraction', 'second', 'ss'],
  ['zone', 'hour', 'HH'],
]

function missing(fields: readonly Field[], isHalved: boolean, kind: Kind): string | undefined {
  const [least, code] = kind === 'time' ? (['hour', 'HH'] as const) : (['year', 'yyyy'] as const)
  if (!fields.includes(least)) return `the format has no ${least} (\`${code}\`)`
  if (kind === 'dateTime' && fields.includes('hour') && !fields.includes('day'))
    return 'the format has an hour without a day (`dd`)'
  if (isHalved !== fields.includes('half'))
    return '`h` and `hh` are hours of half a day, which need `a` (AM, PM); hours of a day are `HH`'
  for (const [field, needed, written] of NEEDS) {
    if (fields.includes(field) && !fields.includes(needed))
      return `the format has a ${field} without a ${needed} (\`${written}\`)`
  }
  return undefined
}

function temporalOf(values: ReadonlyMap<Field, string>, isHalved: boolean, kind: Kind): Temporal | undefined {
  const number = (field: Field): number[] => (values.has(field) ? [Number(values.get(field))] : [])
  const hours = isHalved ? hourOfDay(Number(values.get('hour')), values.get('half')!) : number('hour')
  if (!hours) return undefined
  const thousandths = (values.get('fraction') ?? '').slice(0, 3)
  const millis = number('second').map(second => second * 1000 + Number(thousandths.padEnd(3, '0')))
  const day = [...year(values.get('year')), ...number('month'), ...number('day')]
  const time = [...hours, ...number('minute'), ...millis]
  const parts = kind === 'date' ? day : kind === 'time' ? time : [...day, ...time]
  const zone = kind === 'dateTime' ? values.get('zone') : undefined
  return { kind, parts, offset: zone === undefined ? undefined : offset(zone), fraction: thousandths.length }
}

/** Two digits are the years from 1950 to 2049. */
function year(digits: string | undefined): number[] {
  if (digits === undefined) return []
  const number = Number(digits)
  return [digits.length === 4 ? number : number < 50 ? 2000 + number : 1900 + number]
}

function hourOfDay(hour: number, half: string): number[] | undefined {
  if (hour < 1 || hour > 12) return undefined
  return [(hour % 12) + (/^p/i.test(half) ? 12 : 0)]
}

function offset(zone: string): number {
  if (zone === 'Z') return 0
  return (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2)))
}
