// Looking somebody up takes a short way where the answer is sure however common the names are: it never answers otherwise than
// the long way, on which names are counted.

import { expect, test } from 'vitest'
import { featuresOf, type Person } from '../../../src/mpi/matching/person.ts'
import { dice } from '../../fml/mutate.ts'
import { matching, registerOf } from './people.ts'

const givens = ['Aminatou', 'Aminata', 'Aminatu', 'Blaise', 'Marie Claire', 'Marie', 'Jean', 'Jeanne']
const families = ['Ngono', 'Ngona', 'Etoundi', 'Bello', 'Belo', 'Ngono Mbarga']
const dates = ['1990-04-17', '1990-04-18', '1991-04-17', '1990-01-01', '1990-07-04']
const phones = ['+237650000101', '+237650000110', undefined]

/** Somebody of a family whose members are hard to tell apart. */
function somebody(roll: (sides: number) => number): Person {
  const pick = <T>(of: readonly T[]): T => of[roll(of.length)]!
  const phone = pick(phones)
  return {
    names: [{ given: pick(givens), family: pick(families) }],
    birthDate: pick(dates),
    sex: pick(['female', 'male', undefined]),
    phones: phone ? [phone] : [],
  }
}

test('of people who are hard to tell apart, both ways decide the same', async () => {
  const rollOfPeople = dice(7)
  const { database, register } = await registerOf(Array.from({ length: 120 }, () => somebody(rollOfPeople)))
  const roll = dice(11)
  const outcomes = new Set<string>()
  for (let time = 0; time < 120; time++) {
    const person = featuresOf(somebody(roll))
    const { decision } = await register.find(database, person)
    const exact = await register.rank(database, person)
    expect([decision.outcome, decision.id]).toEqual([exact.outcome, exact.id])
    outcomes.add(exact.outcome)
  }
  expect([...outcomes].sort()).toEqual(['ambiguous', 'match', 'possible'])
})

test('a twin with the same telephone is too near for the short way, where the given name that differs is common', async () => {
  const born = { birthDate: '1990-04-17', sex: 'female' }
  const marie: Person = { ...born, phones: ['650000110'], names: [{ given: 'Marie', family: 'Zobela' }] }
  const pauline: Person = { ...born, phones: ['650000101'], names: [{ given: 'Pauline', family: 'Zobele' }] }
  // A twelfth of the people that a register is taken to hold at least are called so.
  const others = Array.from({ length: 80 }, (_, index): Person => {
    const names = [{ given: 'Marie', family: `Family${index}` }]
    return { names, birthDate: '1960-01-02', sex: 'female', phones: [] }
  })
  const { database, register } = await registerOf([marie, pauline, ...others])
  const asked = featuresOf({ ...born, phones: ['650000101'], names: [{ given: 'Marie', family: 'Zobele' }] })
  const { decision } = await register.find(database, asked)
  expect(decision.outcome).toBe('ambiguous')
})

test('a twin is too near for the short way, where the family name that it alone shares is rare', async () => {
  const born = { birthDate: '1990-04-17', sex: 'female', phones: ['650000101'] }
  const named = (given: string, family: string): Person => ({ ...born, names: [{ given, family }] })
  const others = Array.from({ length: 80 }, (_, index): Person => {
    const names = [{ given: 'Marie', family: index < 2 ? 'Zobele' : `Family${index}` }]
    return { names, birthDate: '1960-01-02', sex: 'female', phones: [] }
  })
  const weights = { ...matching, usualShares: { ...matching.usualShares, family: 0.05 } }
  const people = [named('Marie', 'Zobela'), named('Pauline', 'Zobele'), ...others]
  const { database, register } = await registerOf(people, weights)
  const { decision } = await register.find(database, featuresOf(named('Marie', 'Zobele')))
  expect(decision.outcome).toBe('ambiguous')
})
