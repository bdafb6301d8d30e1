// Look-ups by unique keys share a statement when they arrive together, and each gets its own row.
import { beforeAll, expect, test } from 'vitest'
import { textArray } from '../../src/db/arrays.ts'
import type { Database } from '../../src/db/database.ts'
import { createLookUps, type LookUp, lookUp, type Placed, questionOf } from '../../src/db/look-up.ts'
import type { Queryable, Statement } from '../../src/db/statement.ts'
import { openTestDatabase } from '../support/database.ts'

interface Found extends Placed {
  readonly id: string
  readonly constant: string
}

let database: Database
let statements: Statement[]
let shared: Queryable

beforeAll(async () => {
  database = await openTestDatabase()
})

function counted(): Queryable {
  statements = []
  const query = <Row extends object>(statement: Statement): Promise<Row[]> => {
    statements.push(statement)
    return database.query<Row>(statement)
  }
  shared = { query, run: database.run, lookUp: createLookUps(query) }
  return shared
}

const text = `select place::integer, given.id, $1::text as constant
  from unnest($2::text[]) with ordinality as given (id, place) where given.id <> 'absent' and given.id::bigint >= 0`

const asked = (id: string, constant = 'a'): LookUp => ({
  question: questionOf({ text, constants: [constant], arrays: [textArray] }),
  key: [id],
})
const found = async (id: string, constant?: string) => lookUp<Found>(shared, asked(id, constant))

test('those of one moment are one statement; those that come meanwhile are the next', async () => {
  counted()
  const ids = Array.from({ length: 40 }, (_, index) => String(index % 30))
  const first = ids.map(id => found(id))
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  const second = ids.map(id => found(id))
  const rows = await Promise.all([...first, ...second])
  expect(rows.map(row => row?.id)).toEqual([...ids, ...ids])
  expect(statements).toHaveLength(2)
})

test('one that comes alone is asked at once, also after others', async () => {
  counted()
  expect((await found('7'))?.id).toBe('7')
  expect((await found('8'))?.id).toBe('8')
  expect(statements).toHaveLength(2)
})

test('a key without a row has none, whatever the others have', async () => {
  counted()
  const rows = await Promise.all(['1', 'absent', '3'].map(id => found(id)))
  expect(rows.map(row => row?.id)).toEqual(['1', undefined, '3'])
})

test('those with other constants are other statements', async () => {
  counted()
  const rows = await Promise.all(['a', 'b', 'a', 'b'].map((constant, index) => found(String(index), constant)))
  expect(rows.map(row => [row?.id, row?.constant])).toEqual([
    ['0', 'a'],
    ['1', 'b'],
    ['2', 'a'],
    ['3', 'b'],
  ])
  expect(statements).toHaveLength(2)
})

test('a value that PostgreSQL refuses fails its own look-up, and no other', async () => {
  counted()
  const outcomes = await Promise.allSettled(['1', 'no number', '3'].map(id => found(id)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('more than one statement takes are several', async () => {
  counted()
  const ids = Array.from({ length: 150 }, (_, index) => String(index))
  expect((await Promise.all(ids.map(id => found(id)))).map(row => row?.id)).toEqual(ids)
  expect(statements).toHaveLength(3)
})

test('in a transaction it sees what the transaction wrote', async () => {
  await database.transaction(async on => {
    await on.run({ text: 'create temporary table written (id text primary key) on commit drop', values: [] })
    await on.run({ text: "insert into written values ('new')", values: [] })
    const given =
      'select place::integer, id from unnest($1::text[]) with ordinality as given (id, place) join written using (id)'
    const question = questionOf({ text: given, constants: [], arrays: [textArray] })
    const row = await lookUp<Found>(on, { question, key: ['new'] })
    expect(row?.id).toBe('new')
  })
})
