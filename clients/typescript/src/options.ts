// What a client and a call may be given, checked before any request.
import { invalid } from './errors.ts'
import type { Logger } from './log.ts'
import type { TokenCache } from './token-cache.ts'
import { platformTransport, type Transport } from './transport.ts'

/** How to create a client. Times are milliseconds. */
export interface ClientOptions {
  /** The id of the integration client. */
  readonly clientId: string
  /** Its secret. */
  readonly clientSecret: string
  readonly environment: 'local' | 'sandbox' | 'production'
  /** Address of the service, without a path. Default: the variable HEALTH_INTEROP_BASE_URL; for `local` then http://127.0.0.1:8080. */
  readonly baseUrl?: string
  /** Scopes to request. Default: all scopes of the client. */
  readonly scopes?: readonly string[]
  /** Total time of one attempt, response body included. Default: 30 000. */
  readonly timeout?: number
  /** Retries after the first attempt, 0 to 10. Default: 2. */
  readonly maxRetries?: number
  /** Longest `Retry-After` that is waited for. Default: 60 000. */
  readonly maxRetryAfter?: number
  /** Text appended to the User-Agent, such as `hospital-app/3.1`. */
  readonly userAgent?: string
  /** Sends one request, in place of `fetch`: for proxies and tests. */
  readonly transport?: Transport
  /** Receives one record per attempt. */
  readonly logger?: Logger
  /** Keeps the access token between processes, such as those of a serverless platform. Default: none. */
  readonly tokenCache?: TokenCache
}

/** Options of one call. Times are milliseconds. */
export interface CallOptions {
  /** Total time of one attempt. Default: that of the client. */
  readonly timeout?: number
  /** Retries after the first attempt, 0 to 10. Default: that of the client. */
  readonly maxRetries?: number
  /** Key of a POST, so that the same work is done once; a UUID unless given. Give one that outlives your process, such as the id of your record. */
  readonly idempotencyKey?: string
  /** Id for the logs of both sides: 8 to 128 letters, digits, `.`, `_` and `-`. */
  readonly requestId?: string
  /** Declares emergency access and states why, in 10 to 500 characters. The service audits and reviews each use. */
  readonly emergencyReason?: string
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** The options of a client, checked and complete. */
export interface Settings {
  readonly clientId: string
  readonly clientSecret: string
  readonly origin: string
  readonly scopes: readonly string[]
  readonly timeout: number
  readonly maxRetries: number
  readonly maxRetryAfter: number
  readonly userAgent: string
  readonly transport: Transport
  readonly logger: Logger | undefined
  readonly tokenCache: TokenCache | undefined
}

const environments = ['local', 'sandbox', 'production']
const longestTimer = 2 ** 31 - 1

/** @throws ValidationError `INVALID_OPTION`, which names the option and never its value. */
export function checkedOptions(options: ClientOptions, product: string): Settings {
  const { clientId, clientSecret, environment, scopes = [], timeout = 30_000, maxRetries = 2 } = options
  const { maxRetryAfter = 60_000, userAgent, transport = platformTransport, logger, tokenCache } = options
  for (const [name, text] of Object.entries({ clientId, clientSecret }))
    check(typeof text === 'string' && text !== '', `${name} is required.`)
  check(environments.includes(environment), `environment must be one of ${environments.join(', ')}.`)
  check(Array.isArray(scopes) && scopes.every(isScope), "scopes must be a list of scopes, such as ['patients:read'].")
  check(isTime(timeout), 'timeout must be a number of milliseconds above 0.')
  check(isRetries(maxRetries), 'maxRetries must be a whole number from 0 to 10.')
  check(maxRetryAfter === 0 || isTime(maxRetryAfter), 'maxRetryAfter must be a number of milliseconds from 0.')
  check(userAgent === undefined || /^[\x20-\x7e]+$/.test(userAgent), 'userAgent must be printable ASCII.')
  for (const [name, value] of Object.entries({ transport, logger: logger ?? check }))
    check(typeof value === 'function', `${name} must be a function.`)
  check(tokenCache === undefined || isTokenCache(tokenCache), 'tokenCache must have the methods get and set.')
  const agent = userAgent === undefined ? product : `${product} ${userAgent}`
  const origin = originOf(options.baseUrl ?? defaultBaseUrl(environment))
  return {
    clientId,
    clientSecret,
    origin,
    scopes,
    timeout,
    maxRetries,
    maxRetryAfter,
    userAgent: agent,
    transport,
    logger,
    tokenCache,
  }
}

/** @throws ValidationError `INVALID_ARGUMENT` if an option of a call is not valid. */
export function checkCallOptions({
  timeout,
  maxRetries,
  idempotencyKey,
  requestId,
  emergencyReason,
}: CallOptions): void {
  const given = (value: unknown, isRight: boolean, message: string): void => {
    if (value !== undefined && !isRight) throw invalid('INVALID_ARGUMENT', message)
  }
  given(timeout, isTime(timeout), 'timeout must be a number of milliseconds above 0.')
  given(maxRetries, isRetries(maxRetries), 'maxRetries must be a whole number from 0 to 10.')
  given(
    idempotencyKey,
    /^[\x20-\x7e]{1,255}$/.test(String(idempotencyKey)),
    'idempotencyKey must be 1 to 255 printable ASCII characters.',
  )
  given(
    requestId,
    /^[A-Za-z0-9._-]{8,128}$/.test(String(requestId)),
    'requestId must be 8 to 128 letters, digits, dots, underscores and hyphens.',
  )
  given(
    emergencyReason,
    /^\P{Cc}{1,500}$/u.test(String(emergencyReason)),
    'emergencyReason must be one line of 10 to 500 characters.',
  )
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw invalid('INVALID_OPTION', message)
}

const isScope = (scope: unknown): boolean => typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
const isTime = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= longestTimer
const isRetries = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 10
const isTokenCache = (value: unknown): boolean =>
  ['get', 'set'].every(name => typeof (value as Record<string, unknown> | null)?.[name] === 'function')

function defaultBaseUrl(environment: string): string {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  const named = process?.env?.['HEALTH_INTEROP_BASE_URL']
  return named || (environment === 'local' ? 'http://127.0.0.1:8080' : '')
}

function originOf(baseUrl: string): string {
  check(baseUrl !== '', 'baseUrl is required: give it as an option, or set HEALTH_INTEROP_BASE_URL.')
  const url = parsed(baseUrl)
  check(url !== null && /^https?:$/.test(url.protocol), 'baseUrl must be an https address.')
  const { protocol, hostname, pathname, search, hash, username, password } = url!
  check(
    pathname === '/' && `${search}${hash}${username}${password}` === '',
    'baseUrl must be scheme, host and port alone.',
  )
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  check(protocol === 'https:' || isLoopback, 'baseUrl must be https: only loopback addresses may be http.')
  return url!.origin
}

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
