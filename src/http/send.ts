// Writes a reply: its own headers, and those that every reply has.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type Koa from 'koa'
import { Encoded, encoded } from '../lib/pieces.ts'
import { type RateLimitState, verdictHeaders } from './limits.ts'
import type { Reply, Route } from './route.ts'

const exposed =
  'etag, last-modified, location, content-location, content-disposition, content-range, accept-ranges, x-security-context, x-request-id, x-progress, expires, retry-after, ratelimit, ratelimit-policy, www-authenticate, idempotent-replayed, x-access-basis'

/** The reply to a browser's preflight request from a page of another origin. */
export const preflight: Reply = {
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers':
      'accept, authorization, content-type, if-match, if-none-match, if-modified-since, if-none-exist, if-range, range, x-security-context, prefer, x-request-id, idempotency-key, x-purpose-of-use, x-emergency-access, x-emergency-reason',
    'access-control-max-age': '86400',
  },
}

/** What else of a request appears in its reply. */
interface Context {
  readonly requestId: string
  readonly route: Route | undefined
  readonly verdicts: readonly RateLimitState[] | undefined
  /** True if the caller saw what only an emergency opened. */
  readonly isEmergency: boolean
}

/**
 * Puts a reply on its way, and returns the bytes of its body; undefined for one that is sent in chunks, which nobody counts. Tokens travel
 * in a header, so any origin may call: it can only do what its token allows. What knows a caller by a cookie, or gives one, is for the
 * service's own pages alone.
 */
export async function send(context: Koa.Context, reply: Reply, about: Context): Promise<number | undefined> {
  const { status, body } = reply
  const headers = headersOf(context, reply, about)
  if (body instanceof Readable) return stream(context, status, headers, body)
  const content = body === undefined || empty.has(status) ? undefined : await contentOf(body)
  const bytes = sizeOf(content)
  const { res: response } = context
  response.statusCode = status
  if (!context.writable) return 0
  if (content === undefined) delete headers['content-type']
  else headers['content-type'] ??= 'application/json; charset=utf-8'
  if (!empty.has(status)) headers['content-length'] = String(bytes)
  // Written as a whole: koa would keep, look up and check each header by itself.
  context.respond = false
  response.writeHead(status, headers)
  if (content instanceof Encoded) endWith(response, content)
  else response.end(content)
  return context.method === 'HEAD' ? 0 : bytes
}

/** Statuses whose replies have no body (https://www.rfc-editor.org/rfc/rfc9110#section-6.4.1). */
const empty: ReadonlySet<number> = new Set([204, 205, 304])

function headersOf(
  { req: request }: Koa.Context,
  { headers: own = {} }: Reply,
  { requestId, route, verdicts, isEmergency }: Context,
): Record<string, string> {
  const headers: Record<string, string> = { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
  const isOwnPagesOnly = route?.access.scheme === 'session' || own['set-cookie'] !== undefined
  if (request.headers.origin !== undefined && !isOwnPagesOnly) {
    headers['access-control-allow-origin'] = '*'
    headers['access-control-expose-headers'] = exposed
  }
  if (isEmergency) headers['x-access-basis'] = 'emergency'
  headers['cache-control'] = 'no-store'
  if (verdicts) Object.assign(headers, verdictHeaders(verdicts))
  return Object.assign(headers, own)
}

/** Returns what is sent: what is written here ends with a line, so that a terminal shows its prompt on the next; stored bytes stay as they are. */
async function contentOf(body: unknown): Promise<Content> {
  if (Buffer.isBuffer(body) || body instanceof Encoded) return body
  const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`
  return text.length > large ? encoded(text) : text
}

type Content = string | Buffer | Encoded

function sizeOf(content: Content | undefined): number {
  if (content === undefined) return 0
  return content instanceof Encoded ? content.size : Buffer.byteLength(content)
}

/** Sends a text. Its memory is given back once the operating system has all of it, and garbage if the client leaves before. */
function endWith(response: ServerResponse, text: Encoded): void {
  response.once('finish', () => text.giveBack())
  const { parts } = text
  if (parts.length > 1) response.cork()
  for (const part of parts.slice(0, -1)) response.write(part)
  response.end(parts.at(-1))
}

/** Characters from which on a text is encoded in parts: at once, it would block all other requests for some milliseconds. */
const large = 512 * 1024

/** Has koa send the contents of a stream, which it ends if the client leaves. */
function stream(context: Koa.Context, status: number, headers: Record<string, string>, body: Readable) {
  context.status = status
  context.set({ 'content-type': 'application/json; charset=utf-8', ...headers })
  context.body = body
  return context.method === 'HEAD' ? 0 : context.response.length
}
