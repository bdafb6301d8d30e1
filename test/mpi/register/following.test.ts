// The register follows patients: what it forgets, and who is told that a Health ID is another's.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../src/db/database.ts'
import type { Queryable } from '../../../src/db/statement.ts'
import { hash64 } from '../../../src/lib/hash.ts'
import { mint } from '../../../src/lib/health-id.ts'
import { currentHealthIds } from '../../../src/mpi/register/health-ids.ts'
import { openTestDatabase } from '../../support/database.ts'
import { addresses, follow } from './people.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

const holding = (value: string) => ({ identifier: [{ system: addresses.healthIds, value }] })

test('nothing is left of who is deleted, even of one who was found by a single word', async () => {
  await follow(database, { ada: { name: [{ given: ['Ada'] }] } })
  await follow(database, { ada: undefined })
  const text = 'select from person_posting where self = $1'
  expect(await database.query({ text, values: [hash64('Patient/ada')] })).toEqual([])
})

test('a Health ID of another is refused, though others who come with it have none', async () => {
  const healthId = mint('CM')
  await follow(database, { holder: holding(healthId) })
  const refused = database.transaction(on => follow(on, { plain: {}, claimant: holding(healthId) }))
  await expect(refused).rejects.toMatchObject({ code: 'CONFLICT', options: { issue: 'duplicate' } })
})

test('who has no Health ID can take nobody else’s: nobody waits to hear that', async () => {
  const on: Queryable = { run: database.run, query: () => Promise.reject(new Error('somebody waits')) }
  await follow(on, { bruno: { name: [{ family: 'Bello' }] }, cora: {} })
  expect(
    await database.query({
      text: `select patient from person where patient in ('bruno', 'cora') order by 1`,
      values: [],
    }),
  ).toEqual([{ patient: 'bruno' }, { patient: 'cora' }])
})

test('a Health ID is shown while it is held: not before it is, not once it was given up, and again when it is back', async () => {
  const [first, second] = [mint('CM'), mint('CM')]
  const shown: (string | undefined)[] = []
  const old = (value: string) => ({ identifier: [{ use: 'old', system: addresses.healthIds, value }] })
  for (const said of [holding(first), holding(second), old(second), holding(first)]) {
    await follow(database, { erna: said })
    shown.push((await currentHealthIds(database, ['erna'])).get('erna'))
  }
  expect(shown).toEqual([first, second, undefined, first])
})

test('another failure than that of a Health ID stays what it is', async () => {
  const failure = Object.assign(new Error('gone'), { constraint: 'person_pkey' })
  const on: Queryable = { run: async () => {}, query: () => Promise.reject(failure) }
  await expect(follow(on, { dora: holding(mint('CM')) })).rejects.toBe(failure)
})
