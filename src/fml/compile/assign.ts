// Gives an element a value: which of its types that is, how the value becomes it, and what could not work.

import type { Typed } from '../../fhirpath/compile.ts'
import type { TypeSystem } from '../../fhirpath/types.ts'
import { systemType } from '../../fhirpath/types.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Span } from '../ast.ts'
import { shown } from '../problem.ts'
import { type Convert, converter, textOf } from '../run/convert.ts'
import { Refusal } from '../run/map-error.ts'
import type { Slot } from '../run/write.ts'
import { type Element, keyed } from './element.ts'
import { codesOf } from './read.ts'
import { lenient, type Made, replacing, report, type Scope } from './scope.ts'
import type { Value } from './value.ts'

/** Where a value of some type goes in an element. */
interface Landing {
  readonly slot: Slot
  readonly type: string
  readonly isPrimitive: boolean
  /** An empty text is nothing there. */
  readonly isFhir: boolean
  readonly convert: Convert
}

/** Finds the landing of a value when it is there. */
export type Land = (item: Typed) => Landing

/** How values of these types go into the element; reports what cannot. */
export function landing(value: Value, element: Element, span: Span, scope: Scope, made?: Made): Land | undefined {
  const { system } = scope.build
  const { types } = value
  if (types?.length === 0) {
    report(scope, span, `this is always empty, so ${element.shown} is never set`)
    return undefined
  }
  if (!types || types.some(type => isUnknown(system, type))) return dynamic(system, element)
  if (value.isAddress && element.types?.includes('Reference')) return () => addressLanding(element)
  const landings = types.map(type => [type, landingOf(system, type, element)] as const)
  const possible = landings.filter((each): each is readonly [string, Landing] => each[1] !== undefined)
  if (possible.length === 0) {
    report(scope, span, cannot(types, element, system))
    return undefined
  }
  if (!isFit(value, element, span, scope)) return undefined
  checkCodes(value, element, span, scope)
  const [only] = possible
  if (landings.length === 1 && only) {
    const [from, found] = only
    if (made) noteChoice(made, element, found.slot.key, span, scope)
    const isFinished = value.isFresh && found.type === from && !found.isPrimitive
    const landed = isFinished ? { ...found, convert: (fresh: unknown) => fresh } : found
    return () => landed
  }
  return dynamic(system, element)
}

/** Returns the one type that the element has when it was set to the value; undefined where it depends on the data. */
export function landedType({ types, isAddress }: Value, element: Element, { build }: Scope): string | undefined {
  const { system } = build
  if (!element.types) return types?.length === 1 ? types[0] : undefined
  if (element.types.length === 1) return element.types[0]
  if (isAddress && element.types.includes('Reference')) return 'Reference'
  if (!types || types.some(type => isUnknown(system, type))) return undefined
  const [landed, ...others] = new Set(types.map(type => landingOf(system, type, element)?.type))
  return others.length === 0 ? landed : undefined
}

/** One rule cannot give a choice two types. */
export function noteChoice(made: Made, { model, shown: label }: Element, key: string, span: Span, scope: Scope): void {
  if (!model?.choice) return
  const { target, key: other } = made.choices.get(model.name) ?? {}
  if (target === scope.site && other !== key)
    report(scope, span, `${label} is \`${other}\` already in this rule; it cannot be \`${key}\` too`)
  made.choices.set(model.name, { target: scope.site, key })
}

function addressLanding(element: Element): Landing {
  const convert = (text: unknown) => ({ reference: text })
  return { slot: keyed(element, 'Reference'), type: 'Reference', isPrimitive: false, isFhir: true, convert }
}

/** True if the type of such a value depends on the data. */
function isUnknown(system: TypeSystem, type: string): boolean {
  return type === '' || (!type.startsWith('System.') && system.isOpen(type))
}

function dynamic(system: TypeSystem, element: Element): Land {
  const known = new Map<string, Landing | undefined>()
  return item => {
    let found = known.get(item.type)
    if (!found && !known.has(item.type)) known.set(item.type, (found = landingOf(system, item.type, element)))
    if (!found) throw new Refusal(cannot([item.type], element, system))
    return found
  }
}

/** Where a value of this type goes: into the same type, one it derives from, or one it can be written as. */
function landingOf(system: TypeSystem, from: string, element: Element): Landing | undefined {
  const { types } = element
  if (!types) return openLanding(system, from, element)
  const order = [...types.filter(to => to === from), ...preferred(from, types), ...types]
  for (const to of order) {
    if (system.isOpen(to)) {
      if (isResource(system, from) || to === 'Element')
        return { ...openLanding(system, from, element), convert: converter(system, from, from)! }
      continue
    }
    const convert = converter(system, from, to)
    const { isFhir } = element
    if (convert) return { slot: keyed(element, to), type: to, isPrimitive: system.isPrimitive(to), isFhir, convert }
  }
  return undefined
}

/** Where the structure is not known, or anything may stand. */
function openLanding(system: TypeSystem, from: string, element: Element): Landing {
  const convert = converter(system, from, primitiveFor(from)) ?? converter(system, from, from)!
  return { slot: element, type: from, isPrimitive: system.isPrimitive(from), isFhir: element.isFhir, convert }
}

/** For an element whose type is not known, a computed value becomes the primitive it is closest to. */
function primitiveFor(type: string): string {
  const [first] = PREFERENCES.get(type) ?? []
  return first ?? type
}

function isResource(system: TypeSystem, type: string): boolean {
  return type === '' || system.model.typeModel(type)?.kind === 'resource'
}

const PREFERENCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['System.String', ['string', 'code', 'markdown', 'uri', 'id']],
  ['System.Boolean', ['boolean']],
  ['System.Integer', ['integer', 'decimal', 'positiveInt', 'unsignedInt']],
  ['System.Decimal', ['decimal']],
  ['System.Date', ['date', 'dateTime']],
  ['System.DateTime', ['dateTime', 'instant']],
  ['System.Time', ['time']],
  ['System.Quantity', ['Quantity']],
])

/** Of several types of a choice, those of the same kind come first: a computed text is a string, an integer no text. */
function preferred(from: string, types: readonly string[]): readonly string[] {
  const order = PREFERENCES.get(systemType(from) ?? from) ?? []
  return order.filter(type => types.includes(type))
}

function cannot(types: readonly string[], element: Element, system: TypeSystem): string {
  const from = types.map(said).join(' or ')
  const to = element.types?.join(' or ') ?? ''
  return `${element.shown} is of type ${to}, and does not take ${from}${wayOut(types, element, system)}`
}

function said(type: string): string {
  return type === '' ? 'a value of unknown type' : type.startsWith('System.') ? `a ${type.slice(7)}` : type
}

function wayOut(types: readonly string[], { types: wanted }: Element, system: TypeSystem): string {
  const isText = types.every(type => systemType(type) === 'System.String')
  if (isText && wanted?.includes('CodeableConcept')) return "; write `cc(…)` for a text, `cc('system', …)` for a code"
  if (isText && wanted?.includes('Coding')) return "; write `c('system', …)`"
  if (isText && wanted?.includes('Identifier')) return "; write `id('system', …)`"
  if (isText && wanted?.includes('Reference')) return '; a Reference holds the text in its element `reference`'
  const isTime = types.every(type => systemType(type) === 'System.DateTime')
  if (isTime && wanted?.includes('date')) return "; write `cast(…, 'date')`"
  return types.some(type => !system.isPrimitive(type) && !type.startsWith('System.'))
    ? '; convert it with `then { … }` or a group for the two types'
    : ''
}

/** A literal that its element cannot hold is found now, not when the map runs. */
function isFit({ constant }: Value, element: Element, span: Span, scope: Scope): boolean {
  if (!constant) return true
  const land = landingOf(scope.build.system, constant.type, element)
  try {
    land?.convert(constant.value)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    report(scope, span, `${element.shown} cannot be ${shown(textOf(constant.value))}: ${error.message}`)
    return false
  }
}

/** Codes that the element's value set does not have. https://hl7.org/fhir/R4/terminologies.html#required */
function checkCodes(value: Value, element: Element, span: Span, scope: Scope): void {
  const { codes, constant } = value
  const valueSet = element.model?.requiredValueSet
  const allowed = valueSet && codes && codesOf(scope, valueSet)
  if (!allowed) return
  const strange = [...codes].filter(code => !allowed.has(code))
  if (strange.length === 0) return
  const list = allowed.size > 12 ? '' : ` (${[...allowed].join(', ')})`
  if (constant) {
    const meant = nearest(strange[0]!, [...allowed])
    const question = didYouMean(meant, list)
    report(scope, span, `${shown(strange[0]!)} is not a code of ${element.shown}${question}`, {
      ...replacing(span, meant && `'${meant}'`),
      ...lenient(scope.build),
    })
    return
  }
  const { table } = value
  const rest = table?.unit ? strange.filter(code => !isReportedAtLine(code, table, element, allowed, scope)) : strange
  if (rest.length === 0) return
  const some = rest.slice(0, 5).map(shown).join(', ')
  const more = rest.length > 5 ? ` and ${rest.length - 5} more` : ''
  const are = rest.length > 1 ? 'are not codes' : 'is not a code'
  const message = value.table
    ? `the concept map gives ${some}${more}, which ${are} of ${element.shown}${list}`
    : `${some}${more} ${are} of ${element.shown}${list}; use translate(…) with a concept map`
  report(scope, span, message, lenient(scope.build))
}

/** Reports a wrong code of a table at its line; returns false where it does not stand in the text of a map. */
function isReportedAtLine(
  code: string,
  { entries, unit }: NonNullable<Value['table']>,
  { shown: label }: Element,
  allowed: ReadonlySet<string>,
  { build }: Scope,
): boolean {
  const places = [...entries.values()]
    .flat()
    .flatMap(({ target, place }) => (target?.code === code && place ? [place] : []))
  const meant = nearest(code, [...allowed])
  const list = allowed.size > 12 ? '' : ` (${[...allowed].join(', ')})`
  for (const place of places)
    report({ build, unit: unit! }, place, `${shown(code)} is not a code of ${label}${didYouMean(meant, list)}`, {
      ...replacing(place, meant),
      ...lenient(build),
      beginning: `${shown(code)} is not a code of `,
    })
  return places.length > 0
}
