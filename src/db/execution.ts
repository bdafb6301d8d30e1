// What executes a prepared statement, as one message to the server: pg would write four, and a buffer for each.
// https://www.postgresql.org/docs/current/protocol-message-formats.html

/** Describe and Execute of the portal without a name, with all of its rows, then Sync. */
const tail = Buffer.from('D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04', 'latin1')

/** A value that needs no conversion but to text. */
type Simple = string | number | boolean | bigint | null | undefined | Buffer

const isSimple = (value: unknown): value is Simple =>
  value === null || typeof value !== 'object' || Buffer.isBuffer(value)

/** Most values of a statement. */
const most = 65_535

/** A value as it is sent. */
type Sent = string | Buffer | null

/**
 * Bind, Describe, Execute and Sync, with all results as text.
 * @param name of the prepared statement; empty for the one without a name
 * @returns undefined for values that are left to pg: dates, arrays, objects, and too many
 */
export function executionOf(name: string, values: readonly unknown[]): Buffer | undefined {
  if (values.length > most) return undefined
  const sent: Sent[] = []
  // Portal and name with the zeros behind them, the number of formats, of values, and of formats of results, which is one.
  let length = 4 + 1 + Buffer.byteLength(name) + 1 + 2 + 2 + 4
  for (const value of values) {
    if (!isSimple(value)) return undefined
    const each = Buffer.isBuffer(value) ? value : value == null ? null : String(value)
    sent.push(each)
    length += 6 + (each === null ? 0 : Buffer.byteLength(each))
  }
  const bytes = Buffer.allocUnsafe(1 + length + tail.length)
  bytes[0] = 0x42
  bytes.writeInt32BE(length, 1)
  bytes[5] = 0
  let at = 6 + bytes.write(name, 6)
  bytes[at++] = 0
  at = bytes.writeUInt16BE(sent.length, at)
  for (const value of sent) at = bytes.writeInt16BE(Buffer.isBuffer(value) ? 1 : 0, at)
  at = bytes.writeUInt16BE(sent.length, at)
  for (const value of sent) at = valueTo(bytes, at, value)
  at = bytes.writeInt16BE(1, at)
  at = bytes.writeInt16BE(0, at)
  tail.copy(bytes, at)
  return bytes
}

/** Writes a value behind its length, and returns where the next one begins. */
function valueTo(bytes: Buffer, at: number, value: Sent): number {
  if (value === null) return bytes.writeInt32BE(-1, at)
  const start = at + 4
  const length = typeof value === 'string' ? bytes.write(value, start) : value.copy(bytes, start)
  bytes.writeInt32BE(length, at)
  return start + length
}
