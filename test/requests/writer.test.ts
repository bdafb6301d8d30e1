// The request log: written in groups behind the replies, dropped rather than waited for, with what was dropped on record.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import type { Statement } from '../../src/db/statement.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { createLog } from '../../src/lib/log.ts'
import type { LoggedRequest } from '../../src/requests/entry.ts'
import { pruneRequests } from '../../src/requests/prune.ts'
import { findRequest, findRequests, unloggedSince } from '../../src/requests/search.ts'
import { firstIdAt } from '../../src/requests/time.ts'
import { createRequestLogWriter, mostWaiting } from '../../src/requests/writer.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

const noon = Date.parse('2026-03-14T12:00:00Z')

const request = (more: Partial<LoggedRequest> = {}): LoggedRequest => ({
  ...{ at: noon, requestId: 'request-1', clientId: 'laboratory', organizationId: 'hospital-a', method: 'GET' },
  ...{ route: '/api/fhir/R4/{type}', resourceType: 'Patient', status: 200, errorCode: '', milliseconds: 3.25 },
  ...{ bytesIn: 0, bytesOut: 5_000_000_000 },
  ...more,
})

/** A writer, the statements it ran, and what it dropped. */
function writing(on: (statement: Statement) => Promise<void> = statement => database.run(statement)) {
  const statements: Statement[] = []
  const dropped: number[] = []
  const run = (statement: Statement): Promise<void> => {
    statements.push(statement)
    return on(statement)
  }
  const parts = {
    database: { ...database, run },
    log: createLog('silent'),
    dropped: (n: number) => void dropped.push(n),
  }
  return { ...createRequestLogWriter(parts), statements, dropped }
}

/** How many requests a statement writes. */
const sizeOf = ({ values }: Statement): number => (values[0] as Buffer).readInt32BE(12)

const of = (organization: string | undefined, filter = {}, limit = 10) =>
  findRequests(database, organization, filter, { limit })

test('requests that come together share a statement, and are found as they were, newest first', async () => {
  const writer = writing()
  const failed = {
    ...{ status: 503, errorCode: 'UNAVAILABLE', bytesIn: undefined, bytesOut: undefined },
    resourceType: '',
  }
  writer.note(request({ organizationId: 'together' }))
  writer.note(request({ organizationId: 'together', at: noon + 1.7, requestId: 'request-2', ...failed }))
  await writer.flush()
  expect(writer.statements).toHaveLength(1)
  const { bytesIn: _, bytesOut: __, ...rest } = { ...request(), ...failed, requestId: 'request-2' }
  expect(await of('together')).toEqual([
    {
      ...rest,
      id: expect.any(String),
      at: new Date(noon + 1),
      organizationId: 'together',
      bytesIn: null,
      bytesOut: null,
    },
    { ...request(), id: expect.any(String), at: new Date(noon), organizationId: 'together' },
  ])
})

test('closing writes what waits, and an idle log asks nothing of the database', async () => {
  const writer = writing()
  await writer.flush()
  expect(writer.statements).toEqual([])
  writer.note(request({ organizationId: 'closing' }))
  await writer.close()
  expect(await of('closing')).toHaveLength(1)
})

test('while a group is being written the next one is collected', async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>()
  const writer = writing(() => held)
  writer.note(request())
  const first = writer.flush()
  await new Promise(setImmediate)
  for (let n = 0; n < 3; n++) writer.note(request())
  resolve()
  await first
  await writer.flush()
  expect(writer.statements.map(sizeOf)).toEqual([1, 3])
})

test('what comes while too many wait is dropped, counted, and told with its time to the organisation alone', async () => {
  const writer = writing()
  for (let n = 0; n < mostWaiting; n++) writer.note(request({ organizationId: 'busy' }))
  writer.note(request({ organizationId: 'busy', at: noon + 1000 }))
  writer.note(request({ organizationId: 'busy', at: noon + 3000 }))
  writer.note(request({ organizationId: 'quiet', at: noon + 4000 }))
  expect(writer.dropped).toEqual([1, 1, 1])
  await writer.flush()
  const since = new Date(noon - 1)
  expect(await unloggedSince(database, 'busy', since)).toEqual({
    ...{ requests: 2, from: new Date(noon + 1000), to: new Date(noon + 3000) },
  })
  expect(await unloggedSince(database, undefined, since)).toMatchObject({ requests: 3, to: new Date(noon + 4000) })
  expect(await unloggedSince(database, 'elsewhere', since)).toBeUndefined()
  expect(await unloggedSince(database, 'busy', new Date(noon + 1001))).toBeUndefined()
  expect(await of('busy', {}, mostWaiting + 10)).toHaveLength(mostWaiting)
})

test('what the database does not take is dropped at once, and told once it answers again', async () => {
  let isDown = true
  const writer = writing(async statement => {
    if (isDown) throw new Error('down')
    return database.run(statement)
  })
  for (let n = 0; n < 1200; n++) writer.note(request({ organizationId: 'unlucky' }))
  await writer.flush()
  expect(writer.dropped).toEqual([1200])
  expect(writer.statements).toHaveLength(2)
  isDown = false
  writer.note(request({ organizationId: 'unlucky', at: noon + 60_000 }))
  await writer.flush()
  expect(await unloggedSince(database, 'unlucky', new Date(0))).toMatchObject({ requests: 1200, to: new Date(noon) })
  expect(await of('unlucky')).toHaveLength(1)
})

test('a thousand requests share a statement at most', async () => {
  const writer = writing(async () => {})
  for (let n = 0; n < 2500; n++) writer.note(request())
  await writer.flush()
  expect(writer.statements.map(sizeOf)).toEqual([1000, 1000, 500])
})

test('gaps that could not be told are told later as one, by organisation', async () => {
  let isDown = true
  const writer = writing(async statement => {
    if (isDown) throw new Error('down')
    return database.run(statement)
  })
  for (const [organizationId, at] of [
    ['first', noon],
    ['first', noon + 10],
    ['second', noon + 20],
  ] as const) {
    writer.note(request({ organizationId, at }))
    await writer.flush()
  }
  isDown = false
  writer.note(request({ organizationId: 'third' }))
  await writer.flush()
  const told = (organization: string) => unloggedSince(database, organization, new Date(noon))
  expect(await told('first')).toEqual({ requests: 2, from: new Date(noon), to: new Date(noon + 10) })
  expect(await told('second')).toEqual({ requests: 1, from: new Date(noon + 20), to: new Date(noon + 20) })
  expect(await told('third')).toBeUndefined()
})

test('what is dropped while a gap cannot be told is told with it', async () => {
  const { promise: held, reject } = Promise.withResolvers<void>()
  const broken = [Promise.reject(new Error('down')), held]
  broken[0]!.catch(() => {})
  const writer = writing(statement => broken.shift() ?? database.run(statement))
  writer.note(request({ organizationId: 'fourth' }))
  const writes = writer.flush()
  await new Promise(setImmediate)
  for (let n = 0; n < mostWaiting; n++) writer.note(request({ organizationId: 'fifth' }))
  writer.note(request({ organizationId: 'fourth', at: noon + 50 }))
  writer.note(request({ organizationId: 'fifth', at: noon + 60 }))
  reject(new Error('down'))
  await writes
  await writer.flush()
  const told = (organization: string) => unloggedSince(database, organization, new Date(noon))
  expect(await told('fourth')).toEqual({ requests: 2, from: new Date(noon), to: new Date(noon + 50) })
  expect(await told('fifth')).toEqual({ requests: 1, from: new Date(noon + 60), to: new Date(noon + 60) })
})

test('only its own commits are not waited for on disk', async () => {
  const own = await openTestDatabase(1)
  const setting = async () => {
    const [row] = await own.transaction(on =>
      on.query<{ at: string }>({ text: `select current_setting('synchronous_commit') as at`, values: [] }),
    )
    return row!.at
  }
  await own.run({ text: `set synchronous_commit = local`, values: [] })
  const writer = createRequestLogWriter({ database: own, log: createLog('silent'), dropped: () => {} })
  writer.note(request())
  await writer.flush()
  expect(await findRequests(own, undefined, {}, { limit: 10 })).toHaveLength(1)
  expect(await setting()).toBe('local')
})

describe('without being asked', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('what is noted is written a second later, once', async () => {
    const writer = writing(async () => {})
    writer.note(request())
    await vi.advanceTimersByTimeAsync(500)
    writer.note(request())
    await vi.advanceTimersByTimeAsync(499)
    expect(writer.statements).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(writer.statements.map(sizeOf)).toEqual([2])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('what comes while a group is being written is written a second after that', async () => {
    const { promise: held, resolve } = Promise.withResolvers<void>()
    const writer = writing(() => held)
    writer.note(request())
    await vi.advanceTimersByTimeAsync(1000)
    writer.note(request())
    await vi.advanceTimersByTimeAsync(5000)
    expect(writer.statements).toHaveLength(1)
    resolve()
    await vi.advanceTimersByTimeAsync(999)
    expect(writer.statements).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect([writer.statements.length, vi.getTimerCount()]).toEqual([2, 0])
  })

  test('a flush leaves nothing to do for later', async () => {
    const writer = writing(async () => {})
    writer.note(request())
    await writer.flush()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('searches', () => {
  beforeAll(async () => {
    const writer = writing()
    for (let n = 1; n <= 20_000; n++) {
      const [status, errorCode] =
        n % 500 === 0 ? [403, 'FORBIDDEN'] : n % 7001 === 7000 ? [500, 'INTERNAL_ERROR'] : [200, '']
      writer.note({
        ...{ at: 0x01a0_0000_0000 + n, requestId: `req-${n}`, clientId: `client-${n % 50}`, method: 'GET' },
        ...{ organizationId: n % 10 === 0 ? 'small' : 'large', route: `/route/${n % 40}`, resourceType: '' },
        ...{ status, errorCode, milliseconds: 1, bytesIn: 0, bytesOut: 0 },
      })
      if (n % 1000 === 0) await writer.flush()
    }
    await database.query({ text: 'analyze request_log, request_value', values: [] })
  })

  const explained = async (organization: string | undefined, filter: object): Promise<string> => {
    let plan = ''
    const on = {
      ...database,
      async query<Row extends object>({ text, values }: Statement): Promise<Row[]> {
        plan = JSON.stringify(await database.query({ text: `explain ${text}`, values }))
        return []
      },
    }
    await findRequests(on, organization, filter, { limit: 51 })
    return plan
  }

  test.each([
    ['of an organisation', 'small', {}],
    ['by request id', 'small', { requestId: 'req-10' }],
    ['by client', 'large', { clientId: 'client-7' }],
    ['of failures', 'large', { statusClass: 5 }],
    ['by error code, of all organisations', undefined, { errorCode: 'INTERNAL_ERROR' }],
    ['by route, of all organisations', undefined, { route: '/route/3' }],
    ['by client and error code', 'large', { clientId: 'client-7', errorCode: 'INTERNAL_ERROR' }],
    ['of a time, of all organisations', undefined, { from: new Date(0x01a00000_0001), to: new Date(0x01a00000_0009) }],
  ])('%s read an index, never the whole log', async (_, organization, filter) => {
    const plan = await explained(organization, filter)
    expect(plan).toContain('Index')
    expect(plan).not.toContain('Seq Scan')
  })

  test('combine what they ask for, and pages follow each other without gaps', async () => {
    const found = await of('small', { errorCode: 'FORBIDDEN', statusClass: 4 }, 100)
    expect(found).toHaveLength(40)
    expect(found.every(each => each.status === 403 && each.organizationId === 'small')).toBe(true)
    const [first] = found
    const rest = await findRequests(database, 'small', { errorCode: 'FORBIDDEN' }, { after: first!.id, limit: 100 })
    expect(rest).toEqual(found.slice(1))
    expect(await of('small', { statusClass: 5 })).toEqual([])
    expect(await of('large', { requestId: 'req-10' })).toEqual([])
    expect(await of('small', { requestId: 'req-10', method: 'POST' })).toEqual([])
    expect(await of('small', { requestId: 'req-10', resourceType: 'Patient' })).toEqual([])
  })

  test('of a time span begin with its first millisecond and end before its last', async () => {
    const at = (n: number) => 0x01a0_0000_0000 + n
    const within = async (from: number, to: number) =>
      (await of(undefined, { from: new Date(at(from)), to: new Date(at(to)) }, 100)).map(each => each.requestId)
    expect(await within(10, 12)).toEqual(['req-11', 'req-10'])
    expect(await within(10, 10)).toEqual([])
    expect(await of(undefined, { from: new Date(at(20_000)) }, 5)).toMatchObject([{ requestId: 'req-20000' }])
  })

  test('one request is found by the organisation that sent it, and by administrators', async () => {
    const [{ id } = { id: '' }] = await of('small', {}, 1)
    const seen = await Promise.all(['small', 'large', undefined].map(each => findRequest(database, each, id)))
    expect(seen.map(each => each?.id)).toEqual([id, undefined, id])
  })
})

test('what is too old is deleted in batches with its gaps, and what is not stays', async () => {
  const own = await openTestDatabase()
  const writer = createRequestLogWriter({ database: own, log: createLog('silent'), dropped: () => {} })
  const add = (count: number, at: number) => Array.from({ length: count }, () => writer.note(request({ at })))
  add(mostWaiting, noon - 1)
  add(1, noon - 1)
  await writer.flush()
  add(mostWaiting, noon - 1)
  await writer.flush()
  add(2, noon)
  await writer.flush()
  await own.query({ text: `insert into request_gap values ($1, now(), 'a', 1)`, values: [firstIdAt(noon)] })
  await writer.flush()
  await own.transaction(async on => {
    await on.query({ text: 'select pg_advisory_xact_lock($1)', values: [hash64('request log: prune')] })
    // Another process has its turn.
    expect(await pruneRequests(own, new Date(noon))).toBe(0)
  })
  expect(await pruneRequests(own, new Date(noon))).toBe(2 * mostWaiting)
  expect(await findRequests(own, undefined, {}, { limit: 10 })).toHaveLength(2)
  expect(await unloggedSince(own, undefined, new Date(0))).toMatchObject({ requests: 1, from: new Date(noon) })
})
