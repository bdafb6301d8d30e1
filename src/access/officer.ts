// What users of the portal see of others' accesses and of patients, by their roles: the rules for every page about privacy.
import { int8Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { authorHash } from '../store/author.ts'
import type { Base } from '../store/base.ts'
import type { Interaction } from '../store/principal.ts'
import { aboutPatient, authorOf, isStored } from '../store/relations.ts'
import { typeNumber } from '../store/type-number.ts'
import { isAdministrator, onBehalfOf, type UserCaller } from './caller.ts'
import { permits } from './consent/permits.ts'
import { byConsent } from './consent/visibility.ts'

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
  const seesAll = isAdministrator(caller)
  if (!seesAll && !(caller.roles.includes('privacy_officer') && caller.organizationId !== ''))
    throw new Failure(
      'FORBIDDEN',
      'The audit trail is open to privacy officers of an organisation and to administrators.',
    )
  return { ...onBehalfOf(caller, { AuditEvent: 's' }), consentExempt: seesAll }
}

/** For what users of the portal read resources: the operations of the organisation, not the treatment of patients. */
const purposeOfUsers = 'HOPERAT'

/**
 * Returns the user as a reader of resources. Administrators see all. Others see what is about no patient, and of patients what a consent
 * opens to their organisation for its operations; no emergency opens more. The audit trail has pages of its own.
 */
export function readerOf(caller: UserCaller): UserCaller {
  const { clientId, organizationId } = caller
  const visibility = isAdministrator(caller)
    ? undefined
    : byConsent({ clientId, organizationId, purpose: purposeOfUsers })
  const may = (type: string, interaction: Interaction): boolean =>
    type !== 'AuditEvent' && (interaction === 'r' || interaction === 's')
  return { ...caller, visibility, may }
}

/** An organisation as a privacy officer answers for it. */
export interface Organization {
  readonly id: string
  /** Ids of its clients, revoked ones included. */
  readonly clients: readonly string[]
}

/** Most consents of one patient that are looked at. */
const most = 1000

/**
 * Returns true if there is the patient (id), and the organisation has to do with the patient: a consent for it was requested or
 * given, whatever became of it, or one of its clients or agents recorded the patient or something about the patient, or broke the
 * glass. Without an organisation: if there is the patient.
 * @param base address of this server's FHIR endpoint
 */
export async function isKnownTo(
  on: Queryable,
  organization: Organization | undefined,
  patient: string,
  base: Base,
): Promise<boolean> {
  const self = hash64(`Patient/${patient}`)
  const { id, clients } = organization ?? { id: '', clients: [] }
  const authors = [...clients, `Organization/${id}`].map(authorHash)
  const [found] = await on.query<{ is_stored: boolean; is_recorded: boolean }>({
    name: 'officer-patient',
    text: `select ${isStored(String(typeNumber('Patient')), '$1')} as is_stored,
      ${authorOf(String(typeNumber('Patient')), '$1')} = any($3::bigint[])
        or exists (select 1 from ${aboutPatient} c where c.patient = $2::bigint and c.author = any($3::bigint[]))
        or exists (select 1 from emergency_access e where e.client_id = any($4::text[]) and e.patient_id = $1) as is_recorded`,
    values: [patient, self, int8Array(authors), textArray(clients)],
  })
  if (!found!.is_stored) return false
  if (organization === undefined || found!.is_recorded) return true
  const consents = await on.query<{ body: string }>({
    name: 'officer-consents',
    text: `select c.body from ${aboutPatient} c where c.patient = $1::bigint and c.type = ${typeNumber('Consent')}
      order by c.updated_at desc limit ${most}`,
    values: [self],
  })
  return consents.some(({ body }) => permits(parseJson(body) as JsonObject, id, base))
}
