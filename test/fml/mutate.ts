// Texts and data changed at random, the same way for the same seed.

/** A generator of numbers below a bound; the same for the same seed. */
export function dice(seed: number): (bound: number) => number {
  let state = seed
  return bound => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

const SPICE = [
  '{',
  '}',
  '(',
  ')',
  ';',
  "'",
  '"',
  '`',
  '/*',
  '*/',
  '//',
  '///',
  '"""',
  '->',
  '\\',
  '\n',
  '\0',
  '😀',
  '“',
  'group',
  'then',
  '<<',
  '__proto__',
  'constructor',
]

/** A text with a few of its pieces left out, doubled, swapped, or spiced. */
export function mutated(text: string, roll: (bound: number) => number): string {
  const pieces = text.split(roll(2) === 0 ? /(\s+|[^\w\s])/ : /(?=[\s\S])/)
  for (let times = 1 + roll(4); times > 0; times--) {
    const at = roll(pieces.length)
    const other = roll(pieces.length)
    const kind = roll(4)
    if (kind === 0) pieces.splice(at, 1 + roll(3))
    else if (kind === 1) pieces.splice(at, 0, pieces[other] ?? '')
    else if (kind === 2) [pieces[at], pieces[other]] = [pieces[other] ?? '', pieces[at] ?? '']
    else pieces.splice(at, 0, SPICE[roll(SPICE.length)]!)
  }
  return pieces.join('')
}

const HARMFUL = ['__proto__', 'constructor', 'prototype', 'toString', '_given', 'resourceType']
const STRANGE: readonly unknown[] = [
  null,
  true,
  -0.5,
  1e308,
  '',
  '\0',
  '2024-13-45',
  '__proto__',
  [],
  [null],
  [[]],
  {},
  { a: { b: [1] } },
  { toString: 1, valueOf: 1 },
]

/** Data with a few of its values replaced by what nobody expects, and keys that nobody should have. */
export function spoiled(data: unknown, roll: (bound: number) => number): unknown {
  const kind = roll(16)
  if (kind === 0) return STRANGE[roll(STRANGE.length)]
  if (Array.isArray(data)) {
    const items = data.map(each => spoiled(each, roll))
    return kind === 1 ? [...items, STRANGE[roll(STRANGE.length)]] : items
  }
  if (data === null || typeof data !== 'object') return data
  const entries = Object.entries(data).map(([key, value]) => [key, spoiled(value, roll)] as const)
  const more = [HARMFUL[roll(HARMFUL.length)]!, STRANGE[roll(STRANGE.length)]] as const
  // As JSON.parse does, `__proto__` becomes an element like others.
  return Object.fromEntries(kind < 3 ? [...entries, more] : entries)
}
