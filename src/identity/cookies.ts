// The cookie of a portal session, and the rule that keeps pages of other origins from using it.
import type { IncomingHttpHeaders } from 'node:http'
import { Failure } from '../lib/failure.ts'

/** Name of the cookie (interface §5). */
export const sessionCookie = 'service_session'

/**
 * Returns the value of the session cookie, or undefined without one. Several that differ count as none: one of them was
 * planted from a neighbouring host name.
 */
export function sessionIn(headers: IncomingHttpHeaders): string | undefined {
  const values = new Set<string>()
  for (const part of (headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at !== -1 && part.slice(0, at).trim() === sessionCookie) values.add(part.slice(at + 1).trim())
  }
  return values.size === 1 ? [...values][0] : undefined
}

/**
 * Returns the Set-Cookie text: the browser keeps the value, or deletes the cookie if the value is empty.
 * @param seconds for which it is kept.
 * @param isSecure false where there is no TLS, which is a local service only.
 */
export function cookieText(value: string, seconds: number, isSecure: boolean): string {
  const parts = [`${sessionCookie}=${value}`, 'HttpOnly', 'SameSite=Strict', 'Path=/', `Max-Age=${seconds}`]
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}

interface Sent {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Address by which the service was called. */
  readonly baseUrl: string
}

/**
 * Refuses requests that a page of another origin has a browser send. Browsers name the page's origin with every such
 * request and cannot be made to forge it; a client that is no browser sends neither header.
 * @throws Failure FORBIDDEN.
 */
export function mustBeSameOrigin({ method, headers, baseUrl }: Sent): void {
  if (method === 'GET' || method === 'HEAD') return
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isOwn = origin === undefined ? true : origin === URL.parse(baseUrl)?.origin
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return
  throw new Failure(
    'FORBIDDEN',
    `Requests from another origin cannot change the portal: use a page of ${URL.parse(baseUrl)?.origin}.`,
  )
}
