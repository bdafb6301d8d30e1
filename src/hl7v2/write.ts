// Messages out: a tree, as maps make it, as the text of HL7 v2, escaped and with delimiters.

import { type Delimiters, escapeText, usual } from './delimiters.ts'
import { dataTypes, segments as dictionary, type Part, valueElements } from './dictionary.ts'
import { type GroupSlot, messageStructures } from './structures.ts'
import { writtenTime } from './time.ts'
import type { Tree } from './tree.ts'

/**
 * Returns the text of a message, its segments in the order of its structure, each ended by a carriage return. Segments without
 * their number among those of their group (the set ID) get it.
 */
export function writeMessage(tree: Tree, structure: string, delimiters: Delimiters = usual): string {
  const shape = messageStructures.get(structure)
  if (!shape) throw new Error(`there is no structure ${structure}`)
  return linesOf(tree, shape, delimiters, 1)
    .map(line => `${line}\r`)
    .join('')
}

/** @param count which group of its name it is */
function linesOf(held: Tree, { slots }: GroupSlot, delimiters: Delimiters, count: number): string[] {
  return slots.flatMap(each =>
    listOf(held[each.name]).flatMap((value, index) => {
      if (each.kind === 'group') return linesOf(value as Tree, each, delimiters, index + 1)
      const setId = each.repeats ? index + 1 : count
      return [segmentLine(each.name, numbered(each.name, value as Tree, setId), delimiters)]
    }),
  )
}

function numbered(id: string, value: Tree, setId: number): Tree {
  const first = dictionary.get(id)?.[0]
  return first?.type === 'SI' && value[first.element] === undefined
    ? { ...value, [first.element]: String(setId) }
    : value
}

/** Returns a segment by its name and its fields. */
function segmentLine(id: string, value: Tree, delimiters: Delimiters = usual): string {
  const { field, component, repetition, escapeSign, subcomponent } = delimiters
  const fields = (dictionary.get(id) ?? []).map(part => {
    if (id !== 'MSH' || part.number > 2) return fieldText(part, value, delimiters)
    return part.number === 1 ? '' : `${component}${repetition}${escapeSign}${subcomponent}`
  })
  const own = id === 'MSH' ? fields.slice(1) : fields
  const last = own.findLastIndex(each => each !== '')
  return [id, ...own.slice(0, last + 1)].join(field)
}

function fieldText(part: Part, value: Tree, delimiters: Delimiters): string {
  const typed = part.type === 'varies' ? typedValue(value) : undefined
  const values = listOf(typed?.value ?? value[part.element])
  return values.map(each => written(each, typed?.type ?? part.type, delimiters, 0)).join(delimiters.repetition)
}

function typedValue(value: Tree): { readonly value: unknown; readonly type: string } | undefined {
  for (const { element, type } of valueElements.values())
    if (value[element] !== undefined) return { value: value[element], type }
  return undefined
}

function written(value: unknown, type: string, delimiters: Delimiters, depth: number): string {
  const parts = dataTypes.get(type)
  if (!parts || typeof value !== 'object' || value === null) return primitiveText(value, type, delimiters)
  const pieces = parts.map(({ element, type: inner }) => {
    const held = (value as Tree)[element]
    return held === undefined ? '' : written(held, inner, delimiters, depth + 1)
  })
  const last = pieces.findLastIndex(each => each !== '')
  return pieces.slice(0, last + 1).join(depth === 0 ? delimiters.component : delimiters.subcomponent)
}

function primitiveText(value: unknown, type: string, delimiters: Delimiters): string {
  const isTime = type === 'DTM' || type === 'DT' || type === 'TM'
  return isTime ? writtenTime(String(value)) : escapeText(String(value), delimiters)
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}
