// A row of the audit trail as a patient reads it: nothing of it tells about other patients.
import { Type } from 'typebox'
import type { ChainedRecord } from '../audit/record.ts'
import { noticePath } from '../webhooks/disclose.ts'

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const LogEntry = Type.Object(
  {
    at: Type.String({ format: 'date-time' }),
    organization_id: nullable('The organisation that looked; null if it was the patient.'),
    client_id: Type.String({ description: 'Which of its systems, or `patient/…` for the patient.' }),
    action: Type.Enum(['read', 'created', 'updated', 'deleted', 'searched', 'emergency_access', 'notified'], {
      description: 'What was done; notified: something that happened was told to that client by a webhook.',
    }),
    resource_type: nullable('What it was about, as FHIR calls it; null for several.'),
    purpose: nullable('What for, if that was said: a code of v3-ActReason; BTG: in an emergency, without consent.'),
    reason: nullable('Why emergency access began, in the words of whoever asked for it.'),
    outcome: Type.Enum(['done', 'refused', 'failed']),
  },
  { $id: 'AccessLogEntry' },
)

const actions = { R: 'read', C: 'created', U: 'updated', D: 'deleted', E: 'searched' } as const

const isNotice = ({ query }: ChainedRecord): boolean => query.startsWith(`${noticePath}/`)

export function logEntryOf(record: ChainedRecord) {
  const isEmergency = record.interaction === 'emergency'
  return {
    at: record.recordedAt.toISOString(),
    organization_id: record.organizationId || null,
    client_id: record.clientId,
    action: isEmergency ? 'emergency_access' : isNotice(record) ? 'notified' : actions[record.action],
    resource_type: record.type || null,
    purpose: record.purpose || null,
    reason: isEmergency ? record.query : null,
    outcome: record.outcome === 0 ? 'done' : record.outcome === 4 ? 'refused' : 'failed',
  }
}
