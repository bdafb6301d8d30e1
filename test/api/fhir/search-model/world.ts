// Invented records, and of each resource what search parameters find in it, written down beside it.
import type { Random } from '../../../support/random.ts'
import { type Coding, type Moment, momentBy, type Quantity, type Span } from './values.ts'

const types = ['Patient', 'Encounter', 'Condition', 'Observation', 'DiagnosticReport', 'Organization'] as const
export type Type = (typeof types)[number]

/** A resource, and the values that each search parameter finds in it. */
export interface Item {
  readonly type: Type
  readonly id: string
  /** The id of the patient it is about. */
  readonly patient?: string
  readonly resource: Readonly<Record<string, unknown>>
  readonly tokens: Readonly<Record<string, readonly Coding[]>>
  readonly dates: Readonly<Record<string, readonly Span[]>>
  readonly texts: Readonly<Record<string, readonly string[]>>
  readonly quantities: Readonly<Record<string, readonly Quantity[]>>
  /** Such as `Patient/1`. */
  readonly links: Readonly<Record<string, readonly string[]>>
}

export interface World {
  readonly items: readonly Item[]
  readonly of: Readonly<Record<Type, readonly Item[]>>
  /** By such a name as `Patient/1`. */
  readonly named: ReadonlyMap<string, Item>
  /** By name, when each was stored, in milliseconds: known once it is. */
  readonly updated: Map<string, number>
  /** What is stored before under names of items, and is overwritten by them. */
  readonly former: readonly Item['resource'][]
  /** What is stored and deleted. */
  readonly gone: readonly Item['resource'][]
  /** The items whose reference of this parameter is this name. */
  referring(name: string, param: string): readonly Item[]
}

export const nameOf = ({ type, id }: Pick<Item, 'type' | 'id'>): string => `${type}/${id}`

export const loinc = 'http://loinc.org'
const local = 'https://codes.example'
export const ucum = 'http://unitsofmeasure.org'
const recordNumbers = 'https://records.example/mrn'

const families = [
  'Müller',
  'Muller',
  'Mbarga',
  'Ngo',
  'Ngono',
  'Fotso',
  'Biya',
  'Eto',
  'Abega',
  'Tchana',
  'Étoundi',
  'Kamga',
]
const givens = ['Ada', 'Adèle', 'Bela', 'Chi', 'Dora', 'Mary Ann', 'Jean', 'Jeanne', 'Paul', 'Rosa']
const cities = ['Yaoundé', 'Douala', 'Buea', 'Garoua', 'Bamenda']
const states = ['CE', 'LT', 'SW', 'NO']

/** Two frequent codes, some of the middle, and some that hardly anything has. */
const skewed = (random: Random, prefix: string): string => {
  const kind = random.below(1000)
  if (kind < 650) return `${prefix}-${kind % 2}`
  if (kind < 990) return `${prefix}-${2 + (kind % 9)}`
  return `${prefix}-rare${kind % 5}`
}

const statusBy = (random: Random, usual: string, others: readonly string[]): string =>
  random.chance(93) ? usual : random.pick(others)

interface Parts extends Partial<Omit<Item, 'type' | 'id' | 'resource'>> {
  readonly more: object
}

function item(type: Type, id: string, { more, ...parts }: Parts): Item {
  // JSON has no undefined elements.
  const resource = JSON.parse(JSON.stringify({ resourceType: type, id, ...more }))
  return { type, id, tokens: {}, dates: {}, texts: {}, quantities: {}, links: {}, ...parts, resource }
}

const inCoding = (coding: Coding): object => ({ coding: [coding] })
const byDates = (moment: Moment | undefined): Span[] => (moment ? [moment.span] : [])
const isSet = <T>(value: T | undefined): value is T => value !== undefined

/** A period, of which either end may be open. */
function periodBy(random: Random): { period: { start?: string; end?: string }; span: Span } {
  const [one, other] = [momentBy(random, 'day'), momentBy(random, 'day')].sort((a, b) => a.span[0] - b.span[0]) as [
    Moment,
    Moment,
  ]
  const kind = random.below(10)
  const end = kind < 6 ? one : other
  if (kind === 8) return { period: { start: one.text }, span: [one.span[0], Infinity] }
  if (kind === 9) return { period: { end: other.text }, span: [-Infinity, other.span[1]] }
  return { period: { start: one.text, end: end.text }, span: [one.span[0], end.span[1]] }
}

const organization = (random: Random, number: number): Item => {
  const name = `${random.pick(cities)} Clinic ${number}`
  return item('Organization', `org${number}`, { more: { name }, texts: { name: [name] } })
}

function patient(random: Random, id: string, organizations: readonly Item[]): Item {
  const names = Array.from({ length: random.chance(10) ? 2 : 1 }, () => ({
    family: random.pick(families),
    given: Array.from({ length: 1 + random.below(2) }, () => random.pick(givens)),
  }))
  const gender = random.pick(['male', 'female', 'female', 'other', undefined])
  const birth = random.chance(90) ? momentBy(random, random.pick(['day', 'day', 'month', 'year'])) : undefined
  const address = random.chance(80) ? { city: random.pick(cities), state: random.pick(states) } : undefined
  const keeper = random.chance(50) ? `Organization/${random.pick(organizations).id}` : undefined
  const number = { system: recordNumbers, value: `N${id}` }
  return item('Patient', id, {
    patient: id,
    more: {
      ...{ identifier: [number], name: names, gender, birthDate: birth?.text },
      ...{ address: address && [address], managingOrganization: keeper && { reference: keeper } },
    },
    tokens: {
      gender: [gender].filter(isSet).map(code => ({ code })),
      identifier: [{ system: number.system, code: number.value }],
    },
    dates: { birthdate: byDates(birth) },
    texts: {
      name: names.flatMap(({ family, given }) => [family, ...given]),
      family: names.map(({ family }) => family),
      given: names.flatMap(({ given }) => given),
      'address-city': [address?.city].filter(isSet),
      'address-state': [address?.state].filter(isSet),
    },
    links: { organization: [keeper].filter(isSet) },
  })
}

const aboutPatient = (id: string) => ({ patient: [`Patient/${id}`], subject: [`Patient/${id}`] })

function encounter(random: Random, id: string, about: string, organizations: readonly Item[]): Item {
  const status = statusBy(random, 'finished', ['in-progress', 'cancelled', 'planned'])
  const kind = { system: `${local}/class`, code: random.pick(['AMB', 'AMB', 'AMB', 'EMER', 'IMP']) }
  const type = { system: local, code: skewed(random, 'visit') }
  const dated = random.chance(95) ? periodBy(random) : undefined
  const provider = `Organization/${random.pick(organizations).id}`
  return item('Encounter', id, {
    patient: about,
    more: {
      ...{ status, class: kind, type: [inCoding(type)], period: dated?.period },
      ...{ subject: { reference: `Patient/${about}` }, serviceProvider: { reference: provider } },
    },
    tokens: { status: [{ code: status }], class: [kind], type: [type] },
    dates: { date: dated ? [dated.span] : [] },
    links: { ...aboutPatient(about), 'service-provider': [provider] },
  })
}

function condition(random: Random, id: string, about: string, visit: Item | undefined): Item {
  const status = { system: `${terms}/condition-clinical`, code: statusBy(random, 'active', ['resolved', 'inactive']) }
  const code = { system: local, code: skewed(random, 'illness') }
  const recorded = random.chance(85) ? momentBy(random, random.pick(['day', 'second'])) : undefined
  const [asPeriod, asMoment] = [
    random.chance(30) ? periodBy(random) : undefined,
    random.chance(60) ? momentBy(random) : undefined,
  ]
  return item('Condition', id, {
    patient: about,
    more: {
      ...{ clinicalStatus: inCoding(status), code: inCoding(code), recordedDate: recorded?.text },
      ...(asPeriod ? { onsetPeriod: asPeriod.period } : { onsetDateTime: asMoment?.text }),
      ...{ subject: { reference: `Patient/${about}` }, encounter: visit && { reference: `Encounter/${visit.id}` } },
    },
    tokens: { 'clinical-status': [status], code: [code] },
    dates: { 'recorded-date': byDates(recorded), 'onset-date': asPeriod ? [asPeriod.span] : byDates(asMoment) },
    links: { ...aboutPatient(about), encounter: visit ? [`Encounter/${visit.id}`] : [] },
  })
}

const terms = 'http://terminology.hl7.org/CodeSystem'

function observation(random: Random, id: string, about: string, visit: Item | undefined): Item {
  const status = statusBy(random, 'final', ['amended', 'cancelled', 'preliminary'])
  const code = { system: loinc, code: skewed(random, 'measure') }
  const codes = random.chance(10) ? [code, { system: local, code: skewed(random, 'measure') }] : [code]
  const category = random.chance(90)
    ? {
        system: `${terms}/observation-category`,
        code: random.pick(['vital-signs', 'vital-signs', 'laboratory', 'survey']),
      }
    : undefined
  const dated = random.chance(8) ? periodBy(random) : undefined
  const moment = !dated && random.chance(97) ? momentBy(random) : undefined
  const kind = random.below(10)
  const quantity =
    kind < 7
      ? { value: (kind === 0 ? 900 : 0) + random.below(2000) / 10, unit: random.pick(['mmol/L', 'mmol/L', '%']) }
      : undefined
  const concept = kind === 7 ? { system: local, code: skewed(random, 'answer') } : undefined
  return item('Observation', id, {
    patient: about,
    more: {
      ...{ status, code: { coding: codes }, category: category && [inCoding(category)] },
      ...{ effectivePeriod: dated?.period, effectiveDateTime: moment?.text },
      valueQuantity: quantity && { value: quantity.value, unit: quantity.unit, system: ucum, code: quantity.unit },
      valueCodeableConcept: concept && inCoding(concept),
      ...{ subject: { reference: `Patient/${about}` }, encounter: visit && { reference: `Encounter/${visit.id}` } },
    },
    tokens: {
      status: [{ code: status }],
      code: codes,
      category: [category].filter(isSet),
      'value-concept': [concept].filter(isSet),
    },
    dates: { date: dated ? [dated.span] : byDates(moment) },
    quantities: { 'value-quantity': [quantity].filter(isSet) },
    links: { ...aboutPatient(about), encounter: visit ? [`Encounter/${visit.id}`] : [] },
  })
}

function report(random: Random, id: string, about: string, results: readonly Item[]): Item {
  const status = statusBy(random, 'final', ['amended', 'registered'])
  const code = { system: loinc, code: skewed(random, 'report') }
  const moment = random.chance(90) ? momentBy(random) : undefined
  const result = [...new Set(Array.from({ length: random.below(4) }, () => `Observation/${random.pick(results).id}`))]
  return item('DiagnosticReport', id, {
    patient: about,
    more: {
      ...{ status, code: inCoding(code), effectiveDateTime: moment?.text, subject: { reference: `Patient/${about}` } },
      result: result.length > 0 ? result.map(reference => ({ reference })) : undefined,
    },
    tokens: { status: [{ code: status }], code: [code] },
    dates: { date: byDates(moment) },
    links: { ...aboutPatient(about), result },
  })
}

/** @param patients some hundred resources are about each of them */
export function worldBy(random: Random, patients: number): World {
  const organizations = Array.from({ length: 5 }, (_none, number) => organization(random, number))
  const items: Item[] = [...organizations]
  // As names of people do, ids say nothing of the order in which they came.
  const id = (letter: string): string => `${letter}${random.below(0x10000000).toString(36)}${items.length.toString(36)}`
  for (let number = 0; number < patients; number++) {
    const about = id('p')
    items.push(patient(random, about, organizations))
    const add = (count: number, make: () => Item): Item[] =>
      Array.from({ length: count }, () => {
        const made = make()
        items.push(made)
        return made
      })
    const visits = add(random.below(12), () => encounter(random, id('e'), about, organizations))
    const during = (): Item | undefined => (visits.length > 0 && random.chance(60) ? random.pick(visits) : undefined)
    add(random.below(10), () => condition(random, id('c'), about, during()))
    const results = add(10 + random.below(120), () => observation(random, id('o'), about, during()))
    add(random.below(8), () => report(random, id('d'), about, results))
  }
  return worldOf(random, items)
}

function worldOf(random: Random, items: readonly Item[]): World {
  const byType = Map.groupBy(items, ({ type }) => type)
  const of = Object.fromEntries(types.map(type => [type, byType.get(type) ?? []])) as unknown as World['of']
  const referring = new Map<string, Item[]>()
  for (const each of items)
    for (const [param, names] of Object.entries(each.links))
      for (const name of names) {
        const key = `${name} ${param}`
        const known = referring.get(key)
        if (known) known.push(each)
        else referring.set(key, [each])
      }
  const changed = items.filter(({ type }) => type !== 'Patient' && random.chance(4))
  const another = ({ type }: Item): Item['resource'] => random.pick(of[type]).resource
  return {
    ...{ items, of, named: new Map(items.map(each => [nameOf(each), each])), updated: new Map() },
    former: changed.map(each => ({ ...another(each), id: each.id })),
    gone: changed.map(each => ({ ...another(each), id: `gone-${each.id}` })),
    referring: (name, param) => referring.get(`${name} ${param}`) ?? [],
  }
}
