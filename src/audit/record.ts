// What one row of the audit trail says, and the text of it that is hashed.
import { hash } from 'node:crypto'
import type { Deed } from '../store/access.ts'

/** Empty texts and zero stand for what is not known or does not apply. */
export interface AuditRecord {
  readonly recordedAt: Date
  /** Create, read, update, delete or execute, as in AuditEvent.action. */
  readonly action: 'C' | 'R' | 'U' | 'D' | 'E'
  readonly interaction: Deed
  /** 0 for success, 4 for what was refused, 8 for what failed here (AuditEvent.outcome). */
  readonly outcome: 0 | 4 | 8
  /** Error code of what was refused or failed. */
  readonly problem: string
  readonly clientId: string
  readonly organizationId: string
  /** `jti` of the access token. */
  readonly tokenId: string
  readonly address: string
  readonly requestId: string
  readonly type: string
  readonly id: string
  readonly version: number
  readonly query: string
  readonly patients: readonly string[]
  readonly resources: number
  /** Purpose of use, a code of http://terminology.hl7.org/CodeSystem/v3-ActReason. */
  readonly purpose: string
}

/** A record in its place. */
export interface ChainedRecord extends AuditRecord {
  readonly chain: number
  readonly sequence: number
}

/** The hash of a row, in hex, which holds that of the row before it. */
export const rowHash = (previous: string, record: ChainedRecord): string =>
  hash('sha256', `${previous}\n${canonicalText(record)}`, 'hex')

/** Each row of so many holds its whole hash: where a check may begin. */
export const wholeHashEvery = 1000

/**
 * What a row holds of its hash. The head of the chain, which is sealed, holds that of the last row, and it follows from all rows before
 * it; what rows hold tells which of them is not as it was.
 */
export const storedHash = (sequence: number, whole: string): Buffer =>
  Buffer.from(sequence % wholeHashEvery === 0 ? whole : whole.slice(0, 8), 'hex')

/** A text as PostgreSQL gives it back: without NUL, and of whole characters. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

/** The text of a row: a JSON array of everything it says, in the order of the columns. */
function canonicalText(record: ChainedRecord): string {
  return JSON.stringify([
    record.chain,
    record.sequence,
    record.recordedAt.getTime(),
    record.action,
    record.interaction,
    record.outcome,
    record.problem,
    record.clientId,
    record.organizationId,
    record.tokenId,
    record.address,
    record.requestId,
    record.type,
    record.id,
    record.version,
    record.query,
    record.patients,
    record.resources,
    record.purpose,
  ])
}
