// What tests of HL7 v2 need: messages from segments, and their trees.

import { readMessage } from '../../src/hl7v2/read.ts'
import { zoneOf } from '../../src/hl7v2/time.ts'
import { type MessageTree, treeOf } from '../../src/hl7v2/tree.ts'

export const douala = zoneOf('Africa/Douala')!

/** Segments as a message. */
export const message = (...segments: readonly string[]): string => segments.join('\r')

/** The tree of a message with this header and further segments. */
export const treeWith = (structure: string, ...segments: readonly string[]): MessageTree =>
  treeOf(readMessage(message(...segments)), { structure, zone: douala })

export const header = (type: string, more = ''): string =>
  `MSH|^~\\&|LAB|CLINIC|INTEROP|HI|20260314104207||${type}|00042|P|2.5.1${more}`

/** Each object without what segments say about themselves. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => (['segment', 'number', 'occurrence'].includes(key) ? undefined : inner)),
  )
}
