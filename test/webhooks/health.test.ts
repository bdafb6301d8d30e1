// How endpoints fare: what is written down of results, and how often.
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { int4Array, safeInt8Array } from '../../src/db/arrays.ts'
import type { Database } from '../../src/db/database.ts'
import { createHealth } from '../../src/webhooks/health.ts'
import { openTestDatabase } from '../support/database.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

type Results = Parameters<ReturnType<typeof createHealth>['note']>[0]

const result = (endpoint: number, outcome: string, isGone?: boolean) => ({ task: { endpoint }, outcome, isGone })

/** Notes results, and gives what was written of them: of each endpoint its failures, whether it succeeded, and whether it is gone. */
function notes() {
  const written: unknown[][] = []
  const health = createHealth({
    query: async ({ values }: { values: unknown[] }) => {
      written.push(values)
      return [{ key: 9 }]
    },
  } as never)
  return async (...results: object[]): Promise<unknown[] | undefined> => {
    const givenUp = await health.note(results as unknown as Results)
    const [values] = written.splice(0)
    expect(givenUp).toEqual(values ? [{ key: 9 }] : [])
    return values
  }
}

const rows = (...all: readonly (readonly [number, number, number, number])[]) => [
  safeInt8Array(all.map(([endpoint]) => endpoint)),
  ...[1, 2, 3].map(column => int4Array(all.map(row => row[column]!))),
]

test('failures are counted since the last success among the results, in the order of endpoints', async () => {
  const note = notes()
  expect(
    await note(
      ...[result(3, 'failed'), result(1, 'failed'), result(1, 'delivered'), result(2, 'delivered')],
      ...[result(2, 'failed'), result(2, 'exhausted'), result(4, 'withheld'), result(3, 'failed')],
    ),
  ).toEqual(rows([1, 0, 1, 0], [2, 2, 1, 0], [3, 2, 0, 0]))
  expect(await note(result(5, 'exhausted', true), result(5, 'failed', false))).toEqual(rows([5, 2, 0, 1]))
  expect(await note(result(4, 'withheld'))).toBeUndefined()
  expect(await note()).toBeUndefined()
})

test('that an endpoint is well is written once a second, and at once when it was not', async () => {
  const note = notes()
  const well = rows([1, 0, 1, 0])
  expect(await note(result(1, 'delivered'))).toEqual(well)
  expect(await note(result(1, 'delivered'))).toBeUndefined()
  vi.advanceTimersByTime(1000)
  expect(await note(result(1, 'delivered'))).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(await note(result(1, 'delivered'))).toEqual(well)
  expect(await note(result(1, 'failed'))).toEqual(rows([1, 1, 0, 0]))
  expect(await note(result(1, 'delivered'))).toEqual(well)
  expect(await note(result(1, 'delivered'))).toBeUndefined()
})

test('of ten thousand endpoints it is known that they are well', async () => {
  const note = notes()
  const all = Array.from({ length: 10_000 }, (_, at) => result(at, 'delivered'))
  expect(await note(...all)).toBeDefined()
  expect(await note(...all)).toBeUndefined()
  expect(await note(result(10_000, 'delivered'))).toBeDefined()
  expect(await note(result(0, 'delivered'))).toBeDefined()
})

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

/** So many endpoints of nobody. @returns their keys. */
async function endpoints(count: number): Promise<number[]> {
  const rows = await database.query<{ key: number }>({
    text: `insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets)
      select 'whs_' || gen_random_uuid(), 'app', 0, 0, 'https://app.example/', '{}', '' from generate_series(1, $1) returning key`,
    values: [count],
  })
  return rows.map(({ key }) => key)
}

const noted = (...results: object[]) => createHealth(database).note(results as unknown as Results)

interface State {
  readonly failures: number
  readonly failing_since: Date | null
  readonly last_delivery_at: Date | null
}

async function stateOf(endpoint: number): Promise<State | undefined> {
  const [state] = await database.query<State>({
    text: 'select failures, failing_since, last_delivery_at from webhook_health where endpoint = $1',
    values: [endpoint],
  })
  return state
}

test('failures add up until a delivery gets through, and it is known since when there were nothing but failures', async () => {
  const [endpoint, other] = (await endpoints(2)) as [number, number]
  const ends = async (...outcomes: string[]) => {
    await noted(...outcomes.map(outcome => result(endpoint, outcome)))
    return (await stateOf(endpoint))!
  }
  const first = await ends('failed')
  expect(first).toEqual({ failures: 1, failing_since: expect.any(Date), last_delivery_at: null })
  expect(await ends('failed', 'exhausted')).toEqual({ ...first, failures: 3 })
  const well = await ends('failed', 'delivered')
  expect(well).toEqual({ failures: 0, failing_since: null, last_delivery_at: expect.any(Date) })
  const again = await ends('failed')
  expect(again).toEqual({ ...well, failures: 1, failing_since: expect.any(Date) })
  await database.query({
    text: `update webhook_health set failing_since = '2026-01-01', last_delivery_at = '2026-01-01'`,
    values: [],
  })
  const both = await ends('delivered', 'failed', 'failed')
  expect(both.failures).toBe(2)
  for (const time of [both.failing_since, both.last_delivery_at])
    expect(time!.getTime()).toBeGreaterThan(Date.UTC(2026, 0, 2))
  expect(await stateOf(other)).toBeUndefined()
})

test('of an endpoint that is there no more nothing is written', async () => {
  const [endpoint] = (await endpoints(1)) as [number]
  await noted(result(endpoint, 'failed'), result(endpoint + 1, 'failed'))
  expect([(await stateOf(endpoint))?.failures, await stateOf(endpoint + 1)]).toEqual([1, undefined])
})

interface Endpoint {
  readonly id: string
  readonly is_active: boolean
  readonly disabled_because: string | null
  readonly revision: number
}

const endpointOf = async (key: number): Promise<Endpoint> => {
  const text = 'select id, is_active, disabled_because, revision from webhook_endpoint where key = $1'
  return (await database.query<Endpoint>({ text, values: [key] }))[0]!
}

test('an endpoint that is gone is given up at once, and no other', async () => {
  const [gone, failing] = (await endpoints(2)) as [number, number]
  const reason = 'the receiver responded with 410 Gone'
  const results = [result(gone, 'failed', true), result(failing, 'failed')]
  const { id } = await endpointOf(gone)
  expect(await noted(...results)).toEqual([{ key: gone, id, reason }])
  expect(await endpointOf(gone)).toEqual({ id, is_active: false, disabled_because: reason, revision: 2 })
  expect(await endpointOf(failing)).toMatchObject({ is_active: true, disabled_because: null, revision: 1 })
  // It is told once.
  expect(await noted(...results)).toEqual([])
  expect((await endpointOf(gone)).revision).toBe(2)
})

test('an endpoint is given up after five days of nothing but failures', async () => {
  const [failing, almost, well] = (await endpoints(3)) as [number, number, number]
  await noted(...[failing, almost, well].map(each => result(each, 'failed')))
  const since = (age: string, ...keys: number[]) =>
    database.query({
      text: 'update webhook_health set failing_since = now() - $1::interval where endpoint = any($2)',
      values: [age, keys],
    })
  await since('5 days 1 minute', failing, well)
  await since('4 days 23 hours', almost)
  const givenUp = await noted(result(failing, 'failed'), result(almost, 'failed'), result(well, 'delivered'))
  const reason = 'all delivery attempts failed for 5 days'
  expect(givenUp).toEqual([{ key: failing, id: (await endpointOf(failing)).id, reason }])
  expect(await endpointOf(failing)).toMatchObject({ is_active: false, disabled_because: reason })
  for (const each of [almost, well]) expect((await endpointOf(each)).is_active).toBe(true)
})
