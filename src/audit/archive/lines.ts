// The lines of an archive: JSON objects, one a line. The period comes first, then each of its chains: its beginning, its rows with all that
// is hashed of them, and its sealed head; then a count.
import { type AuditRow, toRecord, toRow } from '../rows.ts'
import type { LinkedRecord } from '../walk.ts'

/** What a reader of the lines has to know; another form would get another number. */
export const form = 'health-interop audit archive 1'

interface RowLine extends Omit<AuditRow, 'recorded_at'> {
  readonly line: 'row'
  /** ISO 8601, in UTC. */
  readonly recorded_at: string
  /** What the row holds of its hash, in hex. */
  readonly hash: string
}

/** Times are in ISO 8601, hashes and seals in hex. */
export type Line =
  | {
      readonly line: 'period'
      readonly form: typeof form
      readonly period: number
      readonly began_at: string
      readonly ended_at: string
    }
  | {
      readonly line: 'chain'
      readonly chain: number
      readonly started_at: string
      readonly previous: string
      readonly hash: string
    }
  | RowLine
  | {
      readonly line: 'head'
      readonly chain: number
      readonly sequence: number | null
      readonly hash: string | null
      readonly seal: string | null
    }
  | { readonly line: 'end'; readonly chains: number; readonly rows: number }

export const lineText = (line: Line): string => `${JSON.stringify(line)}\n`

/** @throws SyntaxError if the text is no JSON. */
export const readLine = (text: string): Line => JSON.parse(text) as Line

export const rowLine = ({ record, hash }: LinkedRecord): RowLine => ({
  ...{ line: 'row', ...toRow(record) },
  recorded_at: record.recordedAt.toISOString(),
  hash: hash.toString('hex'),
})

/** A row of a file is found by what it says. */
export const linkedRecord = (line: RowLine): LinkedRecord => ({
  record: toRecord({ ...line, recorded_at: new Date(line.recorded_at) }),
  hash: Buffer.from(line.hash, 'hex'),
  isFindable: () => true,
})
