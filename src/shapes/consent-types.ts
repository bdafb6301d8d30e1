// The types of consent, as `mappings/consents.json` holds them: what each opens. For a wrong file it reports each problem and its
// place.

import { isResourceType, resourceTypes } from '../definitions/r4.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { didYouMean, nearest } from '../lib/nearest.ts'

/** A part of the record, or all of it, that a patient opens by one word. */
interface ConsentType {
  readonly name: string
  readonly title: string
  /** For patients and integrators. */
  readonly meaning: string
  /** What can be read; undefined: everything. */
  readonly resourceTypes: readonly string[] | undefined
  /** Only what has one of these categories; none: whatever it has. */
  readonly categories: readonly string[]
  /** True if it opens nothing, save in an emergency. */
  readonly isForEmergencies: boolean
}

export interface ConsentTypes {
  /** By name, in the order of the file. */
  readonly types: ReadonlyMap<string, ConsentType>
  /** How long a consent holds that does not say so. */
  readonly expiresAfterDays: number
  /** How long a request can be answered. */
  readonly requestsExpireAfterDays: number
}

/** A mistake, and the names of the members and indexes that lead to it. */
export interface Fault {
  readonly at: readonly string[]
  readonly message: string
}

/** What the name of a type looks like. */
export const consentTypeName = '^[a-z][a-z0-9_]{0,63}$'

/** The type that is meant where none is named. */
const WHOLE = 'full_record'
const MOST_TYPES = 100
/** How long a request can be answered if the file does not say so. */
const usualRequestDays = 30

/** Codes of http://terminology.hl7.org/CodeSystem/observation-category that resources of a type are filed under. */
const categoriesOf: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'Observation',
    ['laboratory', 'vital-signs', 'imaging', 'procedure', 'survey', 'exam', 'therapy', 'activity', 'social-history'],
  ],
  // Reports name the section that made them; those of a laboratory count as laboratory.
  ['DiagnosticReport', ['laboratory']],
])
const allCategories = categoriesOf.get('Observation')!

/** The types that a file holds, or all that is wrong with it. */
export function judgeConsentTypes(value: unknown): { consents: ConsentTypes } | { faults: readonly Fault[] } {
  const faults: Fault[] = []
  const consents = consentsOf(value, { at: [], faults })
  return faults.length > 0 ? { faults } : { consents }
}

/** Where one is in the file, and the list of what is wrong with it. */
interface Reader {
  readonly at: readonly string[]
  readonly faults: Fault[]
}

function consentsOf(value: unknown, reader: Reader): ConsentTypes {
  const file = objectIn(value, reader, ['expires_after_days', 'types'], ['requests_expire_after_days'])
  const listed = typesIn(file['types'], within(reader, 'types'))
  const types = Object.entries(listed).map(([name, each]) => typeOf(name, each, within(reader, 'types', name)))
  return {
    types: new Map(types.map(each => [each.name, each])),
    expiresAfterDays: daysOf(file['expires_after_days'], within(reader, 'expires_after_days')),
    requestsExpireAfterDays: daysOf(
      file['requests_expire_after_days'] ?? usualRequestDays,
      within(reader, 'requests_expire_after_days'),
    ),
  }
}

function typesIn(value: unknown, reader: Reader): JsonObject {
  if (value === undefined) return {}
  if (!isObject(value)) {
    wrong(reader, 'must be an object with a member for each consent type')
    return {}
  }
  const { why, ...types } = value
  checkWhy(why, reader)
  const count = Object.keys(types).length
  if (count > MOST_TYPES) wrong(reader, `has ${count} consent types; the limit is ${MOST_TYPES}`)
  const whole = types[WHOLE]
  if (whole === undefined) wrong(reader, `has no ${WHOLE}, the default type, which opens everything`)
  else if (isObject(whole) && whole['opens'] !== 'everything')
    wrong(within(reader, WHOLE, 'opens'), 'must be "everything": this is the default type')
  return types
}

function typeOf(name: string, value: unknown, reader: Reader): ConsentType {
  if (!new RegExp(consentTypeName).test(name))
    wrong(
      reader,
      'is not a valid name of a consent type: use at most 64 lower-case letters, digits and _, starting with a letter',
    )
  const found = objectIn(value, reader, ['title', 'meaning', 'opens'], ['categories', 'in_emergencies'])
  const opened = openedBy(found['opens'], within(reader, 'opens'))
  const categories = categoriesIn(found['categories'], opened, within(reader, 'categories'))
  return {
    name,
    title: textOf(found['title'], within(reader, 'title'), 100),
    meaning: textOf(found['meaning'], within(reader, 'meaning'), 1000),
    resourceTypes: opened,
    categories,
    isForEmergencies: isForEmergencies(found, within(reader, 'in_emergencies')),
  }
}

function openedBy(value: unknown, reader: Reader): string[] | undefined {
  if (value === undefined || value === 'everything') return undefined
  if (value === 'nothing') return []
  if (!Array.isArray(value) || value.length === 0) {
    const meant = typeof value === 'string' ? nearest(value, ['everything', 'nothing']) : undefined
    wrong(
      reader,
      `must be "everything", "nothing", or a list of resource types such as ["Condition"]${didYouMean(meant)}`,
    )
    return undefined
  }
  const isKnown = (each: unknown): boolean => typeof each === 'string' && isResourceType(each)
  return listOf(value, reader, isKnown, each => `is not a resource type of R4${meantBy(each, resourceTypes)}`)
}

function categoriesIn(value: unknown, opened: readonly string[] | undefined, reader: Reader): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length === 0) {
    wrong(reader, 'must be a list such as ["laboratory"]; omit it to cover everything')
    return []
  }
  const isKnown = (each: unknown): boolean => allCategories.includes(String(each))
  const others = `: ${allCategories.join(', ')} are`
  const categories = listOf(value, reader, isKnown, each => `is not a category${meantBy(each, allCategories, others)}`)
  checkNarrowed(opened, categories, reader)
  return categories
}

/** A consent has one list of types and one of categories, and each category is checked against each type. */
function checkNarrowed(opened: readonly string[] | undefined, categories: readonly string[], reader: Reader): void {
  if (!opened || opened.length === 0)
    return wrong(reader, 'can only narrow a list of Observation and DiagnosticReport in opens')
  if (categories.length === 0) return
  for (const type of opened.filter(isResourceType)) {
    if (categoriesOf.get(type)?.some(each => categories.includes(each))) continue
    const reason = categoriesOf.has(type) ? `is only filed under ${categoriesOf.get(type)}` : 'has none of these'
    wrong(
      reader,
      `applies to all types in opens, and ${type} ${reason}, so ${type} would stay closed; define a separate consent type for ${type}`,
    )
  }
}

function isForEmergencies(found: JsonObject, reader: Reader): boolean {
  const { in_emergencies: value = false, opens } = found
  if (typeof value !== 'boolean') wrong(reader, 'must be true or false')
  else if (value && (opens === 'everything' || Array.isArray(opens)))
    wrong(reader, 'requires "opens": "nothing": add that, or omit in_emergencies')
  return value === true
}

function daysOf(value: unknown, reader: Reader): number {
  if (value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 36_500))
    return Number(value)
  wrong(reader, 'must be a whole number of days from 1 to 36500')
  return 1
}

/** The entries of a list that are known, each once. */
function listOf(
  values: readonly unknown[],
  reader: Reader,
  isKnown: (value: unknown) => boolean,
  fault: (value: unknown) => string,
): string[] {
  const known = new Set<string>()
  for (const [index, each] of values.entries()) {
    const place = within(reader, String(index))
    if (!isKnown(each)) wrong(place, fault(each))
    else if (known.has(String(each))) wrong(place, `repeats ${String(each)}`)
    else known.add(String(each))
  }
  return [...known]
}

function meantBy(value: unknown, candidates: readonly string[], otherwise = ''): string {
  return typeof value === 'string' ? didYouMean(nearest(value, candidates), otherwise) : otherwise
}

/** An object with these members; `why` may stand anywhere. */
function objectIn(
  value: unknown,
  reader: Reader,
  names: readonly string[],
  optional: readonly string[] = [],
): JsonObject {
  if (!isObject(value)) {
    wrong(reader, `must be an object with ${names.join(', ')}`)
    return {}
  }
  const allowed = [...names, ...optional, 'why']
  const unknown = Object.keys(value).filter(each => !allowed.includes(each))
  for (const name of unknown)
    wrong(within(reader, name), `is not a known field${meantBy(name, allowed, `: ${allowed.join(', ')} are`)}`)
  const isMisspelt = (name: string): boolean => unknown.some(each => nearest(each, allowed) === name)
  for (const name of names)
    if (value[name] === undefined && !isMisspelt(name)) wrong(within(reader, name), 'is missing')
  checkWhy(value['why'], reader)
  return value
}

function checkWhy(why: unknown, reader: Reader): void {
  if (why !== undefined && typeof why !== 'string') wrong(within(reader, 'why'), 'must be text')
}

function textOf(value: unknown, reader: Reader, most: number): string {
  if (value === undefined) return ''
  if (typeof value === 'string' && value.trim() !== '' && value.length <= most) return value
  wrong(reader, `must be text of 1 to ${most} characters`)
  return ''
}

function wrong({ at, faults }: Reader, message: string): void {
  faults.push({ at, message: `${at.join('.') || 'the file'} ${message}` })
}

function within({ at, faults }: Reader, ...names: readonly string[]): Reader {
  return { at: [...at, ...names], faults }
}
