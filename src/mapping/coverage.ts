// What a map covers: which elements of the source its rules read, and which of the target they set.

import type { ElementModel, TypeModel } from '../definitions/model.ts'
import { jsonKey } from '../definitions/r4.ts'
import type { Coverage } from '../fml/compile.ts'
import type { Structures } from '../fml/structures.ts'
import type { Mapping } from './mapping.ts'

/** An element, and whether a rule reads or sets it. */
export interface CoveredElement {
  /** `AllergyRecord.created_at`, `Patient.contact.name` */
  readonly path: string
  /** Its types, joined with a bar. */
  readonly type: string
  readonly isRequired: boolean
  readonly isCovered: boolean
}

/** What a map covers of its types; elements named in expressions count as read. */
export interface CoverageReport {
  readonly map: string
  /** The type of the first source: a second one is there for whatever a map needs of it. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly source: readonly CoveredElement[]
  readonly target: readonly CoveredElement[]
  /** Required elements of what is made that no rule sets: `Observation.code`. */
  readonly unset: readonly string[]
}

/** Returns what a map covers; undefined for one that could not be read. */
export function coverageOf(mapping: Mapping, structures: Structures): CoverageReport | undefined {
  const { name, coverage } = mapping
  if (!coverage) return undefined
  const [from, to] = endsOf(mapping, structures)
  const { reads, sets, mentions, missing } = coverage
  const of = (type: string | undefined, names: Coverage['reads'], isMentioned: (name: string) => boolean) =>
    type === undefined ? [] : elementsIn(type, type, { names, isMentioned, structures })
  return {
    map: name,
    from,
    to,
    source: of(from, reads, each => mentions.has(each)),
    target: of(to, sets, () => false),
    unset: [...new Set(missing.map(({ type, element }) => `${type}.${element}`))],
  }
}

/** The types of a map's first source and target. */
export function endsOf({ parsed, program }: Mapping, structures: Structures): [string?, string?] {
  const used = (mode: 'source' | 'target') =>
    parsed.map.uses.filter(each => each.mode === mode).map(({ url }) => structures.byUrl(url.text))
  const [from] = program?.sources.map(({ type }) => type) ?? used('source')
  const [to] = program?.targets.map(({ type }) => type) ?? used('target')
  return [from, to]
}

/** What every resource and element has, and what says nothing about a patient. */
const FRAME = new Set(['implicitRules', 'language', 'text', 'contained', 'extension', 'modifierExtension', 'meta'])

interface Used {
  /** Elements by type; `*` where the whole value is copied. */
  readonly names: Coverage['reads']
  readonly isMentioned: (name: string) => boolean
  readonly structures: Structures
}

function elementsIn(type: string, path: string, used: Used): CoveredElement[] {
  const { names, isMentioned, structures } = used
  const model = structures.typeModel(type)
  const own = names.get(type) ?? new Set()
  if (!model) return []
  return elementsOf(model).flatMap(element => {
    const { types, choice } = element
    const all = [element.name, ...types.map(each => jsonKey(element, each))]
    const isCovered = own.has('*') || all.some(each => own.has(each) || isMentioned(each))
    const place = `${path}.${element.name}${choice ? '[x]' : ''}`
    const row = { path: place, type: types.join(' | '), isRequired: element.min > 0, isCovered }
    // Of what is used, the parts: where rules use any of them, and these are not a datatype's.
    const isWhole = !isCovered || own.has('*')
    const parts = isWhole ? [] : types.filter(each => each !== type && names.has(each) && isOwn(each, structures))
    return [row, ...parts.flatMap(each => elementsIn(each, place, used))]
  })
}

function elementsOf({ kind, elements }: TypeModel): ElementModel[] {
  return [...elements.values()].filter(({ name }) => !FRAME.has(name) && !(kind === 'backbone' && name === 'id'))
}

function isOwn(type: string, structures: Structures): boolean {
  return structures.typeModel(type)?.kind === 'backbone'
}
