// The order of a request, written once: id and log > find > limits > authenticate > scope > read and check > handle > audit > reply.
import type { BlockList } from 'node:net'
import { Readable } from 'node:stream'
import Koa from 'koa'
import type { TSchema } from 'typebox'
import { isAgent } from '../access/caller.ts'
import type { ReadPurpose } from '../access/purpose.ts'
import type { Proofs, ProvingScheme, Scheme } from '../access/scheme.ts'
import { recordedBy } from '../audit/pending.ts'
import type { AuditWriter } from '../audit/writer.ts'
import { unconfirmed } from '../db/doubt.ts'
import { isResourceType } from '../definitions/r4.ts'
import { asFailure } from '../lib/failure.ts'
import { holdsHealthId } from '../lib/health-id.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { LoggedRequest } from '../requests/entry.ts'
import { check } from '../shapes/check.ts'
import { bodyOf, mediaType, mustBeEscaped } from './body.ts'
import { concerned, type HoldersOf, healthIdsIn } from './concerned.ts'
import { departed, departureOf, type Sharing, sharing } from './departure.ts'
import { createDispatch, type RouteMatch } from './dispatch.ts'
import { failureReply } from './failures.ts'
import { type Idempotency, keyOf } from './idempotency.ts'
import { byHeaders, type Identification, type IdentifyParts, identify } from './identify.ts'
import { createIntake, type Hold, type Intake } from './intake.ts'
import { loggedRequest, namedInLogs } from './logged.ts'
import { leaveRest } from './pace.ts'
import { senderOf } from './proxy.ts'
import type { Reply, Route, RouteRequest } from './route.ts'
import { preflight, send } from './send.ts'
import { isRecorded, mayHaveStored, recordsOf, requesterOf, type Traces, undone, unrecorded, watched } from './trail.ts'

/** Observes each request, for the metrics. */
interface Observer {
  readonly begun: () => void
  /** @param request `route`: the pattern of the route, undefined where there is nothing */
  readonly answered: (request: {
    readonly method: string
    readonly route: string | undefined
    readonly status: number
    readonly seconds: number
  }) => void
}

export interface ServerParts extends IdentifyParts, Sharing {
  readonly routes: readonly Route[]
  /** Returns the client with the purpose and emergency that its request declares. */
  readonly readPurpose: ReadPurpose
  readonly idempotency: Pick<Idempotency, 'once'>
  readonly audit: Pick<AuditWriter, 'write'>
  /**
   * Returns the patients that a refused request names by Health ID; absent: the trail names the patients that the store
   * reported.
   */
  readonly holdersOf?: HoldersOf
  readonly observer: Observer
  /** Takes each request for the request log; absent: there is none. */
  readonly note?: (request: LoggedRequest) => void
  readonly log: Log
  /** Public address; undefined: as each request names it in its Host header (local environment). */
  readonly baseUrl: string | undefined
  /** Proxies whose forwarding headers are trusted. */
  readonly trustedProxies: BlockList
  readonly maxBodyBytes: number
  /** The limits that bodies in flight share; absent: an intake with the defaults. */
  readonly intake?: Intake
}

/** The same parts with every optional one filled in. */
type Parts = ServerParts & { readonly intake: Intake }

/** Creates the koa application that serves the routes. */
export function createApp(given: ServerParts): Koa {
  const parts: Parts = { ...given, intake: given.intake ?? createIntake() }
  const dispatch = createDispatch(parts.routes)
  const app = new Koa()
  app.silent = true
  app.use(async context => {
    const started = performance.now()
    const seen: Seen = { accesses: [], pending: [], requestId: requestIdOf(context.get('x-request-id')) }
    parts.observer.begun()
    try {
      await serve(parts, dispatch, context, started, seen)
    } finally {
      seen.hold?.release()
      const milliseconds = performance.now() - started
      const { method } = context
      const status = statusOf(context, seen)
      parts.observer.answered({ method, route: seen.found?.route.path, status, seconds: milliseconds / 1000 })
      parts.note?.(loggedRequest(context, seen, { status, milliseconds, resourceType: typeOf(seen.found) }))
    }
  })
  return app
}

const statusOf = (context: Koa.Context, { signal }: Seen): number => (signal?.aborted ? departed : context.status)

/** Handles one request: answers, records, sends and logs it. */
async function serve(
  parts: Parts,
  dispatch: ReturnType<typeof createDispatch>,
  context: Koa.Context,
  started: number,
  seen: Seen,
): Promise<void> {
  const { requestId } = seen
  const refuse = (error: unknown): Reply => refusal(parts, context, requestId, seen, error)
  const reply = await answer(parts, dispatch, context, requestId, seen)
    .catch(error => refuse((seen.failure = error)))
    .then(ready => recorded(parts, context, requestId, seen, ready))
    .catch(refuse)
  leaveRest(context.req, context.res)
  seen.bytesOut = await send(context, reply, {
    requestId,
    route: seen.found?.route,
    verdicts: seen.verdicts,
    isEmergency: seen.isEmergency === true,
  })
  parts.log.info({
    requestId,
    method: context.method,
    route: seen.found?.route.path,
    type: typeOf(seen.found),
    status: statusOf(context, seen),
    ms: Math.round((performance.now() - started) * 100) / 100,
    client: namedInLogs(seen.caller),
  })
}

/** Returns the resource type of the address if it is a known one: any other text comes from the client. */
function typeOf(found: RouteMatch | undefined): string | undefined {
  const type = found?.params['type']
  return type !== undefined && isResourceType(type) ? type : undefined
}

interface Seen extends Traces, Identification {
  readonly requestId: string
  found?: RouteMatch
  address?: string
  failure?: unknown
  /** Of the refusal that was sent. */
  errorCode?: string
  isEmergency?: boolean
  /** Of the body of the reply; undefined if nobody counts them. */
  bytesOut?: number | undefined
  /** The body once it is read. */
  body?: unknown
  /** The memory that the request's body takes up. */
  hold?: Hold
  signal?: AbortSignal
}

/** Returns the reply to a request that was refused or failed, in the dialect of the surface. */
function refusal(parts: ServerParts, context: Koa.Context, requestId: string, seen: Seen, error: unknown): Reply {
  const { found, signal } = seen
  const failure = asFailure(error)
  if (failure.status >= 500 && error !== signal?.reason)
    parts.log.error(
      { requestId, route: found?.route.operationId, err: failure.options.cause ?? failure },
      failure.message,
    )
  seen.errorCode = failure.code
  const { method, path, querystring: query } = context
  const shown = found?.route.page?.failure?.(failure, { method, path, query, headers: context.req.headers, requestId })
  if (shown) return shown
  const described = found?.route.failure?.(failure) ?? failure
  seen.errorCode = described.code
  return failureReply(described, { path, accept: context.get('accept'), requestId })
}

/**
 * Returns the reply once the audit trail has recorded the request.
 * @throws Failure UNAVAILABLE if it cannot be recorded, UNCONFIRMED if the request may have stored something, too.
 */
async function recorded(
  { audit, holdersOf }: ServerParts,
  { method, path, querystring: query }: Koa.Context,
  requestId: string,
  { found, caller, address = '', accesses, pending, failure, isEmergency = false, body }: Seen,
  ready: Reply,
): Promise<Reply> {
  const route = found?.route
  const trace = { method, path, query, requestId, route, caller, isEmergency, address, accesses, failure }
  if (!found || !isRecorded(trace)) return ready
  try {
    const isAbout = failure !== undefined || route?.givesAccess
    const named = (): string[] => healthIdsIn(found.params, new URLSearchParams(query), body)
    const about = isAbout ? await concerned(route, caller, named(), holdersOf) : []
    const records = recordsOf(trace, about)
    await audit.write(records, recordedBy(records, pending))
    return ready
  } catch (error) {
    if (ready.body instanceof Readable) ready.body.destroy()
    throw mayHaveStored(trace, pending) ? unconfirmed(error) : unrecorded(error)
  }
}

async function answer(
  parts: Parts,
  dispatch: ReturnType<typeof createDispatch>,
  context: Koa.Context,
  requestId: string,
  seen: Seen,
): Promise<Reply> {
  if (context.method === 'OPTIONS') return preflight
  const signal = (seen.signal = departureOf(context.res))
  const { found, sender } = routed(parts, dispatch, context, seen)
  const { route } = found
  const remoteAddress = sender.address
  const search = new URLSearchParams(context.querystring)
  const baseUrl = parts.baseUrl ?? sender.baseUrl
  const contentType = mediaType(context.get('content-type'))
  const brought = { method: context.method, headers: context.req.headers, remoteAddress, baseUrl }
  const isEarly = byHeaders.has(route.access.scheme)
  const early = isEarly ? await identify(parts, route, { ...brought, body: undefined }, seen) : undefined
  const who = early ? `client ${early.clientId}` : `address ${remoteAddress}`
  if (early) parts.intake.note(who)
  const sent = route.method === 'POST' ? keyOf(context.req.headers['idempotency-key']) : undefined
  const sending = {
    params: found.params,
    request: context.req,
    type: contentType,
    signal,
    isBytes: route.takesBytes?.(found.params, contentType) === true,
    who,
    holding: (hold: Hold) => void (seen.hold = hold),
    proceed: () => context.res.writeContinue(),
  }
  const { body, bytes } = await bodyOf(route, sending, parts).catch(error => {
    seen.verdicts ??= parts.limits.take(`address ${remoteAddress}`)
    throw error
  })
  const caller = isEarly ? early : await identify(parts, route, { ...brought, body }, seen)
  seen.body = body
  const params = checked(route.params, found.params, 'path')
  const query = checked(route.query, Object.fromEntries(search), 'query')
  if (route.body && !route.checksOwnBody && !(body instanceof URLSearchParams) && body !== undefined)
    check(route.body, body)
  const request: AnyRequest = {
    method: context.method,
    path: context.path,
    params,
    query,
    search,
    headers: context.req.headers,
    body,
    contentType,
    caller: caller && bound(parts, { ...sharing(parts, caller, route, signal), at: baseUrl }, context, requestId, seen),
    baseUrl,
    requestId,
    remoteAddress,
    signal,
  }
  const handle = route.handle as (request: AnyRequest) => Reply | Promise<Reply>
  const key = (route.onceBy as ((body: unknown) => string) | undefined)?.(body) ?? sent
  if (key === undefined || !bytes || !request.caller || route.isRepeatable) return handle(request)
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

/**
 * Returns the route of a request, and its sender. A request without a route, or one that cannot be read, is counted by
 * its address, since no caller is authenticated yet.
 * @throws Failure NOT_FOUND, METHOD_NOT_ALLOWED, MALFORMED_REQUEST, RATE_LIMITED
 */
function routed(
  { limits, trustedProxies }: ServerParts,
  dispatch: ReturnType<typeof createDispatch>,
  { method, path, querystring, req }: Koa.Context,
  seen: Seen,
): { found: RouteMatch; sender: ReturnType<typeof senderOf> } {
  seen.address = req.socket.remoteAddress ?? ''
  try {
    const sender = senderOf(req.headers, seen.address, trustedProxies)
    seen.address = sender.address
    mustBeEscaped(path, 'path')
    mustBeEscaped(querystring, 'query')
    seen.found = dispatch(method, path)
    return { found: seen.found, sender }
  } catch (error) {
    seen.verdicts = limits.take(`address ${seen.address}`)
    throw error
  }
}

type AnyRequest = RouteRequest<unknown, unknown, unknown, Proofs[Scheme]>

/** Returns the caller as all work for the request uses it. */
function bound(
  parts: ServerParts,
  caller: Proofs[ProvingScheme],
  context: Koa.Context,
  requestId: string,
  seen: Seen,
): Proofs[ProvingScheme] {
  const observed = watched(caller, seen, requestId, isEmergency =>
    requesterOf({ caller: seen.caller, address: seen.address ?? '', requestId, isEmergency }),
  )
  if (observed.kind !== 'client' || isAgent(observed)) return observed
  const declared = parts.readPurpose(observed, {
    headers: context.req.headers,
    requestId,
    overridden: () => void (seen.isEmergency = true),
  })
  seen.caller = declared
  return declared
}

function checked(schema: TSchema | undefined, value: object, place: string): unknown {
  if (schema) check(schema, value, place)
  return value
}

/** Returns the id that the client gives its request, unless it says who a patient is: logs hold request ids. */
function requestIdOf(given: string): string {
  return /^[A-Za-z0-9._-]{8,128}$/.test(given) && !holdsHealthId(given) ? given : uuidv7()
}
