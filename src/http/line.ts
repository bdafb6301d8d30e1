// Checks the target of a request: one host, named once, in a version of HTTP that has headers (RFC 9112 §3.2).
import type { IncomingMessage } from 'node:http'
import { isHost } from './proxy.ts'

/** Returns why the request is refused before it is routed, or undefined if nothing is wrong. */
export function problemOf({ httpVersion, headers, rawHeaders, url = '' }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'The request must use HTTP/1.1 or HTTP/1.0.'
  const { host } = headers
  if (host === undefined) return httpVersion === '1.1' ? 'HTTP/1.1 requires the header Host.' : absolute(url, undefined)
  // Node keeps the first of several, a proxy perhaps the last: they would not mean the same host.
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) return 'The header Host must not be repeated.'
  if (host !== '' && !isHost(host)) return 'The header Host must be a host name or an address, with or without a port.'
  return absolute(url, host)
}

/** An address in absolute form is for a proxy: it must name the same host as the header. */
function absolute(url: string, host: string | undefined): string | undefined {
  if (url.startsWith('/') || url === '*') return undefined
  const named = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]
  if (named === undefined) return 'The address must be a path, such as /api/fhir/R4/metadata.'
  if (host === undefined || named.toLowerCase() === host.toLowerCase()) return undefined
  return 'The host in the address differs from the header Host.'
}
