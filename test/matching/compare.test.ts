// The bounds between the levels of names: on the bound itself a name belongs to the level that the bound begins.
import { expect, test } from 'vitest'
import { compareNames } from '../../src/matching/compare.ts'
import { jaroWinkler } from '../../src/matching/similarity.ts'

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
])('slips leave a name what it is from a length on: %s', (_name, a, b, level) => {
  expect(compareNames([a], [b], { similar: 0, near: 0 })).toBe(level)
})

test.each([
  [['JEAN', 'P'], ['JEANP'], 'same'],
  [['ANA', 'B'], ['ANAC'], 'different'],
  [['ANA', 'BO'], ['ANABU'], 'near'],
])('names written as one word and as two: %j and %j', (a, b, level) => {
  expect(compareNames(a, b, { similar: 1, near: 1 })).toBe(level)
})
