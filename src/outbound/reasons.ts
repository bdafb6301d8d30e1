// Why a delivery has failed, as a person reads it in a log of attempts.
import { plainHttp, privateAddress } from './connect.ts'

export const redirected = 'redirects are not followed'

const closed = 'the connection was closed without a response'

export const answered = (status: number): string => `responded with ${status}`

export const noAnswer = (milliseconds: number): string => `no response within ${milliseconds / 1000} seconds`

/** The reason that an error stands for. @param timeout milliseconds there were. */
export function reasonOf(error: unknown, timeout: number): string {
  const { code = '', message, name } = error as NodeJS.ErrnoException
  if (timeouts.has(code)) return noAnswer(timeout)
  if (code === 'UND_ERR_SOCKET') return message.startsWith('bad ') ? notHttp : closed
  if (name === 'HTTPParserError') return notHttp
  if (/ERR_SSL|ERR_TLS|EPROTO/.test(code)) return reasons[code] ?? 'the TLS handshake failed'
  return reasons[code] ?? (certificates.test(code) ? untrusted : `the connection failed (${code || 'unknown error'})`)
}

/** Whether a connection ended that may have been good before. */
export function isClosing(error: unknown): boolean {
  return closings.has((error as { code?: unknown }).code)
}

const closings: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

const notHttp = 'the response is not HTTP'

const untrusted = 'the certificate is invalid: its issuer is not trusted'

const timeouts: ReadonlySet<string> = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'])

/** Codes of certificates that lead to no trusted issuer (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const certificates = /CERT|ISSUER|SIGNATURE|CRL/

const reasons: Readonly<Record<string, string>> = {
  [privateAddress]: 'the address is private',
  [plainHttp]: 'the URL must use https',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  CERT_HAS_EXPIRED: 'the certificate is invalid: it has expired',
  CERT_NOT_YET_VALID: 'the certificate is invalid: it is not yet valid',
  CERT_REVOKED: 'the certificate is invalid: it was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is invalid: it is for another host',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too long',
  ERR_INVALID_URL: 'the URL is invalid',
  UND_ERR_INVALID_ARG: 'the request could not be written',
  UND_ERR_CLOSED: 'the service was shutting down',
  UND_ERR_DESTROYED: 'the service was shutting down',
}
