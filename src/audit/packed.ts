// Texts in the short forms in which a row of the trail holds them. The view audit_event shows them as they were.
import { hash } from 'node:crypto'

/** The value of a character as a hexadecimal digit, by its code; 16 for those that are none. */
const digits = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code))
  return value < 0 ? 16 : value
})

const digitAt = (text: string, at: number): number => digits[text.charCodeAt(at)] ?? 16

/** Writes the 16 bytes of a UUID in small letters. Returns false for another text. */
function writeUuid(text: string, bytes: Buffer, start: number): boolean {
  if (text.length !== 36) return false
  let at = start
  for (let index = 0; index < 36; index += 2) {
    if (index === 8 || index === 13 || index === 18 || index === 23) {
      if (text.charCodeAt(index) !== 45) return false
      index += 1
    }
    const [high, low] = [digitAt(text, index), digitAt(text, index + 1)]
    if ((high | low) > 15) return false
    bytes[at++] = high * 16 + low
  }
  return true
}

/**
 * UUIDs are 16 bytes each, one after the other. Other ids are a text with spaces between; before a text that has as many bytes as UUIDs
 * would have stands a zero. Ids hold no spaces.
 */
export function packIds(ids: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(16 * ids.length)
  if (ids.every((id, index) => writeUuid(id, bytes, 16 * index))) return bytes
  const text = Buffer.from(ids.join(' '))
  return text.length % 16 === 0 && text.length > 0 ? Buffer.concat([Buffer.of(0), text]) : text
}

export const packId = (id: string): Buffer => packIds([id])

export function unpackIds(bytes: Buffer): string[] {
  if (bytes.length === 0) return []
  if (bytes.length % 16 !== 0) return bytes.toString('utf8', bytes[0] === 0 ? 1 : 0).split(' ')
  const hex = bytes.toString('hex')
  return Array.from({ length: bytes.length / 16 }, (_, index) => uuidAt(hex, 32 * index))
}

const uuidAt = (hex: string, at: number): string =>
  `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${hex.slice(at + 12, at + 16)}-${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`

export const unpackId = (bytes: Buffer): string => unpackIds(bytes).join(' ')

/** Of what queries often hold, each has a character of its own. The list never changes, since rows are read by it. */
export const queryParts: readonly (readonly [character: string, part: string])[] = [
  ['\x04', 'http%3A%2F%2Fterminology.hl7.org%2FCodeSystem%2F'],
  ['\x05', 'http%3A%2F%2Fsnomed.info%2Fsct%7C'],
  ['\x06', 'http%3A%2F%2Floinc.org%7C'],
  ['\x07', '&_sort=-date'],
  ['\x08', '&_revinclude='],
  ['\x0e', '&_include='],
  ['\x0f', '&category='],
  ['\x10', '/$everything'],
  ['\x11', '&status='],
  ['\x12', '?patient='],
  ['\x13', '&_count='],
  ['\x14', '&_sort='],
  ['\x15', '&date=ge'],
  ['\x16', '&code='],
  ['\x17', '&date='],
  ['\x18', '?code='],
  ['\x19', '?name='],
  ['\x1a', '&type='],
  ['\x1b', '?_id='],
  ['\x1c', '%3A'],
  ['\x1d', '%2F'],
  ['\x1e', '%7C'],
  ['\x1f', '%2C'],
]

const partOf = new Map(queryParts.map(([character, part]) => [character, part]))
const characterOf = new Map(queryParts.map(([character, part]) => [part, character]))
const anyPart = new RegExp(queryParts.map(([, part]) => part.replace(/[?$.]/g, '\\$&')).join('|'), 'g')

/**
 * Packs what was asked for. 1 stands for the first patient, 2 for the type at the beginning; a query that holds such characters
 * itself stays as it is, behind a 3.
 */
export function packQuery(query: string, type: string, patient: string | undefined): string {
  if (query === '') return ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that stand for something.
  if (/[\x01-\x1f]/.test(query)) return `\x03${query}`
  const short = type !== '' && query.startsWith(type) ? `\x02${query.slice(type.length)}` : query
  const named = patient === undefined || patient.length < 8 ? short : short.replaceAll(patient, '\x01')
  return named.replace(anyPart, part => characterOf.get(part)!)
}

export function unpackQuery(packed: string, type: string, patient: string): string {
  if (packed.startsWith('\x03')) return packed.slice(1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that stand for something.
  return packed.replace(/[\x01-\x1f]/g, character =>
    character === '\x01' ? patient : character === '\x02' ? type : (partOf.get(character) ?? character),
  )
}

/** The second and the millisecond of a time in ms. Rows hold a second less the 2^31 that an integer of four bytes does not reach. */
export function placeInTime(time: number): [second: number, millisecond: number] {
  const second = Math.floor(time / 1000)
  return [second - 2 ** 31, time - second * 1000]
}

/** The number by which the rows of a client are found. */
export const clientKey = (clientId: string): number => hash('sha256', clientId, 'buffer').readInt32BE(0)
