// What is too old to be asked for is forgotten, and nothing else.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { prune } from '../../src/webhooks/prune.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})
beforeEach(() => queue.clear())

const day = 86_400_000
/** An id of an event that happened so many days ago. */
const idOf = (days: number, more = ''): string =>
  `evt_${(Date.now() - days * day).toString(16).padStart(12, '0')}${more.padStart(20, '0')}`

const left = async (table: string, column: string): Promise<unknown[]> =>
  (await queue.query<Record<string, unknown>>(`select ${column} as kept from ${table} order by 1`)).map(
    row => row['kept'],
  )

test('events, deliveries and attempts of more days ago than are kept are forgotten, and no others', async () => {
  const ids = [idOf(30.1), idOf(29.9)]
  for (const id of ids) {
    await queue.event({ id })
    await queue.due(1, id)
  }
  const attempt = { endpoint: 1, delivery: crypto.randomUUID(), attempt: 1, outcome: 'failed', milliseconds: 1 }
  for (const days of [31, 30.1, 30.2, 29.9])
    await queue.put('webhook_attempt', {
      ...attempt,
      event: String(days),
      started_at: new Date(Date.now() - days * day),
    })
  expect(await prune(queue.database, 30)).toBe(5)
  expect([await left('event', 'id'), await left('webhook_delivery', 'event')]).toEqual([[ids[1]], [ids[1]]])
  expect(await left('webhook_attempt', 'event')).toEqual(['29.9'])
  expect(await prune(queue.database, 30)).toBe(0)
})

test('what is many is forgotten in parts of five thousand, until none is left', async () => {
  const parts = [5000, 5000, 4999, 5000, 0, 0]
  const query = async ({ text }: { text: string }): Promise<object[]> =>
    text.startsWith('delete') ? Array.from({ length: parts.shift()! }, () => ({})) : [{ oldest: '' }]
  expect(await prune({ query } as unknown as Database, 30)).toBe(19_999)
  expect(parts).toEqual([])
})
