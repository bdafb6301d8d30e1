// Arrays in PostgreSQL's binary form: what a bulk insert sends instead of quoted text.
// A Buffer given to pg as a parameter travels in binary format (array_recv in the server's source defines the layout).

const int8 = 20
const int4 = 23
const int2 = 21
const float8 = 701
const text = 25
const bytea = 17
const uuid = 2950

function header(type: number, length: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(20 + bytes)
  buffer.writeInt32BE(length === 0 ? 0 : 1, 0)
  buffer.writeInt32BE(0, 4)
  buffer.writeInt32BE(type, 8)
  if (length === 0) return buffer.subarray(0, 12)
  buffer.writeInt32BE(length, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

/**
 * An array of values of one size, each behind that size.
 * @param write puts the values in: the first at 24, the next ones each `size + 4` further
 */
function fixed(type: number, size: number, length: number, write: (view: DataView) => void): Buffer {
  const buffer = header(type, length, length * (size + 4))
  // A view writes numbers several times as fast as the methods of Buffer.
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
  for (let index = 0, at = 20; index < length; index++, at += size + 4) view.setInt32(at, size)
  if (length > 0) write(view)
  return buffer
}

/** A `bigint[]` parameter from signed 64-bit values. */
export function int8Array(values: readonly bigint[]): Buffer {
  return fixed(int8, 8, values.length, view => {
    for (let index = 0, at = 24; index < values.length; index++, at += 12) view.setBigInt64(at, values[index]!)
  })
}

/** A `bigint[]` parameter from integers within ±2^53. */
export function safeInt8Array(values: readonly number[]): Buffer {
  return fixed(int8, 8, values.length, view => {
    for (let index = 0, at = 24; index < values.length; index++, at += 12) {
      const high = Math.floor(values[index]! / 2 ** 32)
      view.setInt32(at, high)
      view.setUint32(at + 4, values[index]! - high * 2 ** 32)
    }
  })
}

/** An `integer[]` parameter. */
export function int4Array(values: readonly number[]): Buffer {
  return fixed(int4, 4, values.length, view => {
    for (let index = 0, at = 24; index < values.length; index++, at += 8) view.setInt32(at, values[index]!)
  })
}

/** A `smallint[]` parameter. */
export function int2Array(values: readonly number[]): Buffer {
  return fixed(int2, 2, values.length, view => {
    for (let index = 0, at = 24; index < values.length; index++, at += 6) view.setInt16(at, values[index]!)
  })
}

/** A `double precision[]` parameter. */
export function float8Array(values: readonly number[]): Buffer {
  return fixed(float8, 8, values.length, view => {
    for (let index = 0, at = 24; index < values.length; index++, at += 12) view.setFloat64(at, values[index]!)
  })
}

/** A `text[]` parameter. */
export function textArray(values: readonly string[]): Buffer {
  const lengths = values.map(value => Buffer.byteLength(value))
  const buffer = header(
    text,
    values.length,
    lengths.reduce((sum, length) => sum + length + 4, 0),
  )
  let at = 20
  values.forEach((value, index) => {
    buffer.writeInt32BE(lengths[index]!, at)
    buffer.write(value, at + 4, 'utf8')
    at += lengths[index]! + 4
  })
  return buffer
}

/** A `bytea[]` parameter. */
export function byteaArray(values: readonly Buffer[]): Buffer {
  const buffer = header(
    bytea,
    values.length,
    values.reduce((sum, value) => sum + value.length + 4, 0),
  )
  let at = 20
  for (const value of values) {
    buffer.writeInt32BE(value.length, at)
    value.copy(buffer, at + 4)
    at += value.length + 4
  }
  return buffer
}

/** A `uuid[]` parameter. */
export function uuidArray(values: readonly string[]): Buffer {
  const buffer = header(uuid, values.length, values.length * 20)
  let at = 20
  for (const value of values) {
    buffer.writeInt32BE(16, at)
    buffer.write(value.replaceAll('-', ''), at + 4, 'hex')
    at += 20
  }
  return buffer
}

/** Types of columns whose values may come from several places, to be sent as one array. */
export type ColumnType = 'text' | 'smallint' | 'integer' | 'bigint'

/** An array parameter of this type; numbers are integers within ±2^53. */
export function arrayOf(type: ColumnType, values: readonly unknown[]): Buffer {
  if (type === 'text') return textArray(values as string[])
  const numbers = values as number[]
  if (type === 'bigint') return safeInt8Array(numbers)
  return type === 'integer' ? int4Array(numbers) : int2Array(numbers)
}
