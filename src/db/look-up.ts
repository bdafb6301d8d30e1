// Look-ups by unique keys. Those that arrive while others are under way share one statement: waking PostgreSQL and this process
// costs more than the look-up.
import { createGathering } from './gather.ts'
import type { Queryable, Statement } from './statement.ts'

/** What is asked about a key. */
interface Asked {
  /** The statement for any number of keys. It binds the constants, then an array for each column of the key. */
  readonly text: string
  readonly name?: string | undefined
  /** Values that look-ups have in common if they share a statement. */
  readonly constants: readonly unknown[]
  /** How each column of the keys becomes an array. */
  readonly arrays: readonly ((column: readonly never[]) => Buffer)[]
}

/** The same, made once for many look-ups. */
export interface Question extends Asked {
  /** What questions have in common if their look-ups may share a statement. */
  readonly alike: string
}

/** Asks for the row of one key. */
export interface LookUp {
  readonly question: Question
  readonly key: readonly unknown[]
}

/** Makes a question once, so that its look-ups need not compare text and constants each time. */
export const questionOf = (asked: Asked): Question => ({ ...asked, alike: alikeOf(asked) })

/** A row with the place of its key in the statement, from 1. */
export interface Placed {
  readonly place: number
}

/** Returns the row of a unique key, or undefined. Outside of a transaction it may share a statement with other look-ups. */
export async function lookUp<Row extends Placed>(on: Queryable, asked: LookUp): Promise<Row | undefined> {
  if (on.lookUp) return on.lookUp<Row>(asked)
  const [row] = await on.query<Row>(statementFor(asked.question, [asked.key]))
  return row
}

/** Most keys of one statement. */
const mostKeys = 64

interface Waiting {
  readonly lookUp: LookUp
  readonly done: (row: Placed | undefined) => void
  readonly fail: (error: unknown) => void
}

/**
 * Returns the function that gathers look-ups: those that come while a statement for the same is under way form the next one.
 * @param query runs a statement
 */
export function createLookUps(query: Query): NonNullable<Queryable['lookUp']> {
  const gather = createGathering<Waiting>({
    take: waiting => waiting.splice(0, mostKeys),
    work: batch => answer(query, batch),
  })
  return <Row extends Placed>(asked: LookUp): Promise<Row | undefined> =>
    new Promise((done, fail) => gather(asked.question.alike, { lookUp: asked, done: done as Waiting['done'], fail }))
}

/** Questions with the same text and constants differ in nothing. */
const alikeOf = ({ text, constants }: Asked): string =>
  constants.length === 0
    ? text
    : [text, ...constants.map(each => (Buffer.isBuffer(each) ? each.toString('latin1') : String(each)))].join('\0')

const statementFor = ({ text, name, constants, arrays }: Question, keys: readonly LookUp['key'][]): Statement => ({
  text,
  ...(name === undefined ? {} : { name }),
  isFixed: true,
  values: [...constants, ...arrays.map((toArray, column) => toArray(keys.map(key => key[column]) as never[]))],
})

type Query = <Row extends object>(statement: Statement) => Promise<Row[]>

/** Answers them by one statement; if that fails by a value, each by its own, so that only the look-up with the value fails. */
async function answer(query: Query, batch: readonly Waiting[]): Promise<void> {
  try {
    const keys = batch.map(each => each.lookUp.key)
    const rows = await query<Placed>(statementFor(batch[0]!.lookUp.question, keys))
    const found = new Map(rows.map(row => [row.place, row]))
    batch.forEach(({ done }, index) => done(found.get(index + 1)))
  } catch (error) {
    if (batch.length === 1 || !isOfValues(error)) for (const { fail } of batch) fail(error)
    else await Promise.all(batch.map(each => answer(query, [each])))
  }
}

/** True for a "data exception" of PostgreSQL (class 22). */
const isOfValues = (error: unknown): boolean => /^22/.test(String((error as { code?: unknown }).code))
