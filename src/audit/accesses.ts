// The accesses to a patient's record, one for each request: several rows of the audit trail can be one access to a
// patient.
import type { AuditPlace, AuditReader } from './reader.ts'
import type { ChainedRecord } from './record.ts'

/** What one request did with the record. */
export interface RecordAccess {
  /** The row with the most weight. */
  readonly main: ChainedRecord
  /** The last row of it in the order of the trail, after which the next access begins. */
  readonly last: ChainedRecord
}

const batch = 200
/** A request with more rows than this many batches hold is shown as several accesses. */
const mostBatches = 10

/** Returns the newest accesses after a place, one more than `limit` if there are more. @param text how the trail names the look itself */
export async function accessesOf(
  trail: AuditReader,
  patient: string,
  limit: number,
  after: AuditPlace | undefined,
  text = 'patient=own',
): Promise<RecordAccess[]> {
  const found: RecordAccess[] = []
  let place = after
  for (let read = 0; read < mostBatches; read++) {
    const rows = await trail.search({ tests: [{ patient }], count: batch, after: place, text })
    for (const row of rows.slice(0, batch)) add(found, row)
    const last = found.at(-1)?.last
    // The last access may continue beyond the batch; with one more behind the page, none of the page can.
    if (rows.length <= batch || found.length > limit + 1 || !last) break
    place = { time: last.recordedAt.getTime(), chain: last.chain, sequence: last.sequence }
  }
  return found.slice(0, limit + 1)
}

function add(found: RecordAccess[], row: ChainedRecord): void {
  const before = found.at(-1)
  if (!before || !isSameRequest(before.last, row)) found.push({ main: row, last: row })
  else found[found.length - 1] = { main: weight(row) > weight(before.main) ? row : before.main, last: row }
}

const isSameRequest = (one: ChainedRecord, other: ChainedRecord): boolean =>
  one.requestId !== '' &&
  one.requestId === other.requestId &&
  one.clientId === other.clientId &&
  one.interaction !== 'emergency' &&
  other.interaction !== 'emergency'

const weights = { D: 4, C: 3, U: 3, R: 2, E: 1 } as const

/** The weight of a row: a change counts more than a reading, and the note of its author less than the change. */
const weight = ({ action, type }: ChainedRecord): number => (type === 'Provenance' ? 0 : weights[action])
