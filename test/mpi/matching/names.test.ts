import { expect, test } from 'vitest'
import { compareBirth, compareNames } from '../../../src/mpi/matching/compare.ts'
import { phonetic, sound, words } from '../../../src/mpi/matching/names.ts'
import { featuresOf, soundsOf } from '../../../src/mpi/matching/person.ts'
import { isOneSlip, jaroWinkler } from '../../../src/mpi/matching/similarity.ts'

test.each([
  ["N'Guessan Marie-Noëlle", ['NGUESSAN', 'MARIE', 'NOELLE']],
  ['N’GUESSAN', ['NGUESSAN']],
  ['  jean   paul. ', ['JEAN', 'PAUL']],
  ['Andrew29', ['ANDREW']],
  ['Ɓello Ɗanladi Œdipe Ŋgono', ['BELLO', 'DANLADI', 'OEDIPE', 'NGGONO']],
  ['Großmann', ['GROSSMANN']],
  ['Ælfric Øyvind Łucja Đorđe Ðana Þóra', ['AELFRIC', 'OYVIND', 'LUCJA', 'DORDE', 'DANA', 'THORA']],
  ['Ɛsi Ɔsei Ƴero Ɨtu Ʉmba', ['ESI', 'OSEI', 'YERO', 'ITU', 'UMBA']],
  ['محمد', ['محمد']],
  ['', []],
  ['- . 7', []],
])('the words of %j are %j', (text, expected) => {
  expect(words(text)).toEqual(expected)
})

test.each([
  ['MOUHAMADOU', 'MUHAMADU'],
  ['TCHAMBA', 'CHAMBA'],
  ['DJIBRIL', 'JIBRIL'],
  ['PHILIPPE', 'FILIPE'],
  ['KEMAYOU', 'CEMAIU'],
  ['ZACHARIE', 'SACHARIE'],
  ['AWAAA', 'AWA'],
  ['MAAAMADOU', 'MAMADU'],
])('%s and %s sound the same', (a, b) => {
  expect(sound(a)).toBe(sound(b))
  expect(phonetic(a)).toBe(phonetic(b))
})

test('the phonetic key is short, keeps that a word begins with a vowel, and is there for vowels alone', () => {
  expect(['HAMIDOU', 'AMADOU', 'MAMAMADOU', 'MBARGA', 'AOUA', 'ABANDA', 'EBANDA', 'BERNADETTE'].map(phonetic)).toEqual([
    'AMD',
    'AMD',
    'MD',
    'MBRG',
    'A',
    'ABND',
    'ABND',
    'BRND',
  ])
  expect(soundsOf(['H', 'MBARGA', 'MBERGUE'])).toEqual(['MBRG'])
})

test('of what somebody is called and telephoned at only so much is compared, and only what is told', () => {
  const name = { given: 'Un Deux Trois Quatre Cinq Six Sept', family: 'Ngo' }
  const phones = ['+237 6 50 00 01 01', '50000101', '1234567', '12345678', '２３４５６７８９', '34567890', '45678901']
  const { names, ...rest } = featuresOf({ names: [{ given: '-' }, name, name, name, name, name], sex: 'male', phones })
  expect(names).toEqual(Array(3).fill({ given: ['UN', 'DEUX', 'TROIS', 'QUATRE', 'CINQ', 'SIX'], family: ['NGO'] }))
  expect(rest).toEqual({ birth: undefined, sex: 'male', phones: ['50000101', '12345678', '23456789', '34567890'] })
  expect([featuresOf({ names: [], sex: 'female' }).sex, featuresOf({ names: [], sex: 'other' }).sex]).toEqual([
    'female',
    undefined,
  ])
  expect(words('a'.repeat(300))).toEqual(['A'.repeat(200)])
})

test.each([
  ['1984-03-12', { year: '1984', month: '03', day: '12' }],
  ['1984-03', { year: '1984', month: '03', day: '' }],
  ['1984', { year: '1984', month: '', day: '' }],
  ['about 1984', undefined],
])('of the birth date %s as much is known as is written', (birthDate, birth) => {
  expect(featuresOf({ names: [], birthDate })).toEqual({ names: [], birth, sex: undefined, phones: [] })
})

test('Jaro-Winkler gives the figures of its authors', () => {
  expect(jaroWinkler('MARTHA', 'MARHTA')).toBeCloseTo(0.961, 3)
  expect(jaroWinkler('DWAYNE', 'DUANE')).toBeCloseTo(0.84, 3)
  expect(jaroWinkler('DIXON', 'DICKSONX')).toBeCloseTo(0.813, 3)
  expect(jaroWinkler('ABC', 'XYZ')).toBe(0)
  expect(jaroWinkler('', '')).toBe(1)
  // Four letters at the beginning count, and no more.
  expect(jaroWinkler('ABCDEFGH', 'ABCDEFGX')).toBeCloseTo(0.95, 9)
  // Letters that are further apart than half the length less one are not the same.
  expect([jaroWinkler('ABCDEFGH', 'HXXXXXXX'), jaroWinkler('HXXXXXXX', 'YYYYHYYY')]).toEqual([0, 0])
  expect(jaroWinkler('𞤀𞤁𞤂𞤃', '𞤀𞤁𞤂𞤃')).toBe(1)
  expect(jaroWinkler('𞤀𞤁𞤂𞤃', '𞤀𞤁𞤃𞤂')).toBeCloseTo(jaroWinkler('𞤀𞤁𞤃𞤂', '𞤀𞤁𞤂𞤃'), 9)
})

test('one slip is one digit, or two neighbours swapped', () => {
  expect(isOneSlip('1984', '1985')).toBe(true)
  expect(isOneSlip('1984', '1948')).toBe(true)
  expect(isOneSlip('1984', '1984')).toBe(false)
  expect(isOneSlip('1984', '1975')).toBe(false)
  expect(isOneSlip('1984', '198')).toBe(false)
  expect([isOneSlip('1234', '1354'), isOneSlip('1354', '1234'), isOneSlip('1984', '1895')]).toEqual([
    false,
    false,
    false,
  ])
})

const likeness = { near: 0.92, similar: 0.85 }

test.each([
  ['Jean Paul', 'JEANPAUL', 'same'],
  ['Jean Paul', 'Paul Jean', 'same'],
  ['Jean-Paul', 'Jean Pol', 'first_only'],
  ['Jean Paul', 'Jeanpaull', 'near'],
  ['Marieclaire', 'Marie Clara', 'similar'],
  ['Bernadette', 'Bernardette', 'near'],
  ['Mouhamadou', 'Muhamadu', 'near'],
  ['Marie Claire', 'Marie', 'shortened'],
  ['Marie Claire', 'Marie C.', 'near'],
  ['Marie Claire', 'Marie Louise', 'first_only'],
  ['Marie Claire', 'Claire', 'part'],
  ['Awa', 'Hawa', 'similar'],
  ['Angela', 'Angelica', 'similar'],
  ['Pierre', 'Emmanuel', 'different'],
])('of given names, %s and %s are %s', (a, b, level) => {
  expect(compareNames(words(a), words(b), likeness)).toBe(level)
  expect(compareNames(words(b), words(a), likeness)).toBe(level)
})

test('of two names that many have, neither is a slip of the other', () => {
  const isOwnName = (word: string): boolean => ['MARIA', 'MARIE'].includes(word)
  expect(compareNames(['MARIA'], ['MARIE'], likeness)).toBe('near')
  expect(compareNames(['MARIA'], ['MARIE'], { ...likeness, isOwnName })).toBe('similar')
  expect(compareNames(['MARIA'], ['MARIAA'], { ...likeness, isOwnName })).toBe('near')
})

test('a name that is not known says nothing', () => {
  expect(compareNames([], ['MARIE'], likeness)).toBeUndefined()
})

test.each([
  ['1984-03-12', '1984-03-12', 'same'],
  ['1984-01-01', '1984-01-01', 'same_first_of_january'],
  ['1984-01-12', '1984-01-12', 'same'],
  ['1984-05-01', '1984-05-01', 'same'],
  ['1984-03-12', '1984-12-03', 'day_and_month_swapped'],
  ['1984-03-12', '1984-12-05', 'year'],
  ['1984-03-12', '1984-05-03', 'year'],
  ['1984-03-12', '1984-03-21', 'one_part'],
  ['1984-03-12', '1984-04-12', 'one_part'],
  ['1984-03-12', '1985-03-12', 'one_part'],
  ['1984-03-12', '1994-03-12', 'one_part'],
  ['1984-03-12', '2004-03-12', 'different'],
  ['1984-03-12', '1995-03-12', 'different'],
  ['1989-03-12', '1990-03-12', 'one_part'],
  ['1984', '1985', 'different'],
  ['1984', '1984', 'year'],
  ['1984-03', '1984-03', 'year'],
  ['1984', '1984-01-01', 'year'],
  ['1984-03-12', '1984-01-01', 'estimated'],
  ['1984-01-01', '1985-01-01', 'different'],
  ['1984-03-12', '1984-07-25', 'year'],
  ['1984-03-12', '1984', 'year'],
  ['1984-03-12', '1961-07-25', 'different'],
])('of birth dates, %s and %s are %s', (a, b, level) => {
  const birth = (birthDate: string) => featuresOf({ names: [], birthDate }).birth
  expect(compareBirth(birth(a), birth(b))).toBe(level)
  expect(compareBirth(birth(b), birth(a))).toBe(level)
})
