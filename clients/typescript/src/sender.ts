// Sends the calls of one client: a token, attempts, retries, and the result or the error of the last one.
import { type ServiceError, TransportError } from './errors.ts'
import { type Answer, exchange, type Prepared } from './exchange.ts'
import { tell } from './log.ts'
import { type CallOptions, checkCallOptions, type Settings } from './options.ts'
import { headerText, type Place, type Query, withQuery } from './request.ts'
import { errorOf, LazyInfo, note, type ResponseInfo } from './response.ts'
import { mayRepeat, waitBefore } from './retry.ts'
import { createTokenStore } from './token-cache.ts'
import { createTokens, type Tokens } from './tokens.ts'
import type { World } from './world.ts'

/** A call as the modules make it. */
interface Call {
  readonly method: string
  readonly place: Place
  readonly query?: Query | undefined
  readonly body?: unknown
  readonly options?: CallOptions | undefined
}

/** Sends the calls of one client. */
export interface Sender {
  /** Gives the parsed body; null after 204. @throws ServiceError */
  send<T>(call: Call): Promise<T>
  /** Fetches the first token. @throws AuthenticationError */
  signIn(): Promise<void>
  /** Of the last finished call that got a response. */
  lastResponse(): ResponseInfo | null
}

const tokenPath = '/api/v1/connect/auth/token'

/** What an answer came to: a result, or an error. */
type Outcome = { readonly result: unknown; readonly error?: never } | { readonly error: ServiceError }

/** Connects the parts of a client. */
export function createSender(settings: Settings, world: World): Sender {
  const { transport, logger, timeout, maxRetries } = settings
  const common = { accept: 'application/json', 'user-agent': settings.userAgent }
  const store = createTokenStore(settings, world.unixTime)
  const tokens = createTokens(settings, world.now, store, body =>
    repeatedly({
      ...{ method: 'POST', url: settings.origin + tokenPath, label: tokenPath, body: JSON.stringify(body) },
      ...{ headers: { ...common, 'content-type': 'application/json' }, timeout, maxRetries, signal: undefined },
    }),
  )
  let last: ResponseInfo | null = null

  /** Sends until there is a result, or an error that stays. */
  async function repeatedly(request: Prepared, keys?: Tokens): Promise<unknown> {
    let [retries, isRenewed] = [0, false]
    for (let attempt = 1; ; attempt++) {
      const token = await keys?.current(request.signal)
      const { answer, outcome } = await logged(request, token, attempt)
      const { error } = outcome
      const mayRenew = error?.status === 401 && token !== undefined && !isRenewed
      const waits = error && retries < request.maxRetries && mayRepeat(request.method, error)
      const isFinal = !mayRenew && !(waits && (error.retryAfter ?? 0) * 1000 <= settings.maxRetryAfter)
      if (isFinal) {
        const info = answer && new LazyInfo(answer, retries)
        if (keys && info) last = info
        if (error) throw error
        if (info) note(outcome.result, info)
        return outcome.result
      }
      if (mayRenew) {
        keys?.discard(token)
        isRenewed = true
      } else await world.sleep(waitBefore(++retries, world.random(), error!.retryAfter) * 1000, request.signal)
    }
  }

  /** Make one attempt, and report it to the logger. */
  async function logged(
    request: Prepared,
    token: string | undefined,
    attempt: number,
  ): Promise<{ answer?: Answer; outcome: Outcome }> {
    const start = world.now()
    const record = (answer: Answer | undefined, error: string | null): void => {
      if (logger === undefined) return
      const [status, requestId] = [answer?.status ?? null, answer?.headers.get('x-request-id') ?? null]
      const { method, label: path } = request
      tell(logger, { method, path, status, requestId, attempt, durationMs: world.now() - start, error })
    }
    try {
      const answer = await exchange(transport, request, token, attempt)
      const outcome = outcomeOf(answer, attempt)
      record(answer, outcome.error?.name ?? null)
      return { answer, outcome }
    } catch (error) {
      record(undefined, error instanceof Error ? error.name : 'Error')
      if (error instanceof TransportError) return { outcome: { error } }
      throw error
    }
  }

  function prepared({ method, place, query, body, options = {} }: Call): Prepared {
    checkCallOptions(options)
    const { idempotencyKey, requestId, emergencyReason, signal } = options
    const headers: Record<string, string> = { ...common }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (method === 'POST') headers['idempotency-key'] = idempotencyKey ?? crypto.randomUUID()
    if (requestId !== undefined) headers['x-request-id'] = requestId
    if (emergencyReason !== undefined)
      Object.assign(headers, { 'x-emergency-access': 'true', 'x-emergency-reason': headerText(emergencyReason) })
    return {
      ...{ method, url: settings.origin + withQuery(place.path, query), label: place.label, headers, signal },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeout: options.timeout ?? timeout,
      maxRetries: options.maxRetries ?? maxRetries,
    }
  }

  return {
    send: async <T>(call: Call) => (await repeatedly(prepared(call), tokens)) as T,
    signIn: async () => void (await tokens.current()),
    lastResponse: () => last,
  }
}

function outcomeOf({ status, headers, text }: Answer, attempts: number): Outcome {
  if (status === 204) return { result: null }
  if (status < 200 || status > 299) return { error: errorOf(status, headers, text, attempts) }
  try {
    const result: unknown = JSON.parse(text)
    if (typeof result === 'object' && result !== null) return { result }
  } catch {}
  const facts = { status, requestId: headers.get('x-request-id'), attempts }
  const message = `The service answered with status ${status} and no JSON object: a proxy may have answered in its place.`
  return { error: new TransportError('invalid_response', message, facts) }
}
