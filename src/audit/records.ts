// The records of one request: each access that its store reported, or else the attempt at one.
import { asFailure } from '../lib/failure.ts'
import type { Access, Deed } from '../store/access.ts'
import type { AuditRecord } from './record.ts'

/** The sender of the request, as far as it is known. */
export interface Requester {
  readonly clientId: string
  readonly organizationId: string
  readonly tokenId: string
  readonly address: string
  readonly requestId: string
  /** Purpose of use, a code of v3-ActReason; empty if it was not said. */
  readonly purpose: string
}

const actions: Readonly<Partial<Record<Deed, AuditRecord['action']>>> = {
  read: 'R',
  vread: 'R',
  'history-instance': 'R',
  'history-type': 'R',
  'history-system': 'R',
  create: 'C',
  update: 'U',
  patch: 'U',
  delete: 'D',
}

/** An access as it is recorded. */
export function recordOf(access: Access, requester: Requester, recordedAt: Date): AuditRecord {
  const failure = access.failure === undefined ? undefined : asFailure(access.failure)
  return {
    recordedAt,
    action: actions[access.deed] ?? 'E',
    interaction: access.deed,
    outcome: failure === undefined ? 0 : failure.status < 500 ? 4 : 8,
    problem: failure?.code ?? '',
    ...requester,
    type: access.type ?? '',
    id: access.id ?? '',
    version: access.version ?? 0,
    query: access.query ?? '',
    patients: access.patients,
    resources: access.resources,
  }
}
