// The one error class: raised by code anywhere, written out only at the edge, in the surface's dialect (interface §2.9, §7).

/** What each error code means on the wire: its HTTP status and the issue code it has in an OperationOutcome (https://hl7.org/fhir/R4/valueset-issue-type.html). */
export const failureCodes = {
  MALFORMED_REQUEST: { status: 400, issue: 'structure' },
  UNAUTHENTICATED: { status: 401, issue: 'login' },
  INVALID_CLIENT: { status: 401, issue: 'login' },
  INVALID_AGENT: { status: 401, issue: 'login' },
  TOKEN_EXPIRED: { status: 401, issue: 'expired' },
  TOKEN_INVALID: { status: 401, issue: 'login' },
  CLOCK_SKEW: { status: 401, issue: 'login' },
  INSUFFICIENT_SCOPE: { status: 403, issue: 'forbidden' },
  FORBIDDEN: { status: 403, issue: 'forbidden' },
  CONSENT_REQUIRED: { status: 403, issue: 'suppressed' },
  CONSENT_EXPIRED: { status: 403, issue: 'suppressed' },
  CONSENT_REVOKED: { status: 403, issue: 'suppressed' },
  EMERGENCY_REASON_REQUIRED: { status: 403, issue: 'forbidden' },
  NOT_FOUND: { status: 404, issue: 'not-found' },
  PATIENT_NOT_FOUND: { status: 404, issue: 'not-found' },
  EVENT_NOT_FOUND: { status: 404, issue: 'not-found' },
  METHOD_NOT_ALLOWED: { status: 405, issue: 'not-supported' },
  NOT_ACCEPTABLE: { status: 406, issue: 'not-supported' },
  REQUEST_TIMEOUT: { status: 408, issue: 'timeout' },
  CONFLICT: { status: 409, issue: 'conflict' },
  IDEMPOTENCY_KEY_REUSED: { status: 409, issue: 'conflict' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, issue: 'lock-error' },
  GONE: { status: 410, issue: 'deleted' },
  PRECONDITION_FAILED: { status: 412, issue: 'conflict' },
  PAYLOAD_TOO_LARGE: { status: 413, issue: 'too-long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, issue: 'not-supported' },
  RANGE_NOT_SATISFIABLE: { status: 416, issue: 'value' },
  VALIDATION_FAILED: { status: 422, issue: 'processing' },
  INVALID_HEALTH_ID: { status: 422, issue: 'value' },
  RATE_LIMITED: { status: 429, issue: 'throttled' },
  AUTH_THROTTLED: { status: 429, issue: 'throttled' },
  INTERNAL_ERROR: { status: 500, issue: 'exception' },
  UNAVAILABLE: { status: 503, issue: 'transient' },
  UNCONFIRMED: { status: 503, issue: 'transient' },
} as const satisfies Record<string, { status: number; issue: string }>

export type FailureCode = keyof typeof failureCodes

/** One thing that is wrong: where (`field`: a JSON path or FHIRPath), of what kind (`code`), and in words. */
export interface FailureDetail {
  readonly field?: string
  readonly code: string
  readonly message: string
  /** Absent means `error`. */
  readonly severity?: 'error' | 'warning' | 'information'
}

export interface FailureOptions {
  readonly details?: readonly FailureDetail[]
  /** Replaces the code's own issue type in an OperationOutcome. */
  readonly issue?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Seconds until a retry makes sense; also sent as Retry-After. */
  readonly retryAfter?: number
  /** Members that another specification requires in the body, such as OAuth's `error` (RFC 6749 §5.2). */
  readonly extra?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
  /** A retry of the same work has the same result, though others may change the same data. */
  readonly isFinal?: boolean
}

/** An error meant for the caller: its message is shown as it stands, so it never holds a secret or patient data. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly options: FailureOptions

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.options = options
  }

  get status(): number {
    return failureCodes[this.code].status
  }

  get issue(): string {
    return this.options.issue ?? failureCodes[this.code].issue
  }
}

/** True if a dependency was out of reach: the work may be done later, and a change may have been stored. */
export const isOutage = (error: unknown): boolean =>
  error instanceof Failure && (error.code === 'UNAVAILABLE' || error.code === 'UNCONFIRMED')

/** A request that does not match its schema: the message is the first problem, the details are all of them. */
export function invalid(details: readonly FailureDetail[]): Failure {
  const [first] = details
  const text = first ? `${first.field || 'The body'} ${first.message}` : 'The request does not match its schema'
  return new Failure('VALIDATION_FAILED', /[.?!]$/.test(text) ? text : `${text}.`, { details })
}

/** Returns the failure to show for anything thrown: unknown errors disclose nothing. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure('INTERNAL_ERROR', 'An internal error occurred. Include the request id when you report it.', {
    cause: error,
  })
}

/** Most details of a failure that are sent. */
export const mostDetails = 200
const longestText = 1000

/** Shortens a text that quotes the request, which may be of any size. */
export const bounded = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`
