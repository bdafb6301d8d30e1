// The delimiters that a message declares in MSH-1 and MSH-2, and the escapes that stand for them (HL7 v2 chapter 2.7).

import { MessageError } from './problem.ts'

export interface Delimiters {
  readonly field: string
  readonly component: string
  readonly repetition: string
  /** Empty where the message has none. */
  readonly escapeSign: string
  readonly subcomponent: string
}

export const usual: Delimiters = { field: '|', component: '^', repetition: '~', escapeSign: '\\', subcomponent: '&' }

/** Returns the delimiters of a header (MSH, FHS or BHS). @throws MessageError if they are not five different signs */
export function delimitersOf(header: string): Delimiters {
  if (header.startsWith('|^~\\&|', 3)) return usual
  const segment = header.slice(0, 3)
  const field = header[3] ?? ''
  const wrong = (number: 1 | 2, message: string): MessageError =>
    new MessageError({ segment, occurrence: 1, field: number, code: 102, message, isRejection: number === 1 })
  if (field === '' || /[\p{L}\p{N}\s]/u.test(field)) throw wrong(1, 'the field separator is missing')
  const end = header.indexOf(field, 4)
  const signs = header.slice(4, end < 0 ? undefined : end).trimEnd()
  if (/[\p{L}\p{N}\s]/u.test(signs)) throw wrong(2, 'the encoding characters must be signs, not letters or digits')
  // Some systems double the escape character, as their programming language does: ^~\\&.
  const [component = '^', repetition = '~', escapeSign = '', subcomponent = '&'] = signs.replace(/(.)\1/g, '$1')
  const all = [field, component, repetition, escapeSign, subcomponent].filter(each => each !== '')
  if (new Set(all).size < all.length) throw wrong(2, 'the encoding characters must differ from each other')
  return { field, component, repetition, escapeSign, subcomponent }
}

/** The text that an escaped one stands for; unknown escapes and unclosed ones stay as they are. */
export function unescapeText(text: string, delimiters: Delimiters): string {
  const { escapeSign } = delimiters
  if (escapeSign === '' || !text.includes(escapeSign)) return text
  let result = ''
  let from = 0
  for (;;) {
    const start = text.indexOf(escapeSign, from)
    const end = start < 0 ? -1 : text.indexOf(escapeSign, start + 1)
    if (end < 0) return result + text.slice(from)
    const meant = meaningOf(text.slice(start + 1, end), delimiters)
    result += text.slice(from, start) + (meant ?? escapeSign)
    from = meant === undefined ? start + 1 : end + 1
  }
}

function meaningOf(code: string, delimiters: Delimiters): string | undefined {
  const { field, component, repetition, escapeSign, subcomponent } = delimiters
  switch (code) {
    case 'F':
      return field
    case 'S':
      return component
    case 'T':
      return subcomponent
    case 'R':
      return repetition
    case 'E':
      return escapeSign
    // Highlighting has no text of its own.
    case 'H':
    case 'N':
      return ''
    case '.br':
      return '\n'
  }
  const skip = /^\.sp\+?(\d{0,2})$/.exec(code)
  if (skip) return '\n'.repeat(Number(skip[1] || 1))
  return /^X(?:[0-9A-Fa-f]{2})+$/.test(code) ? fromHex(code.slice(1)) : undefined
}

/** Bytes as UTF-8, or, where they are not, as ISO 8859-1. */
function fromHex(digits: string): string {
  const bytes = Uint8Array.from(digits.match(/../g)!, each => Number.parseInt(each, 16))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return String.fromCharCode(...bytes)
  }
}

/** A text with the delimiters in it escaped, and ends of lines as `\.br\`. */
export function escapeText(
  text: string,
  { field, component, repetition, escapeSign, subcomponent }: Delimiters,
): string {
  const codes = new Map([
    [escapeSign, 'E'],
    [field, 'F'],
    [component, 'S'],
    [repetition, 'R'],
    [subcomponent, 'T'],
  ])
  return [...text.replace(/\r\n?/g, '\n')]
    .map(each => {
      const code = each === '\n' ? '.br' : codes.get(each)
      return code === undefined ? each : `${escapeSign}${code}${escapeSign}`
    })
    .join('')
}
