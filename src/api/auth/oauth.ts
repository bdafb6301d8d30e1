// What the OAuth routes share: their failures in OAuth's words beside ours (RFC 6749 §5.2), and bodies that are forms or JSON.

import { Failure, type FailureCode } from '../../lib/failure.ts'
import { type Static, type TObject, Type } from '../../lib/schema.ts'
import { check } from '../../shapes/check.ts'

/** Every media type that the OAuth routes take. */
export const formOrJson = ['application/x-www-form-urlencoded', 'application/json'] as const

/** Larger than any honest request; these bodies are read before the caller is authenticated. */
export const maxOAuthBody = 65_536

const OAuthError = Type.Object(
  {
    status: Type.Literal('error'),
    error_code: Type.String({ description: 'A stable code for programs.', examples: ['INVALID_CLIENT'] }),
    message: Type.String({ description: 'What is wrong, and what to do.' }),
    error: Type.String({ description: 'The error code of RFC 6749 §5.2.', examples: ['invalid_client'] }),
    error_description: Type.String({ description: 'The message, limited to the characters that RFC 6749 allows.' }),
    request_id: Type.String(),
    retry_after: Type.Optional(Type.Integer({ description: 'Seconds to wait before the next request.' })),
  },
  { $id: 'OAuthError', description: 'An error with the fields of RFC 6749 §5.2 in addition to those of Error.' },
)

/** Replies that every OAuth route may give. */
export const oauthErrors = {
  400: OAuthError,
  401: OAuthError,
  413: OAuthError,
  415: OAuthError,
  429: OAuthError,
  503: OAuthError,
}

const errorOf: Partial<Record<FailureCode, string>> = {
  INVALID_CLIENT: 'invalid_client',
  UNAUTHENTICATED: 'invalid_client',
  CLOCK_SKEW: 'invalid_client',
  TOKEN_EXPIRED: 'invalid_token',
  TOKEN_INVALID: 'invalid_token',
  AUTH_THROTTLED: 'temporarily_unavailable',
  RATE_LIMITED: 'temporarily_unavailable',
  UNAVAILABLE: 'temporarily_unavailable',
  UNCONFIRMED: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
}

/** The failure with `error` and `error_description`; what is wrong with the request itself is a 400 here. */
export function inOAuthWords(failure: Failure): Failure {
  const { message, options } = failure
  const code = failure.code === 'VALIDATION_FAILED' ? 'MALFORMED_REQUEST' : failure.code
  const description = message.replaceAll('"', "'").replaceAll(/[^\x20-\x7e]|\\/g, ' ')
  const extra = { error: errorOf[code] ?? 'invalid_request', error_description: description, ...options.extra }
  return new Failure(code, message, { ...options, extra })
}

/** A request that OAuth has a name of its own for. */
export function oauthFailure(
  error: 'unsupported_grant_type' | 'invalid_scope' | 'unauthorized_client',
  message: string,
): Failure {
  return new Failure('MALFORMED_REQUEST', message, { extra: { error } })
}

/**
 * The members of a body that may be a form; empty ones count as left out (RFC 6749 §3.2).
 * @throws Failure MALFORMED_REQUEST for repeated ones, VALIDATION_FAILED if they do not fit the schema.
 */
export function membersOf<Schema extends TObject>(schema: Schema, body: unknown): Static<Schema> {
  if (!(body instanceof URLSearchParams)) return body as Static<Schema>
  const members: Record<string, string> = {}
  for (const [name, value] of body) {
    if (value === '') continue
    if (Object.hasOwn(members, name)) throw new Failure('MALFORMED_REQUEST', `${name} must not be repeated.`)
    members[name] = value
  }
  check(schema, members)
  return members as Static<Schema>
}
