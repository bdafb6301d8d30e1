// The structures of messages: which segments stand in which groups (HL7 v2 chapters 3 to 12).

import notations from './structures.json' with { type: 'json' }

/** A segment of a structure. */
interface SegmentSlot {
  readonly kind: 'segment'
  readonly name: string
  readonly repeats: boolean
  /** True if it begins the group anew. */
  readonly begins: boolean
}

/** A group of segments and groups, or a message as a whole. */
export interface GroupSlot {
  readonly kind: 'group'
  readonly name: string
  readonly repeats: boolean
  readonly slots: readonly (SegmentSlot | GroupSlot)[]
}

/** The messages by the name of their structure, MSH-9.3. A structure also takes what older versions had in its place. */
export const messageStructures: ReadonlyMap<string, GroupSlot> = new Map(
  Object.entries(notations).map(([name, notation]) => [name, structureOf(name, notation)]),
)

/** Reads `MSH NTE* ORDER*(ORC! OBR! NTE*)`: `*` repeats, parentheses hold a group, `!` begins it anew, as its first segment does. */
function structureOf(name: string, notation: string): GroupSlot {
  const tokens = notation.match(/\w+[*!]?|[()]/g)!
  let next = 0
  const slotsOf = (): (SegmentSlot | GroupSlot)[] => {
    const slots: (SegmentSlot | GroupSlot)[] = []
    while (next < tokens.length && tokens[next] !== ')') {
      const token = tokens[next++]!
      const [slot, repeats] = [token.replace(/[*!]$/, ''), token.endsWith('*')]
      if (tokens[next] !== '(') {
        const begins = slots.length === 0 || token.endsWith('!')
        if (!slots.some(each => each.name === slot)) slots.push({ kind: 'segment', name: slot, repeats, begins })
        continue
      }
      next++
      slots.push({ kind: 'group', name: slot, repeats, slots: slotsOf() })
      next++
    }
    return slots
  }
  return { kind: 'group', name, repeats: false, slots: slotsOf() }
}
