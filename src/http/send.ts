// Writes a reply: its own headers, and those that every reply has.
import { Readable } from 'node:stream'
import type Koa from 'koa'
import { encoded } from '../lib/pieces.ts'
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
 * Puts a reply on its way. Tokens travel in a header, so any origin may call: it can only do what its token allows. What knows a
 * caller by a cookie, or gives one, is for the service's own pages alone.
 */
export async function send(
  context: Koa.Context,
  reply: Reply,
  { requestId, route, verdicts, isEmergency }: Context,
): Promise<void> {
  const { status, headers = {}, body } = reply
  context.status = status
  context.set('x-request-id', requestId)
  const isOwnPagesOnly = route?.access.scheme === 'session' || headers['set-cookie'] !== undefined
  if (context.req.headers.origin !== undefined && !isOwnPagesOnly) {
    context.set('access-control-allow-origin', '*')
    context.set('access-control-expose-headers', exposed)
  }
  context.set('x-content-type-options', 'nosniff')
  if (isEmergency) context.set('x-access-basis', 'emergency')
  if (verdicts) context.set(verdictHeaders(verdicts))
  for (const [name, value] of Object.entries(headers)) context.set(name, value)
  // What the handler did not want to read is not read after it either.
  if (route?.streams && !context.req.complete) context.set('connection', 'close')
  if (!context.response.get('cache-control')) context.set('cache-control', 'no-store')
  if (body === undefined) {
    context.body = null
    context.status = status
    return
  }
  const isReady = typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable
  if (!context.response.get('content-type')) context.set('content-type', 'application/json; charset=utf-8')
  // What is written here ends with a line, so that a terminal shows its prompt on the next; stored bytes stay as they are.
  const ready = isReady ? body : `${JSON.stringify(body)}\n`
  context.body = typeof ready === 'string' && ready.length > large ? await encoded(ready) : ready
}

/** Characters from which on a text is encoded in parts: at once, it would block all other requests for some milliseconds. */
const large = 512 * 1024
