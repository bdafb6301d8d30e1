import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { uncachedHash64 } from '../../../src/lib/hash.ts'
import { blockingKeys } from '../../../src/mpi/matching/blocking.ts'
import { type Decision, decide, limitsFor } from '../../../src/mpi/matching/decide.ts'
import { featuresOf, type Person } from '../../../src/mpi/matching/person.ts'
import { explain, score } from '../../../src/mpi/matching/score.ts'
import { readMatching } from '../../../src/mpi/matching/weights.ts'

const matching = readMatching(readFileSync('mappings/matching.json', 'utf8'), 'mappings/matching.json')
const town = { people: 60_000 }

interface Known {
  readonly given?: string
  readonly family?: string
  readonly birthDate?: string
  readonly birthOrder?: number
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

function person({ given, family, birthDate, birthOrder, sex, phone }: Known): Person {
  return { names: [{ given, family }], birthDate, birthOrder, sex, phones: phone ? [phone] : [] }
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

test('twins are told apart by their birth order where a slip could explain the difference of their names', () => {
  const twins = [
    { ...amina, given: 'Christelle', birthOrder: 1 },
    { ...amina, given: 'Christella', birthOrder: 2 },
  ] as const
  expect(decided({ ...twins[1], birthOrder: undefined }, twins[0])).toMatchObject({ outcome: 'match' })
  expect(decided(twins[1], twins[0])).toMatchObject({ outcome: 'possible', possible: 1 })
  expect(decided(twins[1], ...twins)).toMatchObject({ outcome: 'match', id: 'p1' })
})

test.each(notToBeLinked)('%s is never linked, but shown to a person', (_, other) => {
  expect(decided(other, amina)).toMatchObject({ outcome: 'possible', possible: 1 })
  expect(decided(other, amina).id).toBeUndefined()
})

const unnamed: [string, Known, Known?][] = [
  ['newborn', { ...amina, given: 'Baby' }],
  ['newborn girl', { ...amina, given: 'Baby Girl' }],
  ['newborn in French', { ...amina, given: 'Nouveau-né' }],
  ['first twin beside the second', { ...amina, given: 'Jumelle 1' }, { ...amina, given: 'Jumelle 2' }],
  ['newborn beside the one who has a name', { ...amina, given: 'Bébé' }, amina],
  ['person nobody knows', { ...amina, given: 'Inconnue' }],
  ['person whose names say so both', { ...amina, given: 'X', family: 'Inconnue' }],
  [
    'person whose names say so, exchanged',
    { ...amina, given: 'Bello', family: 'X' },
    { ...amina, given: 'X', family: 'Bello' },
  ],
  [
    'child named after the mother and a number',
    { ...amina, given: 'Aminas girl1' },
    { ...amina, given: 'Aminas girl2' },
  ],
  ['child with a number beside one without', { ...amina, given: 'Amina 2' }, { ...amina, given: 'Amina' }],
  ['child with a Roman number', { ...amina, given: 'Amina II' }, { ...amina, given: 'Amina I' }],
]

test.each(unnamed)('a %s is not linked by the name', (_, one, other = one) => {
  const decision = decided(one, other)
  expect([decision.outcome, decision.id]).toEqual(['possible', undefined])
  expect(decision.ranked[0]!.score).toMatchObject({ isBlocked: true })
})

test('a birth date that forms state where it is not known is none, whatever else agrees', () => {
  for (const birthDate of ['1900-01-01', '9999-12-31', '0001-01-01']) {
    const decision = decided({ ...amina, birthDate }, { ...amina, birthDate })
    expect([birthDate, decision.outcome, decision.id]).toEqual([birthDate, 'possible', undefined])
    expect(decided({ ...amina, birthDate }, amina).ranked[0]!.score).toMatchObject({ isContradicted: false })
  }
})

test('a telephone number that forms state where there is none has no weight', () => {
  const bits = (phone: string, other = phone) =>
    score(features({ ...amina, phone }), features({ ...amina, phone: other }), matching).bits
  const without = score(features({ ...amina, phone: undefined }), features(amina), matching).bits
  for (const phone of ['+237 600 000 000', '99999999', '12345678', '677777777']) {
    expect([phone, bits(phone)]).toEqual([phone, without])
    expect([phone, bits(phone, '670123456')]).toEqual([phone, without])
  }
  expect(bits('670123456')).toBeGreaterThan(without)
})

test('a name that only resembles a stand-in is a name, and a number in both is no obstacle', () => {
  for (const given of ['Babylas', 'Xavier', 'Testimony', 'Amina 2', 'Enoch', 'Fils-Aimé', 'Man'])
    expect(decided({ ...amina, given }, { ...amina, given })).toMatchObject({ outcome: 'match' })
})

test('what is vague does not contradict, what differs does', () => {
  const isContradicted = (one: Known, other: Known): boolean =>
    score(features(one), features(other), matching).isContradicted
  for (const vague of [
    { given: 'Baby' },
    { given: undefined },
    { birthDate: undefined },
    { birthDate: '1991' },
    { birthDate: '1991-01-01' },
  ])
    expect(isContradicted({ ...amina, ...vague }, amina), JSON.stringify(vague)).toBe(false)
  for (const other of [
    { given: 'Fadimatou' },
    { family: 'Oumarou' },
    { birthDate: '1992' },
    { birthDate: '1991-09-30' },
    { sex: 'male' },
  ])
    expect(isContradicted({ ...amina, ...other }, amina), JSON.stringify(other)).toBe(true)
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
  const reversed = { ...married, names: married.names.toReversed() }
  expect(decide(features(amina), [{ id: 'a', features: reversed }], matching, town)).toEqual(decision)
})

/** The level to which names compare, and what it says, where these are the shares of those who have a word. */
function partsOf(a: Known, b: Known, shares: Readonly<Record<string, number>> = {}) {
  const { parts } = score(features(a), features(b), matching, (_, word) => shares[word])
  const part = (field: string) => parts.find(each => each.field === field)
  return { given: part('given')!, family: part('family')!, exchanged: part('names_exchanged') }
}

test('what is not known is no part of a score', () => {
  const { parts } = score(features({ ...amina, given: undefined, sex: undefined }), features(amina), matching)
  expect(parts.map(({ field, level }) => [field, level])).toEqual([
    ['family', 'same'],
    ['birth_date', 'same'],
    ['phone', 'same'],
  ])
})

test('names are taken as exchanged if both agree, and not if one does', () => {
  const called = (given: string, family: string): Known => ({ given, family, birthDate: '1991-04-17' })
  expect(partsOf(called('Bello', 'Aminatou'), called('Aminatou', 'Bello')).exchanged).toEqual({
    ...{ field: 'names_exchanged', level: 'yes' },
    ...{ bits: matching.exchangedBits, blocks: false },
  })
  const exchanged = (a: Known, b: Known) => partsOf(a, b).exchanged !== undefined
  expect(exchanged(called('Bello', 'Aminatou'), called('Aminatou', 'Bello'))).toBe(true)
  expect(exchanged(called('Belllo', 'Aminatou'), called('Aminatou', 'Bello'))).toBe(true)
  expect(exchanged(called('Bello', 'Aminatou Zara'), called('Aminatou', 'Bello'))).toBe(true)
  expect(exchanged(called('Bello', 'Awa'), called('Hawa', 'Bello'))).toBe(false)
  expect(exchanged(called('Bello', 'Zara'), called('Aminatou', 'Bello'))).toBe(false)
  expect(partsOf(called('Bello', 'Zara'), called('Aminatou', 'Bello')).family.bits).toBeLessThan(0)
})

test('of two given names that at least one in ten thousand has neither is a slip of the other; family names are', () => {
  const level = (share: number) => {
    const named = (name: string): Known => ({ given: name, family: name })
    const { given, family } = partsOf(named('Maria'), named('Marie'), { MARIA: share, MARIE: share })
    return [given.level, family.level]
  }
  expect(level(0.0001)).toEqual(['similar', 'near'])
  expect(level(0.00009)).toEqual(['near', 'near'])
  expect(partsOf({ given: 'Maria' }, { given: 'Marie' }).given.level).toBe('near')
  const counted = (name: 'given' | 'family') =>
    score(features({ given: 'Maria' }), features({ given: 'Marie' }), matching, field =>
      field === name ? 1 : undefined,
    )
  expect([counted('given').parts[0]!.level, counted('family').parts[0]!.level]).toEqual(['similar', 'near'])
})

test('the rarest word of a name counts that is the same, the first of one that is shortened, and none of one that is near', () => {
  const usual = matching.usualShares.given
  const shares = { MARIE: usual * 2, ZENAIDA: usual / 2 }
  const more = (a: string, b: string): number => {
    const { level, bits } = partsOf({ given: a }, { given: b }, shares).given
    return bits - matching.fields.given[level]!.bits
  }
  expect(more('Marie Zenaida', 'Marie Zenaida')).toBeCloseTo(1, 9)
  expect(more('Marie Zenaida', 'Marie')).toBeCloseTo(-1, 9)
  expect(more('Zenaida', 'Zenaaida')).toBe(0)
})

test('on the bounds a match is one, a person looks, and a lead is too small', () => {
  const none = { bits: 0, blocks: false }
  const fields = {
    ...matching.fields,
    given: { ...matching.fields.given, same: { bits: 5, blocks: false } },
    family: { same: none, different: none },
    birth_date: { same: { bits: 5, blocks: false }, one_part: { bits: 3, blocks: false }, day_and_month_swapped: none },
    phone: { same: { bits: 5, blocks: false } },
  }
  const even = { ...matching, certainty: 0.5, review: 0.2, leadBits: 5, smallestPopulation: 1024, fields }
  const asked: Known = { given: 'Aminatou', family: 'Bello', birthDate: '1991-04-17', phone: '50000101' }
  const plain: Known = { ...asked, phone: undefined }
  const found = (...registered: Known[]) => {
    const candidates = registered.map((each, index) => ({ id: `p${9 - index}`, features: features(each) }))
    const { outcome, possible, ranked } = decide(features(asked), candidates, even, { people: 1 })
    return [
      outcome,
      possible,
      ...ranked.map(({ id, grade, probability }) => `${id} ${grade} ${probability.toFixed(3)}`),
    ]
  }
  expect(found(plain)).toEqual(['match', 0, 'p9 certain 0.500'])
  expect(found({ ...plain, birthDate: '1991-04-18' })).toEqual(['possible', 1, 'p9 possible 0.200'])
  expect(found({ ...plain, birthDate: '1991-17-04' })).toEqual(['new', 0, 'p9 certainly-not 0.030'])
  // Those who fit equally well are told in the order of their ids.
  expect(found(plain, plain)).toEqual(['ambiguous', 2, 'p8 probable 0.500', 'p9 probable 0.500'])
  const alike = ['p2', 'p1', 'p3'].map(id => ({ id, features: features(plain) }))
  for (const candidates of [alike, alike.toReversed()]) {
    const { ranked } = decide(features(asked), candidates, even, { people: 1 })
    expect(ranked.map(({ id }) => id)).toEqual(['p1', 'p2', 'p3'])
  }
  expect(found(plain, asked)).toEqual(['ambiguous', 2, 'p8 probable 0.970', 'p9 probable 0.500'])
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
  expect(explain({ ...best!.score, parts: [{ field: 'sex', level: 'same', bits: 0, blocks: false }] })).toEqual([
    'sex: same (+0.0 bits)',
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

test('blocking keys stay what they are, since those of people who are registered are stored', () => {
  const keysOf = (...texts: string[]) =>
    texts.map(text => uncachedHash64(`block ${text}`)).sort((a, b) => (a < b ? -1 : 1))
  const several: Known = { ...amina, given: 'Zara Aminatou', family: 'Bello Mbarga' }
  expect(blockingKeys(features(several))).toEqual(
    keysOf(
      'phone 50000101',
      ...['AMNT BL', 'AMNT MBRG', 'AMNT SR', 'BL MBRG', 'BL SR', 'MBRG SR'].map(pair => `year 1991 ${pair}`),
      ...['AMNT', 'BL', 'MBRG', 'SR'].map(each => `date 1991-04-17 ${each}`),
      'day 04-17 BL SR',
    ),
  )
  const { phone: _phone, ...silent } = amina
  expect(blockingKeys(features({ ...silent, birthDate: '1991' }))).toEqual(keysOf('year 1991 AMNT BL'))
  expect(blockingKeys(features({ ...amina, birthDate: undefined }))).toEqual(keysOf('phone 50000101'))
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
