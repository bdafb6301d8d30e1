// When a request is sent again, and after how long.
import { type ServiceError, TransportError } from './errors.ts'
import type { Headers } from './transport.ts'

const first = 0.5
const longest = 8

/** Seconds to wait before a retry (from 1): a random part of a growing time, and at least what the service asked for. */
export function waitBefore(retry: number, random: number, retryAfter: number | null): number {
  return Math.max(random * Math.min(longest, first * 2 ** (retry - 1)), retryAfter ?? 0)
}

/** Seconds of Retry-After; a date counts from the Date of the same response, whatever our clock says. */
export function retryAfterOf(headers: Headers): number | null {
  const header = headers.get('retry-after')?.trim() ?? ''
  if (/^[0-9]{1,9}$/.test(header)) return Number(header)
  const seconds = (httpDate(header) - httpDate(headers.get('date') ?? '')) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

const httpDate = (text: string): number =>
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : Number.NaN

/**
 * Whether a failed request may be sent again. All that the library sends may be repeated (a POST carries a key), but a
 * PATCH: it only if the service refused to look at it.
 */
export function mayRepeat(method: string, error: ServiceError): boolean {
  if (method === 'PATCH') return error.status === 429
  if (error instanceof TransportError) return error.reason !== 'invalid_response'
  if (error.status === 409) return error.errorCode === 'IDEMPOTENCY_IN_PROGRESS'
  return error.status === 408 || error.status === 429 || (error.status ?? 0) >= 500
}
