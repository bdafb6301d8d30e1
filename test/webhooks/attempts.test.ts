// The attempts of an endpoint, page by page.
import { beforeAll, expect, test } from 'vitest'
import { type AttemptRow, attemptsOf } from '../../src/webhooks/attempts.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})

test('attempts are listed the newest first, and each once, however many began in one microsecond', async () => {
  const [one, other] = [1, 2]
  const event = await queue.event({ event: 'consent.granted' })
  const [a, b] = ['00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b']
  const at = (second: number, more = '') => `2026-05-01T10:00:0${second}.123456${more}Z`
  // In an order that is none of theirs.
  for (const [endpoint, of, delivery, attempt, time] of [
    ...[[one, event, b, 2, at(1)] as const, [one, event, a, 2, at(1)] as const, [one, event, b, 1, at(1)] as const],
    ...[[one, event, b, 3, at(1)] as const, [one, event, a, 1, at(2)] as const, [other, event, a, 1, at(1)] as const],
    ...[[one, 'evt_gone', a, 4, at(0)] as const, [one, 'evt_gone', a, 3, '2026-05-01T10:00:01.123455Z'] as const],
  ])
    await queue.put('webhook_attempt', {
      ...{ endpoint, event: of, delivery, attempt, outcome: 'failed', started_at: time, milliseconds: 1 },
    })
  const places = (rows: readonly AttemptRow[]) => rows.map(({ delivery, attempt }) => `${delivery.at(-1)}${attempt}`)
  const all = await attemptsOf(queue.database, one, undefined, undefined, 100)
  expect(places(all)).toEqual(['a1', 'b3', 'b2', 'b1', 'a2', 'a3', 'a4'])
  expect(all[0]).toMatchObject({ event, event_type: 'consent.granted', at: '1777629602123456', outcome: 'failed' })
  expect(all[5]).toMatchObject({ event: 'evt_gone', event_type: null, status: null, next_at: null })
  const found: string[] = []
  for (let last: AttemptRow | undefined; ; ) {
    const after = last && [last.at, last.delivery, String(last.attempt)]
    const page = await attemptsOf(queue.database, one, undefined, after, 2)
    found.push(...places(page))
    last = page.at(-1)
    if (!last) break
  }
  expect(found).toEqual(places(all))
  expect(places(await attemptsOf(queue.database, one, event, undefined, 100))).toEqual(['a1', 'b3', 'b2', 'b1', 'a2'])
  expect(places(await attemptsOf(queue.database, other, undefined, undefined, 100))).toEqual(['a1'])
})
