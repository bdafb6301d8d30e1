// Generated searches: what is sent, and beside it what it asks of each resource.
import type { Random } from '../../../support/random.ts'
import { type Coding, folded, momentBy, prefixes, type Span } from './values.ts'
import { type Item, loinc, nameOf, type Type, ucum, type World } from './world.ts'

/** What a client may see. */
export type Sight = (item: Item) => boolean

/** A parameter of a search, and whether a resource meets it. */
interface Criterion {
  readonly name: string
  readonly value: string
  readonly holds: (item: Item, sight: Sight) => boolean
  /** The same in the language of `_filter`; absent if it is not put so. */
  readonly filter?: string
}

/** What results are ordered by. */
export interface Key {
  readonly param: string
  readonly descending: boolean
  /** Undefined for a resource without a value. */
  readonly of: (item: Item) => string | number | undefined
}

/** What is returned beside the matches. */
interface Include {
  readonly name: '_include' | '_revinclude'
  readonly value: string
  readonly of: (match: Item) => readonly Item[]
}

export interface Search {
  readonly types: readonly Type[]
  /** What it is of the compartment of, such as `Patient/1`. */
  readonly compartment: string | undefined
  readonly criteria: readonly Criterion[]
  /** Empty: newest first. */
  readonly sort: readonly Key[]
  readonly include: Include | undefined
  readonly count: number
  readonly isCounted: boolean
  /** Sent as a form. */
  readonly isPosted: boolean
}

/** The parameters of a type by kind, and where references lead. */
interface Params {
  readonly tokens: readonly string[]
  readonly dates: readonly string[]
  readonly texts: readonly string[]
  readonly quantities: readonly string[]
  readonly links: Readonly<Record<string, Type>>
  /** The date that results are ordered by, and tokens that have one value at most. */
  readonly clinical: string
  readonly single: readonly string[]
}

const none = { tokens: [], dates: [], texts: [], quantities: [], links: {}, clinical: '', single: [] }
const params: Readonly<Record<Type, Params>> = {
  Organization: { ...none, texts: ['name'] },
  Patient: {
    ...none,
    ...{
      tokens: ['gender'],
      dates: ['birthdate'],
      texts: ['name', 'family', 'given', 'address-city', 'address-state'],
    },
    ...{ links: { organization: 'Organization' }, single: ['gender'] },
  },
  Encounter: {
    ...none,
    ...{ tokens: ['status', 'class', 'type'], dates: ['date'], clinical: 'date', single: ['status'] },
    links: { patient: 'Patient', subject: 'Patient', 'service-provider': 'Organization' },
  },
  Condition: {
    ...none,
    ...{ tokens: ['clinical-status', 'code'], dates: ['recorded-date', 'onset-date'], clinical: 'recorded-date' },
    links: { patient: 'Patient', subject: 'Patient', encounter: 'Encounter' },
  },
  Observation: {
    ...none,
    ...{ tokens: ['status', 'code', 'category', 'value-concept'], dates: ['date'], quantities: ['value-quantity'] },
    ...{
      clinical: 'date',
      single: ['status'],
      links: { patient: 'Patient', subject: 'Patient', encounter: 'Encounter' },
    },
  },
  DiagnosticReport: {
    ...none,
    ...{ tokens: ['status', 'code'], dates: ['date'], clinical: 'date', single: ['status'] },
    links: { patient: 'Patient', subject: 'Patient', result: 'Observation' },
  },
}

/** References to these types, by parameters of others. */
const referrers: Partial<Record<Type, readonly (readonly [type: Type, param: string])[]>> = {
  Patient: [
    ['Observation', 'patient'],
    ['Encounter', 'subject'],
    ['Condition', 'patient'],
  ],
  Encounter: [
    ['Observation', 'encounter'],
    ['Condition', 'encounter'],
  ],
  Observation: [['DiagnosticReport', 'result']],
}

const searched: readonly Type[] = [
  ...(['Observation', 'Observation', 'Observation', 'Observation'] as const),
  ...(['Patient', 'Encounter', 'Encounter', 'Condition', 'Condition', 'DiagnosticReport'] as const),
]
const several: readonly (readonly Type[])[] = [
  ['Observation', 'Encounter'],
  ['Observation', 'DiagnosticReport', 'Encounter'],
  ['Condition', 'Observation'],
  ['Patient', 'Condition'],
]

const valuesOf = ({ tokens, dates, texts, quantities, links }: Item, name: string): readonly unknown[] =>
  tokens[name] ?? dates[name] ?? texts[name] ?? quantities[name] ?? links[name] ?? []

export function searchBy(random: Random, world: World): Search {
  const types = random.chance(12) ? random.pick(several) : [random.pick(searched)]
  const count = random.pick([1, 2, 3, 7, 20, 20, 100, 1000])
  const number = random.pick([0, 1, 1, 1, 2, 2, 2, 3, 3])
  const criteria = Array.from({ length: number }, () => criterionBy(random, world, types))
  const sort = random.chance(50) ? [] : sortBy(random, world, types)
  const include =
    types.length === 1 && count <= 20 && random.chance(12) ? includeBy(random, world, types[0]!) : undefined
  const compartment = types.length === 1 && random.chance(8) ? compartmentBy(random, world, types[0]!) : undefined
  const isPosted = !compartment && random.chance(10)
  return { types, criteria, sort, include, count, compartment, isPosted, isCounted: random.chance(25) }
}

/** The parameters by which resources are in the compartment of a type. */
const insides: Partial<Record<Type, string>> = { Patient: 'patient', Encounter: 'encounter' }

/** True if the resource is in this compartment. */
export const isInside = ({ links }: Item, compartment: string): boolean =>
  (links[insides[compartment.split('/')[0] as Type]!] ?? []).includes(compartment)

function compartmentBy(random: Random, world: World, type: Type): string | undefined {
  const outside = random.pick(['Patient', 'Patient', 'Encounter'] as const)
  return insides[outside]! in params[type].links ? `${outside}/${random.pick(world.of[outside]).id}` : undefined
}

type Making = (random: Random, world: World, types: readonly Type[], isInner: boolean) => Criterion | undefined

/** The names that all types have, of the same kind. */
const shared = (types: readonly Type[], kind: 'tokens' | 'dates' | 'texts' | 'quantities'): string[] =>
  params[types[0]!][kind].filter(name => types.every(type => params[type][kind].includes(name)))

const commonLinks = (types: readonly Type[]): [string, Type][] =>
  Object.entries(params[types[0]!].links).filter(([name]) => types.every(type => name in params[type].links))

const makings: readonly Making[] = [
  ...[tokenBy, tokenBy, tokenBy, dateBy, dateBy, textBy, textBy, quantityBy, quantityBy, missingBy, idBy],
  ...[numberBy, referenceBy, referenceBy, chainBy, chainBy, hasBy, compositeBy, updateBy, filterBy],
]

function criterionBy(random: Random, world: World, types: readonly Type[], isInner = false): Criterion {
  for (;;) {
    const made = random.pick(makings)(random, world, types, isInner)
    if (made) return made
  }
}

/** One to three alternatives, of which one must be met. */
const alternatives = <T>(random: Random, make: () => T): T[] =>
  Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, make)

/** Alternatives in the language of `_filter`. */
const anyOf = (tests: readonly string[]): string => (tests.length === 1 ? tests[0]! : `(${tests.join(' or ')})`)

/** A value of this parameter in a resource that is there, if one of some has any. */
function valueBy<T>(
  random: Random,
  world: World,
  types: readonly Type[],
  of: (item: Item) => readonly T[] | undefined,
): T | undefined {
  for (let tries = 0; tries < 20; tries++) {
    const values = of(random.pick(world.of[random.pick(types)])) ?? []
    if (values.length > 0) return random.pick(values)
  }
  return undefined
}

function tokenBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  const names = shared(types, 'tokens')
  if (names.length === 0) return undefined
  const name = random.pick(names)
  const asked = alternatives(random, () => {
    const rare = random.chance(15)
      ? { system: loinc, code: random.pick(['measure-rare0', 'measure-rare1', 'nowhere']) }
      : undefined
    const { system, code } = rare ?? valueBy(random, world, types, ({ tokens }) => tokens[name]) ?? { code: 'nothing' }
    const way = system === undefined ? 'code' : random.pick(['both', 'both', 'code'])
    return { text: way === 'both' ? `${system}|${code}` : code, system: way === 'both' ? system : undefined, code }
  })
  const meets = (item: Item): boolean =>
    (item.tokens[name] ?? []).some((each: Coding) =>
      asked.some(({ system, code }) => code === each.code && (system === undefined || system === each.system)),
    )
  const isNegated = random.chance(12)
  return {
    ...{ name: isNegated ? `${name}:not` : name, value: asked.map(({ text }) => text).join(',') },
    holds: item => meets(item) !== isNegated,
    filter: `${isNegated ? 'not ' : ''}(${anyOf(asked.map(({ text }) => `${name} eq ${text}`))})`,
  }
}

function dateBy(random: Random, _world: World, types: readonly Type[]): Criterion | undefined {
  const names = shared(types, 'dates')
  if (names.length === 0) return undefined
  const name = random.pick(names)
  const asked = alternatives(random, () => {
    const prefix = random.pick(['', 'eq', 'ne', 'gt', 'gt', 'lt', 'lt', 'ge', 'le', 'sa', 'eb'])
    const { text, span } = momentBy(random)
    const filter = `${name} ${prefix || 'eq'} ${text}`
    return { text: `${prefix}${text}`, filter, meets: (element: Span) => prefixes[prefix]!(element, span) }
  })
  return {
    ...{ name, value: asked.map(({ text }) => text).join(',') },
    holds: ({ dates }) => (dates[name] ?? []).some(each => asked.some(({ meets }) => meets(each))),
    filter: anyOf(asked.map(({ filter }) => filter)),
  }
}

function textBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  const names = shared(types, 'texts')
  if (names.length === 0) return undefined
  const name = random.pick(names)
  const modifier = random.pick(['', '', '', ':exact', ':contains'])
  const asked = alternatives(random, () => {
    const value = valueBy(random, world, types, ({ texts }) => texts[name]) ?? 'x'
    const length = 1 + random.below(value.length)
    const from = modifier === ':contains' ? random.below(value.length - 1) : 0
    return modifier === ':exact' ? value : value.slice(from, from + length).trim() || value
  })
  const tests: Record<string, (text: string, piece: string) => boolean> = {
    '': (text, piece) => folded(text).startsWith(folded(piece)),
    ':contains': (text, piece) => folded(text).includes(folded(piece)),
    ':exact': (text, piece) => text === piece,
  }
  return {
    ...{ name: `${name}${modifier}`, value: asked.join(',') },
    holds: ({ texts }) => (texts[name] ?? []).some(text => asked.some(piece => tests[modifier]!(text, piece))),
    ...(modifier !== ':exact' && {
      filter: anyOf(asked.map(piece => `${name} ${modifier === '' ? 'sw' : 'co'} "${piece}"`)),
    }),
  }
}

/** A number as it is written stands for half of its last place above and below it. */
function askedQuantity(random: Random): {
  text: string
  filter: string
  meets: (value: number, unit: string) => boolean
} {
  const prefix = random.pick(['', 'gt', 'gt', 'lt', 'lt', 'ge', 'le', 'ne'])
  const [tenths, isWhole] = [random.below(2400), random.chance(50)]
  // In hundredths, which are exact: values have tenths.
  const exact = isWhole ? Math.floor(tenths / 10) * 100 : tenths * 10
  const half = isWhole ? 50 : 5
  const unit = random.chance(50) ? random.pick(['mmol/L', '%']) : undefined
  const form = unit === undefined ? '' : random.pick([`|${ucum}|${unit}`, `||${unit}`])
  const tests: Record<string, (value: number) => boolean> = {
    '': value => value >= exact - half && value < exact + half,
    ne: value => value < exact - half || value >= exact + half,
    gt: value => value > exact,
    lt: value => value < exact,
    ge: value => value >= exact,
    le: value => value <= exact,
  }
  const text = `${isWhole ? exact / 100 : (exact / 100).toFixed(1)}${form}`
  return {
    text: `${prefix}${text}`,
    filter: `${prefix || 'eq'} ${text}`,
    meets: (value, ofUnit) => (unit === undefined || unit === ofUnit) && tests[prefix]!(Math.round(value * 100)),
  }
}

function quantityBy(random: Random, _world: World, types: readonly Type[]): Criterion | undefined {
  const [name] = shared(types, 'quantities')
  if (name === undefined) return undefined
  const asked = alternatives(random, () => askedQuantity(random))
  return {
    ...{ name, value: asked.map(({ text }) => text).join(',') },
    holds: ({ quantities }) =>
      (quantities[name] ?? []).some(each => asked.some(({ meets }) => meets(each.value, each.unit))),
    filter: anyOf(asked.map(({ filter }) => `${name} ${filter}`)),
  }
}

function missingBy(random: Random, _world: World, types: readonly Type[]): Criterion | undefined {
  const kinds = ['tokens', 'dates', 'texts', 'quantities'] as const
  const names = [...kinds.flatMap(kind => shared(types, kind)), ...commonLinks(types).map(([name]) => name)]
  if (names.length === 0 || random.chance(50)) return undefined
  const name = random.pick(names)
  const isMissing = random.chance(50)
  return {
    ...{ name: `${name}:missing`, value: `${isMissing}`, filter: `${name} pr ${!isMissing}` },
    holds: item => (valuesOf(item, name).length === 0) === isMissing,
  }
}

function idBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  if (random.chance(50)) return undefined
  const ids = alternatives(random, () => (random.chance(90) ? random.pick(world.of[random.pick(types)]).id : 'nobody'))
  return { name: '_id', value: ids.join(','), holds: ({ id }) => ids.includes(id) }
}

function numberBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  if (types.some(type => type !== 'Patient')) return undefined
  const { system, code } = random.pick(world.of.Patient).tokens['identifier']![0]!
  const value = random.chance(70) ? `${system}|${code}` : code
  return { name: 'identifier', value, holds: ({ tokens }) => tokens['identifier']!.some(each => each.code === code) }
}

function referenceBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  const links = commonLinks(types)
  if (links.length === 0) return undefined
  const [name, target] = random.pick(links)
  const asked = alternatives(random, () => random.pick(world.of[target]).id)
  const [way, lead] = random.pick([
    ['', `${target}/`],
    [`:${target}`, ''],
    ['', ''],
  ] as const)
  // An id alone is of any type that the reference may have.
  const names = asked.map(id => `${target}/${id}`)
  return {
    ...{ name: `${name}${way}`, value: asked.map(id => `${lead}${id}`).join(',') },
    holds: ({ links }) => (links[name] ?? []).some(each => names.includes(each)),
    filter: anyOf(names.map(each => `${name} eq ${each}`)),
  }
}

function chainBy(random: Random, world: World, types: readonly Type[], isInner: boolean): Criterion | undefined {
  const links = commonLinks(types)
  if (links.length === 0 || (isInner && random.chance(60))) return undefined
  const [name, target] = random.pick(links)
  const inner = criterionBy(random, world, [target], true)
  // What leads to one type alone needs no name of it.
  const way = name === 'subject' || random.chance(50) ? `${name}:${target}` : name
  return {
    ...{ name: `${way}.${inner.name}`, value: inner.value },
    holds: ({ links }, sight) =>
      (links[name] ?? []).some(each => {
        const found = world.named.get(each)
        return found !== undefined && sight(found) && inner.holds(found, sight)
      }),
  }
}

function hasBy(random: Random, world: World, types: readonly Type[], isInner: boolean): Criterion | undefined {
  const ways = types.length === 1 ? referrers[types[0]!] : undefined
  if (!ways || (isInner && random.chance(60))) return undefined
  const [type, param] = random.pick(ways)
  const inner = criterionBy(random, world, [type], true)
  return {
    ...{ name: `_has:${type}:${param}:${inner.name}`, value: inner.value },
    holds: (item, sight) =>
      world.referring(nameOf(item), param).some(each => each.type === type && sight(each) && inner.holds(each, sight)),
  }
}

function compositeBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  if (types.some(type => type !== 'Observation')) return undefined
  const code = valueBy(random, world, types, ({ tokens }) => tokens['code'])!
  const asked = askedQuantity(random)
  return {
    ...{ name: 'code-value-quantity', value: `${code.system}|${code.code}$${asked.text}` },
    holds: ({ tokens, quantities }) =>
      tokens['code']!.some(each => each.code === code.code && each.system === code.system) &&
      quantities['value-quantity']!.some(each => asked.meets(each.value, each.unit)),
  }
}

/** When the resource was stored, beside when another one was. */
function updateBy(random: Random, world: World, types: readonly Type[]): Criterion | undefined {
  if (random.chance(40)) return undefined
  const prefix = random.pick(['gt', 'ge', 'lt', 'le'])
  const at = world.updated.get(nameOf(random.pick(world.of[random.pick(types)])))!
  const text = new Date(at).toISOString()
  return {
    ...{ name: '_lastUpdated', value: `${prefix}${text}`, filter: `_lastUpdated ${prefix} ${text}` },
    holds: item => {
      const own = world.updated.get(nameOf(item))!
      return prefixes[prefix]!([own, own + 1], [at, at + 1])
    },
  }
}

function filterBy(random: Random, world: World, types: readonly Type[], isInner: boolean): Criterion | undefined {
  if (isInner && random.chance(80)) return undefined
  const parts = Array.from({ length: 2 + random.below(2) }, () => criterionBy(random, world, types, true))
  if (parts.some(({ filter }) => filter === undefined)) return undefined
  const negated = parts.map(() => random.chance(15))
  const isAnd = random.chance(50)
  const tests = parts.map(({ filter }, at) => (negated[at] ? `not (${filter})` : filter!))
  const holds: Criterion['holds'] = (item, sight) => {
    const held = parts.map((each, at) => each.holds(item, sight) !== negated[at])
    return isAnd ? !held.includes(false) : held.includes(true)
  }
  const filter = tests.join(isAnd ? ' and ' : ' or ')
  return { name: '_filter', value: filter, holds, filter: `(${filter})` }
}

const lowest = (spans: readonly Span[] = []): number | undefined =>
  spans.length > 0 ? Math.min(...spans.map(([low]) => low)) : undefined
const highest = (spans: readonly Span[] = []): number | undefined =>
  spans.length > 0 ? Math.max(...spans.map(([, high]) => high)) : undefined

/** Newest clinical date first; undefined where there is none for all of the types. */
export function newestFirst(types: readonly Type[]): Key | undefined {
  if (types.some(type => params[type].clinical === '')) return undefined
  return { param: '', descending: true, of: ({ type, dates }) => lowest(dates[params[type].clinical]) }
}

function sortBy(random: Random, world: World, types: readonly Type[]): Key[] {
  const keys: Omit<Key, 'descending'>[] = [
    { param: '_id', of: ({ id }) => id },
    { param: '_lastUpdated', of: item => world.updated.get(nameOf(item)) },
  ]
  const singles = params[types[0]!].single.filter(name => types.every(type => params[type].single.includes(name)))
  for (const param of singles) keys.push({ param, of: ({ tokens }) => tokens[param]![0]?.code })
  const made = (descending: boolean): Key[] => [
    ...keys.map(key => ({ ...key, descending })),
    ...shared(types, 'dates').map(param => {
      const isClinical = descending && types.every(type => params[type].clinical === param)
      const of = descending && !isClinical ? highest : lowest
      return { param, descending, of: ({ dates }: Item) => of(dates[param]) }
    }),
    ...shared(types, 'texts').map(param => ({
      ...{ param, descending },
      of: ({ texts }: Item) => {
        const all = (texts[param] ?? []).map(folded).sort()
        return descending ? all.at(-1) : all[0]
      },
    })),
    ...shared(types, 'quantities').map(param => ({
      ...{ param, descending },
      of: ({ quantities }: Item) => quantities[param]?.[0]?.value,
    })),
  ]
  const some = [made(random.chance(50)), made(random.chance(50))].map(each => random.pick(each))
  return random.chance(70) || some[0]!.param === some[1]!.param ? some.slice(0, 1) : some
}

function includeBy(random: Random, world: World, type: Type): Include {
  const ways = referrers[type]
  if (ways && random.chance(50)) {
    const [from, param] = random.pick(ways)
    return {
      ...{ name: '_revinclude', value: `${from}:${param}` },
      of: match => world.referring(nameOf(match), param).filter(each => each.type === from),
    }
  }
  const name = random.pick(Object.keys(params[type].links))
  return {
    ...{ name: '_include', value: `${type}:${name}` },
    of: match => (match.links[name] ?? []).map(each => world.named.get(each)!),
  }
}
