// Rows of the audit trail as they are read back.
import type { Queryable } from '../db/statement.ts'
import type { Deed } from '../store/access.ts'
import { clientKey, packId, packIds, unpackId, unpackIds, unpackQuery } from './packed.ts'
import type { AuditRecord, ChainedRecord } from './record.ts'
import type { LinkedRecord } from './walk.ts'

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

/** What a statement selects of `audit_event`, the view of all rows as they were hashed, to be an AuditRow. */
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

/** The reverse of `toRecord`. */
export function toRow(record: ChainedRecord): AuditRow {
  return {
    chain: record.chain,
    sequence: record.sequence,
    recorded_at: record.recordedAt,
    action: record.action,
    interaction: record.interaction,
    outcome: record.outcome,
    problem: record.problem,
    client_id: record.clientId,
    organization_id: record.organizationId,
    token_id: record.tokenId,
    address: record.address,
    request_id: record.requestId,
    resource_type: record.type,
    resource_id: record.id,
    version: record.version,
    query: record.query,
    patients: [...record.patients],
    resources: record.resources,
    purpose: record.purpose,
  }
}

/** A row with its ids and its query as the trail holds them. */
export type PackedRow = Omit<AuditRow, 'request_id' | 'resource_id' | 'query' | 'patients'> & {
  readonly request: Buffer
  readonly resource: Buffer
  readonly packed_query: string
  readonly packed_patients: Buffer
  readonly client_key: number
  readonly millisecond: number
}

/** What a statement selects of `audit_event` to be a PackedRow: many rows are unpacked sooner here than in the database. */
export const packedColumns = `chain, sequence, recorded_at, action, interaction, outcome, problem, client_id, organization_id, token_id, address,
  request, resource_type, resource, version, packed_query, packed_patients, resources, purpose,
  client_key, millisecond`

export function fromPacked(row: PackedRow): ChainedRecord {
  const patients = unpackIds(row.packed_patients)
  const query = unpackQuery(row.packed_query, row.resource_type, patients[0] ?? '')
  return toRecord({ ...row, request_id: unpackId(row.request), resource_id: unpackId(row.resource), query, patients })
}

/** True if a row is found and ordered by what it says: its hash covers what it says, not in which form. */
const isFindable = (row: PackedRow, { requestId, id, patients, clientId }: ChainedRecord): boolean =>
  row.client_key === clientKey(clientId) &&
  row.request.equals(packId(requestId)) &&
  row.resource.equals(packId(id)) &&
  row.packed_patients.equals(packIds(patients)) &&
  row.millisecond >= 0 &&
  row.millisecond < 1000

/** With what it holds of its hash. */
type LinkedRow = PackedRow & { readonly hash: Buffer }

/** Returns rows of a chain in order, at most so many, that follow a row. */
export const rowsAfter = (on: Queryable, chain: number, sequence: number, most: number): Promise<LinkedRow[]> =>
  on.query<LinkedRow>({
    text: `select ${packedColumns}, hash from audit_event where chain = $1 and sequence > $2::bigint order by sequence limit $3`,
    values: [chain, sequence, most],
  })

export function linked(row: LinkedRow): LinkedRecord {
  const record = fromPacked(row)
  return { record, hash: row.hash, isFindable: () => isFindable(row, record) }
}
