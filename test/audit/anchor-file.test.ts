// The file of an anchor by itself: which line is followed, and when a new file is begun.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { anchorFile, anchorTexts, formerOf } from '../../src/audit/anchor-file.ts'
import { readLine } from '../../src/audit/anchor-line.ts'
import { sealingKey } from '../../src/audit/chain.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const now = new Date('2026-05-01T10:00:00.000Z')
const head = (chain: number, sequence = 1) => ({ chain, sequence, hash: 'a'.repeat(64) })
const many = Array.from({ length: 1000 }, (_, at) => head(at + 1))

let file: string
beforeEach(async () => {
  const folder = await temporaryFolder('anchor')
  file = join(folder, 'anchor.ndjson')
})

const linesIn = async (name: string) =>
  (await readFile(name, 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map(text => readLine(key, text)!)

test('a line follows the one before it, however long that is and whatever stands before it', async () => {
  const anchor = anchorFile(file, key, 1_000_000)
  const longest = await anchor.add(many, now)
  expect(longest.length).toBeGreaterThan(65_536)
  for (const heads of [[head(1, 2)], many, [head(2, 2)], [head(3, 2)]]) await anchor.add(heads, now)
  const lines = await linesIn(file)
  expect(lines.map(({ line, begins }) => [line, begins])).toEqual([
    [1, true],
    [2, false],
    [3, false],
    [4, false],
    [5, false],
  ])
  expect(lines.map(({ previous }) => previous)).toEqual(['', ...lines.slice(0, -1).map(({ seal }) => seal)])
  expect(await anchor.read()).toMatchObject({ lines: 5, problems: [] })
})

test('the bytes beside the first line are those that count, with the end of that', async () => {
  const anchor = anchorFile(file, key, 1)
  for (let times = 0; times < 3; times++) await anchor.add([head(1, times + 1), head(times + 2)], now)
  expect((await linesIn(formerOf(file))).map(({ line, begins }) => [line, begins])).toEqual([
    [1, true],
    [2, false],
  ])
  const [begun, ...more] = await linesIn(file)
  expect(more).toEqual([])
  expect(begun).toMatchObject({ line: 3, begins: true })
  expect(begun!.heads.map(({ chain, sequence }) => [chain, sequence])).toEqual([
    [1, 3],
    [2, 1],
    [3, 1],
    [4, 1],
  ])
  expect(await anchor.read()).toMatchObject({ lines: 3, problems: [] })
})

test('a file that is empty is begun, and one that ends in the middle of a line is set aside', async () => {
  const anchor = anchorFile(file, key, 1_000_000)
  await writeFile(file, '')
  await anchor.add([head(1)], now)
  const whole = await readFile(file, 'utf8')
  await writeFile(file, whole.slice(0, -1))
  await anchor.add([head(1, 2)], now)
  expect(await readFile(formerOf(file), 'utf8')).toBe(whole.slice(0, -1))
  expect((await linesIn(file)).map(({ line, begins }) => [line, begins])).toEqual([[1, true]])
})

test('a file that is absent has no text; one that cannot be read is not taken for absent', async () => {
  expect(await anchorTexts(file)).toEqual([])
  await writeFile(file, '')
  expect(await anchorTexts(file)).toEqual([{ name: file, text: '' }])
  await expect(anchorTexts(join(file, 'within'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('a line that cannot be written is reported', async () => {
  // It takes nothing but a number.
  await expect(anchorFile('/proc/self/oom_score_adj', key, 1_000_000).add([head(1)], now)).rejects.toThrow()
})
