// What users of the portal see of others' accesses, by their roles: the rule for every page about privacy.
import { Failure } from '../lib/failure.ts'
import { onBehalfOf, type UserCaller } from './caller.ts'

/** A user who reads the audit trail. */
export interface UserAuditor extends UserCaller {
  /** True for administrators, who see all rows; privacy officers see those of their organisation. */
  readonly consentExempt: boolean
}

/**
 * Returns the user as a reader of the audit trail, who may search it and nothing else.
 * @throws Failure FORBIDDEN for a user with another role, or of no organisation: rows without one are about patients' own acts
 */
export function auditorOf(caller: UserCaller): UserAuditor {
  const isAdministrator = caller.roles.includes('administrator')
  if (!isAdministrator && !(caller.roles.includes('privacy_officer') && caller.organizationId !== ''))
    throw new Failure(
      'FORBIDDEN',
      'The audit trail is open to privacy officers of an organisation and to administrators.',
    )
  return { ...onBehalfOf(caller, { AuditEvent: 's' }), consentExempt: isAdministrator }
}
