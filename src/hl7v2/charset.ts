// The character set of a message (MSH-18, HL7 table 0211): its bytes as text.

import { MessageError } from './problem.ts'

const ENCODINGS: Readonly<Record<string, string>> = {
  ASCII: 'utf-8',
  'UNICODE UTF-8': 'utf-8',
  'UTF-8': 'utf-8',
  UTF8: 'utf-8',
  UNICODE: 'utf-8',
  'UNICODE UTF-16': 'utf-16le',
  '8859/1': 'windows-1252',
  '8859/9': 'windows-1254',
}

/** 8859/11 (Thai) and 8859/12 are not in HL7's table. */
const PARTS_OF_8859 = new Set([2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15])

/**
 * Returns the text of a message's bytes by the first character set of MSH-18; without one it is ASCII, of which UTF-8 is a superset.
 * Bytes that are not UTF-8 where ASCII is declared are read as 8859/1, which older systems send. @throws MessageError
 */
export function decodeMessage(bytes: Uint8Array): string {
  const declared = declaredIn(bytes)
  const encoding = encodingOf(declared)
  if (encoding === undefined) throw refusal(103, `the character set must be ASCII, UNICODE UTF-8 or 8859/1 to 8859/15`)
  if (encoding !== 'utf-8') return new TextDecoder(encoding).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    if (declared.startsWith('UNICODE') || declared.startsWith('UTF'))
      throw refusal(102, 'the message is not in UTF-8, which it declares')
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function encodingOf(declared: string): string | undefined {
  if (declared === '') return 'utf-8'
  const part = /^(?:ISO[ -]?)?8859[/-](\d+)$/.exec(declared)?.[1]
  return ENCODINGS[part === undefined ? declared : `8859/${part}`] ?? encodingOfPart(Number(part))
}

const encodingOfPart = (part: number): string | undefined => (PARTS_OF_8859.has(part) ? `iso-8859-${part}` : undefined)

/** The header is ASCII in all these sets. */
function declaredIn(bytes: Uint8Array): string {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 4096))
  const header = /MSH[^\r\n]*/.exec(head)?.[0] ?? ''
  const fields = header.split(header[3] ?? '|')
  const [first = ''] = (fields[17] ?? '').split(fields[1]?.[1] ?? '~')
  return first.trim().toUpperCase()
}

function refusal(code: 102 | 103, message: string): MessageError {
  return new MessageError({ segment: 'MSH', occurrence: 1, field: 18, code, message, isRejection: true })
}
