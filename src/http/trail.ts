// What the audit trail records of a request: every access that the caller's store reported, or the attempt at an access
// that was refused before.

import type { Asker } from '../access/caller.ts'
import type { Scheme } from '../access/scheme.ts'
import { attemptOf } from '../audit/attempt.ts'
import { type Pending, pendingNote } from '../audit/pending.ts'
import type { AuditRecord } from '../audit/record.ts'
import { type Requester, recordOf } from '../audit/records.ts'
import { isInDoubt } from '../db/doubt.ts'
import { Failure } from '../lib/failure.ts'
import type { Access } from '../store/access.ts'
import { fhirBase } from '../store/base.ts'
import type { Route } from './route.ts'

/** What is known of a request by the time it is answered. */
export interface Trace {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly requestId: string
  /** Absent if there is nothing at the address. */
  readonly route: Route | undefined
  readonly caller: Asker | undefined
  /** True if the caller saw what only an emergency opened. */
  readonly isEmergency: boolean
  /** Network address of the client. */
  readonly address: string
  readonly accesses: readonly Access[]
  /** Why the request was refused or failed. */
  readonly failure: unknown
}

/** The traces of a request: its accesses, and the changes that the database keeps until they are recorded. */
export interface Traces {
  accesses: Access[]
  readonly pending: Pending[]
}

/**
 * Returns a caller whose store reports the accesses of this request. @param requester the sender, for accesses that are
 * recorded.
 */
export const watched = <Who extends Asker>(
  caller: Who,
  traces: Traces,
  requestId: string,
  requester: (isEmergency: boolean) => Requester,
): Who => ({
  ...caller,
  origin: { organizationId: caller.organizationId, requestId },
  witness: access => void traces.accesses.push(access),
  note(changes) {
    const by = requester(changes.some(({ deed }) => deed === 'emergency'))
    return pendingNote(changes, by, new Date(), pending => void traces.pending.push(pending))
  },
})

/** Returns the sender of a request, as far as it is known. */
export const requesterOf = ({
  caller,
  address,
  requestId,
  isEmergency,
}: Pick<Trace, 'caller' | 'address' | 'requestId' | 'isEmergency'>): Requester => ({
  clientId: caller?.clientId ?? '',
  organizationId: caller?.organizationId ?? '',
  tokenId: caller?.tokenId ?? '',
  address,
  requestId,
  purpose: isEmergency ? 'BTG' : (caller?.purpose ?? ''),
})

/** Returns the accesses of a unit of work that has failed: it disclosed and changed nothing. */
export const undone = (accesses: readonly Access[], failure: unknown): Access[] =>
  accesses.map(access => ({ ...access, resources: 0, failure: access.failure ?? failure }))

/** The schemes that give access to patient data; client credentials only give tokens. */
const recorded: ReadonlySet<Scheme> = new Set(['bearer', 'patient', 'session', 'agent'])

/**
 * Returns true if a request leaves audit records. A request that needs no token, or asks about the token itself, gives
 * no access to patient data.
 */
export function isRecorded({ route, failure, accesses }: Trace): boolean {
  if (!route || !(recorded.has(route.access.scheme) || route.givesAccess)) return false
  if (route.isAboutCaller && accesses.length === 0) return false
  // A rate-limited request was refused no particular data, and must not cause work.
  return accesses.length > 0 || !(failure instanceof Failure) || failure.status !== 429
}

/**
 * Returns the audit records of a request.
 * @param about ids of the patients that a refused request named
 */
export function recordsOf(trace: Trace, about: readonly string[]): AuditRecord[] {
  const { failure } = trace
  const requester = requesterOf(trace)
  const path = trace.path.startsWith(fhirBase) ? trace.path.slice(fhirBase.length + 1) : trace.path
  const accesses = trace.accesses.length > 0 ? trace.accesses : [attemptOf(trace.method, path, trace.query, failure)]
  const at = new Date()
  const attributed = accesses.map(access => (access.patients.length > 0 ? access : { ...access, patients: about }))
  return attributed.map(access => recordOf(access, requester, at))
}

/** True if a request has stored something, or nobody knows whether it has. */
export const mayHaveStored = ({ method, route, failure }: Trace, pending: readonly Pending[]): boolean =>
  pending.length > 0 ||
  isInDoubt(failure) ||
  (failure === undefined && !['GET', 'HEAD'].includes(method) && !route?.isRepeatable)

/** The failure for a request whose audit records cannot be written. */
export const unrecorded = (cause: unknown): Failure =>
  new Failure('UNAVAILABLE', 'The audit trail is temporarily unavailable, so no data is returned: try again.', {
    retryAfter: 2,
    cause,
  })
