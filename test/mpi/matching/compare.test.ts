// The bounds between the levels of names: on the bound itself a name belongs to the level that the bound begins.
import { expect, test } from 'vitest'
import { compareNames, comparePhones, compareWhole } from '../../../src/mpi/matching/compare.ts'
import { jaroWinkler } from '../../../src/mpi/matching/similarity.ts'

const [one, other] = ['MARTINA', 'MARTUNO']
const likeness = jaroWinkler(one, other)

test.each([
  ['exactly the bound of similar names', { similar: likeness, near: 1 }, 'similar'],
  ['just below the bound of similar names', { similar: likeness + 1e-9, near: 1 }, 'different'],
])('a likeness of %s', (_name, bounds, level) => {
  expect(compareNames([one], [other], bounds)).toBe(level)
})

test('a likeness of exactly the bound of near names is near, and just below it similar', () => {
  const [angela, angelo] = ['ANGELAKIS', 'ANGELUKOS']
  const alike = jaroWinkler(angela, angelo)
  expect(compareNames([angela], [angelo], { similar: 0.5, near: alike })).toBe('near')
  expect(compareNames([angela], [angelo], { similar: 0.5, near: alike + 1e-9 })).toBe('similar')
})

test.each([
  ['four letters', 'AWAB', 'AWAP', 'similar'],
  ['five letters', 'KOUMB', 'KOUMK', 'near'],
  ['two slips in eight letters', 'KATARIBE', 'KATOPIBE', 'similar'],
  ['two slips in nine letters', 'KATARIBEN', 'KATOPIBEN', 'near'],
  ['two slips in eight letters, one of which is a ninth', 'KATARIBE', 'KATORIBER', 'similar'],
])('slips leave a name what it is from a length on: %s', (_name, a, b, level) => {
  expect(compareNames([a], [b], { similar: 0, near: 0 })).toBe(level)
})

test.each([
  [['JEAN', 'P'], ['JEANP'], 'same'],
  [['ANA', 'B'], ['ANAC'], 'different'],
  [['ANA', 'BO'], ['ANABU'], 'near'],
  [['ANA', 'B'], ['ANABU'], 'different'],
  [['ANABU'], ['ANA', 'B'], 'different'],
])('names written as one word and as two: %j and %j', (a, b, level) => {
  expect(compareNames(a, b, { similar: 1, near: 1 })).toBe(level)
})

test.each([
  [['MARIEE', 'CLAIRE'], ['MARIE'], 'near'],
  [['MARIE', 'CLAIRE', 'ANNE'], ['MARIE', 'LOUISE', 'CLAIRE'], 'near'],
  [['MARIE', 'CLAIRE'], ['MARIE', 'L'], 'first_only'],
  [['JOSEPH', 'BERNADETTE'], ['BERNARDETTE'], 'part'],
  [['MARIE'], [], undefined],
  [[], ['MARIE'], undefined],
])('names of several words: %j and %j are %s', (a, b, level) => {
  const likeness = { near: 0.92, similar: 0.85 }
  expect(compareNames(a, b, likeness)).toBe(level)
  expect(compareNames(b, a, likeness)).toBe(level)
})

test.each([
  ['male', 'male', 'same'],
  ['male', 'female', 'different'],
  ['male', undefined, undefined],
  [undefined, 'male', undefined],
] as const)('sexes: %s and %s are %s', (a, b, level) => expect(compareWhole(a, b)).toBe(level))

test.each([
  [1, 1, 'same'],
  [1, 2, 'different'],
  [2, undefined, undefined],
] as const)('places in a multiple birth: %s and %s are %s', (a, b, level) => expect(compareWhole(a, b)).toBe(level))

test.each([
  [['50000101', '50000102'], ['60000000', '50000102'], 'same'],
  [['50000101', '71110000'], ['60000000', '50000110'], 'near'],
  [['50000101', '71110000'], ['60000000'], 'different'],
  [['50000101'], [], undefined],
  [[], ['50000101'], undefined],
])('telephones: the best of %j and %j is %s', (a, b, level) => expect(comparePhones(a, b)).toBe(level))
