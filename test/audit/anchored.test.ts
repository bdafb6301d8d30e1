// What the lines of an anchor prove, and what is wrong with lines that are not whole.
import { expect, test } from 'vitest'
import { type AnchorLine, lineText, readLine } from '../../src/audit/anchor-line.ts'
import { readAnchor } from '../../src/audit/anchored.ts'
import { sealingKey } from '../../src/audit/chain.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const hash = (letter: string) => letter.repeat(64)

/** Lines that follow each other; those with these numbers begin a file. */
function lines(count: number, ...beginning: number[]): string[] {
  const made: string[] = []
  for (let line = 1; line <= count; line++) {
    const heads = [{ chain: 1, sequence: line, hash: hash('a') }]
    const previous = made.length === 0 ? '' : readLine(key, made.at(-1)!)!.seal
    made.push(lineText(key, { line, time: `2026-05-0${line}`, begins: beginning.includes(line), heads, previous }))
  }
  return made
}

const [one, two, three, four] = lines(4, 1, 3) as [string, string, string, string]
const changed = (text: string, change: Partial<AnchorLine>) => lineText(key, { ...readLine(key, text)!, ...change })
const text = (...all: string[]) => all.map(each => `${each}\n`).join('')
const read = (...texts: string[]) =>
  readAnchor(
    key,
    texts.map((each, at) => ({ name: `file ${at + 1}`, text: each })),
  )

const badLine = 'the line was changed, or was not sealed with the key of this deployment'
const missing = (number: number, before: string) =>
  `lines before it are missing: it has number ${number} and follows ${before}`

test.each<[string, string[], number, string[]]>([
  ['nothing', [''], 0, []],
  ['lines in their order', [text(one, two, three, four)], 4, []],
  ['lines in another order', [text(four, two, one, three)], 4, []],
  ['a line that came twice', [text(one, two, two, three)], 4, []],
  ['two files', [text(one, two), text(three, four)], 4, []],
  ['a file that begins where another ended that is gone', [text(three, four)], 2, []],
  [
    'a file that follows another, but without its beginning',
    [text(one, two), text(four)],
    3,
    [`file 2, line 1: ${missing(4, 'number 2')}`],
  ],
  ['lines without their beginning', [text(two, three)], 2, [`file 1, line 1: ${missing(2, 'none')}`]],
  ['a gap', [text(one, three)], 2, [`file 1, line 2: ${missing(3, 'number 1')}`]],
  [
    'a beginning that follows nothing that is there',
    [text(one), text(three)],
    2,
    [`file 2, line 1: ${missing(3, 'number 1')}`],
  ],
  [
    'the right number after another line',
    [text(one, changed(two, { previous: hash('b') }))],
    2,
    [`file 1, line 2: ${missing(2, 'number 1')}`],
  ],
  [
    'another number after the right line',
    [text(one, changed(two, { line: 3 }))],
    2,
    [`file 1, line 2: ${missing(3, 'number 1')}`],
  ],
  ['two bad lines', [text(one, 'x', two, 'y')], 2, [`file 1, line 2: ${badLine}`]],
  ['a bad line, and the last cut off', [`${text('x', one)}${two}`], 1, [`file 1, line 1: ${badLine}`]],
  ['a line without its end', [`${text(one)}${two}`], 1, ['file 1, line 2: the line is cut off']],
  ['an empty line', [text(one, '', two)], 2, [`file 1, line 2: ${badLine}`]],
  [
    'a problem in each file',
    [text('x', one, two), text('y', three)],
    3,
    [`file 1, line 1: ${badLine}`, `file 2, line 1: ${badLine}`],
  ],
])('%s', (_what, texts, count, problems) => {
  const anchored = read(...texts)
  expect([anchored.lines, anchored.problems]).toEqual([count, problems])
})

test('of each chain the furthest head counts, of two that are as far the first', () => {
  const head = (chain: number, sequence: number, letter: string) => ({ chain, sequence, hash: hash(letter) })
  const heads = [head(1, 5, 'a'), head(2, 0, 'b'), head(1, 4, 'c'), head(1, 5, 'd'), head(2, 1, 'e')]
  const anchored = read(text(changed(one, { heads })))
  expect([...anchored.heads.values()]).toEqual([head(1, 5, 'a'), head(2, 1, 'e')])
  expect([...read(text(changed(one, { heads: [head(7, 0, 'f')] }))).heads.values()]).toEqual([head(7, 0, 'f')])
  expect(anchored.seen).toEqual(heads.map(each => ({ ...each, by: 'the anchor of 2026-05-01' })))
  expect(anchored.last).toMatchObject({ line: 1 })
})

test.each([
  ['no JSON', 'x'],
  ['null', 'null'],
  ['no heads', '{}'],
  ['another seal', one.replace(/"seal":"../, '"seal":"zz')],
  ['a shorter seal', one.replace(/"seal":"../, '"seal":"')],
  ['a seal that begins earlier', one.replace(/"seal":"/, '"seal":"00')],
  ['a seal that ends later', one.replace(/"}$/, '00"}')],
  ['another seal of the same length', one.replace(/"seal":"(.*)"/, `"seal":"${'0'.repeat(64)}"`)],
])('%s is no line', (_what, given) => expect(readLine(key, given)).toBeUndefined())
