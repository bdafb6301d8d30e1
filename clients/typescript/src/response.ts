// Details of a response beside its body, and the errors made of responses.
import {
  AuthenticationError,
  AuthorizationError,
  ConsentRequiredError,
  type ErrorDetail,
  type ErrorFacts,
  IdempotencyConflictError,
  NotFoundException,
  RateLimitError,
  ServerError,
  ServiceError,
  ValidationError,
} from './errors.ts'
import { type RateLimit, rateLimitOf } from './rate-limit.ts'
import { retryAfterOf } from './retry.ts'
import type { Headers } from './transport.ts'

/** Details of a response. */
export interface ResponseInfo {
  readonly status: number
  /** The id under which the service logged the request. */
  readonly requestId: string | null
  readonly rateLimit: RateLimit | null
  /** How often the call was sent again. */
  readonly retries: number
  /** Whether the service answered with the saved reply of an earlier request with the same key. */
  readonly replayed: boolean
}

const told = new WeakMap<object, ResponseInfo>()

/** Details of the response that gave this result; undefined if the result is of no call. */
export function responseOf(result: object): ResponseInfo | undefined {
  return told.get(result)
}

/** Notes what `responseOf` tells of a result. */
export function note(result: unknown, info: ResponseInfo): void {
  if (typeof result === 'object' && result !== null) told.set(result, info)
}

/** Details of a response, read from its headers on first use: most callers never ask, and reading takes time. */
export class LazyInfo implements ResponseInfo {
  readonly status: number
  readonly retries: number
  readonly #headers: Headers

  constructor({ status, headers }: { readonly status: number; readonly headers: Headers }, retries: number) {
    this.status = status
    this.retries = retries
    this.#headers = headers
  }

  get requestId(): string | null {
    return this.#headers.get('x-request-id')
  }

  get rateLimit(): RateLimit | null {
    return rateLimitOf(this.#headers)
  }

  get replayed(): boolean {
    return this.#headers.get('idempotent-replayed') === 'true'
  }

  /** All of it, as JSON.stringify and console.log show it. */
  toJSON(): ResponseInfo {
    const { status, requestId, rateLimit, retries, replayed } = this
    return { status, requestId, rateLimit, retries, replayed }
  }

  [Symbol.for('nodejs.util.inspect.custom')](): ResponseInfo {
    return this.toJSON()
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The error that a response means. */
export function errorOf(status: number, headers: Headers, text: string, attempts: number): ServiceError {
  const body = objectOf(text)
  const after = retryAfterOf(headers) ?? (status === 429 || status === 503 ? body?.['retry_after'] : null)
  const facts: ErrorFacts = {
    status,
    errorCode: textOf(body?.['error_code']) ?? `HTTP_${status}`,
    details: detailsOf(body?.['details']),
    requestId: headers.get('x-request-id') ?? textOf(body?.['request_id']),
    rateLimit: rateLimitOf(headers),
    retryAfter: typeof after === 'number' && after >= 0 ? after : null,
    body,
    attempts,
  }
  const message = textOf(body?.['message']) ?? `The service answered with status ${status} and no readable error.`
  return new (classOf(status, facts.errorCode ?? ''))(message, facts)
}

function classOf(status: number, code: string): typeof ServiceError {
  if (status === 401) return AuthenticationError
  if (status === 403)
    return /^CONSENT_(REQUIRED|EXPIRED|REVOKED)$/.test(code) ? ConsentRequiredError : AuthorizationError
  if (status === 404 || status === 410) return NotFoundException
  if (status === 409 && code === 'IDEMPOTENCY_KEY_REUSED') return IdempotencyConflictError
  if (status === 400 || status === 422) return ValidationError
  if (status === 429) return RateLimitError
  return status >= 500 ? ServerError : ServiceError
}

function objectOf(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
  } catch {
    return null
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function detailsOf(value: unknown): readonly ErrorDetail[] {
  if (!Array.isArray(value)) return []
  return value.filter((each): each is ErrorDetail => typeof each === 'object' && each !== null)
}
