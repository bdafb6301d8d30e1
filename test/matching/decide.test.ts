import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blockingKeys } from '../../src/matching/blocking.ts'
import { type Decision, decide, limitsFor } from '../../src/matching/decide.ts'
import { featuresOf, type Person } from '../../src/matching/person.ts'
import { explain, score } from '../../src/matching/score.ts'
import { readMatching } from '../../src/matching/weights.ts'

const matching = readMatching(readFileSync('mappings/matching.json', 'utf8'), 'mappings/matching.json')
const town = { people: 60_000 }

interface Known {
  readonly given?: string
  readonly family?: string
  readonly birthDate?: string
  readonly sex?: string
  readonly phone?: string
}

const amina: Known = {
  given: 'Aminatou',
  family: 'Bello',
  birthDate: '1991-04-17',
  sex: 'female',
  phone: '+237 6 50 00 01 01',
}

function person({ given, family, birthDate, sex, phone }: Known): Person {
  return { names: [{ given, family }], birthDate, sex, phones: phone ? [phone] : [] }
}

const features = (known: Known) => featuresOf(person(known))

/** What is decided of somebody, where these are the candidates. */
function decided(asked: Known, ...registered: Known[]): Decision {
  const candidates = registered.map((each, index) => ({ id: `p${index}`, features: features(each) }))
  return decide(features(asked), candidates, matching, town)
}

const isMet = (a: Known, b: Known): boolean => {
  const keys = new Set(blockingKeys(features(a)))
  return blockingKeys(features(b)).some(key => keys.has(key))
}

const samePerson: [string, Known][] = [
  ['written the same', amina],
  ['with a slip in the given name', { ...amina, given: 'Aminatuo' }],
  ['with a slip in the family name', { ...amina, family: 'Belllo' }],
  ['with names exchanged', { ...amina, given: 'Bello', family: 'Aminatou' }],
  ['with day and month swapped, without telephone', { ...amina, birthDate: '1991-17-04', phone: undefined }],
  ['with another day', { ...amina, birthDate: '1991-04-07' }],
  ['with another telephone', { ...amina, phone: '677 12 34 56' }],
  ['with her telephone written without country', { ...amina, phone: '50000101' }],
  ['without sex and telephone', { ...amina, sex: 'unknown', phone: undefined }],
  ['with a further given name', { ...amina, given: 'Aminatou Fadimatou' }],
  ['in the spelling of her neighbours', { ...amina, given: 'Aminatu' }],
]

test.each(samePerson)('somebody %s is found, and by a common blocking key', (_, again) => {
  expect(decided(again, amina)).toMatchObject({ outcome: 'match', id: 'p0', possible: 0 })
  expect(isMet(again, amina)).toBe(true)
})

const notToBeLinked: [string, Known][] = [
  ['a twin sister', { ...amina, given: 'Fadimatou' }],
  ['a twin brother of nearly the same name', { ...amina, given: 'Aminou', sex: 'male' }],
  ['a woman of another family name, perhaps married', { ...amina, family: 'Oumarou' }],
  ['somebody of the same year and name whose day nobody knows', { ...amina, birthDate: '1991-01-01' }],
  ['a mother of the same name and telephone', { ...amina, birthDate: '1971-04-17' }],
  ['somebody who is only called the other given name', { ...amina, given: 'Fadimatou Aminatou' }],
]

test.each(notToBeLinked)('%s is never linked, but shown to a person', (_, other) => {
  expect(decided(other, amina)).toMatchObject({ outcome: 'possible', possible: 1 })
  expect(decided(other, amina).id).toBeUndefined()
})

test('a sibling with the same telephone is somebody new', () => {
  const sibling = { ...amina, given: 'Fadimatou', birthDate: '1994-09-02' }
  expect(isMet(sibling, amina)).toBe(true)
  expect(decided(sibling, amina)).toMatchObject({ outcome: 'new', possible: 0 })
  expect(decided(amina)).toEqual({ outcome: 'new', ranked: [], possible: 0 })
})

test('of two that fit equally well neither is taken', () => {
  const decision = decided(amina, amina, { ...amina, phone: undefined }, { ...amina, given: 'Fadimatou' })
  expect(decided(amina, amina, amina)).toMatchObject({ outcome: 'ambiguous', possible: 2 })
  expect(decided(amina, amina, amina).ranked.map(({ grade }) => grade)).toEqual(['probable', 'probable'])
  expect(decision).toMatchObject({ outcome: 'match', id: 'p0' })
})

test('a twin beside the right one does not make it ambiguous', () => {
  const twin = { ...amina, given: 'Fadimatou' }
  const decision = decided(amina, twin, amina)
  expect(decision).toMatchObject({ outcome: 'match', id: 'p1', possible: 1 })
  expect(decision.ranked.map(({ id, grade }) => [id, grade])).toEqual([
    ['p1', 'certain'],
    ['p0', 'possible'],
  ])
})

test('1 January says less than another day', () => {
  const unknownDay = { ...amina, birthDate: '1991-01-01' }
  const [sure, unsure] = [
    score(features(amina), features(amina), matching),
    score(features(unknownDay), features(unknownDay), matching),
  ]
  expect(sure.bits - unsure.bits).toBeGreaterThan(4)
})

test('the threshold is log2 of the people plus 6.63 bits, and a small register does not lower it', () => {
  expect(limitsFor(matching, { people: 66_000 }).match).toBeCloseTo(Math.log2(66_000) + 6.63, 2)
  expect(limitsFor(matching, { people: 4 })).toEqual(limitsFor(matching, { people: 1000 }))
  const little = { given: 'Aminatou', family: 'Belo', birthDate: '1991-04-27' }
  const candidates = [{ id: 'a', features: features(amina) }]
  const outcomes = [1_000, 30_000_000].map(people => decide(features(little), candidates, matching, { people }).outcome)
  expect(outcomes).toEqual(['match', 'new'])
})

test('without a given name or a birth date nobody is linked', () => {
  expect(decided({ ...amina, given: undefined }, amina).outcome).not.toBe('match')
  expect(decided({ ...amina, birthDate: undefined }, amina).outcome).not.toBe('match')
  expect(decided({}, amina)).toMatchObject({ outcome: 'new' })
})

test('a name that few have says more than one that many have', () => {
  const bits = (share: number): number => score(features(amina), features(amina), matching, () => share).bits
  expect(bits(0.00001)).toBeGreaterThan(bits(0.02))
  expect(bits(1e-9) - score(features(amina), features(amina), matching).bits).toBeCloseTo(2 * matching.rarityBits, 9)
})

test('a former name is found, too', () => {
  const married = featuresOf({
    ...person(amina),
    names: [
      { given: 'Aminatou', family: 'Oumarou' },
      { given: 'Aminatou', family: 'Bello' },
    ],
  })
  const decision = decide(features(amina), [{ id: 'a', features: married }], matching, town)
  expect(decision).toMatchObject({ outcome: 'match', id: 'a' })
})

test('a score explains itself without saying what anybody is called', () => {
  const [best] = decided({ ...amina, given: 'Fadimatou' }, amina).ranked
  expect(explain(best!.score)).toEqual([
    'given: different (-5.6 bits, no match at this level)',
    'family: same (+8.1 bits)',
    'birth date: same (+14.1 bits)',
    'sex: same (+1.0 bits)',
    'phone: same (+9.1 bits)',
  ])
  expect(best!.score.bits).toBeCloseTo(26.62, 2)
  expect(best!.probability).toBeGreaterThan(0.99)
})

test('it does not matter who is compared with whom', () => {
  for (const [, other] of [...samePerson, ...notToBeLinked]) {
    const there = score(features(amina), features(other), matching)
    const back = score(features(other), features(amina), matching)
    expect(back.bits).toBeCloseTo(there.bits, 9)
    expect(back.isBlocked).toBe(there.isBlocked)
  }
})

test('blocking keys are distinct, ascending 64-bit numbers, and bounded for whatever is sent', () => {
  const keys = blockingKeys(features(amina))
  expect(keys).toEqual([...new Set(keys)].sort((a, b) => (a < b ? -1 : 1)))
  expect(keys.every(key => BigInt.asIntN(64, key) === key)).toBe(true)
  expect(keys).toHaveLength(5)
  const many = Array.from({ length: 1000 }, (_, index) => 'abcdefghij'.slice(index % 7) + 'kb'.repeat(index % 9)).join(
    ' ',
  )
  const endless = { names: Array.from({ length: 50 }, () => ({ given: many, family: many })), birthDate: '1991-04-17' }
  expect(blockingKeys(featuresOf(endless)).length).toBeLessThan(200)
  expect(blockingKeys(featuresOf({ names: [] }))).toEqual([])
})
