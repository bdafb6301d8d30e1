// Paths and queries of requests.
import { invalid } from './errors.ts'
import type { SearchValue } from './fhir.ts'

/** A path to send, and the same with placeholders, for logs. */
export interface Place {
  readonly path: string
  readonly label: string
}

/** Parameters of a query; null and undefined are left out, a list repeats its name. */
export type Query = Readonly<Record<string, SearchValue | readonly SearchValue[]>>

/**
 * Puts parameters into a path of the interface, percent-encoded.
 * @throws ValidationError `INVALID_ARGUMENT` for one that is empty or would lead to another path.
 */
export function at(template: string, parameters: Readonly<Record<string, string>>): Place {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, parameters[name]))
  const label = template.replace('{type}', () => segment('type', parameters['type'] ?? 'type'))
  return { path, label }
}

function segment(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  if (text === '' || text === '.' || text === '..')
    throw invalid('INVALID_ARGUMENT', `${name} must be text that can be a part of a path.`)
  return encodeURIComponent(text)
}

/** A path with a query, if there is one. */
export function withQuery(path: string, query: Query | undefined): string {
  if (query === undefined) return path
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? (value as readonly SearchValue[]) : [value as SearchValue])
      if (each !== undefined && each !== null) search.append(name, String(each))
  const text = search.toString()
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`
}

/** The bytes of UTF-8 as a header carries them. */
export const headerText = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))
