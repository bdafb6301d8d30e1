// How a process follows what others change about identity: what it hears, what it looks for, and until when it trusts what it knows.
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { follow, type News, publish } from '../../src/identity/news.ts'
import { createLog } from '../../src/lib/log.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
afterEach(() => void vi.useRealTimers())

/** Follows with a clock that the test holds; `looks` says of each look whether it was for everything. */
async function following() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const known = { looks: [] as boolean[], heard: [] as News[], isBroken: false }
  const { isCurrent, close } = await follow(
    database,
    {
      hear: async news => {
        known.heard.push(news)
        if (known.isBroken) throw new Error('cannot read')
      },
      catchUp: async all => {
        known.looks.push(all)
        if (known.isBroken) throw new Error('cannot read')
      },
    },
    createLog('silent'),
  )
  const pass = async (ms: number): Promise<void> => {
    vi.advanceTimersByTime(ms)
    await settled()
  }
  return { known, isCurrent, close, pass, begun: known.looks.splice(0) }
}

const settled = () => new Promise<void>(done => setImmediate(done))

/** Gives the channel time: what it brings comes by a socket. */
const until = async (isThere: () => boolean): Promise<void> => {
  const late = AbortSignal.timeout(15_000)
  while (!isThere()) {
    late.throwIfAborted()
    await settled()
  }
}

const news: News = { kind: 'client', id: 'ada' }

test('whoever follows has looked at everything, and looks at the last minutes every fifteen seconds', async () => {
  const { known, begun, pass, close } = await following()
  expect(new Set(begun)).toEqual(new Set([true]))
  await pass(14_999)
  expect(known.looks).toEqual([])
  await pass(1)
  await pass(15_000)
  expect(known.looks).toEqual([false, false])
  await close()
})

test('what is told is heard, and nothing else is looked for', async () => {
  const { known, close } = await following()
  await publish(database, news)
  await until(() => known.heard.length > 0)
  expect(known).toMatchObject({ heard: [news], looks: [] })
  await close()
})

test('after news or looks that failed, everything is looked at until that succeeds', async () => {
  const { known, pass, close } = await following()
  known.isBroken = true
  await pass(15_000)
  await pass(15_000)
  known.isBroken = false
  await pass(15_000)
  await pass(15_000)
  expect(known.looks.splice(0)).toEqual([false, true, true, false])
  known.isBroken = true
  await publish(database, news)
  await until(() => known.heard.length > 0)
  known.isBroken = false
  await settled()
  await pass(15_000)
  expect(known.looks).toEqual([true])
  await close()
})

test('when the channel is back, everything is looked at', async () => {
  const { known, close } = await following()
  await database.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`,
    values: [],
  })
  await until(() => known.looks.length > 0)
  expect(known.looks).toEqual([true])
  await close()
})

test('what is known is trusted for a minute after the last look that succeeded, or the last news', async () => {
  const { known, isCurrent, pass, close } = await following()
  await pass(15_000)
  known.isBroken = true
  await pass(59_999)
  expect(isCurrent()).toBe(true)
  await pass(1)
  expect(isCurrent()).toBe(false)
  await publish(database, news)
  await until(() => known.heard.length > 0)
  expect(isCurrent()).toBe(true)
  await pass(60_000)
  expect(isCurrent()).toBe(false)
  known.isBroken = false
  await pass(15_000)
  expect(isCurrent()).toBe(true)
  await close()
})
