// The text of a narrative: XHTML without its tags, entities resolved (https://hl7.org/fhir/R4/narrative.html).

/** Emphasis within a word is no gap between words: H<sub>2</sub>O. */
const within = /^\/?(?:b|big|em|i|small|span|strong|sub|sup)$/

/**
 * Returns the visible text of the XHTML, with spaces where elements begin and end. Takes time in proportion to its length for any
 * input; from invalid XHTML it returns what it can.
 */
export function narrativeText(xhtml: string): string {
  let text = ''
  let at = 0
  for (let open = xhtml.indexOf('<'); open >= 0; open = xhtml.indexOf('<', at)) {
    text += xhtml.slice(at, open)
    const end = tagEnd(xhtml, open)
    if (!within.test(xhtml.slice(open + 1, end - 1))) text += ' '
    at = end
  }
  return resolved(text + xhtml.slice(at))
}

/** Where a tag or comment is over. A ">" within quotes belongs to an attribute. */
function tagEnd(xhtml: string, open: number): number {
  if (xhtml.startsWith('<!--', open)) {
    const close = xhtml.indexOf('-->', open + 4)
    return close < 0 ? xhtml.length : close + 3
  }
  let quote = ''
  for (let at = open + 1; at < xhtml.length; at++) {
    const sign = xhtml[at]!
    if (quote) quote = sign === quote ? '' : quote
    else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '>') return at + 1
  }
  return xhtml.length
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  szlig: 'ß',
  aelig: 'æ',
  AElig: 'Æ',
  oelig: 'œ',
  OElig: 'Œ',
  oslash: 'ø',
  Oslash: 'Ø',
  aring: 'å',
  Aring: 'Å',
  micro: 'µ',
}

const greek = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau'
const letters = new Map(greek.split(' ').map((name, index) => [name, String.fromCodePoint(0x3b1 + index)]))

/** Entities of letters become letters, without the accents that no search looks at; others become spaces. */
function resolved(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z]{2,8}));/g, (_all, decimal, hex, name) => {
    if (name === undefined) return codePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
    const accented = /^([A-Za-z])(?:acute|grave|circ|uml|tilde|cedil|caron)$/.exec(name)
    return accented?.[1] ?? named[name] ?? letters.get(name) ?? ' '
  })
}

const codePoint = (value: number): string => (value > 0 && value <= 0x10ffff ? String.fromCodePoint(value) : ' ')
