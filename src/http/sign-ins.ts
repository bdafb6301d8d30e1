// Attempts to sign in, on the audit trail: the request has no caller yet whose accesses could be recorded (trail.ts).
import { recordOf } from '../audit/records.ts'
import type { AuditWriter } from '../audit/writer.ts'
import type { SignIn } from '../identity/sessions.ts'
import { unrecorded } from './trail.ts'

/** Records an attempt. @throws Failure UNAVAILABLE if it cannot be recorded */
export async function recordSignIn(audit: Pick<AuditWriter, 'write'>, { failure, ...by }: SignIn): Promise<void> {
  const access = { deed: 'login', patients: [], resources: 0, failure } as const
  try {
    await audit.write([recordOf(access, { ...by, purpose: '' }, new Date())])
  } catch (error) {
    throw unrecorded(error)
  }
}
