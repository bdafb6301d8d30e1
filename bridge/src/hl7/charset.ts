// Bytes of a message as text, by what MSH-18 (HL7 table 0211) or the config says.
import type { Fault } from './message.ts'

/** Names of table 0211, and those that senders write instead, to names of the Encoding standard. */
const names: Readonly<Record<string, string>> = {
  ascii: 'windows-1252',
  'us-ascii': 'windows-1252',
  'unicode utf-8': 'utf-8',
  utf8: 'utf-8',
  'utf-8': 'utf-8',
  unicode: 'utf-8',
  iso_ir100: 'iso-8859-1',
  'gb 18030-2000': 'gb18030',
  'big-5': 'big5',
  'ks x 1001': 'euc-kr',
}

/** A decoder for a character set; undefined: no such set is known. */
export function decoderOf(name: string): ((bytes: Uint8Array) => string) | undefined {
  const key = name.trim().toLowerCase()
  const plain = key.replace(/^(?:iso[ -]?)?8859[/-](\d+)$/, 'iso-8859-$1')
  try {
    // ISO-8859-1 is what HL7 means by 8859/1: every byte is a character, and none is lost.
    if (plain === 'iso-8859-1' || names[key] === 'iso-8859-1') return bytes => Buffer.from(bytes).toString('latin1')
    const decoder = new TextDecoder(names[key] ?? plain, { fatal: true })
    return bytes => decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const notInTable = 103
const wrongType = 102

/**
 * Returns the text of a message.
 * @param declared MSH-18: its first repetition counts; empty: UTF-8 where the bytes are UTF-8, else ISO-8859-1
 * @param forced the config's character set, which comes first
 */
export function decoded(bytes: Uint8Array, declared: string, forced?: string): string | Fault {
  const name = forced ?? declared.split(/[~^]/, 1)[0]!
  if (name === '') return asUtf8(bytes) ?? Buffer.from(bytes).toString('latin1')
  const decode = decoderOf(name)
  if (!decode) return fault(notInTable, 'MSH-18 names a character set that is not known.')
  try {
    return decode(bytes)
  } catch {
    return fault(wrongType, 'The bytes of the message are not of the character set that MSH-18 names.')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function asUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const fault = (code: number, text: string): Fault => ({
  segment: 'MSH',
  sequence: 1,
  field: 18,
  code,
  answer: 'AE',
  text,
})
