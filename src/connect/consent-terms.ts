// What a request says of a consent, checked against the types that there are and the clock.
import type { Terms } from '../consents/desk.ts'
import { type FailureDetail, invalid } from '../lib/failure.ts'
import { didYouMean, nearest } from '../lib/nearest.ts'
import { isScope, nearestScope, typesOpenedBy } from '../policy/scopes.ts'
import type { ConnectParts } from './parts.ts'

/** The body of a grant or a request. */
export interface Given {
  readonly consent_type?: string
  readonly purpose?: string
  readonly scopes?: readonly string[]
  readonly expires_at?: string
}

/** @throws Failure VALIDATION_FAILED with one detail for each problem. */
export function termsOf(parts: Pick<ConnectParts, 'consentTypes' | 'now'>, given: Given): Terms {
  const { consent_type: consentType = 'full_record', purpose, scopes, expires_at: expiresAt } = given
  const details = [
    ...typeProblems(consentType, [...parts.consentTypes().types.keys()]),
    ...scopeProblems(scopes),
    ...endProblems(expiresAt, parts.now()),
  ]
  if (details.length > 0) throw invalid(details)
  return { consentType, purpose, scopes, expiresAt }
}

function typeProblems(name: string, known: readonly string[]): FailureDetail[] {
  if (known.includes(name)) return []
  const message = `is not a consent type${didYouMean(nearest(name, known), '.')} There are ${known.join(', ')}`
  return [{ field: 'consent_type', code: 'enum', message }]
}

function scopeProblems(scopes: readonly string[] | undefined): FailureDetail[] {
  if (!scopes) return []
  const unknown = scopes.flatMap((scope, index) =>
    isScope(scope)
      ? []
      : [{ field: `scopes.${index}`, code: 'unknown', message: `is not a scope${didYouMean(nearestScope(scope))}` }],
  )
  if (unknown.length > 0 || typesOpenedBy(scopes).length > 0) return unknown
  return [{ field: 'scopes', code: 'empty', message: 'open nothing for reading, so there is nothing to consent to' }]
}

/** Later than this nobody knows what he consents to. */
const mostYears = 100

function endProblems(end: string | undefined, now: Date): FailureDetail[] {
  if (end === undefined) return []
  const time = Date.parse(end)
  if (time <= now.getTime()) return [{ field: 'expires_at', code: 'past', message: 'must lie in the future' }]
  if (time > now.getTime() + mostYears * 365.25 * 86_400_000)
    return [{ field: 'expires_at', code: 'far', message: `must lie within ${mostYears} years` }]
  return []
}
