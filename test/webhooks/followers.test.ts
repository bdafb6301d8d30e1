import { expect, test } from 'vitest'
import { createFollowers } from '../../src/webhooks/followers.ts'

test('a subscription whose search found no place in time is asked again later, not taken for one that finds nothing', async () => {
  const watcher = {
    key: 1,
    id: 'Subscription/1',
    watches: 1,
    criteria: '',
    client_id: 'x',
    organization_id: 'x',
    scopes: [],
  }
  const searches: (() => void)[] = []
  const followers = createFollowers({
    // Its searches end when the test says so.
    database: {
      query: async () => [{ ...watcher, consent_exempt: true }],
      transaction: () => new Promise(done => searches.push(() => done([]))),
    } as never,
    storeFor: () => expect.unreachable(),
    refused: () => expect.unreachable(),
  })
  const others = Array.from({ length: 4 }, () => followers.finds(1, 'other'))
  await expect.poll(() => searches.length).toBe(4)
  const answer = followers.of([{ id: 'evt_1', type: 1, resource_id: 'a' }])
  await new Promise(done => setTimeout(done, 10))
  // The process is busy until the time is over: the place comes before the timer does.
  for (const until = performance.now() + 550; performance.now() < until; );
  for (const each of searches) each()
  await Promise.all(others)
  expect(await answer).toEqual([{ endpoint: 1, event: 'evt_1', isChecked: false }])
})
