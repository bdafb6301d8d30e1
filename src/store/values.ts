// FHIR values as search sees them: what each datatype means as a token, a date, a string, a quantity, a reference or a uri.
// https://hl7.org/fhir/R4/search.html#ptypes
import { isJsonNumber, isObject, type JsonObject, numberOf } from '../lib/json.ts'
import type { Base } from './base.ts'
import { dateInterval, earliest, hull, type Interval, latest } from './dates.ts'

export interface Token {
  /** Undefined: the datatype has no system, or none was given. */
  readonly system?: string
  readonly code?: string
  /** The coding's display or the concept's text. */
  readonly text?: string
  /** Identifier.type, for `:of-type`. */
  readonly types?: readonly Token[]
}

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const list = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
export const objects = (value: unknown): JsonObject[] => list(value).filter(isObject)

/** The tokens of a value. */
export function tokensOf(type: string, value: unknown): Token[] {
  if (!isObject(value)) return typeof value === 'string' || typeof value === 'boolean' ? [{ code: String(value) }] : []
  switch (type) {
    case 'CodeableConcept': {
      const codings = objects(value['coding']).map(codingToken)
      const spoken = text(value['text'])
      return codings.length > 0
        ? codings.map(token => ({ ...token, text: [token.text, spoken].filter(Boolean).join(' ') || undefined }))
        : spoken
          ? [{ text: spoken }]
          : []
    }
    case 'Identifier':
      return [
        {
          system: text(value['system']),
          code: text(value['value']),
          types: objects(value['type']).flatMap(concept => tokensOf('CodeableConcept', concept)),
        },
      ]
    case 'ContactPoint':
      return [{ code: text(value['value']) }]
    case 'Quantity':
    case 'Money':
      return []
    default:
      return [codingToken(value)]
  }
}

function codingToken(coding: JsonObject): Token {
  return { system: text(coding['system']), code: text(coding['code']), text: text(coding['display']) }
}

/** The interval a value stands for, or undefined if it names no time. */
export function intervalOf(type: string, value: unknown): Interval | undefined {
  if (typeof value === 'string') return dateInterval(value)
  if (!isObject(value)) return undefined
  if (type === 'Timing') return timingInterval(value)
  const [start, end] = [dateInterval(String(value['start'] ?? '')), dateInterval(String(value['end'] ?? ''))]
  if (!start && !end) return undefined
  return { low: start?.low ?? earliest, high: end?.high ?? latest }
}

/** Timing counts by its outer limits. */
function timingInterval(timing: JsonObject): Interval | undefined {
  const events = list(timing['event']).map(event => dateInterval(String(event)))
  const bounds = isObject(timing['repeat']) ? intervalOf('Period', timing['repeat']['boundsPeriod']) : undefined
  return hull([...events, bounds].filter(interval => interval !== undefined))
}

/** The strings of a value that are searched apart. */
export function stringsOf(type: string, value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (!isObject(value)) return []
  switch (type) {
    case 'HumanName':
      return parts(value, 'text', 'family', 'given', 'prefix', 'suffix')
    case 'Address':
      return parts(value, 'text', 'line', 'city', 'district', 'state', 'postalCode', 'country')
    case 'CodeableConcept':
      return [...parts(value, 'text'), ...objects(value['coding']).flatMap(coding => parts(coding, 'display'))]
    case 'Identifier':
    case 'ContactPoint':
      return parts(value, 'value')
    default:
      return parts(value, 'display', 'text', 'value')
  }
}

function parts(value: JsonObject, ...names: string[]): string[] {
  return names
    .flatMap(name => list(value[name]))
    .filter(part => typeof part === 'string' && part.trim() !== '') as string[]
}

/** Case, accents and repeated white space do not count in a string search. */
export function fold(value: string): string {
  return value
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
}

export interface Magnitude {
  readonly low: number
  readonly high: number
  readonly system?: string
  readonly code?: string
  readonly unit?: string
}

/** Numbers and quantities as the interval they stand for: a point, a Range's ends, or open for a comparator. */
export function magnitudeOf(type: string, value: unknown): Magnitude | undefined {
  if (isJsonNumber(value)) return { low: numberOf(value), high: numberOf(value) }
  if (!isObject(value)) return undefined
  if (type === 'Range') {
    const [low, high] = [magnitudeOf('Quantity', value['low']), magnitudeOf('Quantity', value['high'])]
    return low || high
      ? { ...(low ?? high)!, low: low?.low ?? -Number.MAX_VALUE, high: high?.high ?? Number.MAX_VALUE }
      : undefined
  }
  if (!isJsonNumber(value['value'])) return undefined
  const number = numberOf(value['value'])
  if (type === 'Money')
    return { low: number, high: number, system: 'urn:iso:std:iso:4217', code: text(value['currency']) }
  const comparator = value['comparator']
  const low = comparator === '<' || comparator === '<=' ? -Number.MAX_VALUE : number
  const high = comparator === '>' || comparator === '>=' ? Number.MAX_VALUE : number
  return { low, high, system: text(value['system']), code: text(value['code']), unit: text(value['unit']) }
}

/**
 * What a reference points at: `Type/id` for this server's own, else the URL as it stands; the version is dropped.
 * @param base absolute references below it are this server's own
 */
export function referenceTarget(reference: string, base: Base): string | undefined {
  if (reference === '' || reference.startsWith('#')) return undefined
  return (base.own(reference) ?? reference).replace(/\/_history\/[^/]+$/, '')
}

/**
 * The id in a Reference to this server's own resource of one of the types, of any version of it.
 * @param types names of types, with `|` between them
 * @param base address of this server's FHIR endpoint
 */
export function idIn(reference: unknown, types: string, base: Base): string | undefined {
  const written = isObject(reference) ? reference['reference'] : undefined
  if (typeof written !== 'string') return undefined
  return new RegExp(`^(?:${types})/([A-Za-z0-9.-]{1,64})$`).exec(referenceTarget(written, base) ?? '')?.[1]
}
