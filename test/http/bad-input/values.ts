// Values for a schema, and what becomes of values that somebody gets wrong.
import type { Schema } from './description.ts'

/** A number below the bound. */
export type Roll = (bound: number) => number

export const pick = <T>(roll: Roll, all: readonly T[]): T => all[roll(all.length)]!

/** Texts that replies held, by the name of their member: ids, cursors and tokens that are somebody's. */
export type Pool = Map<string, readonly string[]>

/** Names of which the test says what is known: replies tell wrong ones, too. */
const pinned: ReadonlySet<string> = new Set(['health_id', 'type', 'compartment'])

const mostOfAName = 80

/** Keeps what a reply tells, for requests that come after. */
export function harvest(pool: Pool, body: unknown, depth = 0): void {
  if (typeof body !== 'object' || body === null || depth > 8) return
  const { resourceType: type, id } = body as Record<string, unknown>
  if (typeof type === 'string' && typeof id === 'string' && /^[A-Za-z]+$/.test(type)) {
    add(pool, `id of ${type}`, id)
    const text = JSON.stringify(body)
    for (const name of text.length < 4000 ? ['any resource', type] : []) add(pool, name, text)
  }
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'string' && value.length < 300 && !Array.isArray(body) && !pinned.has(name))
      add(pool, name, value)
    else harvest(pool, value, depth + 1)
  }
}

export function add(pool: Pool, name: string, value: string): void {
  const known = pool.get(name) ?? []
  if (known.length < mostOfAName && !known.includes(value)) pool.set(name, [...known, value])
}

export const badTexts: readonly string[] = [
  ...['', ' ', '0', '-1', '1.5', '1e999', '101', '99999999999999999999', 'null', 'undefined', 'true', 'NaN', '%', '%%'],
  ...['\u0001', '\0', 'a\0b', '\u202e', '\ufeff', '\ufffd', 'é', 'e\u0301', '𝔘😀', 'İ', '٣', 'ﬀ', '中文', '\r\n', '\t'],
  ...["' or 1=1 --", "'; drop table resource; --", '$1', '$$', '\\', '\\x00', '{}', '[]', '{"a":1}', '"', '`', '<x/>'],
  ...['../../etc/passwd', '..', '.', '/', 'a/b', '//', '?', '#', '&', '=', '*', '(', '[', '(a+)+$', '\\u0000'],
  ...['2026-02-30', '2026-13-01', '0000-01-01', '9999-12-31', '10000-01-01', '2026-03-14', '2026-03-14T25:00:00Z'],
  ...['2026-03-14T00:00:00Z', '9999-12-31T23:59:60-14:00', '0001-01-01T00:00:00+14:00', '-0001-01-01', '275760-09-14'],
  ...[
    'CM-TQYE-6SRK-YQ6S',
    'CM-TQYE-6SRK-YQ6T',
    'cm tqye 6srk yq6s',
    'CM-UUUU-IIII-LLLL',
    'XX-0000-0000-0000',
    'CM-',
    'CM',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'Patient',
    'Patient/1',
    'urn:uuid:0',
    'http://localhost/',
    'http://[',
    '|',
    'a|',
    '|a',
  ],
  ...[
    ',',
    'a,b',
    'gt',
    'gt2026',
    'sa1',
    '1|2|3',
    '-date',
    'name,-_id',
    'Patient:name',
    'Observation:subject:Patient',
    '$',
  ],
  ...['00000000-0000-0000-0000-000000000000', 'x'.repeat(65), 'x'.repeat(4000), '-'.repeat(101), '9'.repeat(400)],
]

const badValues: readonly unknown[] = [
  ...[0, -1, -0.5, 1.5, 1e300, 2 ** 53, -(2 ** 63), true, false, null, [], {}, [[]], [null], ['x'], { value: null }],
  ...[
    { a: { b: [1] } },
    { toString: 1, valueOf: 1 },
    { resourceType: 'Patient' },
    { $ref: '#' },
    '\ud800',
    ...badTexts,
  ],
]

/** A value that fits the schema, if that can be told from its keywords. */
export function generated(schema: Schema, name: string, roll: Roll, pool: Pool): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return pick(roll, schema.enum)
  if (schema.anyOf) return generated(pick(roll, schema.anyOf), name, roll, pool)
  if (schema.type === 'object') return objectOf(schema, roll, pool)
  if (schema.type === 'array') {
    const { items, minItems = 0, maxItems = 3 } = schema
    const count = minItems + roll(Math.min(3, maxItems - minItems + 1))
    return Array.from({ length: count }, () => (items ? generated(items, singular(name), roll, pool) : roll(9)))
  }
  if (schema.type === 'boolean') return roll(2) === 0
  if (schema.type === 'null') return null
  if (schema.type === 'integer' || schema.type === 'number') {
    const least = schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1
    return least + roll(Math.min(50, (schema.maximum ?? 1000) - least + 1))
  }
  return textOf(schema, name, roll, pool)
}

export const singular = (name: string): string => name.replace(/s$/, '')

function objectOf({ properties = {}, required = [] }: Schema, roll: Roll, pool: Pool): Record<string, unknown> {
  const often = pick(roll, [0, 1, 3, 4])
  const kept = Object.entries(properties).filter(([name]) => required.includes(name) || roll(4) < often)
  return Object.fromEntries(kept.map(([name, schema]) => [name, generated(schema, name, roll, pool)]))
}

const usualTexts = ['Awa', 'treatment', 'CM', '2026-03-14', '2090-03-14T10:00:00Z', '5', 'R03AC02', '+237 677 00 00 00']

function textOf(
  { format, pattern, examples = [], minLength = 0, maxLength = 1e6 }: Schema,
  name: string,
  roll: Roll,
  pool: Pool,
) {
  if (format === 'date') return pick(roll, ['2026-03-14', '1990-12-01', '2024-02-29'])
  if (format === 'date-time') return pick(roll, ['2090-01-01T00:00:00Z', '2026-03-14T10:00:00.5+01:00'])
  const known = [...examples.map(String), ...(pool.get(name) ?? []), ...(examples.length > 0 ? [] : usualTexts)]
  const fit = known.filter(
    text => text.length >= minLength && text.length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(text)),
  )
  return pick(roll, fit.length > 0 ? fit : usualTexts)
}

/** A deep copy in which one thing or a few have become something else, are gone, there twice, or nobody asked for. */
export function spoiled(value: unknown, roll: Roll, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return strange(value, roll)
  if (roll(8 + 4 * depth) === 0) return strange(value, roll)
  if (Array.isArray(value)) {
    const at = roll(value.length + 1)
    const kind = roll(8)
    if (kind === 0) return [...value.slice(0, at), ...value.slice(Math.max(0, at - 1))]
    if (kind === 1) return value.toSpliced(at, 1)
    if (kind === 2) return Array.from({ length: 1200 }, () => value[0] ?? 'x')
    return at === value.length ? [...value, strange(null, roll)] : value.with(at, spoiled(value[at], roll, depth + 1))
  }
  const copy: Record<string, unknown> = { ...value }
  const names = Object.keys(copy)
  if (names.length === 0 || roll(7) === 0) return put(copy, pick(roll, strangeNames), strange(null, roll))
  const name = pick(roll, names)
  if (roll(5) === 0) delete copy[name]
  else put(copy, name, spoiled(copy[name], roll, depth + 1))
  return roll(4) === 0 ? spoiled(copy, roll, depth + 1) : copy
}

const strangeNames = [
  'x',
  '__proto__',
  'constructor',
  'resourceType',
  'id',
  'meta',
  '_id',
  '',
  'é',
  '\0',
  'extension',
  'contained',
]

/** As JSON.parse does, `__proto__` becomes a member like others. */
function put(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

function strange(value: unknown, roll: Roll): unknown {
  const kind = roll(12)
  if (kind === 0) return nested(roll(2) === 0 ? 40 : 400)
  if (kind === 1) return [value]
  if (kind === 2) return { value }
  if (kind === 3) return typeof value === 'string' ? `${value}${pick(roll, badTexts)}` : String(value)
  if (kind === 4) return 'x'.repeat(10_000)
  return pick(roll, badValues)
}

function nested(depth: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { extension: value }
  return value
}
