import { expect, test } from 'vitest'
import { fold, holdsHealthId, mint, neighbour, parse } from '../../src/lib/health-id.ts'
import { rounds } from '../support/rounds.ts'

const known = ['CM-TQYE-6SRK-YQ6S', 'CM-9C1T-3NR9-A9HC', 'CM-6TTH-APZW-3HP1', 'CM-72GS-8CYN-J8XR']
const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

const passes = (text: string): boolean => 'healthId' in parse(text)
const put = (text: string, place: number, symbol: string): string =>
  text.slice(0, place) + symbol + text.slice(place + 1)

/** All that differ at this place, each as a whole. */
function others(text: string, place: number): string[] {
  return [...(place < 2 ? letters : symbols)]
    .filter(symbol => symbol !== text[place])
    .map(symbol => put(text, place, symbol))
}

test('the published Health IDs pass, and are given back as they are', () => {
  expect(known.map(parse)).toEqual(known.map(healthId => ({ healthId })))
})

test.each([
  ...[...known, 'cm-tqye-6srk-yq6s', 'CMTQYE6SRKYQ6S', 'visit.CM-TQYE-6SRK-YQ6S', 'a_CM-TQYE-6SRK-YQ6S_2'].map(
    text => [text, true] as const,
  ),
  ...['CM-TQYE-6SRK-YQ6T', 'xCM-TQYE-6SRK-YQ6S', 'CM-TQYE-6SRK-YQ6S1', '', 'CM', crypto.randomUUID()].map(
    text => [text, false] as const,
  ),
])('“%s” names a patient: %s', (text, isOne) => {
  expect(holdsHealthId(text)).toBe(isOne)
})

test('no single substitution passes, and each is traced back to the one ID that it came from', () => {
  for (const id of [...known, mint('ZA')]) {
    const folded = fold(id)
    for (let place = 0; place < 14; place++) {
      const wrong = others(folded, place)
      expect(wrong.filter(passes)).toEqual([])
      expect(wrong.filter(each => neighbour(each) !== id)).toEqual([])
    }
  }
})

test('no two substitutions pass', () => {
  const passed: string[] = []
  for (const id of [known[0]!, mint('NG')])
    for (let place = 0; place < 14; place++)
      for (const once of others(fold(id), place))
        for (let next = place + 1; next < 14; next++) passed.push(...others(once, next).filter(passes))
  expect(passed).toEqual([])
})

test('no swap of two symbols passes, and swapped neighbours are traced back', () => {
  for (const id of [...known, ...Array.from({ length: rounds(20, 200) }, () => mint('CM'))]) {
    const folded = fold(id)
    for (let a = 0; a < 14; a++) {
      for (let b = a + 1; b < 14; b++) {
        const wrong = put(put(folded, a, folded[b]!), b, folded[a]!)
        if (wrong === folded) continue
        expect(passes(wrong)).toBe(false)
        const isWithinPart = b === a + 1 && a !== 1
        if (isWithinPart) expect(neighbour(wrong)).toBe(id)
      }
    }
  }
})

test('the same body under another country never passes', () => {
  for (const id of known) {
    const countries = [...letters].flatMap(a => [...letters].map(b => a + b))
    expect(countries.filter(country => passes(country + id.slice(2)))).toEqual(['CM'])
  }
})

test('of the 1,024 endings that a form can have one passes', () => {
  for (let count = 0; count < rounds(10, 50); count++) {
    const body = Array.from({ length: 10 }, () => symbols[Math.floor(Math.random() * 32)]).join('')
    const endings = [...symbols].flatMap(one => [...symbols].map(other => one + other))
    expect([body, endings.filter(ending => passes(`CM${body}${ending}`)).length]).toEqual([body, 1])
  }
})

test.each([
  ['cm-tqye-6srk-yq6s', 'lower case'],
  ['  CM TQYE 6SRK YQ6S\n', 'spaces'],
  ['CMTQYE6SRKYQ6S', 'no hyphens'],
  ['CM–TQYE—6SRK‑YQ6S', 'dashes that a word processor puts in'],
  ['CM\u00a0TQYE\u00ad6SRK\u2212YQ6S', 'no-break space, soft hyphen and minus'],
])('%j is read: %s', text => {
  expect(parse(text)).toEqual({ healthId: 'CM-TQYE-6SRK-YQ6S' })
})

test('in the body O is zero, I and L are one; a country keeps its letters', () => {
  expect(fold('io-ilil-OOoo-LIO9')).toBe('IO111100001109')
})

test('the check symbols guard the country, so minting is by its letters', () => {
  const zeros = (bytes: number): Uint8Array => new Uint8Array(bytes)
  expect(mint('IO', zeros)).toMatch(/^IO-0000-0000-00[0-9A-HJKMNP-TV-Z]{2}$/)
  expect(mint('IO', zeros).slice(2)).not.toBe(mint('CM', zeros).slice(2))
  expect(() => mint('cm')).toThrow(RangeError)
  expect(() => mint('CMR')).toThrow(RangeError)
})

test('what is minted passes, fits the published grammar, and is not repeated', () => {
  const minted = Array.from({ length: rounds(2000, 20_000) }, () => mint('CM'))
  expect(minted.filter(id => !passes(id))).toEqual([])
  expect(minted.filter(id => !/^[A-Z]{2}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/.test(id))).toEqual([])
  expect(new Set(minted).size).toBe(minted.length)
})

test('what is malformed is told from what fails the check', () => {
  const malformed = ['', 'CM', 'CM-TQYE-6SRK-YQ6', 'CM-TQYE-6SRK-YQ6SS', 'C1-TQYE-6SRK-YQ6S', 'CM-TQYE-6SRK-YQ6U']
  for (const text of [
    ...malformed,
    'CM-TQYE-6SRK-YQ6$',
    'CM_TQYE_6SRK_YQ6S',
    ' '.repeat(1_000_000),
    'CM-TQYE-6SRK-YQ6ſ',
  ])
    expect(parse(text)).toEqual({ fault: 'malformed' })
  expect(parse('cm tqye 6srk yq6t')).toEqual({ fault: 'checksum', form: 'CM-TQYE-6SRK-YQ6T' })
})

test('a Health ID has no neighbour, nor has what is malformed', () => {
  expect([...known, '', 'CM-TQYE'].map(neighbour)).toEqual([...known, '', ''].map(() => undefined))
})
