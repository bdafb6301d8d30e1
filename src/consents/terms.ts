// Reads the terms of a consent from a request, checked against the known types and the clock.

import { isScope, scopes as known, nearestScope, typesOpenedBy } from '../access/scopes.ts'
import { type FailureDetail, invalid } from '../lib/failure.ts'
import { didYouMean, nearest } from '../lib/nearest.ts'
import type { ConsentTypes } from '../shapes/consent-types.ts'
import type { Terms } from './service.ts'

/** The body of a grant or a request. */
export interface Given {
  readonly consent_type?: string
  readonly purpose?: string
  readonly scopes?: readonly string[]
  /** Of a request: another name for `scopes`. */
  readonly requested_scopes?: readonly string[]
  readonly expires_at?: string
}

export interface TermsParts {
  /** What patients can consent to at the moment. */
  readonly consentTypes: () => ConsentTypes
  readonly now: () => Date
}

/** @throws Failure VALIDATION_FAILED with one detail for each problem. */
export function termsOf(parts: TermsParts, given: Given): Terms {
  const {
    consent_type: consentType = 'full_record',
    purpose,
    requested_scopes: requested,
    expires_at: expiresAt,
  } = given
  const scopes = requested ?? given.scopes
  const details = [
    ...typeProblems(consentType, [...parts.consentTypes().types.keys()]),
    ...differenceProblems(given),
    ...scopeProblems(scopes, requested ? 'requested_scopes' : 'scopes'),
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

function differenceProblems({ scopes, requested_scopes: requested }: Given): FailureDetail[] {
  if (!scopes || !requested) return []
  const [one, other] = [new Set(scopes), new Set(requested)]
  if (one.size === other.size && scopes.every(each => other.has(each))) return []
  const message = 'lists other scopes than requested_scopes: omit one of the two'
  return [{ field: 'scopes', code: 'different', message }]
}

/** The scopes that open a part of a record. */
const opening = Object.keys(known).filter(name => typesOpenedBy([name]).length > 0)

function scopeProblems(scopes: readonly string[] | undefined, field: string): FailureDetail[] {
  if (!scopes) return []
  const unknown = scopes.flatMap((scope, index) =>
    isScope(scope)
      ? []
      : [
          {
            field: `${field}.${index}`,
            code: 'unknown',
            message: `is not a scope${didYouMean(nearestScope(scope), '.')} A patient can open ${opening.join(', ')}`,
          },
        ],
  )
  if (unknown.length > 0 || typesOpenedBy(scopes).length > 0) return unknown
  return [{ field, code: 'empty', message: 'grant no read access, so there is nothing to consent to' }]
}

/** A patient cannot know what they consent to beyond this. */
const mostYears = 100

function endProblems(end: string | undefined, now: Date): FailureDetail[] {
  if (end === undefined) return []
  const time = Date.parse(end)
  if (time <= now.getTime()) return [{ field: 'expires_at', code: 'past', message: 'must be in the future' }]
  if (time > now.getTime() + mostYears * 365.25 * 86_400_000)
    return [{ field: 'expires_at', code: 'far', message: `must be within ${mostYears} years` }]
  return []
}
