// HL7 v2 as far as an agent needs it: the delimiters, the header and the names of segments. What a message means, the maps of
// the server say.

/** Why a message is refused: where, and what kind of error (HL7 table 0357). */
export interface Fault {
  readonly segment: string
  /** Which of several segments of that name; 1: the first. */
  readonly sequence: number
  readonly field?: number
  readonly code: number
  readonly text: string
  /** AR: this receiver cannot take such messages; AE: the message is wrong. */
  readonly answer: 'AE' | 'AR'
}

/** What MSH, or BHS or FHS, says of a message; fields that are missing are empty. */
export interface Header {
  readonly separator: string
  /** `^~\&`, as the sender wrote it. */
  readonly encoding: string
  readonly sendingApplication: string
  readonly sendingFacility: string
  readonly receivingApplication: string
  readonly receivingFacility: string
  /** MSH-9, with its components. */
  readonly type: string
  readonly controlId: string
  readonly processingId: string
  readonly version: string
  /** MSH-15 and MSH-16. */
  readonly acceptAcknowledgement: string
  readonly applicationAcknowledgement: string
  /** MSH-18. */
  readonly charset: string
}

/** Reads a header; undefined: the text does not begin with one. */
export function headerOf(text: string): Header | undefined {
  const [line = ''] = text.split(/[\r\n]/, 1)
  if (!/^(?:MSH|BHS|FHS)[^A-Za-z0-9\s]/.test(line)) return undefined
  const separator = line[3]!
  const fields = line.split(separator)
  // Counted as HL7 does: MSH-1 is the separator itself.
  const field = (number: number): string => fields[number - 1]?.trim() ?? ''
  const isMessage = line.startsWith('MSH')
  return {
    separator,
    encoding: field(2),
    sendingApplication: field(3),
    sendingFacility: field(4),
    receivingApplication: field(5),
    receivingFacility: field(6),
    type: isMessage ? field(9) : '',
    controlId: isMessage ? field(10) : field(11),
    processingId: isMessage ? field(11) : '',
    version: isMessage ? field(12) : '',
    acceptAcknowledgement: isMessage ? field(15) : '',
    applicationAcknowledgement: isMessage ? field(16) : '',
    charset: isMessage ? field(18) : '',
  }
}

const required = 101
const wrongValue = 102
const sequenceError = 100
const unknownType = 200

/** Returns what is wrong with the form of a message; undefined: nothing that an agent must refuse. */
export function faultOf(text: string, header: Header | undefined): Fault | undefined {
  const fault = (field: number, code: number, answer: Fault['answer'], words: string): Fault => ({
    segment: 'MSH',
    sequence: 1,
    field,
    code,
    answer,
    text: words,
  })
  if (!header)
    return { segment: 'MSH', sequence: 1, code: sequenceError, answer: 'AR', text: 'The message has no MSH segment.' }
  if (!/^[^A-Za-z0-9\s]{4,5}$/.test(header.encoding) || new Set(header.encoding).size !== header.encoding.length)
    return fault(2, wrongValue, 'AE', 'MSH-2 must hold four or five different encoding characters.')
  if (header.type === '') return fault(9, required, 'AR', 'MSH-9 (message type) is missing.')
  if (!/^[A-Z][A-Z0-9]{2}$/.test(header.type.split(header.encoding[0]!)[0]!))
    return fault(9, unknownType, 'AR', 'MSH-9 (message type) does not begin with a type of three characters.')
  if (header.controlId === '') return fault(10, required, 'AE', 'MSH-10 (message control id) is missing.')
  return segmentFault(text, header.separator)
}

/** The first line that is no segment. */
function segmentFault(text: string, separator: string): Fault | undefined {
  const lines = segmentsOf(text)
  const wrong = lines.findIndex(line => !/^[A-Z][A-Z0-9]{2}$/.test(line.slice(0, 3)) || !isEnded(line, separator))
  if (wrong < 0) return undefined
  const before = lines.slice(0, wrong)
  const last = before.at(-1)?.slice(0, 3) ?? 'MSH'
  return {
    segment: last,
    sequence: before.filter(line => line.startsWith(last)).length,
    code: sequenceError,
    answer: 'AE',
    text: `Line ${wrong + 1}, after this segment, is no segment: it must begin with three characters and ${separator}.`,
  }
}

const isEnded = (line: string, separator: string): boolean => line.length === 3 || line[3] === separator

/** The segments of a message, whichever way lines end. */
export const segmentsOf = (text: string): string[] => text.split(/[\r\n]+/).filter(line => line.trim() !== '')

/** Splits a file or a batch into its messages; what stands before the first MSH, and FHS, BHS, BTS and FTS, is no part of one. */
export function messagesOf(text: string): string[] {
  const messages: string[][] = []
  for (const line of segmentsOf(text))
    if (line.startsWith('MSH')) messages.push([line])
    else if (!/^(?:FHS|BHS|BTS|FTS)(?:[^A-Za-z0-9]|$)/.test(line)) messages.at(-1)?.push(line)
  return messages.map(lines => `${lines.join('\r')}\r`)
}
