// How well matching works on people with the slips of everyday life: invented ones, and, where they are at hand, published ones, as in
// npm run bench -- matching.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readMatching } from '../../../src/mpi/matching/weights.ts'
import { evaluate, weightsFile } from '../../bench/matching.ts'
import { labelled, readPatients } from '../../bench/people.ts'
import { diceOf, newPhone, type Registered, two } from '../../bench/slips.ts'
import { sharedData } from '../../support/data.ts'

const matching = readMatching(readFileSync(weightsFile, 'utf8'), 'mappings/matching.json')

/** Registers two thirds of the people, has all of them come, and expects nearly all to be found and nobody to be mistaken. */
function expectToBeFound(people: readonly Registered[], seeds: readonly number[]): void {
  const answers = seeds.flatMap(seed => evaluate(labelled(people, diceOf(seed)), matching))
  const again = answers.filter(({ query }) => query.is !== undefined)
  expect(answers.filter(({ isWrong }) => isWrong).map(({ query }) => query)).toEqual([])
  expect(again.filter(({ isFound }) => isFound).length / again.length).toBeGreaterThan(0.9)
  expect(again.filter(({ wasCandidate }) => wasCandidate).length / again.length).toBeGreaterThan(0.99)
}

const syllables =
  'ba bi bo da di do fa fe ka ko la le li ma me mo na ne no pa ra re ri sa se so ta te to va we za'.split(' ')

/** People whose names are made of syllables, many of whom share one. */
function invented(count: number): Registered[] {
  const dice = diceOf(7)
  const word = (length: number): string => {
    const text = Array.from({ length }, () => dice.pick(syllables)).join('')
    return text.charAt(0).toUpperCase() + text.slice(1)
  }
  const [given, family] = [Array.from({ length: 80 }, () => word(3)), Array.from({ length: 150 }, () => word(4))]
  return Array.from({ length: count }, () => ({
    given: dice.pick(given),
    family: dice.pick(family),
    birthDate: `${1940 + dice.below(75)}-${two(1 + dice.below(12))}-${two(1 + dice.below(28))}`,
    sex: dice.pick(['female', 'male']),
    phone: newPhone(dice),
  }))
}

test('of invented people nine in ten are found again, and nobody is taken for somebody else', () => {
  expectToBeFound(invented(400), [1, 2])
})

const folder = sharedData('synthea-2025-bulk-1000p-partial')

test.skipIf(!folder)(
  `nine in ten of published people too${folder ? '' : ' (needs ../shared/data, which is absent)'}`,
  () => {
    const people = readPatients(folder!)
    expect(people).toHaveLength(1144)
    expectToBeFound(people, [20, 26, 11])
  },
)
