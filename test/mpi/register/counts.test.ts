// How many are registered and how common a name is: exact where it is little, from a sample where it is much.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Matching, readMatching } from '../../../src/mpi/matching/weights.ts'
import { createCounts } from '../../../src/mpi/register/counts.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { startService } from '../../support/service.ts'

const file = join(import.meta.dirname, '../../../mappings/matching.json')
const weights = readMatching(readFileSync(file, 'utf8'), 'matching.json')

/** Counts over a register that is told: how many people there are, and how many bear each word, up to 256. */
function countsOf(people: number, bearers: (word: number) => number) {
  const asked: string[] = []
  const on = {
    async query({ name, values }: { name: string; values: readonly unknown[] }) {
      asked.push(name)
      if (name === 'register-people') return [{ count: people, last: 0 }]
      const words = ((values[0] as Buffer).length - 20) / 12
      return Array.from({ length: words }, (_, at) => ({ ord: at + 1, count: bearers(at), last: 0 }))
    },
  }
  const counts = createCounts(() => 0)
  const population = (given: readonly string[], matching: Matching) =>
    counts.population(on as never, { given: new Set(given), family: new Set() }, matching)
  return { asked, population }
}

test('so few as two make a name of their own only in a register that is so large that it matters little', async () => {
  const { population } = countsOf(1000, word => word + 1)
  const names = ['ONE', 'TWO', 'THREE']
  const sharesAt = async (ownNameShare: number) => {
    const { shareOf } = await population(names, { ...weights, smallestPopulation: 1, ownNameShare })
    return names.map(name => shareOf!('given', name))
  }
  expect(await sharesAt(0.002)).toEqual([0.001, undefined, 0.003])
  expect(await sharesAt(0.001)).toEqual([undefined, undefined, 0.003])
  const { shareOf } = await population(names, { ...weights, smallestPopulation: 3000, ownNameShare: 0 })
  expect([shareOf!('given', 'THREE'), shareOf!('given', 'FOUR'), shareOf!('family', 'THREE')]).toEqual([
    0.001,
    undefined,
    undefined,
  ])
})

test('of twenty thousand common names it is remembered how common they are; then all are counted anew', async () => {
  const { asked, population } = countsOf(1000, () => 256)
  const names = Array.from({ length: 20_001 }, (_, at) => `NAME${at}`)
  const questions = async (...given: string[]) => {
    asked.splice(0)
    await population(given, weights)
    return asked.filter(name => name === 'register-bearers').length
  }
  const [, ...others] = names
  expect(await questions(...others)).toBe(1)
  expect(await questions(...others)).toBe(0)
  expect(await questions(names[0]!)).toBe(1)
  expect(await questions(names[0]!)).toBe(0)
  expect(await questions(names[1]!)).toBe(1)
})

test('of whom the sample reaches over half of all hashes there are twice as many, but for the one that it ends with', async () => {
  const { population } = countsOf(1024, () => 0)
  expect((await population([], weights)).people).toBe(2 * 1023)
})

test('thousands are estimated to within a tenth, and a few are counted', async () => {
  const service = await startService()
  const call = fhirCaller(() => service)
  const named = (index: number): string => (index < 1200 ? 'Marie' : index < 1203 ? 'Zenaida' : `Person${index}`)
  const people = Array.from({ length: 4000 }, (_, index) => ({
    resourceType: 'Patient',
    id: `counted-${index}`,
    name: [
      {
        family: index === 7 ? 'Unique' : 'Ngo',
        given: [named(index).replace(/\d/g, digit => 'abcdefghij'[Number(digit)]!)],
      },
    ],
  }))
  for (let from = 0; from < people.length; from += 1000) {
    const entry = people
      .slice(from, from + 1000)
      .map(resource => ({ resource, request: { method: 'PUT', url: `Patient/${resource.id}` } }))
    const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status, text.slice(0, 500)).toBe(200)
  }
  const words = { given: new Set(['MARIE', 'ZENAIDA', 'NOBODY']), family: new Set(['NGO', 'UNIQUE']) }
  let clock = 0
  const counts = createCounts(() => clock)
  const counted = () => counts.population(service.application.database, words, weights)
  const { people: total, shareOf } = await counted()
  const near = (value: number | undefined, expected: number): void => {
    expect(value).toBeGreaterThan(expected * 0.9)
    expect(value).toBeLessThan(expected * 1.1)
  }
  near(total, 4000)
  near(shareOf!('given', 'MARIE')! * total, 1200)
  near(shareOf!('family', 'NGO')! * total, 3999)
  expect(shareOf!('given', 'ZENAIDA')! * total).toBeCloseTo(3)
  // One bearer is no name of its own, unless the register is so large that its share is below that of one.
  expect([shareOf!('family', 'UNIQUE'), shareOf!('given', 'NOBODY'), shareOf!('given', 'MARIA')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  // What many are is remembered for a minute, and no longer; what few are is counted each time.
  const bundle = { resourceType: 'Bundle', type: 'transaction' }
  const entry = people.slice(0, 1203).map(({ id }) => ({ request: { method: 'DELETE', url: `Patient/${id}` } }))
  expect((await call('POST', '', { body: { ...bundle, entry } })).status).toBe(200)
  clock = 59_999
  const meanwhile = await counted()
  expect([meanwhile.people, meanwhile.shareOf!('given', 'MARIE')]).toEqual([total, shareOf!('given', 'MARIE')])
  expect(meanwhile.shareOf!('given', 'ZENAIDA')).toBeUndefined()
  clock = 60_000
  const later = await counted()
  near(later.people, 2797)
  expect(later.shareOf!('given', 'MARIE')).toBeUndefined()
}, 60_000)
