import { afterEach, expect, test, vi } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { createFollowers } from '../../src/webhooks/followers.ts'
import { openQueue } from '../support/queue.ts'

afterEach(() => void vi.useRealTimers())

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
  expect(searches).toHaveLength(4)
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
  const reason = `its criteria are not a valid search: ${failure.message}`
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

test('changes are told to the Subscriptions that follow their type now, in the name of whoever made them', async () => {
  const queue = await openQueue()
  const scopes = ['system/Flag.rs']
  const client = await queue.client({ organization_id: 'hospital', consent_exempt: false, scopes })
  const gone = await queue.client({ revoked_at: new Date() })
  const [flag, basic] = [typeNumber('Flag'), typeNumber('Basic')]
  const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)]
  const pages = '_count=7&_sort=x&_include=x&_revinclude=x&_summary=x&_elements=x&_total=x&_format=x'
  const one = await queue.endpoint({ client_id: client, watches: flag, criteria: `status=active&${pages}` })
  const revoked = await queue.endpoint({ watches: flag, criteria: '', client_id: gone })
  await queue.endpoint({ watches: flag, criteria: '', ends_at: past })
  await queue.endpoint({ watches: flag, criteria: '', is_active: false })
  await queue.endpoint()
  const later = await queue.endpoint({ watches: flag, criteria: '', ends_at: future })
  const other = await queue.endpoint({ watches: basic, criteria: '' })
  await queue.endpoint({ watches: typeNumber('Condition'), criteria: '' })
  const asked: object[] = []
  const timeouts: unknown[] = []
  const followers = createFollowers({
    database: queue.database,
    storeFor: ({ clientId, organizationId, scopes: held, consentExempt, within }) =>
      ({
        parse: (...parsed: unknown[]) => parsed,
        search: async (parsed: unknown) => {
          timeouts.push(...(await within!.query({ text: 'show statement_timeout', values: [] })))
          asked.push({ clientId, organizationId, held, consentExempt, parsed })
          const [, query] = parsed as [unknown, [string, string][]]
          const [, ids] = query.find(([name]) => name === '_id')!
          return { matches: ids.split(',').map(id => ({ id })) }
        },
      }) as never,
    refused: () => expect.unreachable(),
  })
  const told = await followers.of([
    { id: 'evt_1', type: flag, resource_id: 'a' },
    { id: 'evt_2', type: flag, resource_id: 'a' },
    { id: 'evt_3', type: flag, resource_id: 'b' },
    { id: 'evt_4', type: basic, resource_id: 'a' },
  ])
  const ofFlags = (endpoint: number) => [
    { endpoint, event: 'evt_2', isChecked: true },
    { endpoint, event: 'evt_3', isChecked: true },
  ]
  expect(told).toEqual([...ofFlags(one), ...ofFlags(later), { endpoint: other, event: 'evt_4', isChecked: true }])
  const byFirst = { clientId: client, organizationId: 'hospital', held: scopes, consentExempt: false }
  expect(asked).toHaveLength(3)
  expect(asked).toContainEqual({
    ...byFirst,
    parsed: [
      ['Flag'],
      [
        ['status', 'active'],
        ['_id', 'a,b'],
        ['_count', '2'],
      ],
      true,
    ],
  })
  expect(timeouts).toEqual(Array(3).fill({ statement_timeout: '2s' }))
  expect([await followers.finds(one, 'c'), await followers.finds(revoked, 'c')]).toEqual([true, false])
  expect(asked.at(-1)).toMatchObject({ ...byFirst, parsed: [['Flag'], expect.arrayContaining([['_id', 'c']]), true] })
})

test('half a second is waited for a search, and nothing is left of that when it has ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const watcher = { key: 1, id: 'Subscription/1', watches: 1, criteria: '', client_id: 'x', organization_id: 'x' }
  const ends: (() => void)[] = []
  const followers = createFollowers({
    database: {
      query: async () => [{ ...watcher, scopes: [], consent_exempt: true }],
      transaction: () => new Promise(done => ends.push(() => done(['a']))),
    } as never,
    storeFor: () => expect.unreachable(),
    refused: () => expect.unreachable(),
  })
  const told = () => followers.of([{ id: 'evt_1', type: 1, resource_id: 'a' }])
  const isChecked = async (answer: ReturnType<typeof told>) => (await answer).map(each => each.isChecked)
  const turn = () => new Promise<void>(done => setImmediate(done))
  const quick = told()
  await turn()
  vi.advanceTimersByTime(499)
  ends[0]!()
  expect(await isChecked(quick)).toEqual([true])
  expect(vi.getTimerCount()).toBe(0)
  const late = told()
  await turn()
  vi.advanceTimersByTime(500)
  expect(await isChecked(late)).toEqual([false])
})
