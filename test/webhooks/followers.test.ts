import { expect, test } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
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

test('criteria find a resource or they do not, and those of whoever is gone find nothing', async () => {
  const finds = (watchers: object[], matches: object[]) =>
    createFollowers({
      database: {
        query: async () => watchers,
        transaction: (work: (on: unknown) => unknown) => work({ run: async () => {} }),
      } as never,
      storeFor: () => ({ parse: () => ({}), search: () => ({ matches }) }) as never,
      refused: () => expect.unreachable(),
    }).finds(1, 'a')
  const watcher = { key: 1, id: 'Subscription/1', watches: 1, criteria: '', client_id: 'x', organization_id: 'x' }
  const known = { ...watcher, scopes: [], consent_exempt: true }
  expect(await finds([known], [{ id: 'a' }])).toBe(true)
  expect(await finds([known], [])).toBe(false)
  expect(await finds([], [])).toBe(false)
})

test.each([
  [new Failure('UNAVAILABLE', 'The database is away.'), false],
  [new Failure('INTERNAL_ERROR', 'Something is broken.'), false],
  [new TypeError('broken'), false],
  [new Failure('MALFORMED_REQUEST', 'There is no such parameter.'), true],
])('a search that fails gives a subscription up only if its criteria are wrong: %s', async (failure, isGivenUp) => {
  const watcher = { key: 1, id: 'Subscription/1', watches: 1, criteria: '', client_id: 'x', organization_id: 'x' }
  const refused: object[] = []
  const followers = createFollowers({
    database: {
      query: async () => [{ ...watcher, scopes: [], consent_exempt: true }],
      transaction: () => Promise.reject(failure),
    } as never,
    storeFor: () => expect.unreachable(),
    refused: each => void refused.push(each),
  })
  if (isGivenUp) expect(await followers.finds(1, 'a')).toBe(false)
  else await expect(followers.finds(1, 'a')).rejects.toBe(failure)
  const reason = `its criteria cannot be searched by: ${failure.message}`
  expect(refused).toEqual(isGivenUp ? [{ id: 'Subscription/1', reason }] : [])
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
