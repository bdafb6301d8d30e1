// Rows of the audit trail as they are read back.
import type { Deed } from '../store/access.ts'
import type { AuditRecord, ChainedRecord } from './record.ts'

export interface AuditRow {
  readonly chain: number
  readonly sequence: number
  readonly recorded_at: Date
  readonly action: string
  readonly interaction: string
  readonly outcome: number
  readonly problem: string
  readonly client_id: string
  readonly organization_id: string
  readonly token_id: string
  readonly address: string
  readonly request_id: string
  readonly resource_type: string
  readonly resource_id: string
  readonly version: number
  readonly query: string
  readonly patients: string[]
  readonly resources: number
  readonly purpose: string
}

/** What a statement selects of `audit_event` to be an AuditRow. */
export const auditColumns = `chain, sequence, recorded_at, action, interaction, outcome, problem, client_id, organization_id, token_id, address,
  request_id, resource_type, resource_id, version, query, patients, resources, purpose`

export function toRecord(row: AuditRow): ChainedRecord {
  return {
    chain: row.chain,
    sequence: row.sequence,
    recordedAt: row.recorded_at,
    action: row.action as AuditRecord['action'],
    interaction: row.interaction as Deed,
    outcome: row.outcome as AuditRecord['outcome'],
    problem: row.problem,
    clientId: row.client_id,
    organizationId: row.organization_id,
    tokenId: row.token_id,
    address: row.address,
    requestId: row.request_id,
    type: row.resource_type,
    id: row.resource_id,
    version: row.version,
    query: row.query,
    patients: row.patients,
    resources: row.resources,
    purpose: row.purpose,
  }
}
