// Checks of config values: each takes what it knows, says what is wrong, and in the end names what nobody asked for.
import { resolve } from 'node:path'
import { decoderOf } from '../../src/hl7v2/charset.ts'
import { itemTypes } from '../../src/lib/bridge-item-types.ts'
import type { CsvField, CsvMapping, Limits, MllpSource, Source, Target } from './config-shape.ts'

export type Values = Readonly<Record<string, unknown>>

/** Readers of one object of the config. */
export interface Checked {
  text(name: string, fallback: string): string
  match(name: string, pattern: RegExp, expected: string): string
  address(name: string): string
  whole(name: string, min: number, max: number, fallback?: number): number
  scalar(name: string): string | number | boolean
  flag(name: string, fallback: boolean): boolean
  oneOf<T extends string>(name: string, values: readonly T[], fallback?: T): T
  optional<Name extends string>(name: Name): { [K in Name]?: string }
  optionalPath<Name extends string>(name: Name, folder: string): { [K in Name]?: string }
  part(name: string): Checked
  has(name: string): boolean
  names(): string[]
  problem(name: string, expected: string): void
  /** Names what no reader asked for: a typing error is reported, not ignored. */
  end(): void
}

export function checked(given: unknown, path: string, problems: string[]): Checked {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (given !== undefined && !isObject) problems.push(`${path || 'the file'} must be an object`)
  const values: Values = isObject ? (given as Values) : {}
  const asked = new Set<string>()
  const value = (name: string): unknown => {
    asked.add(name)
    return values[name]
  }
  const problem = (name: string, expected: string): void => void problems.push(`${path}${name} must be ${expected}`)
  const text = (name: string, fallback: string): string => {
    const found = value(name) ?? fallback
    if (typeof found !== 'string') problem(name, 'text')
    return String(found)
  }
  const optional = (name: string, change = (found: string): string => found) =>
    value(name) === undefined ? {} : { [name]: change(text(name, '')) }
  return {
    text,
    match(name, pattern, expected) {
      const found = text(name, '')
      if (!pattern.test(found)) problem(name, expected)
      return found
    },
    address(name) {
      const url = URL.parse(text(name, ''))
      const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
      if (!isSafe) problem(name, 'an https address, e.g. https://fhir.example.org (http on this machine only)')
      return url?.href.replace(/\/+$/, '') ?? ''
    },
    whole(name, min, max, fallback) {
      const found = value(name) ?? fallback
      if (!Number.isInteger(found) || (found as number) < min || (found as number) > max)
        problem(name, `a whole number from ${min} to ${max}`)
      return found as number
    },
    scalar(name) {
      const found = value(name)
      if (!['string', 'number', 'boolean'].includes(typeof found)) problem(name, 'text, a number, true or false')
      return found as string
    },
    flag(name, fallback) {
      const found = value(name) ?? fallback
      if (typeof found !== 'boolean') problem(name, 'true or false')
      return found === true
    },
    oneOf(name, known, fallback) {
      const found = (value(name) ?? fallback) as (typeof known)[number]
      if (!known.includes(found)) problem(name, `one of ${known.join(', ')}`)
      return found
    },
    optional: name => optional(name) as never,
    optionalPath: (name, folder) => optional(name, found => resolve(folder, found)) as never,
    part: name => checked(value(name), `${path}${name}.`, problems),
    has: name => values[name] !== undefined,
    names: () => Object.keys(values),
    problem,
    end() {
      for (const name of Object.keys(values)) if (!asked.has(name)) problems.push(`${path}${name} is not known`)
    },
  }
}

/** Whether a host name of a URL is this machine. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

const gibibyte = 2 ** 30

export function limitsOf(part: Checked): Limits {
  const limits = {
    max_items: part.whole('max_items', 1, 100_000_000, 1_000_000),
    max_bytes: part.whole('max_bytes', 1, 1024 * gibibyte, 2 * gibibyte),
    max_age_days: part.whole('max_age_days', 1, 3650, 30),
    min_free_bytes: part.whole('min_free_bytes', 0, 1024 * gibibyte, gibibyte / 2),
    max_message_bytes: part.whole('max_message_bytes', 1024, 4_000_000, 4_000_000),
    remember_days: part.whole('remember_days', 1, 365, 7),
  }
  part.end()
  return limits
}

export function sourcesOf(part: Checked, folder: string): Record<string, Source> {
  return named(part, each => sourceOf(each, folder))
}

const plainName = /^[A-Za-z0-9_-]{1,64}$/

function named<T>(part: Checked, make: (part: Checked) => T, pattern = plainName): Record<string, T> {
  return Object.fromEntries(
    part.names().map(name => {
      const each = part.part(name)
      if (!pattern.test(name)) part.problem(name, 'named otherwise: letters, digits, - and _')
      const made = make(each)
      each.end()
      return [name, made]
    }),
  )
}

function sourceOf(part: Checked, folder: string): Source {
  const kind = part.oneOf('kind', ['mllp', 'folder'] as const)
  const charset = part.optional('charset')
  if (charset.charset !== undefined && !decoderOf(charset.charset))
    part.problem('charset', 'a known character set, e.g. utf-8')
  if (kind === 'mllp') return mllpOf(part, charset, folder)
  return {
    kind,
    path: resolve(folder, part.match('path', /./, 'the path of a folder')),
    settle_seconds: part.whole('settle_seconds', 0, 3600, 5),
    poll_seconds: part.whole('poll_seconds', 1, 3600, 2),
    max_file_bytes: part.whole('max_file_bytes', 1024, gibibyte, 64 * 2 ** 20),
    ...charset,
    ...(part.has('format') ? { format: part.oneOf('format', ['hl7v2', 'csv', 'json', 'ndjson'] as const) } : {}),
    ...(part.has('type') ? { type: part.oneOf('type', itemTypes) } : {}),
    ...(part.has('csv') ? { csv: csvOf(part.part('csv')) } : {}),
  }
}

function mllpOf(part: Checked, charset: { charset?: string }, folder: string): MllpSource {
  const source: MllpSource = {
    kind: 'mllp',
    host: part.text('host', '127.0.0.1'),
    port: part.whole('port', 0, 65_535, 2575),
    max_connections: part.whole('max_connections', 1, 10_000, 100),
    idle_seconds: part.whole('idle_seconds', 1, 86_400, 3600),
    message_seconds: part.whole('message_seconds', 1, 3600, 60),
    ...charset,
  }
  if (!part.has('tls')) return source
  const tls = part.part('tls')
  const path = (name: string): string => resolve(folder, tls.match(name, /./, 'the path of a file'))
  const files = { certificate_file: path('certificate_file'), key_file: path('key_file') }
  const secure = { ...files, ...tls.optionalPath('client_ca_file', folder) }
  tls.end()
  return { ...source, tls: secure }
}

function csvOf(part: Checked): CsvMapping {
  const mapping: CsvMapping = {
    type: part.oneOf('type', itemTypes),
    delimiter: part.has('delimiter') ? part.match('delimiter', /^.$/, 'one character') : ',',
    fields: named(part.part('fields'), fieldOf, /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)*$/),
    ...part.optional('occurred_at'),
  }
  part.end()
  return mapping
}

const fieldOf = (part: Checked): CsvField => ({
  ...part.optional('column'),
  ...(part.has('value') ? { value: part.scalar('value') } : {}),
  as: part.oneOf('as', ['text', 'number', 'boolean'] as const, 'text'),
  required: part.flag('required', false),
})

export function targetsOf(part: Checked, folder: string): Record<string, Target> {
  return named(part, each => {
    const target = {
      host: each.match('host', /./, 'a host name or an address'),
      port: each.whole('port', 1, 65_535),
      answer_seconds: each.whole('answer_seconds', 1, 600, 30),
    }
    if (!each.has('tls')) return target
    const tls = each.part('tls')
    const trusted = tls.optionalPath('ca_file', folder)
    tls.end()
    return { ...target, tls: trusted }
  })
}
