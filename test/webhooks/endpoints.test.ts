// The subscriptions of Connect in their table: what each operation changes of its own endpoint, and that it changes no other.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { authorHash } from '../../src/store/author.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import {
  aloneFor,
  changeEndpoint,
  createEndpoint,
  findEndpoint,
  listAll,
  listEndpoints,
  removeEndpoint,
  rotateEndpoint,
  sealFor,
  secretsOf,
  setFull,
  type Wish,
} from '../../src/webhooks/endpoints.ts'
import { openQueue, type Queue, within } from '../support/queue.ts'

const key = Buffer.alloc(32, 5)
const long = new Date('2026-01-02T03:04:05Z')
const missing = new Failure(
  'NOT_FOUND',
  'This client has no subscription with this id: list the subscriptions to see their ids.',
)

let queue: Queue
let [ada, bob] = ['', '']
beforeAll(async () => {
  queue = await openQueue()
  ada = await queue.client({ organization_id: 'hospital' })
  bob = await queue.client()
})

interface Row {
  readonly key: number
  readonly id: string
  readonly [column: string]: unknown
}
/** All endpoints, with how they fare and how much waits for them. */
const rows = (): Promise<Row[]> =>
  queue.query<Row>(
    `select p.*, h.failures, h.failing_since, h.last_delivery_at,
        (select count(*)::integer from webhook_delivery d where d.endpoint = p.key) as pending
      from webhook_endpoint p left join webhook_health h on h.endpoint = p.key order by p.key`,
  )

/** `one` of a client among others: another of the same client, one of somebody else's, and a FHIR Subscription of the same client. */
let one: Row
beforeEach(async () => {
  await queue.clear()
  const watches = typeNumber('Flag')
  for (const [id, more] of Object.entries({
    whs_before: { client_id: ada },
    whs_other: { client_id: bob },
    whs_one: { client_id: ada, description: 'first', events: ['patient.created'], secrets: sealed('whs_one') },
    'Subscription/1': { client_id: ada, watches, criteria: 'status=active' },
    whs_well: { client_id: ada },
  })) {
    const endpoint = await queue.endpoint({ id, created_at: long, updated_at: long, ...more })
    await queue.due(endpoint, 'evt_1')
    const health = { endpoint, failures: 3, failing_since: long, last_delivery_at: long }
    if (id !== 'whs_well') await queue.put('webhook_health', health)
  }
  one = (await rows()).find(({ id }) => id === 'whs_one')!
})

const sealed = (id: string): Buffer => sealFor(key, id, [{ secret: 'newest' }, { secret: 'older', until: 5 }])

/** The row of `one` after the work, by which no other has changed. */
async function changes(work: () => Promise<unknown>): Promise<Row | undefined> {
  const others = (all: Row[]) => all.filter(({ id }) => id !== one.id)
  const before = others(await rows())
  await work()
  const after = await rows()
  expect(others(after)).toEqual(before)
  return after.find(({ id }) => id === one.id)
}

/** Has it refused for an endpoint of somebody else, a FHIR Subscription and none at all; nothing changes by that. */
async function refusesOthers(work: (id: string) => Promise<unknown>): Promise<void> {
  const before = await rows()
  for (const id of ['whs_other', 'Subscription/1', 'whs_none']) await expect(work(id)).rejects.toEqual(missing)
  expect(await rows()).toEqual(before)
}

const shown = {
  ...{ id: 'whs_one', url: 'https://clinic.example.org/hooks', events: ['patient.created'], description: 'first' },
  ...{ isFull: false, isActive: true, disabledBecause: undefined, createdAt: long, updatedAt: long },
  ...{ lastDeliveryAt: long, failures: 3 },
}

test('an endpoint is made for its client alone, with a secret that only the key of the deployment opens', async () => {
  const wish = { url: 'https://hospital.example.org/', events: ['consent.granted'], description: 'to know' }
  const owner = { clientId: ada, organizationId: 'hospital' }
  const made = await queue.database.transaction(on => createEndpoint(on, key, owner, wish))
  const { id } = made.endpoint
  expect(id).toMatch(/^whs_[0-9A-Za-z]{24}$/)
  expect(made.endpoint).toEqual({
    ...{ key: expect.any(Number), id, clientId: ada, ...wish, isFull: false, isActive: true, failures: 0 },
    ...{ disabledBecause: undefined, createdAt: within(0), updatedAt: within(0), lastDeliveryAt: undefined },
  })
  const [row] = await queue.query<{ secrets: Buffer }>(
    'select author::text, organization::text, secrets from webhook_endpoint where id = $1',
    [id],
  )
  expect(row).toMatchObject({
    author: String(authorHash(ada)),
    organization: String(hash64('Organization/hospital')),
  })
  expect(secretsOf(key, id, row!.secrets)).toEqual([{ secret: made.secret }])
  expect(() => secretsOf(key, 'whs_one', row!.secrets)).toThrow()
})

test('a client has a hundred endpoints and no more, whatever others have, and however many FHIR Subscriptions it has', async () => {
  const wish = { url: 'https://hospital.example.org/', events: [], description: '' }
  const many = (client: string, count: number, watches: number | null) =>
    queue.query(
      `insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets, watches)
        select $1 || coalesce($3::integer, 0) || 'of' || n, $1, 0, 0, '', '{}', '', $3 from generate_series(1, $2::integer) as n`,
      [client, count, watches],
    )
  await many(ada, 96, null)
  await many(ada, 100, 1)
  await many(bob, 100, null)
  const make = () =>
    queue.database.transaction(on => createEndpoint(on, key, { clientId: ada, organizationId: 'x' }, wish))
  await make()
  await expect(make()).rejects.toEqual(
    new Failure('CONFLICT', 'A client can have at most 100 subscriptions: delete an unused one.'),
  )
})

test('while somebody makes an endpoint for a client, nobody else does', async () => {
  const isFree = async (client: string) =>
    (await queue.query<{ free: boolean }>('select pg_try_advisory_xact_lock(3, hashtext($1)) as free', [client]))[0]!
      .free
  const wish = { url: 'https://hospital.example.org/', events: [], description: '' }
  for (const work of [
    aloneFor,
    on => createEndpoint(on, key, { clientId: ada, organizationId: 'x' }, wish),
  ] as (typeof aloneFor)[])
    await queue.database.transaction(async on => {
      await work(on, ada)
      expect([await isFree(ada), await isFree(bob)]).toEqual([false, true])
    })
})

test('a client finds its own endpoint, and how it fares', async () => {
  const found = await findEndpoint(queue.database, 'whs_one', ada)
  expect(found).toEqual({ ...shown, key: one.key, clientId: ada })
  expect(await findEndpoint(queue.database, 'whs_well', ada)).toMatchObject({ failures: 0, lastDeliveryAt: undefined })
  await queue.query(`update webhook_endpoint set is_active = false, is_full = true, disabled_because = 'gone'`)
  const disabled = { isActive: false, isFull: true, disabledBecause: 'gone' }
  expect(await findEndpoint(queue.database, 'whs_one', ada)).toMatchObject(disabled)
  await refusesOthers(id => findEndpoint(queue.database, id, ada))
})

test('a client lists its own endpoints page by page, in the order in which they were made', async () => {
  const list = async (after: number, limit: number) => await listEndpoints(queue.database, ada, after, limit)
  const all = await list(0, 10)
  expect(all.map(({ id }) => id)).toEqual(['whs_before', 'whs_one', 'whs_well'])
  expect(all[1]).toEqual({ ...shown, key: one.key, clientId: ada })
  expect((await list(0, 2)).map(({ id }) => id)).toEqual(['whs_before', 'whs_one'])
  expect((await list(one.key, 2)).map(({ id }) => id)).toEqual(['whs_well'])
})

test.each([
  [{ url: 'https://new.example.org/' }, {}],
  [{ events: ['consent.revoked'] }, {}],
  [{ description: '' }, {}],
  [{}, {}],
  [{ isActive: false }, { is_active: false, disabled_because: 'the client has disabled it' }],
] as [Partial<Wish> & { isActive?: boolean }, object][])(
  'only what is named of an endpoint changes: %j',
  async ({ isActive, ...named }, change) => {
    const changed = await changes(() =>
      changeEndpoint(queue.database, 'whs_one', ada, { ...named, ...(isActive === undefined ? {} : { isActive }) }),
    )
    expect(changed).toEqual({ ...one, ...named, ...change, updated_at: within(0), revision: 2 })
  },
)

test('what has changed is shown with how the endpoint fares', async () => {
  const change = { description: 'second', isActive: false }
  const changed = await changeEndpoint(queue.database, 'whs_one', ada, change)
  expect(changed).toEqual({
    ...{ ...shown, key: one.key, clientId: ada, ...change, updatedAt: within(0) },
    disabledBecause: 'the client has disabled it',
  })
  const again = await changeEndpoint(queue.database, 'whs_one', ada, { url: 'https://new.example.org/' })
  expect(again).toMatchObject({ isActive: false, disabledBecause: 'the client has disabled it' })
  expect(await changeEndpoint(queue.database, 'whs_well', ada, {})).toMatchObject({ failures: 0 })
})

test('an endpoint that is enabled again begins with a clean slate', async () => {
  await queue.query(`update webhook_endpoint set is_active = false, disabled_because = 'gone' where id = 'whs_one'`)
  const changed = await changes(() => changeEndpoint(queue.database, 'whs_one', ada, { isActive: true }))
  expect(changed).toEqual({ ...one, updated_at: within(0), revision: 2, failures: 0, failing_since: null })
})

test('a client changes its own endpoints alone', async () => {
  await refusesOthers(id =>
    changeEndpoint(queue.database, id, ada, { url: 'https://new.example.org/', isActive: true }),
  )
})

test('an endpoint is removed with all that is to be delivered to it', async () => {
  expect(await changes(() => removeEndpoint(queue.database, 'whs_one', ada))).toBeUndefined()
  for (const table of ['webhook_health', 'webhook_delivery'])
    expect(await queue.query(`select from ${table} where endpoint = $1`, [one.key])).toEqual([])
  await refusesOthers(id => removeEndpoint(queue.database, id, ada))
})

const secretsNow = async () =>
  secretsOf(key, 'whs_one', (await rows()).find(({ id }) => id === 'whs_one')!['secrets'] as Buffer)

test('a new secret signs beside the newest before it for the overlap, and beside older ones whose overlap lasts', async () => {
  const terms = { overlap: 60, now: 1_000_000 }
  const changed = await changes(async () => {
    const made = await rotateEndpoint(queue.database, key, 'whs_one', ada, terms)
    expect(made.endpoint).toEqual({ ...shown, key: one.key, clientId: ada, updatedAt: within(0) })
    expect(made.until).toEqual(new Date(1_060_000))
    expect(await secretsNow()).toEqual([{ secret: made.secret }, { secret: 'newest', until: 1_060_000 }])
  })
  expect(changed).toEqual({ ...one, secrets: expect.any(Buffer), updated_at: within(0), revision: 2 })
  const last = await rotateEndpoint(queue.database, key, 'whs_one', ada, { overlap: 0, now: 2_000_000 })
  expect(await secretsNow()).toEqual([{ secret: last.secret }])
  await refusesOthers(id => rotateEndpoint(queue.database, key, id, ada, terms))
})

test('of two new secrets at a time the later one comes after the earlier one', async () => {
  const terms = { overlap: 60, now: 1_000_000 }
  const rotate = (on: Parameters<typeof rotateEndpoint>[0]) => rotateEndpoint(on, key, 'whs_one', ada, terms)
  let later: ReturnType<typeof rotate> | undefined
  const first = await queue.database.transaction(async on => {
    const made = await rotate(on)
    later = queue.database.transaction(rotate)
    const isWaiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    const late = AbortSignal.timeout(15_000)
    while ((await queue.query(isWaiting)).length === 0) late.throwIfAborted()
    return made
  })
  const { secret } = await later!
  expect(await secretsNow()).toEqual([
    { secret },
    { secret: first.secret, until: 1_060_000 },
    { secret: 'newest', until: 1_060_000 },
  ])
})

test('administrators see all endpoints, FHIR Subscriptions too, and how much waits for them', async () => {
  await queue.query(
    `insert into webhook_delivery (endpoint, event, id) select $1, 'evt_more' || n, gen_random_uuid() from generate_series(1, 1100) as n`,
    [one.key],
  )
  await queue.endpoint({ id: 'Subscription/2', client_id: bob, watches: typeNumber('Basic') })
  const all = await listAll(queue.database)
  expect(all.map(({ id, criteria, pending, organizationId }) => [id, criteria, pending, organizationId])).toEqual([
    ['whs_before', undefined, 1, 'hospital'],
    ['whs_other', undefined, 1, 'clinic'],
    ['whs_one', undefined, 1000, 'hospital'],
    ['Subscription/1', 'Flag?status=active', 1, 'hospital'],
    ['whs_well', undefined, 1, 'hospital'],
    ['Subscription/2', 'Basic?', 0, 'clinic'],
  ])
  expect(all[2]).toMatchObject({ ...shown, key: one.key, clientId: ada })
  expect(all[4]).toMatchObject({ failures: 0 })
})

test('an administrator has whole resources sent along, or no more', async () => {
  const full = await changes(() => setFull(queue.database, 'whs_one', true))
  expect(full).toEqual({ ...one, is_full: true, updated_at: within(0), revision: 2 })
  expect(await changes(() => setFull(queue.database, 'whs_one', false))).toMatchObject({ is_full: false, revision: 3 })
  for (const id of ['Subscription/1', 'whs_none'])
    await expect(setFull(queue.database, id, true)).rejects.toEqual(
      new Failure('NOT_FOUND', `There is no subscription ${id}.`),
    )
  expect((await rows()).filter(row => row['is_full'])).toEqual([])
})
