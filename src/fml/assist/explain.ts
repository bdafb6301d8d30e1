// Explanation: what the name at a place of a map stands for.

import { transformForms } from '../compile/transforms.ts'
import type { SeenGroup, SeenVariable, Sight } from '../sight.ts'
import type { Structures } from '../structures.ts'
import { covers } from './complete.ts'
import { typeText, wordsOf } from './suggestion.ts'

/** What a name stands for. */
export interface Explanation {
  readonly from: number
  readonly to: number
  /** `AllergyRecord.severity : code 1..1` */
  readonly title: string
  /** Sentences. */
  readonly lines: readonly string[]
  /** The group that is named, and the file or URL of its map. */
  readonly group?: { readonly name: string; readonly map: string }
}

/** Most codes that are listed. */
const MOST_CODES = 30

/** Returns what stands at an offset; undefined where nothing is known. */
export function explain(
  text: string,
  offset: number,
  sights: readonly Sight[],
  structures: Structures,
): Explanation | undefined {
  // The shortest: an expression is within the rule's condition.
  const here = sights.filter(({ span }) => covers(span, offset)).toSorted((a, b) => a.span.length - b.span.length)
  for (const sight of here) {
    const { span } = sight
    const name = text.slice(span.offset, span.offset + span.length).replace(/^[`"]|[`"]$/g, '')
    const found = explained(sight, name, structures)
    if (found) return { from: span.offset, to: span.offset + span.length, ...found }
  }
  return undefined
}

type Said = Omit<Explanation, 'from' | 'to'>

function explained(sight: Sight, name: string, structures: Structures): Said | undefined {
  switch (sight.kind) {
    case 'element':
      return element(name, sight.types ?? [], structures)
    case 'expression':
      return variable(name.replace(/^%/, ''), sight.variables?.()) ?? element(name, sight.types ?? [], structures)
    case 'variable':
      return variable(name, sight.variables())
    case 'transform':
      return { title: transformForms.get(name) ?? name, lines: [] }
    case 'group':
      return group(sight.groups().find(each => each.name === name))
    case 'codes':
      return { title: 'code', lines: [`One of: ${listed([...sight.codes])}`] }
    default:
      return undefined
  }
}

function element(name: string, types: readonly string[], structures: Structures): Said | undefined {
  for (const type of types) {
    const all = structures.typeModel(type)?.elements
    const model = all?.get(name) ?? [...(all?.values() ?? [])].find(each => each.choice && name.startsWith(each.name))
    if (!model) continue
    const words = wordsOf(type, model)
    const systems = model.requiredValueSet === undefined ? undefined : structures.valueSet(model.requiredValueSet)
    const codes = systems && [...systems.values()].flatMap(each => [...each])
    return {
      title: `${type}.${model.name} : ${typeText(model)}`,
      lines: [...(words ? [words] : []), ...(codes ? [`One of: ${listed(codes)}`] : [])],
    }
  }
  return undefined
}

function variable(name: string, seen: ReadonlyMap<string, SeenVariable> | undefined): Said | undefined {
  const found = seen?.get(name)
  return found && { title: `${name} : ${found.types?.join(' | ') ?? 'any type'}`, lines: [KINDS[found.kind]] }
}

const KINDS: Readonly<Record<SeenVariable['kind'], string>> = {
  source: 'A value of the source.',
  constant: 'A constant of this map.',
  target: 'An object that is being made.',
  place: 'A value that is being made.',
}

const group = (found: SeenGroup | undefined): Said | undefined =>
  found && { title: `group ${found.name}(${found.parameters})`, lines: [found.map], group: found }

function listed(codes: readonly string[]): string {
  const shown = codes.slice(0, MOST_CODES).join(', ')
  return codes.length > MOST_CODES ? `${shown} and ${codes.length - MOST_CODES} more` : shown
}
