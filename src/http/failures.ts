// Writes a failure in the dialect of the surface: an OperationOutcome under /api/fhir/R4, the Error shape elsewhere (interface §2.9, §7).
import { bounded, type Failure, mostDetails } from '../lib/failure.ts'
import { operationOutcome } from '../lib/operation-outcome.ts'
import { fhirBase } from '../store/base.ts'
import type { Reply } from './route.ts'

export interface FailureContext {
  readonly path: string
  readonly accept: string | undefined
  readonly requestId: string
}

/** The reply for a failure. */
export function failureReply(failure: Failure, context: FailureContext): Reply {
  const fhir = context.path === fhirBase || context.path.startsWith(`${fhirBase}/`)
  const headers: Record<string, string> = { ...failure.options.headers }
  if (failure.options.retryAfter !== undefined) headers['retry-after'] = String(failure.options.retryAfter)
  if (failure.status === 401 && !headers['www-authenticate']) headers['www-authenticate'] = challenge(failure)
  if (!fhir) return { status: failure.status, headers, body: errorShape(failure, context.requestId) }
  const plain = context.accept?.includes('application/json') === true && !context.accept.includes('fhir+json')
  const body = plain
    ? { ...operationOutcome(failure), ...errorShape(failure, context.requestId) }
    : operationOutcome(failure)
  return {
    status: failure.status,
    headers: { 'content-type': 'application/fhir+json; charset=utf-8', ...headers },
    body,
  }
}

function challenge(failure: Failure): string {
  if (failure.code === 'INVALID_CLIENT') return 'Basic realm="health-interop", charset="UTF-8"'
  if (failure.code === 'UNAUTHENTICATED') return 'Bearer realm="health-interop"'
  // The characters that RFC 6750 §3 allows, beyond which a header could not even be sent.
  const description = bounded(failure.message).replaceAll(/["\\]|[^\x20-\x7e]/g, '')
  return `Bearer realm="health-interop", error="invalid_token", error_description="${description}"`
}

function errorShape(failure: Failure, requestId: string): Record<string, unknown> {
  const { details = [], retryAfter, extra } = failure.options
  return {
    ...extra,
    status: 'error',
    error_code: failure.code,
    message: bounded(failure.message),
    request_id: requestId,
    details: details.slice(0, mostDetails).map(({ field, code, message }) => ({
      field: field && bounded(field),
      code,
      message: bounded(message),
    })),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
  }
}
