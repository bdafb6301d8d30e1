// What an import reads: rows of the table bulk_input, one for each file, with the place up to which it has been read.
import type { Queryable } from '../../db/statement.ts'

export interface Input {
  readonly number: number
  /** Undefined: it came in the body of the request. */
  readonly url: string | undefined
  /** How messages name it. */
  readonly label: string
  /** The only type it may hold; undefined: any. */
  readonly type: string | undefined
  /** Its size on disk; undefined while it has not been fetched. */
  readonly bytes: number | undefined
  /** Up to here it has been read, in bytes and in lines. */
  readonly position: number
  readonly line: number
  /** Lines to try again at the end: position and number of each. */
  readonly postponed: readonly Postponed[]
  readonly isDone: boolean
  readonly counts: Counts
}

export interface Postponed {
  readonly position: number
  readonly line: number
}

export interface Counts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly failed: number
}

interface InputRow extends Counts {
  readonly number: number
  readonly url: string | null
  readonly label: string
  readonly type: string | null
  readonly bytes: number | null
  readonly position: number
  readonly line: number
  readonly postponed: string[]
  readonly is_done: boolean
}

export type NewInput = Pick<Input, 'number' | 'url' | 'label' | 'type' | 'bytes'>

/** Name of an input's file in the folder of its job. */
export const inputName = (number: number): string => `input-${number}`

export async function createInputs(on: Queryable, job: string, inputs: readonly NewInput[]): Promise<void> {
  for (const { number, url, label, type, bytes } of inputs)
    await on.query({
      text: 'insert into bulk_input (job, number, url, label, type, bytes) values ($1, $2, $3, $4, $5, $6)',
      values: [job, number, url ?? null, label, type ?? null, bytes ?? null],
    })
}

/** The inputs of a job, in order. */
export async function inputsOf(on: Queryable, job: string): Promise<Input[]> {
  const rows = await on.query<InputRow>({
    text: 'select * from bulk_input where job = $1 order by number',
    values: [job],
  })
  return rows.map(toInput)
}

function toInput(row: InputRow): Input {
  const { number, label, position, line, created, updated, unchanged, failed } = row
  return {
    number,
    url: row.url ?? undefined,
    label,
    type: row.type ?? undefined,
    bytes: row.bytes ?? undefined,
    position,
    line,
    postponed: pairs(row.postponed),
    isDone: row.is_done,
    counts: { created, updated, unchanged, failed },
  }
}

function pairs(numbers: readonly string[]): Postponed[] {
  const found: Postponed[] = []
  for (let at = 0; at < numbers.length; at += 2)
    found.push({ position: Number(numbers[at]), line: Number(numbers[at + 1]) })
  return found
}

export async function noteFetched(on: Queryable, job: string, number: number, bytes: number): Promise<void> {
  await on.query({
    text: 'update bulk_input set bytes = $3 where job = $1 and number = $2',
    values: [job, number, bytes],
  })
}

/** What some lines came to. */
export interface ImportStep {
  readonly position: number
  readonly line: number
  readonly postponed: readonly Postponed[]
  readonly counts: Counts
}

export async function noteStep(on: Queryable, job: string, number: number, step: ImportStep): Promise<void> {
  const { position, line, postponed, counts } = step
  await on.query({
    text: `update bulk_input set position = $3, line = $4, postponed = postponed || $5::bigint[], created = created + $6,
        updated = updated + $7, unchanged = unchanged + $8, failed = failed + $9
      where job = $1 and number = $2`,
    values: [
      job,
      number,
      position,
      line,
      postponed.flatMap(each => [each.position, each.line]),
      counts.created,
      counts.updated,
      counts.unchanged,
      counts.failed,
    ],
  })
}

/** Notes that an input has nothing left to do, and what its last lines came to. */
export async function noteDone(on: Queryable, job: string, number: number, counts: Counts): Promise<void> {
  await on.query({
    text: `update bulk_input set is_done = true, postponed = '{}', created = created + $3, updated = updated + $4,
        unchanged = unchanged + $5, failed = failed + $6 where job = $1 and number = $2`,
    values: [job, number, counts.created, counts.updated, counts.unchanged, counts.failed],
  })
}
