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

test('searches that do not end keep nobody waiting: whose search was not done in time is asked again later', async () => {
  const watchers = ['greedy', 'greedy', 'greedy', 'greedy', 'greedy', 'victim'].map((client_id, index) => ({
    ...{ key: index, id: `Subscription/${index}`, watches: 1, criteria: 'Basic?code=x', client_id },
    ...{ organization_id: client_id, scopes: [], consent_exempt: true },
  }))
  const followers = createFollowers({
    database: {
      query: async () => watchers.toReversed(),
      transaction: (work: (on: unknown) => unknown) => work({ run: async () => {} }),
    } as never,
    storeFor: ({ clientId }) =>
      ({
        parse: () => ({}),
        search: () => (clientId === 'greedy' ? new Promise(() => {}) : { matches: [{ id: 'a' }] }),
      }) as never,
    refused: () => expect.unreachable(),
  })
  const found = await followers.of([{ id: 'evt_1', type: 1, resource_id: 'a' }])
  expect(found.map(({ endpoint, isChecked }) => [endpoint, isChecked])).toEqual([
    [5, true],
    ...[4, 3, 2, 1, 0].map(key => [key, false]),
  ])
})
