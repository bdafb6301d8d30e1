// The header of a message or of a batch (MSH, BHS, FHS), read also where the rest is wrong, so that an answer can name what it answers (HL7 v2 chapters 2.14.9 and 2.14.3).

import { type Delimiters, delimitersOf, usual } from './delimiters.ts'
import { MessageError, type MessageProblem } from './problem.ts'
import type { RawMessage } from './read.ts'

/** Fields that are missing are empty; a batch has the sender, the receiver and the control id only. */
export interface Header {
  /** The sender's; the usual ones where MSH-2 cannot be used. */
  readonly delimiters: Delimiters
  readonly sendingApplication: string
  readonly sendingFacility: string
  readonly receivingApplication: string
  readonly receivingFacility: string
  /** MSH-9.2 */
  readonly event: string
  /** MSH-10, BHS-11 or FHS-11. */
  readonly controlId: string
  readonly processingId: string
  readonly version: string
  /** MSH-15 and MSH-16. */
  readonly acceptAcknowledgement: string
  readonly applicationAcknowledgement: string
}

/** Reads a header; undefined: the text does not begin with one. */
export function headerOf(text: string): Header | undefined {
  const [, line] = /^\s*((?:MSH|BHS|FHS)[^\p{L}\p{N}\s][^\r\n]*)/u.exec(text) ?? []
  if (line === undefined) return undefined
  const fields = line.split(line[3]!)
  const field = (number: number): string => fields[number - 1]?.trim() ?? ''
  const isMessage = line.startsWith('MSH')
  const own = (number: number): string => (isMessage ? field(number) : '')
  const delimiters = delimitersIn(line)
  return {
    delimiters,
    sendingApplication: field(3),
    sendingFacility: field(4),
    receivingApplication: field(5),
    receivingFacility: field(6),
    event: own(9).split(delimiters.component)[1]?.trim() ?? '',
    controlId: isMessage ? field(10) : field(11),
    processingId: own(11),
    version: own(12),
    acceptAcknowledgement: own(15),
    applicationAcknowledgement: own(16),
  }
}

function delimitersIn(line: string): Delimiters {
  const field = line[3]!
  try {
    const found = delimitersOf(line)
    return found.escapeSign === '' ? { ...found, escapeSign: usual.escapeSign } : found
  } catch {
    return Object.values(usual).includes(field) ? usual : { ...usual, field }
  }
}

/** Returns type and event of a message, MSH-9.1 and MSH-9.2. @throws MessageError if it has no type */
export function messageType({ delimiters, segments: [header] }: RawMessage): { type: string; event: string } {
  const [type = '', event = ''] = (header!.fields[9] ?? '').split(delimiters.component).map(each => each.trim())
  const wrong = (code: MessageProblem['code'], message: string): MessageError =>
    new MessageError({ segment: 'MSH', occurrence: 1, field: 9, code, message, isRejection: true })
  if (type === '') throw wrong(101, 'the type of the message is missing')
  if (!/^[A-Z][A-Z0-9]{2}$/.test(type)) throw wrong(200, 'the type of the message must have three characters')
  return { type, event }
}
