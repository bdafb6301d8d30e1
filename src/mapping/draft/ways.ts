// How the value of one element becomes that of another: what a first draft of a rule says.

import type { ElementModel } from '../../definitions/model.ts'
import { typeSystem } from '../../fhirpath/types.ts'
import { converter } from '../../fml/run/convert.ts'
import type { Structures } from '../../fml/structures.ts'
import { meaningOf } from './meaning.ts'

/** A way from a type of the source element to a type of the target element. */
export interface Way {
  readonly from: string
  readonly to: string
  readonly kind: 'copy' | 'codes' | 'nested' | 'made'
  /** `codes` need a concept map, and `nested` elements rules of their own. For what is made: what stands behind the arrow, for the target's path; the source's value is the variable `v`. */
  readonly write?: (path: string) => string
}

/** The best way between two elements; undefined if none is known. */
export function wayBetween(from: ElementModel, to: ElementModel, structures: Structures): Way | undefined {
  const pairs = to.types.flatMap(target => from.types.map(source => [source, target] as const))
  const same = pairs.toSorted((a, b) => Number(a[0] !== a[1]) - Number(b[0] !== b[1]))
  for (const kind of [copied, made, nested]) {
    for (const [source, target] of same) {
      const way = kind(source, target, from, to, structures)
      if (way) return way
    }
  }
  return undefined
}

type Find = (
  source: string,
  target: string,
  from: ElementModel,
  to: ElementModel,
  structures: Structures,
) => Way | undefined

/** Types of a choice are only copied to themselves: that a text fits one of fifty types means nothing. */
const copied: Find = (source, target, from, to, structures) => {
  const system = typeSystem(structures)
  if (to.choice ? source !== target : !converter(system, source, target)) return undefined
  const [known, allowed] = [from, to].map(each => codesOf(each, structures))
  const isOther = system.isPrimitive(source) && known && allowed && [...known].some(code => !allowed.has(code))
  return { from: source, to: target, kind: isOther ? 'codes' : 'copy' }
}

/** The part of a datatype that a single value is, both ways. */
const PARTS: Readonly<Record<string, string>> = {
  Address: 'text',
  Annotation: 'text',
  CodeableConcept: 'text',
  Coding: 'code',
  ContactPoint: 'value',
  Dosage: 'text',
  HumanName: 'text',
  Identifier: 'value',
  Money: 'value',
  Quantity: 'value',
  Reference: 'reference',
}

const made: Find = (source, target, from, to, structures) => {
  const system = typeSystem(structures)
  if (system.isPrimitive(source) === system.isPrimitive(target)) return undefined
  const isTaken = system.isPrimitive(target)
  const isConcept = (isTaken ? source : target) === 'CodeableConcept'
  if (isConcept && codesOf(from, structures) && codesOf(to, structures))
    return { from: source, to: target, kind: 'codes' }
  const part = partOf(isTaken ? source : target, (isTaken ? to : from).name)
  const model = part && structures.typeModel(isTaken ? source : target)?.elements.get(part)
  if (!model || !converter(system, isTaken ? model.types[0]! : source, isTaken ? target : model.types[0]!))
    return undefined
  if (isTaken && codesOf(to, structures)) return undefined
  const write = isTaken ? taken(source, part) : given(target, part, from, to)
  return { from: source, to: target, kind: 'made', write }
}

/** Of names, the part that the other side's name is about. */
function partOf(type: string, name: string): string | undefined {
  if (type !== 'HumanName') return Object.hasOwn(PARTS, type) ? PARTS[type] : undefined
  return ['given', 'family'].find(each => meaningOf(name).has(each)) ?? 'text'
}

function taken(type: string, part: string): (path: string) => string {
  if (type === 'Reference') return path => `${path} = (%v.reference.split('/').last())`
  if (type === 'CodeableConcept') return path => `${path} = (%v.text.combine(%v.coding.display).first())`
  if (part === 'given') return path => `${path} = (%v.given.join(' '))`
  return path => `${path} = (%v.${part})`
}

function given(type: string, part: string, from: ElementModel, to: ElementModel): (path: string) => string {
  const create = (path: string) => (to.choice ? `${path} = create('${type}')` : path)
  if (type === 'CodeableConcept') return path => `${path} = cc(v)`
  if (type === 'Reference') return path => `${create(path)} as r, r.reference = ('${referred(from, to)}/' & %v)`
  if (type === 'HumanName') return path => `${path} as n${to.max > 1 ? ' share name' : ''}, n.${part} = v`
  const system = type === 'ContactPoint' ? `, p.system = '${/mail/i.test(from.name) ? 'email' : 'phone'}'` : ''
  return path => `${create(path)} as p${system}, p.${part} = v`
}

/** What an id refers to: what its name says if the element can refer to that, or the first that it can. */
function referred({ name }: ElementModel, { targets }: ElementModel): string {
  const meant = targets?.find(target => meaningOf(name).has(target.toLowerCase()))
  return meant ?? targets?.[0] ?? 'Resource'
}

/** Both have elements of their own, of which some may be alike. */
const nested: Find = (source, target, _from, _to, structures) => {
  const own = (type: string) => ['backbone', 'complex'].includes(structures.typeModel(type)?.kind ?? '')
  const isRelation = [source, target].some(type => type === 'Reference' || type === 'Extension')
  return own(source) && own(target) && !isRelation ? { from: source, to: target, kind: 'nested' } : undefined
}

/** The codes that an element can have, where that is known. */
function codesOf({ requiredValueSet }: ElementModel, structures: Structures): ReadonlySet<string> | undefined {
  const systems = requiredValueSet === undefined ? undefined : structures.valueSet(requiredValueSet)
  return systems && new Set([...systems.values()].flatMap(codes => [...codes]))
}
