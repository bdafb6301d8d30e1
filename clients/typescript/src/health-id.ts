// Health IDs: read as people write them, and checked. A country, ten symbols and two check symbols, which are a
// Reed-Solomon code over GF(32).
import { invalid } from './errors.ts'

const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const spacesAndDashes = /[\s\p{Pd}\u00ad\u2212\u200b]/gu
const form = /^[A-Z]{2}[0-9A-HJKMNP-TV-Z]{12}$/

/** The powers of x in GF(32), by x^5 + x^2 + 1, and their logarithms. */
const powers: number[] = []
const logarithms: number[] = []
for (let power = 0, value = 1; power < 31; power++) {
  powers.push(value)
  logarithms[value] = power
  value = value & 16 ? ((value << 1) & 31) ^ 5 : value << 1
}

/**
 * Checks a Health ID and returns its canonical form, such as `CM-TQYE-6SRK-YQ6S`. Small letters, spaces and dashes do not
 * matter; O counts as 0, I and L as 1. Nothing is corrected beyond that.
 * @throws ValidationError `INVALID_HEALTH_ID` if it is none; most often one symbol was misread.
 */
export function normalizeHealthId(text: string): string {
  const folded = typeof text === 'string' && text.length <= 100 ? fold(text) : ''
  if (!form.test(folded) || !hasRightChecks(folded))
    throw invalid('INVALID_HEALTH_ID', 'The Health ID is not valid: check each symbol against the card.')
  return [folded.slice(0, 2), folded.slice(2, 6), folded.slice(6, 10), folded.slice(10)].join('-')
}

function fold(text: string): string {
  const bare = text.replace(spacesAndDashes, '').replace(/[a-z]/g, letter => letter.toUpperCase())
  return bare.slice(0, 2) + bare.slice(2).replaceAll('O', '0').replace(/[IL]/g, '1')
}

/** Whether the sums of v_i x^i and of v_i x^2i are both 0. */
function hasRightChecks(folded: string): boolean {
  let [one, two] = [0, 0]
  for (let place = 0; place < folded.length; place++) {
    const value = place < 2 ? folded.charCodeAt(place) - 64 : symbols.indexOf(folded[place]!)
    one ^= times(value, place)
    two ^= times(value, 2 * place)
  }
  return one === 0 && two === 0
}

const times = (value: number, power: number): number => (value === 0 ? 0 : powers[(logarithms[value]! + power) % 31]!)
