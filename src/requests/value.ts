// What the log can be searched by, as the table request_value has it: a hash for each value, in each stretch of time in which the log has it.
import { hash64 } from '../lib/hash.ts'

/** Bits of a time in milliseconds that are within a stretch. */
const bits = 12

/** The stretch of time to which a time in milliseconds belongs. */
export const stretchAt = (time: number): number => Math.floor(time / 2 ** bits)

/** What is known of the requests that are looked for. */
export interface Sought {
  readonly organizationId?: string | undefined
  readonly clientId?: string | undefined
  readonly route?: string | undefined
  readonly errorCode?: string | undefined
  /** The hundreds of the status. */
  readonly statusClass?: number | undefined
}

/** The values of a request, or of those that are looked for; the class of failures also together with the organisation. */
export function valuesOf({ organizationId, clientId, route, errorCode, statusClass }: Sought): bigint[] {
  const named = [
    organizationId !== undefined && `organization ${organizationId}`,
    clientId !== undefined && `client ${clientId}`,
    route !== undefined && `route ${route}`,
    errorCode !== undefined && `error ${errorCode}`,
    statusClass !== undefined && `class ${statusClass}`,
    statusClass !== undefined && organizationId !== undefined && `class ${statusClass} ${organizationId}`,
  ]
  return named.filter(each => each !== false).map(each => hash64(`request ${each}`))
}

/** SQL for the first id of a stretch. */
export const firstIdOf = (stretch: string): string =>
  `(lpad(to_hex(${stretch} << ${bits}), 12, '0') || '00000000000000000000')::uuid`

/**
 * SQL for the stretches in which the log has all of the values, the newest first. Within one, a request of all values is not certain.
 * @param bound the places of the values, at least one
 * @param within conditions on `v.stretch`
 */
export const stretchesOf = (bound: readonly string[], within: readonly string[]): string => {
  const [first, ...others] = bound
  const conditions = [
    `v.value = ${first}`,
    ...others.map(each => `exists (select from request_value o where o.value = ${each} and o.stretch = v.stretch)`),
    ...within,
  ]
  return `select v.stretch from request_value v where ${conditions.join(' and ')} order by v.stretch desc`
}
