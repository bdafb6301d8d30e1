// The errors of the library (interface §7). All derive from ServiceError.
import type { RateLimit } from './rate-limit.ts'

/** One thing that is wrong with a request. */
export interface ErrorDetail {
  /** The field of the request, such as `date_of_birth`; null if the whole request is meant. */
  readonly field: string | null
  readonly code: string
  readonly message: string
}

/** What is known of a failed call. */
export interface ErrorFacts {
  readonly status?: number | null
  readonly errorCode?: string | null
  readonly details?: readonly ErrorDetail[]
  readonly requestId?: string | null
  readonly rateLimit?: RateLimit | null
  readonly retryAfter?: number | null
  readonly body?: Readonly<Record<string, unknown>> | null
  readonly attempts?: number
}

/** A call that failed; the base of all errors of this library. */
export class ServiceError extends Error {
  /** HTTP status of the response; null if there was none. */
  readonly status: number | null
  /** The service's code of the error, such as `VALIDATION_FAILED`; `HTTP_{status}` if the response named none. */
  readonly errorCode: string | null
  /** What is wrong, field by field. */
  readonly details: readonly ErrorDetail[]
  /** The id under which the service logged the request: name it when you ask for help. */
  readonly requestId: string | null
  /** The budget that the service announced. */
  readonly rateLimit: RateLimit | null
  /** Seconds to wait before the next attempt, if the service said so. */
  readonly retryAfter: number | null
  /** The parsed error of the service; null if the response was not a JSON object. */
  readonly body: Readonly<Record<string, unknown>> | null
  /** Requests that were sent for this call. */
  readonly attempts: number

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message)
    this.name = new.target.errorName
    this.status = facts.status ?? null
    this.errorCode = facts.errorCode ?? null
    this.details = facts.details ?? []
    this.requestId = facts.requestId ?? null
    this.rateLimit = facts.rateLimit ?? null
    this.retryAfter = facts.retryAfter ?? null
    this.body = facts.body ?? null
    this.attempts = facts.attempts ?? 0
  }

  /** The name of the class, which survives minification. */
  protected static readonly errorName: string = 'ServiceError'
}

/** 401: the credentials are wrong, or the token is not accepted. */
export class AuthenticationError extends ServiceError {
  protected static override readonly errorName: string = 'AuthenticationError'
}

/** 403: the client lacks a scope, or may not do this. */
export class AuthorizationError extends ServiceError {
  protected static override readonly errorName: string = 'AuthorizationError'
}

/** 403: the patient has not given consent, or consent has ended. Request it with `client.consents.request(…)`. */
export class ConsentRequiredError extends AuthorizationError {
  protected static override readonly errorName: string = 'ConsentRequiredError'
}

/** 404 and 410: there is no such thing, or no longer. */
export class NotFoundException extends ServiceError {
  protected static override readonly errorName: string = 'NotFoundException'
}

/** 409: the idempotency key was used for a request with another content. */
export class IdempotencyConflictError extends ServiceError {
  protected static override readonly errorName: string = 'IdempotencyConflictError'
}

/** 400 and 422: the request is not valid, see `details`; or an argument or option is not, found without a request. */
export class ValidationError extends ServiceError {
  protected static override readonly errorName: string = 'ValidationError'
}

/** 429: too many requests; `retryAfter` says for how many seconds to wait. */
export class RateLimitError extends ServiceError {
  protected static override readonly errorName: string = 'RateLimitError'
}

/** 5xx, after all retries. */
export class ServerError extends ServiceError {
  protected static override readonly errorName: string = 'ServerError'
}

/** Why there is no usable response. */
export type TransportReason = 'connection' | 'timeout' | 'invalid_response'

/** No usable response came, after all retries. */
export class TransportError extends ServiceError {
  /** `connection`: it failed or broke off; `timeout`: it took too long; `invalid_response`: it was not what was asked for. */
  readonly reason: TransportReason
  protected static override readonly errorName: string = 'TransportError'

  constructor(reason: TransportReason, message: string, facts: ErrorFacts = {}) {
    super(message, facts)
    this.reason = reason
  }
}

/** Why a webhook cannot be trusted, in the order of the checks. */
export type SignatureReason =
  | 'wrong_secret_type'
  | 'parsed_body_suspected'
  | 'missing_header'
  | 'malformed_header'
  | 'no_match'
  | 'timestamp_out_of_range'
  | 'invalid_event'

/** A webhook that cannot be trusted: answer it with 400. */
export class WebhookSignatureError extends ServiceError {
  readonly reason: SignatureReason
  protected static override readonly errorName: string = 'WebhookSignatureError'

  constructor(reason: SignatureReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** An argument or option that is not valid: no request was made. */
export const invalid = (errorCode: string, message: string): ValidationError =>
  new ValidationError(message, { errorCode })
