// Look-ups by unique keys. Those that arrive while others are under way share one statement: waking PostgreSQL and this process
// costs more than the look-up.
import type { Queryable, Statement } from './statement.ts'

/** Asks for the row of one key. */
export interface LookUp {
  /** The statement for any number of keys. It binds the constants, then an array for each column of the key. */
  readonly text: string
  readonly name?: string | undefined
  /** Values that look-ups have in common if they share a statement. */
  readonly constants: readonly unknown[]
  readonly key: readonly unknown[]
  /** How each column of the keys becomes an array. */
  readonly arrays: readonly ((column: readonly never[]) => Buffer)[]
}

/** A row with the place of its key in the statement, from 1. */
export interface Placed {
  readonly place: number
}

/** Returns the row of a unique key, or undefined. Outside of a transaction it may share a statement with other look-ups. */
export async function lookUp<Row extends Placed>(on: Queryable, asked: LookUp): Promise<Row | undefined> {
  if (on.lookUp) return on.lookUp<Row>(asked)
  const [row] = await on.query<Row>(statementFor(asked, [asked.key]))
  return row
}

/** Most keys of one statement. */
const mostKeys = 64

/** Most statements under way for the same look-up. */
const mostFlights = 4

/** Milliseconds after which a further statement does not wait for the one under way. */
const slow = 5

interface Waiting {
  readonly lookUp: LookUp
  readonly done: (row: Placed | undefined) => void
  readonly fail: (error: unknown) => void
}

/** Look-ups that may share a statement. */
interface Group {
  readonly waiting: Waiting[]
  flights: number
  /** When the latest statement began, as `performance.now()` has it. */
  begun: number
}

/**
 * Returns the function that gathers look-ups. One that comes alone is asked at once; while a statement is under way, those that
 * come form the next one.
 * @param query runs a statement
 */
export function createLookUps(
  query: <Row extends object>(statement: Statement) => Promise<Row[]>,
): NonNullable<Queryable['lookUp']> {
  const groups = new Map<string, Group>()

  async function fly(key: string, group: Group): Promise<void> {
    group.flights++
    group.begun = performance.now()
    // Look-ups of requests that arrived together come within the same turn of the event loop.
    await new Promise(setImmediate)
    while (group.waiting.length > 0) {
      group.begun = performance.now()
      await answer(query, group.waiting.splice(0, mostKeys))
    }
    group.flights--
    if (group.flights === 0) groups.delete(key)
  }

  return <Row extends Placed>(asked: LookUp): Promise<Row | undefined> =>
    new Promise((done, fail) => {
      const key = keyOf(asked)
      const group = groups.get(key) ?? { waiting: [], flights: 0, begun: 0 }
      groups.set(key, group)
      group.waiting.push({ lookUp: asked, done: done as Waiting['done'], fail })
      const isSlow = group.flights < mostFlights && performance.now() - group.begun > slow
      if (group.flights === 0 || isSlow) void fly(key, group)
    })
}

/** Look-ups with the same key differ in the keys of their rows only. */
const keyOf = ({ text, constants }: LookUp): string =>
  constants.length === 0
    ? text
    : [text, ...constants.map(each => (Buffer.isBuffer(each) ? each.toString('latin1') : String(each)))].join('\0')

const statementFor = ({ text, name, constants, arrays }: LookUp, keys: readonly LookUp['key'][]): Statement => ({
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
    const rows = await query<Placed>(statementFor(batch[0]!.lookUp, keys))
    const found = new Map(rows.map(row => [row.place, row]))
    batch.forEach(({ done }, index) => done(found.get(index + 1)))
  } catch (error) {
    if (batch.length === 1 || !isOfValues(error)) for (const { fail } of batch) fail(error)
    else await Promise.all(batch.map(each => answer(query, [each])))
  }
}

/** True for a "data exception" of PostgreSQL (class 22). */
const isOfValues = (error: unknown): boolean => /^22/.test(String((error as { code?: unknown }).code))
