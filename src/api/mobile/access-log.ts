// A row of the audit trail in the form for a patient: it discloses nothing about other patients.

import { purposeOf } from '../../access/consent/purposes.ts'
import type { ChainedRecord } from '../../audit/record.ts'
import { Type } from '../../lib/schema.ts'
import { noticePath } from '../../webhooks/disclose.ts'

/** Where a telephone is enrolled. */
export const enrolPath = '/api/v1/mobile/enrol'

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const LogEntry = Type.Object(
  {
    at: Type.String({ format: 'date-time' }),
    organization_id: nullable('The organisation that accessed the record. Null if it was the patient.'),
    organization_name: nullable('The name of the organisation, if known.'),
    client_id: Type.String({
      description:
        'The integration client, `patient/…` for the patient, or `user/…` for a user of the portal. Empty for a device enrolment.',
    }),
    action: Type.Enum(
      ['read', 'created', 'updated', 'deleted', 'searched', 'emergency_access', 'notified', 'enrolled'],
      {
        description:
          'The action. notified: a webhook sent an event to the client. enrolled: a one-time code was exchanged for a patient token.',
      },
    ),
    resource_type: nullable('The FHIR resource type. Null if several types were accessed.'),
    purpose: nullable(
      'The purpose of use, a code of v3-ActReason. TREAT if a client named none. BTG: emergency access without consent. Null for the patient and for users of the portal.',
    ),
    reason: nullable('The reason given for emergency access.'),
    outcome: Type.Enum(['done', 'refused', 'failed']),
  },
  { $id: 'AccessLogEntry' },
)

const actions = { R: 'read', C: 'created', U: 'updated', D: 'deleted', E: 'searched' } as const

/** What was done, where the path of the request says it. */
function pathAction({ query }: ChainedRecord): 'notified' | 'enrolled' | undefined {
  if (query.startsWith(`${noticePath}/`)) return 'notified'
  return query === enrolPath ? 'enrolled' : undefined
}

/**
 * The entry of an access.
 * @param names of organisations, by id.
 */
export function logEntryOf(record: ChainedRecord, names: ReadonlyMap<string, string>) {
  const isEmergency = record.interaction === 'emergency'
  return {
    at: record.recordedAt.toISOString(),
    organization_id: record.organizationId || null,
    organization_name: names.get(record.organizationId) ?? null,
    client_id: record.clientId,
    action: isEmergency ? 'emergency_access' : (pathAction(record) ?? actions[record.action]),
    resource_type: record.type || null,
    purpose: purposeOf(record) || null,
    reason: isEmergency ? record.query : null,
    outcome: record.outcome === 0 ? 'done' : record.outcome === 4 ? 'refused' : 'failed',
  }
}
