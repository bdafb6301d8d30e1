// The character set of a message (MSH-18, HL7 table 0211): its bytes as text.

import { MessageError } from './problem.ts'

/** Names of table 0211, and some that senders write instead, to names of the Encoding Standard (https://encoding.spec.whatwg.org). */
const ENCODINGS: Readonly<Record<string, string>> = {
  'unicode utf-8': 'utf-8',
  unicode: 'utf-8',
  iso_ir100: 'iso-8859-1',
  'gb 18030-2000': 'gb18030',
  'big-5': 'big5',
  'ks x 1001': 'euc-kr',
}

/** Returns the text of bytes; undefined if they are not of its character set. */
type Decoder = (bytes: Uint8Array) => string | undefined

const known = new Map<string, Decoder>()

/**
 * Returns the decoder of a character set by its name in table 0211 or in the Encoding Standard; undefined if it is not known.
 * ASCII, which no name means too, is UTF-8, and where the bytes are not UTF-8, 8859/1, which older systems send. 8859/1 is read as
 * windows-1252, which has all its letters and signs where it has none.
 */
export function decoderOf(name: string): Decoder | undefined {
  const key = name.trim().toLowerCase()
  const found = known.get(key)
  if (found) return found
  const made = /^(?:us-)?ascii$|^$/.test(key) ? asAscii : strictly(encodingOf(key))
  if (made) known.set(key, made)
  return made
}

const encodingOf = (key: string): string => ENCODINGS[key] ?? key.replace(/^(?:iso[ -]?)?8859[/-](\d+)$/, 'iso-8859-$1')

function strictly(encoding: string): Decoder | undefined {
  try {
    const decoder = new TextDecoder(encoding, { fatal: true })
    return bytes => {
      try {
        return decoder.decode(bytes)
      } catch {
        return undefined
      }
    }
  } catch {
    return undefined
  }
}

const utf8 = strictly('utf-8')!
const latin = strictly('windows-1252')!

const asAscii: Decoder = bytes => utf8(bytes) ?? latin(bytes)

/**
 * Returns the text of a message's bytes by the first character set of MSH-18.
 * @param charset in place of what MSH-18 says. @throws MessageError
 */
export function decodeMessage(bytes: Uint8Array, charset?: string): string {
  const own = withoutMark(bytes)
  const name = charset ?? declaredIn(own)
  const decoder = isWide(name) && charset === undefined ? undefined : decoderOf(name)
  if (!decoder) throw refusal(103, 'the character set is not known; UNICODE UTF-8 and 8859/1 are')
  const text = decoder(own)
  if (text === undefined) throw refusal(102, 'the bytes of the message are not in the character set that it declares')
  return text
}

/** Some systems put the byte order mark of UTF-8 first, also where they write another character set. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** A header that can be read byte by byte is not in a set whose characters have two. */
const isWide = (name: string): boolean => /utf-?16|ucs-?2|utf-?32/i.test(name)

/** MSH-18 of the first message; the header is ASCII in all these sets, but for the names in it. */
function declaredIn(bytes: Uint8Array): string {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 4096))
  const [, header = ''] = /(?:^\s*|[\r\n\v])(MSH[^\r\n]*)/.exec(head) ?? []
  const fields = header.split(header[3] ?? '|')
  const [first = ''] = (fields[17] ?? '').split(fields[1]?.[1] ?? '~')
  return first
}

function refusal(code: 102 | 103, message: string): MessageError {
  return new MessageError({ segment: 'MSH', occurrence: 1, field: 18, code, message })
}
