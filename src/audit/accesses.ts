// The accesses to a patient's record, one for each request: several rows of the audit trail can be one access to a
// patient.
import type { AuditTest } from './criteria.ts'
import type { AuditPlace, AuditReader } from './reader.ts'
import type { ChainedRecord } from './record.ts'

/** What one request did with the record. */
export interface RecordAccess {
  /** The row with the most weight. */
  readonly main: ChainedRecord
  /** The first row of it in the order of the trail: the newest. */
  readonly first: ChainedRecord
  /** The last row of it in the order of the trail, after which the next access begins. */
  readonly last: ChainedRecord
}

/** The newest accesses after a place. */
export interface RecordAccesses {
  /** One more than the limit if there are more. */
  readonly accesses: readonly RecordAccess[]
  /** True if there may be more after the last one although there are not more than the limit: the rest was not looked at. */
  readonly isCut: boolean
}

const batch = 200
/** A request with more rows than this many batches hold is shown as several accesses. */
const mostBatches = 10

/** The test that rows are about one of the records (ids of Patients) of a person. */
export function aboutPerson(records: readonly string[]): AuditTest {
  const tests = records.map(patient => ({ patient }))
  return tests.length === 1 ? tests[0]! : { any: tests }
}

/**
 * Returns the newest accesses after a place.
 * @param records ids of the Patient and of those that were merged with it: what was done with each was done with the person's record
 * @param text how the trail names the look itself
 */
export async function accessesOf(
  trail: AuditReader,
  records: readonly string[],
  limit: number,
  after: AuditPlace | undefined,
  text = 'patient=own',
): Promise<RecordAccesses> {
  const found: RecordAccess[] = []
  const upTo = (isCut: boolean): RecordAccesses => ({ accesses: found.slice(0, limit + 1), isCut })
  let place = after
  for (let read = 0; read < mostBatches; read++) {
    const rows = await trail.search({ tests: [aboutPerson(records)], count: batch, after: place, text })
    for (const row of rows.slice(0, batch)) add(found, row)
    const last = found.at(-1)?.last
    // The last access may continue beyond the batch; with one more behind the page, none of the page can.
    if (rows.length <= batch || found.length > limit + 1 || !last) return upTo(false)
    place = { time: last.recordedAt.getTime(), chain: last.chain, sequence: last.sequence }
  }
  return upTo(true)
}

function add(found: RecordAccess[], row: ChainedRecord): void {
  const before = found.at(-1)
  if (!before || !isSameRequest(before, row)) found.push({ main: row, first: row, last: row })
  else found[found.length - 1] = { ...before, main: weight(row) > weight(before.main) ? row : before.main, last: row }
}

/** Milliseconds within which rows of one request are one access. Its id is the client's choice: all of its requests could have the same. */
const together = 1000

const isSameRequest = ({ first, last }: RecordAccess, row: ChainedRecord): boolean =>
  row.requestId !== '' &&
  last.requestId === row.requestId &&
  last.clientId === row.clientId &&
  last.interaction !== 'emergency' &&
  row.interaction !== 'emergency' &&
  first.recordedAt.getTime() - row.recordedAt.getTime() < together

const weights = { D: 4, C: 3, U: 3, R: 2, E: 1 } as const

/** The weight of a row: a change counts more than a reading, and the note of its author less than the change. */
const weight = ({ action, type }: ChainedRecord): number => (type === 'Provenance' ? 0 : weights[action])
