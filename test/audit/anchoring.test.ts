// Writing the anchor: which heads a line has, when there is one, and what becomes of it when the file or the collector fails.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type AnchorParts, createAnchor, settledTexts } from '../../src/audit/anchor.ts'
import { readLine } from '../../src/audit/anchor-line.ts'
import { readAnchor } from '../../src/audit/anchored.ts'
import { type Head, sealingKey } from '../../src/audit/chain.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { until } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { chainOf, emptyTrail, forge, trailDatabase } from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const head = (chain: number, sequence = 1): Head => ({ chain, sequence, hash: 'a'.repeat(64) })

let database: Database
let file: string
beforeAll(async () => {
  database = await trailDatabase()
})
beforeEach(async () => {
  await emptyTrail(database)
  const folder = await temporaryFolder('anchor')
  file = join(folder, 'within', 'anchor.ndjson')
})
afterEach(() => void vi.useRealTimers())

/** An anchor with a line every minute, by a clock that the test holds. */
function anchoring(more: Partial<AnchorParts> = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const told = { counted: [] as string[], errors: [] as object[], transactions: 0 }
  let last: Promise<unknown> | undefined
  const anchor = createAnchor({
    database: {
      ...database,
      transaction: work => {
        told.transactions++
        const done = database.transaction(work)
        last = done
        return done
      },
    },
    ...{ key, file, fileBytes: 1_000_000, seconds: 60, now: () => new Date('2026-05-01T10:00:00.000Z') },
    log: createLog('error', { write: line => void told.errors.push(JSON.parse(line)) }),
    counted: (target, outcome) => told.counted.push(`${target} ${outcome}`),
    ...more,
  })
  anchor.start()
  const pass = async (seconds: number): Promise<void> => {
    vi.advanceTimersByTime(seconds * 1000)
    await last?.catch(() => {})
    await new Promise<void>(done => setImmediate(done))
  }
  return { anchor, told, pass }
}

const textOf = (): Promise<string> => readFile(file, 'utf8').catch(() => '')
/** The heads of each line: `[[chain, sequence], …]`. */
const heads = async () =>
  (await textOf())
    .split('\n')
    .slice(0, -1)
    .map(line => readLine(key, line)!.heads.map(({ chain, sequence }) => [chain, sequence]))
const problems = async () => readAnchor(key, [{ name: 'anchor', text: await textOf() }]).problems

/** Makes the file impossible to write, until that is undone. */
async function shut(): Promise<() => Promise<void>> {
  await rm(dirname(file), { recursive: true, force: true })
  await writeFile(dirname(file), 'a file where a folder should be')
  return () => rm(dirname(file))
}

test('a line is written after each interval in which a chain moved, and the database is left alone in all others', async () => {
  const { anchor, told, pass } = anchoring()
  anchor.moved(head(1, 2))
  anchor.moved(head(1, 3))
  await pass(59)
  expect(await heads()).toEqual([])
  await pass(1)
  await pass(60)
  expect(await heads()).toEqual([[[1, 3]]])
  anchor.moved(head(1, 4))
  anchor.moved(head(2, 1))
  await pass(60)
  await pass(600)
  expect(await heads()).toEqual([
    [[1, 3]],
    [
      [1, 4],
      [2, 1],
    ],
  ])
  expect(told).toEqual({ counted: ['file written', 'file written'], errors: [], transactions: 2 })
  await anchor.close()
})

test('the first line has the heads, too, of chains whose process ended before it wrote them', async () => {
  await chainOf(database, key, 0)
  await chainOf(database, key, 3)
  await chainOf(database, key, 2)
  const { anchor, pass } = anchoring()
  await pass(60)
  expect(await heads()).toEqual([
    [
      [2, 3],
      [3, 2],
    ],
  ])
  await anchor.close()
  await chainOf(database, key, 4)
  const next = anchoring()
  await next.pass(60)
  expect((await heads()).slice(1)).toEqual([[[4, 4]]])
  await next.anchor.close()
})

test('a head that was not sealed with the key of this deployment is no witness', async () => {
  await chainOf(database, key, 2)
  await chainOf(database, key, 3)
  await forge(database, 'update audit_head set sequence = 9 where chain = 1')
  const { anchor, pass } = anchoring()
  await pass(60)
  expect(await heads()).toEqual([[[2, 3]]])
  await anchor.close()
})

test('where nothing is to be told there is no line', async () => {
  const { anchor, told, pass } = anchoring()
  await pass(60)
  await anchor.close()
  expect([await textOf(), told.counted]).toEqual(['', []])
})

test('a process in which nothing moved writes nothing when it ends, and no more after that', async () => {
  await chainOf(database, key, 3)
  const { anchor, told, pass } = anchoring()
  await anchor.close()
  await pass(600)
  expect(told.transactions).toBe(0)
})

test('what has moved is written when the process ends', async () => {
  const { anchor } = anchoring()
  anchor.moved(head(1, 7))
  await anchor.close()
  expect(await heads()).toEqual([[[1, 7]]])
})

test('a chain that moves while its line is written is in the next line', async () => {
  let moves = [head(1, 2)]
  const { anchor, pass } = anchoring({ counted: () => moves.splice(0).forEach(each => anchor.moved(each)) })
  anchor.moved(head(1))
  await pass(60)
  expect(moves).toEqual([])
  await pass(60)
  await pass(60)
  expect(await heads()).toEqual([[[1, 1]], [[1, 2]]])
  moves = [head(1, 4)]
  anchor.moved(head(1, 3))
  await anchor.close()
  expect((await heads()).slice(2)).toEqual([[[1, 3]]])
})

test('of a thousand chains the process knows the heads itself, those of more it reads from the database', async () => {
  const { anchor, pass } = anchoring()
  anchor.moved(head(7))
  await pass(60)
  const stored = await chainOf(database, key, 3)
  for (let chain = 2; chain <= 1001; chain++) anchor.moved(head(chain))
  anchor.moved({ ...stored, sequence: 2 })
  anchor.moved(head(5, 9))
  await pass(60)
  const [, line] = await heads()
  const others = Array.from({ length: 1000 }, (_, at) => [at + 2, at === 3 ? 9 : 1])
  expect(line).toEqual([...others, [1, 3]])
  await anchor.close()
})

test('what could not be written is told and counted, and is in the next line with all that the database has', async () => {
  const { anchor, told, pass } = anchoring()
  anchor.moved(head(5))
  await pass(60)
  const open = await shut()
  anchor.moved(head(5, 2))
  await pass(60)
  await pass(60)
  expect(told.counted).toEqual(['file written', 'file failed', 'file failed'])
  expect(told.errors).toMatchObject(
    Array(2).fill({ err: { code: 'ENOTDIR' }, msg: 'audit: could not write the anchor' }),
  )
  await chainOf(database, key, 3)
  await open()
  await pass(60)
  expect(await heads()).toEqual([
    [
      [5, 2],
      [1, 3],
    ],
  ])
  await anchor.close()
})

test('processes that share a file write one after another', async () => {
  const both = [anchoring(), anchoring()]
  for (const [at, { anchor }] of both.entries()) anchor.moved(head(at + 1))
  await Promise.all(both.map(({ anchor }) => anchor.close()))
  expect(await heads()).toHaveLength(2)
  expect(await problems()).toEqual([])
})

test('a collector gets each line once, in order, and after a failure those that it has missed', async () => {
  const sent: string[] = []
  let problem: string | undefined
  const { anchor, told, pass } = anchoring({
    send: async line => {
      if (problem === undefined) sent.push(line)
      return problem
    },
  })
  const move = async (sequence: number): Promise<void> => {
    anchor.moved(head(1, sequence))
    await pass(60)
  }
  await move(1)
  problem = 'it answered 500'
  await move(2)
  await move(3)
  expect(sent).toHaveLength(1)
  expect(told.counted).toEqual([
    ...['file written', 'url written', 'file written', 'url failed', 'file written', 'url failed'],
  ])
  const refused = { problem, msg: 'audit: could not send the anchor' }
  expect(told.errors).toMatchObject([
    { ...refused, lines: 1 },
    { ...refused, lines: 2 },
  ])
  problem = undefined
  // Nothing moves, and yet it is tried again.
  await pass(60)
  expect(sent.join('')).toBe(await textOf())
  expect(told.counted.slice(6)).toEqual(['url written', 'url written'])
  await move(4)
  await anchor.close()
  expect(sent.join('')).toBe(await textOf())
})

test('lines that a collector did not take are tried once more when the process ends', async () => {
  const tried: string[] = []
  const { anchor, pass } = anchoring({
    send: async line => {
      tried.push(line)
      return tried.length < 2 ? 'it answered 500' : undefined
    },
  })
  anchor.moved(head(1))
  await pass(60)
  await anchor.close()
  expect(tried).toEqual([await textOf(), await textOf()])
})

test('who reads the anchor waits until a line that is being written is there', async () => {
  let open = (): void => {}
  const held = new Promise<void>(done => (open = done))
  const waiting = async (lock: string): Promise<boolean> => {
    const rows = await database.query({
      text: 'select from pg_locks where not granted and locktype = $1 and database = (select oid from pg_database where datname = current_database())',
      values: [lock],
    })
    return rows.length > 0
  }
  let isLocked = false
  const holding = database.transaction(async on => {
    await on.query({ text: 'lock table audit_head in access exclusive mode', values: [] })
    isLocked = true
    await held
  })
  await until('the heads cannot be read', () => isLocked, 5)
  const { anchor } = anchoring()
  anchor.moved(head(1))
  const closed = anchor.close()
  await until('a line is being written', () => waiting('relation'), 5)
  const texts = settledTexts(database, file)
  await until('somebody waits to read it', () => waiting('advisory'), 5)
  open()
  await Promise.all([holding, closed])
  expect(await texts).toEqual([{ name: file, text: await textOf() }])
  expect(await heads()).toEqual([[[1, 1]]])
})
