// Looking somebody up: what is told of whoever it could be, who is compared where many are alike, and what is asked for it.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../src/db/database.ts'
import type { Queryable } from '../../../src/db/statement.ts'
import { mint } from '../../../src/lib/health-id.ts'
import { featuresOf, type Person } from '../../../src/mpi/matching/person.ts'
import { createRegister } from '../../../src/mpi/register/register.ts'
import { openTestDatabase } from '../../support/database.ts'
import { addresses, follow, matching, patientOf, registerOf } from './people.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

const ada: Person = {
  names: [{ given: 'Ada', family: 'Zobela' }],
  birthDate: '1990-04-17',
  sex: 'female',
  phones: ['650000101'],
}
const called = (given: string, family: string): Person => ({ ...ada, names: [{ given, family }] })

/** The names of what a register asks while somebody is looked up in it. */
async function lookedUp(on: Database, person: Person) {
  const asked: string[] = []
  const told: Queryable = {
    ...on,
    query: statement => {
      asked.push(statement.name!)
      return on.query(statement)
    },
  }
  const { decision } = await createRegister(() => matching).find(told, featuresOf(person))
  return { asked, decision }
}

test('who is like nobody is found to be new, with one question', async () => {
  expect(await lookedUp(database, ada)).toEqual({
    asked: ['register-candidates'],
    decision: { outcome: 'new', ranked: [], possible: 0 },
  })
})

test('who is surely somebody is found without a count of the names, however many others are a little like that', async () => {
  const brother: Person = { ...called('Bruno', 'Zobela'), birthDate: '1990-11-30', sex: 'male' }
  const others = await registerOf([ada, brother])
  const { asked, decision } = await lookedUp(others.database, ada)
  expect(asked).toEqual(['register-candidates', 'register-people'])
  expect(decision).toMatchObject({ outcome: 'match', id: '0' })
  expect(decision.ranked).toHaveLength(2)
})

test('who is told from another by names alone is looked up with a count of them', async () => {
  const { database: both } = await registerOf([ada, called('Bella', 'Zobela')])
  const { asked, decision } = await lookedUp(both, called('Cora', 'Zobela'))
  expect(asked).toContain('register-bearers')
  expect(decision.outcome).toBe('possible')
})

test('a family name that many have says less than one that few have, even where it stands for a given name', async () => {
  const namesakes = Array.from({ length: 20 }, (_, at): Person => ({ names: [{ given: `Given${at}`, family: 'Ngo' }] }))
  const few = Array.from({ length: 3 }, (_, at): Person => ({ names: [{ given: `Other${at}`, family: 'Zobela' }] }))
  const common: Person = { ...called('Dora', 'Ngo'), birthDate: '1970-02-03' }
  const { database: many, register } = await registerOf([ada, common, ...namesakes, ...few])
  const bitsOf = async (person: Person): Promise<number> =>
    (await register.rank(many, featuresOf(person))).ranked.find(({ id }) => id === '0' || id === '1')!.score.bits
  const [rare, usual] = [await bitsOf(ada), await bitsOf(common)]
  // Four people of a thousand, the fewest that a register is taken to hold, and twenty-one.
  expect(rare - usual).toBeCloseTo(Math.log2(21 / 4))
})

test('of those it could be, Health IDs are told of whoever has one, and who has the number that was asked for', async () => {
  const healthId = mint('CM')
  const number = { system: `${addresses.numbers}ward`, value: '7' }
  await follow(database, {
    named: { ...patientOf(ada), identifier: [{ system: addresses.healthIds, value: healthId }] },
    nameless: patientOf(ada),
    numbered: { identifier: [number] },
  })
  const { healthIds, numbered, decision } = await createRegister(() => matching).find(database, featuresOf(ada), number)
  expect(decision.ranked.map(({ id }) => id).sort()).toEqual(['named', 'nameless', 'numbered'])
  expect([...healthIds]).toEqual([['named', healthId]])
  expect([...numbered]).toEqual(['numbered'])
})

test('of more than a hundred who are alike those are compared who share most, and whoever has the number', async () => {
  const crowd = Array.from({ length: 130 }, (): Person => ({ ...called('Edna', 'Crowd'), phones: [] }))
  const { database: many, register } = await registerOf(crowd)
  const number = { system: `${addresses.numbers}ward`, value: '7' }
  await follow(many, {
    near: patientOf({ ...called('Edna', 'Crowd'), phones: ['650000199'] }),
    numbered: { identifier: [number] },
  })
  const { numbered, decision } = await register.find(
    many,
    featuresOf({ ...called('Edna', 'Crowd'), phones: ['650000199'] }),
    number,
  )
  expect(decision.ranked).toHaveLength(100)
  expect(decision.ranked[0]!.id).toBe('near')
  expect([...numbered]).toEqual(['numbered'])
})

test('whoever could be the same person waits until the one who looks is done, and nobody else does', async () => {
  const { lock } = createRegister(() => matching)
  const gets = (person: Person) =>
    database.transaction(async on => {
      await on.query({ text: `set local lock_timeout = '50ms'`, values: [] })
      await lock(on, featuresOf(person))
    })
  await database.transaction(async on => {
    await lock(on, featuresOf(ada))
    await on.query({ text: 'select', values: [] })
    await expect(gets(called('Ada', 'Bello'))).rejects.toThrow()
    await gets({ names: [{ given: 'Ada', family: 'Zobela' }], birthDate: '1950-01-02' })
  })
  await gets(ada)
})
