// The budget that the service announces: the headers RateLimit and RateLimit-Policy
// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
import type { Headers } from './transport.ts'

/** The budget of a client; a part that the service does not name is null. */
export interface RateLimit {
  /** Requests per window. */
  readonly limit: number | null
  /** Requests left in this window. */
  readonly remaining: number | null
  /** Seconds until the budget is full again. */
  readonly reset: number | null
}

/** Reads the budget of a response; null if it announces none. */
export function rateLimitOf(headers: Headers): RateLimit | null {
  const [current] = itemsOf(headers.get('ratelimit'))
  if (current === undefined) return null
  const policy = itemsOf(headers.get('ratelimit-policy')).find(({ name }) => name === current.name)
  return {
    limit: parameter(policy?.parameters, 'q'),
    remaining: parameter(current.parameters, 'r'),
    reset: parameter(current.parameters, 't'),
  }
}

interface Item {
  readonly name: string
  readonly parameters: string
}

/** The items of a structured field that is a list of strings with parameters: `"default";q=600;w=60, …`. */
function itemsOf(header: string | null): Item[] {
  const items = (header ?? '').matchAll(
    /"((?:[^"\\]|\\.)*)"((?:\s*;\s*[a-z*][\w.*-]*(?:=(?:"[^"]*"|:[^:]*:|[^\s;,]*))?)*)\s*(?:,|$)/g,
  )
  return [...items].map(([, name, parameters]) => ({ name: name!, parameters: parameters! }))
}

function parameter(parameters: string | undefined, name: string): number | null {
  const value = new RegExp(`;\\s*${name}=(\\d{1,15})(?=[\\s;]|$)`).exec(parameters ?? '')?.[1]
  return value === undefined ? null : Number(value)
}
