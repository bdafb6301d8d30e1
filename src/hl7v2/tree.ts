// A message as a tree that maps read: groups, segments and fields by their names in HL7's tables. Nothing of a message is left out.

import { type Delimiters, unescapeText } from './delimiters.ts'
import { segments as dictionary, type Part, valueElements } from './dictionary.ts'
import { isHomeless, type Placed, place } from './place.ts'
import { MessageError, type MessageProblem } from './problem.ts'
import type { RawMessage, RawSegment } from './read.ts'
import { messageStructures } from './structures.ts'
import { dateTimeOf, type Zone } from './time.ts'
import { type FieldReading, type FieldValue, fieldValue, readValue } from './value.ts'

export type Tree = { [element: string]: unknown }

export interface TreeOptions {
  /** The structure to read the message as: `ORU_R01`. */
  readonly structure: string
  /** The offset of times without one; that of MSH-7, if it has one, comes first. */
  readonly zone: Zone
}

export interface MessageTree {
  readonly tree: Tree
  /** What is wrong with single values, each of which is left out of the tree. */
  readonly faults: readonly MessageProblem[]
  /** What is unusual: segments at other places, values that are not used. */
  readonly warnings: MessageProblem[]
}

/** Returns the tree of a message. @throws MessageError if there is no such structure */
export function treeOf({ delimiters, segments }: RawMessage, { structure, zone }: TreeOptions): MessageTree {
  const shape = messageStructures.get(structure)
  if (!shape)
    throw new MessageError({ code: 200, message: `the structure ${structure} is not supported`, isRejection: true })
  const tree: Tree = {}
  const others: Tree[] = []
  const [faults, warnings]: [MessageProblem[], MessageProblem[]] = [[], []]
  const context = { delimiters, zone: zoneOfMessage(segments[0]!, zone), faults, warnings }
  const placed: Placed = { shape, tree, open: [{ group: shape, value: tree }] }
  for (const segment of segments) {
    const { id, occurrence } = segment
    const known = dictionary.get(id)
    const fields = known && segmentValue(segment, known, context)
    const remark = fields ? place(id, fields, placed) : 'the segment is not known'
    if (remark === undefined) continue
    if (!fields || isHomeless(remark)) others.push(otherSegment(segment, context))
    if (!id.startsWith('Z')) warnings.push({ segment: id, occurrence, code: 100, message: remark })
  }
  if (others.length > 0) tree['other'] = others
  return { tree, faults, warnings }
}

interface Context extends Pick<FieldReading, 'delimiters' | 'zone'> {
  readonly faults: MessageProblem[]
  readonly warnings: MessageProblem[]
}

/** MSH-7 gives the offset of all times of the message that have none. */
function zoneOfMessage({ fields }: RawSegment, zone: Zone): Zone {
  const offset = /([+-]\d\d)(\d\d)$/.exec(fields[7]?.trim() ?? '')
  return offset && dateTimeOf(fields[7]!.trim(), zone) ? () => `${offset[1]}:${offset[2]}` : zone
}

function segmentValue(segment: RawSegment, parts: readonly Part[], context: Context): Tree {
  const { id, number, occurrence, fields } = segment
  const value: Tree = { segment: id, number, occurrence }
  const deleted: string[] = []
  for (const part of parts) {
    const raw = fields[part.number]
    if (raw === undefined || raw === '') continue
    const reading = readingOf(segment, part.number, context, deleted)
    const found = part.type === 'varies' ? observed(segment, value, reading) : read(raw, id, part, reading)
    if (found !== undefined) value[part.element] = found
  }
  const more = fields
    .slice(parts.length + 1)
    .flatMap((raw, index) => otherField(parts.length + 1 + index, raw, context))
  if (more.length > 0) value['more'] = more
  if (deleted.length > 0) value['deleted'] = deleted
  return value
}

/** MSH-1 and MSH-2 are the delimiters themselves. */
function read(
  raw: string,
  id: string,
  part: Part,
  reading: FieldReading,
): FieldValue | readonly FieldValue[] | undefined {
  if (id === 'MSH' && part.number < 3) return raw
  return fieldValue(id === 'OBX' && part.number === 6 ? unitIn(raw, reading.delimiters) : raw, part, reading)
}

/** `10^9/L`: the power of a unit, which was not escaped, is no component. */
function unitIn(raw: string, { component, escapeSign }: Delimiters): string {
  const [power = '', rest = ''] = raw.split(component)
  if (!/^\s*x?\s*10$/i.test(power) || !/^[0-9]/.test(rest) || escapeSign === '') return raw
  return raw.replace(component, `${escapeSign}S${escapeSign}`)
}

function readingOf({ id, occurrence }: RawSegment, field: number, context: Context, deleted: string[]): FieldReading {
  const { delimiters, zone, faults, warnings } = context
  return {
    delimiters,
    zone,
    note(problem) {
      // Values that are no dates are missing from the tree; all else is in it.
      const list = problem.message.startsWith('there is no such') ? faults : warnings
      list.push({ segment: id, occurrence, field, ...problem })
    },
    deleted: component => void deleted.push(`${id}-${field}${component === undefined ? '' : `.${component}`}`),
  }
}

/** OBX-5: its texts, and, where OBX-2 names a data type with components or a time, its values in an element of that type. */
function observed({ fields }: RawSegment, value: Tree, reading: FieldReading): FieldValue[] | undefined {
  const kind = fields[2]?.trim() ?? ''
  const all = valuesOf(fields[5]!, kind, reading.delimiters)
  const typed = valueElements.get(kind)
  if (typed) {
    const values = all.map(each => readValue(each, typed.type, reading)).filter(each => each !== undefined)
    if (values.length > 0) value[typed.element] = values
  }
  const silent = { ...reading, note: () => {}, deleted: typed ? () => {} : reading.deleted }
  const texts = all.map(each => readValue(each, 'ST', silent)).filter(each => each !== undefined)
  return texts.length > 0 ? texts : undefined
}

/** `~^5`: no list of structured numbers begins with nothing, so the sign is the comparator of one, which was not escaped. */
function valuesOf(raw: string, kind: string, { repetition, component }: Delimiters): string[] {
  const isApproximate = kind === 'SN' && raw.startsWith(repetition + component)
  if (!isApproximate) return raw.split(repetition)
  const [first = '', ...more] = raw.slice(repetition.length).split(repetition)
  return [repetition + first, ...more]
}

function otherSegment(segment: RawSegment, context: Context): Tree {
  const { id, number, occurrence, fields } = segment
  const field = fields.slice(1).flatMap((raw, index) => otherField(index + 1, raw, context))
  return { segment: id, number, occurrence, ...(field.length > 0 && { field }) }
}

function otherField(number: number, raw: string, { delimiters }: Context): Tree[] {
  return raw.trim() === '' ? [] : [{ number, text: unescapeText(raw, delimiters) }]
}
