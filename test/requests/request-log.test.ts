// The request log of a process over time: what it keeps, and for how long.
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { createRequestLog } from '../../src/requests/request-log.ts'
import { findRequests } from '../../src/requests/search.ts'
import { openTestDatabase } from '../support/database.ts'

const now = new Date('2026-03-14T12:00:00Z')
const day = 86_400_000
const hour = 3_600_000

let database: Database
let lines: string[]
beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(() => {
  lines = []
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await database.query({ text: 'delete from request_log', values: [] })
})

const log = (days: number, on = database) =>
  createRequestLog({
    ...{ database: on, days, now: () => now, dropped: () => {} },
    log: createLog('warn', { write: line => void lines.push(line) }),
  })

const request = (at: number) => ({
  ...{ at, requestId: 'x', clientId: 'ward', organizationId: 'a', method: 'GET', route: '/', resourceType: '' },
  ...{ status: 200, errorCode: '', milliseconds: 1, bytesIn: 0, bytesOut: 0 },
})

const kept = async () => (await findRequests(database, undefined, {}, { limit: 10 })).map(({ at }) => at.getTime())

test('what is older than so many days is deleted each hour, until it is closed', async () => {
  const own = log(2)
  const old = now.getTime() - 2 * day
  for (const at of [old - 1, old, now.getTime()]) own.note(request(at))
  await own.flush()
  own.start()
  vi.advanceTimersByTime(hour - 1)
  expect(await kept()).toHaveLength(3)
  vi.advanceTimersByTime(1)
  await vi.waitFor(async () => expect(await kept()).toEqual([now.getTime(), old]))
  await own.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('closing writes what waits', async () => {
  const own = log(1)
  own.note(request(now.getTime()))
  await own.close()
  expect(await kept()).toHaveLength(1)
})

test('for no days nothing is written, and what was written before goes', async () => {
  const before = log(1)
  before.note(request(now.getTime() - 1))
  await before.close()
  const own = log(0)
  own.note(request(now.getTime()))
  own.start()
  vi.advanceTimersByTime(hour)
  await vi.waitFor(async () => expect(await kept()).toEqual([]))
  await own.close()
  expect(await kept()).toEqual([])
})

test('a database that does not answer is told in the log, and asked again an hour later', async () => {
  let asked = 0
  const transaction = () => {
    asked++
    return Promise.reject(new Error('down'))
  }
  const broken = { ...database, transaction }
  const own = log(1, broken)
  own.start()
  vi.advanceTimersByTime(2 * hour)
  await vi.waitFor(() => expect(lines).toHaveLength(2))
  expect([asked, lines[0]]).toEqual([2, expect.stringContaining('could not delete old requests')])
  expect(lines[0]).toContain('"message":"down"')
  await own.close()
})
