// The order of a request, written once: id and log > find > limits > authenticate > scope > read and check > handle > audit > reply.
import { randomUUID } from 'node:crypto'
import type { BlockList } from 'node:net'
import { Readable } from 'node:stream'
import Koa from 'koa'
import type { TSchema } from 'typebox'
import type { AuditWriter } from '../audit/writer.ts'
import { asFailure, Failure } from '../lib/failure.ts'
import type { Log } from '../lib/log.ts'
import type { Caller } from '../policy/caller.ts'
import type { Declare } from '../policy/declare.ts'
import type { Access as StoreAccess } from '../store/access.ts'
import { bodyOf, mediaType, mustBeEscaped } from './body.ts'
import { check } from './check.ts'
import { createDispatch, type Found } from './dispatch.ts'
import { failureReply } from './failures.ts'
import { type Idempotency, keyOf } from './idempotency.ts'
import { type Limits, type Verdict, verdictHeaders } from './limits.ts'
import { senderOf } from './proxy.ts'
import type { Access, Reply, Route, RouteRequest } from './route.ts'
import { recordsOf, undone, unrecorded, watched } from './trail.ts'

/** What a request brings to prove who sent it. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body of a form or JSON object, for clients that send their credentials there. */
  readonly body: unknown
  readonly remoteAddress: string
}

/** Proves a caller by one scheme. @throws Failure UNAUTHENTICATED, INVALID_CLIENT, TOKEN_… or AUTH_THROTTLED. */
export type Authenticate = (credentials: Credentials) => Promise<Caller> | Caller

export interface ServerParts {
  readonly routes: readonly Route[]
  readonly authenticate: Readonly<Record<Exclude<Access['scheme'], 'open'>, Authenticate>>
  /** The caller as his request says that he asks: what for, and whether in an emergency. */
  readonly declare: Declare
  readonly limits: Limits
  readonly idempotency: Pick<Idempotency, 'once'>
  readonly audit: Pick<AuditWriter, 'write'>
  readonly log: Log
  /** Public address; undefined: as each request names it in its Host header (local environment). */
  readonly baseUrl: string | undefined
  /** Proxies that are believed what they say of a request. */
  readonly trustedProxies: BlockList
  readonly maxBodyBytes: number
}

/** The koa application that serves the routes. */
export function createApp(parts: ServerParts): Koa {
  const dispatch = createDispatch(parts.routes)
  const app = new Koa()
  app.silent = true
  app.use(async context => {
    const started = performance.now()
    const requestId = requestIdOf(context.get('x-request-id'))
    const seen: Seen = { accesses: [] }
    const refuse = (error: unknown): Reply => refusal(parts, context, requestId, seen, error)
    const reply = await answer(parts, dispatch, context, requestId, seen)
      .catch(error => refuse((seen.failure = error)))
      .then(ready => recorded(parts, context, requestId, seen, ready))
      .catch(refuse)
    send(context, reply, requestId, seen)
    parts.log.info({
      requestId,
      method: context.method,
      route: seen.found?.route.path,
      type: seen.found?.params['type'],
      status: context.status,
      ms: Math.round((performance.now() - started) * 100) / 100,
      client: seen.caller?.clientId,
    })
  })
  return app
}

interface Seen {
  found?: Found
  caller?: Caller
  verdict?: Verdict
  address?: string
  failure?: unknown
  isEmergency?: boolean
  accesses: StoreAccess[]
}

/** The reply to what was refused or failed, in the dialect of the surface. */
function refusal(parts: ServerParts, context: Koa.Context, requestId: string, { found }: Seen, error: unknown): Reply {
  const failure = asFailure(error)
  if (failure.status >= 500)
    parts.log.error(
      { requestId, route: found?.route.operationId, err: failure.options.cause ?? failure },
      failure.message,
    )
  const told = found?.route.failure?.(failure) ?? failure
  return failureReply(told, { path: context.path, accept: context.get('accept'), requestId })
}

/** The same reply, once the audit trail holds what it tells. @throws Failure UNAVAILABLE if that cannot be. */
async function recorded(
  { audit }: ServerParts,
  { method, path, querystring: query }: Koa.Context,
  requestId: string,
  { found, caller, address = '', accesses, failure, isEmergency = false }: Seen,
  ready: Reply,
): Promise<Reply> {
  const route = found?.route
  const records = recordsOf({
    ...{ method, path, query, requestId, route, caller, isEmergency, address, accesses, failure },
  })
  if (records.length === 0) return ready
  try {
    await audit.write(records)
    return ready
  } catch (error) {
    if (ready.body instanceof Readable) ready.body.destroy()
    throw unrecorded(error)
  }
}

const anyone = undefined as unknown as Caller

async function answer(
  parts: ServerParts,
  dispatch: ReturnType<typeof createDispatch>,
  context: Koa.Context,
  requestId: string,
  seen: Seen,
): Promise<Reply> {
  if (context.method === 'OPTIONS') return preflight
  mustBeEscaped(context.path, 'path')
  mustBeEscaped(context.querystring, 'query')
  const found = (seen.found = dispatch(context.method, context.path))
  const { route } = found
  const sender = senderOf(context.req.headers, context.req.socket.remoteAddress ?? '', parts.trustedProxies)
  const remoteAddress = (seen.address = sender.address)
  const contentType = mediaType(context.get('content-type'))
  const early =
    route.access.scheme === 'bearer'
      ? await identify(parts, route.access, context, undefined, remoteAddress, seen)
      : undefined
  const key = route.method === 'POST' ? keyOf(context.req.headers['idempotency-key']) : undefined
  const { body, bytes } = await bodyOf(route, context.req, contentType, parts.maxBodyBytes)
  const caller = early ?? (await identify(parts, route.access, context, body, remoteAddress, seen))
  const search = new URLSearchParams(context.querystring)
  const params = checked(route.params, found.params, 'path')
  const query = checked(route.query, Object.fromEntries(search), 'query')
  if (route.body && !route.checksOwnBody && !(body instanceof URLSearchParams) && body !== undefined)
    check(route.body, body)
  const request: RouteRequest<unknown, unknown, unknown> = {
    method: context.method,
    path: context.path,
    params,
    query,
    search,
    headers: context.req.headers,
    body,
    contentType,
    caller: caller === anyone ? caller : bound(parts, caller, context, requestId, seen),
    baseUrl: parts.baseUrl ?? sender.baseUrl,
    requestId,
    remoteAddress,
  }
  const handle = route.handle as (request: RouteRequest<unknown, unknown, unknown>) => Reply | Promise<Reply>
  if (key === undefined || !bytes || !seen.caller || route.isRepeatable) return handle(request)
  try {
    return await parts.idempotency.once(
      { key, caller: request.caller, line: `${context.method} ${context.originalUrl}`, body: bytes },
      async within => {
        seen.accesses.length = 0
        return handle({ ...request, caller: within })
      },
    )
  } catch (error) {
    seen.accesses = undone(seen.accesses, error)
    throw error
  }
}

/** The caller as everything that is done for the request knows him. */
function bound(parts: ServerParts, caller: Caller, context: Koa.Context, requestId: string, seen: Seen): Caller {
  const declared = parts.declare(watched(caller, seen.accesses), {
    headers: context.req.headers,
    requestId,
    overridden: () => void (seen.isEmergency = true),
  })
  seen.caller = declared
  return declared
}

async function identify(
  parts: ServerParts,
  access: Access,
  context: Koa.Context,
  body: unknown,
  remoteAddress: string,
  seen: Seen,
): Promise<Caller> {
  if (access.scheme === 'open') {
    seen.verdict = parts.limits.take(`address ${remoteAddress}`)
    return anyone
  }
  const caller = await authenticated(parts, access.scheme, { headers: context.req.headers, body, remoteAddress })
  seen.caller = caller
  seen.verdict = parts.limits.take(`client ${caller.clientId}`)
  if (access.scopes.length > 0 && !access.scopes.some(scope => caller.has(scope))) {
    const wanted = access.scopes.join(' or ')
    throw new Failure(
      'INSUFFICIENT_SCOPE',
      `This needs the scope ${wanted}: ask for it when you fetch the token, or have it added to the client.`,
      {
        headers: {
          'www-authenticate': `Bearer realm="health-interop", error="insufficient_scope", scope="${access.scopes.join(' ')}"`,
        },
      },
    )
  }
  return caller
}

/** Whoever cannot prove anything is counted by address, so that guessing tokens is bounded too. */
async function authenticated(
  parts: ServerParts,
  scheme: Exclude<Access['scheme'], 'open'>,
  credentials: Credentials,
): Promise<Caller> {
  try {
    return await parts.authenticate[scheme](credentials)
  } catch (error) {
    parts.limits.take(`address ${credentials.remoteAddress}`)
    throw error
  }
}

function checked(schema: TSchema | undefined, value: object, place: string): unknown {
  if (schema) check(schema, value, place)
  return value
}

function requestIdOf(given: string): string {
  return /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID()
}

const exposed =
  'etag, last-modified, location, content-location, x-request-id, x-progress, expires, retry-after, ratelimit, ratelimit-policy, www-authenticate, idempotent-replayed, x-access-basis'

const preflight: Reply = {
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers':
      'accept, authorization, content-type, if-match, if-none-match, if-modified-since, if-none-exist, prefer, x-request-id, idempotency-key, x-purpose-of-use, x-emergency-access, x-emergency-reason',
    'access-control-max-age': '86400',
  },
}

// Tokens travel in a header and never in a cookie, so any origin may call: it can only do what its token allows.
function send(context: Koa.Context, reply: Reply, requestId: string, seen: Seen): void {
  const { status, headers = {}, body } = reply
  context.status = status
  context.set('x-request-id', requestId)
  if (context.req.headers.origin !== undefined) {
    context.set('access-control-allow-origin', '*')
    context.set('access-control-expose-headers', exposed)
  }
  context.set('x-content-type-options', 'nosniff')
  if (seen.isEmergency) context.set('x-access-basis', 'emergency')
  if (seen.verdict) context.set(verdictHeaders(seen.verdict))
  for (const [name, value] of Object.entries(headers)) context.set(name, value)
  // What the handler did not want to read is not read after it either.
  if (seen.found?.route.streams && !context.req.complete) context.set('connection', 'close')
  if (!context.response.get('cache-control')) context.set('cache-control', 'no-store')
  if (body === undefined) {
    context.body = null
    context.status = status
    return
  }
  const isReady = typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable
  const bytes = isReady ? body : JSON.stringify(body)
  if (!context.response.get('content-type')) context.set('content-type', 'application/json; charset=utf-8')
  context.body = bytes
}
