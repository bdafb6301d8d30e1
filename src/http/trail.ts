// What the audit trail gets of a request: every access that the caller's store told of, or the attempt at one that was refused before.

import type { Asker } from '../access/caller.ts'
import type { Scheme } from '../access/scheme.ts'
import { attemptOf } from '../audit/attempt.ts'
import { type Pending, pendingNote } from '../audit/pending.ts'
import type { AuditRecord } from '../audit/record.ts'
import { type Requester, recordOf } from '../audit/records.ts'
import { Failure } from '../lib/failure.ts'
import type { Access } from '../store/access.ts'
import { fhirBase } from '../store/base.ts'
import type { Route } from './route.ts'

/** What has become known of a request by the time it is answered. */
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
  /** Why it was refused, or failed. */
  readonly failure: unknown
}

/** What a request leaves to be told: what was done, and of what it changed what the database keeps until that is told. */
export interface Traces {
  accesses: Access[]
  readonly pending: Pending[]
}

/** A caller whose store tells what is done for this request. @param requester who asks, as is known when there is something to keep. */
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

/** Who sent a request, as far as that is known. */
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

/** What was done as part of a whole that has failed: nothing of it was disclosed, and nothing is changed. */
export const undone = (accesses: readonly Access[], failure: unknown): Access[] =>
  accesses.map(access => ({ ...access, resources: 0, failure: access.failure ?? failure }))

/** Those by which somebody comes by patient data; client credentials only give tokens. */
const recorded: ReadonlySet<Scheme> = new Set(['bearer', 'patient', 'session'])

/** True if a request leaves records. A request that needs no token, or asks about the token itself, comes by no patient data. */
export function isRecorded({ route, failure, accesses }: Trace): boolean {
  if (!route || !(recorded.has(route.access.scheme) || route.givesAccess) || route.isAboutCaller) return false
  // Whoever is told to slow down was refused nothing in particular, and must not cause work either.
  return accesses.length > 0 || !(failure instanceof Failure) || failure.status !== 429
}

/**
 * The records of a request that leaves some.
 * @param about ids of the patients whom a request that was refused named
 */
export function recordsOf(trace: Trace, about: readonly string[]): AuditRecord[] {
  const { failure } = trace
  const requester = requesterOf(trace)
  const path = trace.path.startsWith(fhirBase) ? trace.path.slice(fhirBase.length + 1) : trace.path
  const accesses = trace.accesses.length > 0 ? trace.accesses : [attemptOf(trace.method, path, trace.query, failure)]
  const at = new Date()
  const told = accesses.map(access => (access.patients.length > 0 ? access : { ...access, patients: about }))
  return told.map(access => recordOf(access, requester, at))
}

/** What is answered when the records cannot be written. */
export const unrecorded = (cause: unknown): Failure =>
  new Failure('UNAVAILABLE', 'The audit trail is temporarily unavailable, so no data is returned: try again.', {
    retryAfter: 2,
    cause,
  })
