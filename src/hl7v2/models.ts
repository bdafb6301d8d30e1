// HL7 v2's messages, segments and data types as logical models, so that maps name fields as HL7's tables do and misspelt ones are found.

import type { ElementModel, TypeModel } from '../definitions/model.ts'
import type { LogicalModel } from '../fml/structures.ts'
import { dataTypes, modelType, type Part, segments, valueElements } from './dictionary.ts'
import { type GroupSlot, messageStructures } from './structures.ts'

/** What the URLs of these models begin with. */
const MODELS = 'https://health-interop.org/fhir/hl7v2/StructureDefinition'

let known: readonly LogicalModel[] | undefined

/** Returns a model for each structure, segment and data type; what several need has one too: `Segment`, `Field`. */
export function messageModels(): readonly LogicalModel[] {
  known ??= [
    ...[...dataTypes].map(([name, parts]) =>
      model(name, [typeOf(name, [...parts.map(elementOf), many('more', 'string')])]),
    ),
    ...[...segments].map(([name, parts]) =>
      model(name, [typeOf(name, [...about, ...parts.flatMap(fieldElements), ...rest])]),
    ),
    model('Field', [typeOf('Field', [one('number', 'integer'), one('text', 'string')])]),
    model('Segment', [typeOf('Segment', [...about, many('field', 'Field')])]),
    ...[...messageStructures].map(([name, shape]) => model(name, groupTypes(shape, name, 'complex'))),
  ]
  return known
}

/** True if a type of this name is a message. */
export function isMessageType(name: string | undefined): name is string {
  return name !== undefined && messageStructures.has(name)
}

/** What a segment says about itself: its name, its place in the message, and which of its name it is. */
const about = [one('segment', 'string'), one('number', 'integer'), one('occurrence', 'integer')]

/** Fields that HL7 does not define, and the places of explicit nulls: `PID-13`. */
const rest = [many('more', 'Field'), many('deleted', 'string')]

const model = (type: string, types: readonly TypeModel[]): LogicalModel => ({
  url: `${MODELS}/${type}`,
  type,
  types,
  valueSets: new Map(),
})

function typeOf(name: string, elements: readonly ElementModel[], kind: TypeModel['kind'] = 'complex'): TypeModel {
  return { name, kind, abstract: false, elements: new Map(elements.map(each => [each.name, each])), constraints: [] }
}

function element(name: string, type: string, max: number): ElementModel {
  return { name, types: [type], choice: false, min: 0, max, summary: false }
}

function one(name: string, type: string): ElementModel {
  return element(name, type, 1)
}

function many(name: string, type: string): ElementModel {
  return element(name, type, Number.POSITIVE_INFINITY)
}

function elementOf({ element: name, name: short, type, repeats }: Part): ElementModel {
  return { ...(repeats ? many : one)(name, modelType(type)), short }
}

/** A field, and for the value of an observation one more for each type that it can have. */
function fieldElements(part: Part): ElementModel[] {
  if (part.type !== 'varies') return [elementOf(part)]
  const typed = new Map(
    [...valueElements.values()].map(({ element: name, type }) => [name, many(name, modelType(type))]),
  )
  return [elementOf(part), ...typed.values()]
}

function groupTypes({ slots }: GroupSlot, name: string, kind: TypeModel['kind']): TypeModel[] {
  const elements = slots.map(({ kind: slot, name: each, repeats }) =>
    (repeats ? many : one)(each, slot === 'group' ? `${name}.${each}` : each),
  )
  const other = kind === 'complex' ? [many('other', 'Segment')] : []
  const groups = slots.flatMap(each =>
    each.kind === 'group' ? groupTypes(each, `${name}.${each.name}`, 'backbone') : [],
  )
  return [typeOf(name, [...elements, ...other], kind), ...groups]
}
