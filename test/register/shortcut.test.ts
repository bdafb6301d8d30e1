// Looking somebody up takes a short way where the answer is sure however common the names are: it never answers otherwise than
// the long way, on which names are counted.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { featuresOf, type Person } from '../../src/matching/person.ts'
import { readMatching } from '../../src/matching/weights.ts'
import { createRegister, type Register } from '../../src/register/register.ts'
import { dice } from '../fml/mutate.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

const matching = readMatching(readFileSync('mappings/matching.json', 'utf8'), 'mappings/matching.json')

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

const resourceOf = ({ names, birthDate, sex, phones }: Person) => ({
  resourceType: 'Patient',
  name: names.map(({ given, family }) => ({ given: [given], family })),
  birthDate,
  gender: sex,
  ...(phones?.length ? { telecom: phones.map(value => ({ system: 'phone', value })) } : {}),
})

/** A register of its own, in which these people are. */
async function registerOf(people: readonly Person[]): Promise<{ service: Service; register: Register }> {
  const service = await startService()
  const entry = people.map(person => ({ resource: resourceOf(person), request: { method: 'POST', url: 'Patient' } }))
  const body = { resourceType: 'Bundle', type: 'transaction', entry }
  expect((await fhirCaller(() => service)('POST', '', { body })).status).toBe(200)
  return { service, register: createRegister(() => matching) }
}

test('of people who are hard to tell apart, both ways decide the same', async () => {
  const rollOfPeople = dice(7)
  const { service, register } = await registerOf(Array.from({ length: 120 }, () => somebody(rollOfPeople)))
  const { database } = service.application
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
  const { service, register } = await registerOf([marie, pauline, ...others])
  const asked = featuresOf({ ...born, phones: ['650000101'], names: [{ given: 'Marie', family: 'Zobele' }] })
  const { decision } = await register.find(service.application.database, asked)
  expect(decision.outcome).toBe('ambiguous')
})
