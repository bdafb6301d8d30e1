// Answers what cannot be read as HTTP at all, which no route ever sees (RFC 9112 §2.2).
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Failure, type FailureCode } from '../lib/failure.ts'
import { fhirBase } from '../store/base.ts'
import { failureReply } from './failures.ts'

/** What Node's parser says of a request that it gave up. */
interface ParseError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

const words: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The address and headers together exceed 16 kB: shorten them.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
  HPE_INVALID_URL: 'The address contains a character that must be percent-encoded.',
}

const searchHint = ' For a long search, use POST to _search.'

/** Says what was wrong in the dialect of the surface that was meant, and closes the connection. */
export function answerUnreadable(error: ParseError, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const path = /^[A-Z]+ ([^\s?]*)/.exec(error.rawPacket?.toString('latin1', 0, 200) ?? '')?.[1] ?? '/'
  const hint = error.code === 'HPE_HEADER_OVERFLOW' && path.startsWith(fhirBase) ? searchHint : ''
  const message = words[error.code ?? ''] ?? 'The request cannot be read as HTTP.'
  const { status, headers, text } = refusal(message + hint, path, isLate ? 'REQUEST_TIMEOUT' : 'MALFORMED_REQUEST')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
}

/** Refuses a request whose head says what no server may accept (`problemOf`). */
export function answerMalformed(problem: string, { url = '/' }: IncomingMessage, response: ServerResponse): void {
  const path = /^https?:\/\/[^/?]*([^?]*)/i.exec(url)?.[1] ?? url.split('?')[0]!
  const { status, headers, text } = refusal(problem, path || '/')
  response.writeHead(status, headers).end(text)
}

function refusal(
  message: string,
  path: string,
  code: FailureCode = 'MALFORMED_REQUEST',
): { status: number; headers: Record<string, string>; text: string } {
  const requestId = randomUUID()
  const failure = new Failure(code, message)
  const { status, headers, body } = failureReply(failure, { path, accept: undefined, requestId })
  const text = JSON.stringify(body)
  const own = {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  return { status, headers: own, text }
}
