// The page about the service itself: who sees it, its curves, sizes, slow searches and settings, and the reset of demo data.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { isOnCluster } from '../../support/citus.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startBeside, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { setClock } from '../connect/support.ts'

let service: Service
let administrator: PortalUser
const call = fhirCaller(() => service)
const minute = 60_000
const day = 24 * 60 * minute

beforeAll(async () => {
  service = await startService({
    METRICS_TOKEN: 'metrics-token-0123456789',
    SEARCH_TIMEOUT: '17000',
    AUDIT_ANCHOR_URL: 'http://127.0.0.1:9/anchors?token=collector-token',
  })
  administrator = await portalUser(service, ['administrator'])
})

/** Takes a sample at a moment, as a process does each minute. */
async function sampleAt(moment: number, taker = service): Promise<void> {
  setClock(moment)
  await taker.application.sampler.take()
  vi.useRealTimers()
}

const rowsIn = async (table: string) => {
  const database = await databaseOf(service)
  return Number((await database.query(`select count(*) from ${table}`)).rows[0].count)
}
const shown = async (query = '') => {
  const { status, text } = await administrator.get(`/portal/operations${query}`)
  expect(status).toBe(200)
  return text
}
const plain = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const section = (text: string, heading: string): string =>
  plain(text.split('<section').find(each => each.includes(`>${heading}</h2>`))!)

test('administrators alone see it', async () => {
  for (const role of ['developer', 'informaticist', 'privacy_officer'] as const) {
    const user = await portalUser(service, [role])
    expect((await user.get('/portal/operations')).status).toBe(403)
    expect((await user.post('/portal/operations/reset', { sure: 'yes' })).status).toBe(403)
    expect((await user.get('/portal')).text).not.toContain('href="/portal/operations"')
  }
  const text = plain(await shown())
  expect(text).toContain('Environment local')
  expect(text).toContain('Processes 1')
  expect(text).toContain('There are no samples yet')
})

describe('figures over time', () => {
  test('are samples of each minute, one however many processes take it, which outlive a restart', async () => {
    const now = Math.floor(Date.now() / day) * day + 12 * 60 * minute
    const beside = await startBeside(service)
    for (const minutes of [12, 11]) {
      for (let times = 0; times < 30; times++) await call('GET', 'Patient/none')
      await sampleAt(now - minutes * minute)
      await sampleAt(now - minutes * minute, beside)
    }
    expect(await rowsIn('metric_sample')).toBe(2)
    await beside.stop()
    setClock(now)
    const text = await shown()
    vi.useRealTimers()
    const figure = text.split('<figure').find(each => each.includes('Requests per second'))!
    const values = [...figure.matchAll(/<data value="([^"]+)">/g)].map(([, value]) => Number(value))
    expect(values.length % 3).toBe(0)
    expect(Math.max(...values)).toBeGreaterThan(0.4)
    expect(text.match(/<figure/g)).toHaveLength(5)
    expect(text).toMatch(/<script type="module" src="\/portal\/assets\/\w+\/operations\.js">/)
  })

  test('are kept for two days, sizes for 400 and searches for 7', async () => {
    const database = await databaseOf(service)
    const now = Date.now() + 30 * day
    await database.query(`insert into size_sample values ('2020-01-01', 1, '{}')`)
    await sampleAt(now)
    expect(await rowsIn('metric_sample')).toBe(1)
    expect(await rowsIn(`size_sample where day = '2020-01-01'`)).toBe(0)
    expect(await rowsIn('search_shape where day < current_date')).toBe(0)
    await database.query('delete from metric_sample')
  })

  test('of a process that is silent are left out, and the page says so', async () => {
    const failing = await startBeside(service)
    const database = await databaseOf(service)
    await database.query('alter table metric_sample rename to away')
    await sampleAt(Date.now(), failing)
    await database.query('alter table away rename to metric_sample')
    await failing.stop()
    expect(await shown('?hours=48')).toContain('There are no samples yet')
    expect((await administrator.get('/portal/operations?hours=7')).status).toBe(422)
  })
})

test('growth is told by the samples of earlier days, by type', async () => {
  await creatorBy(call)(
    { resourceType: 'Basic', id: 'one', code: { text: 'x' } },
    { resourceType: 'Basic', id: 'two', code: { text: 'x' } },
  )
  const database = await databaseOf(service)
  await database.query('delete from size_sample')
  const add = (days: number, bytes: number, types: object) =>
    database.query(`insert into size_sample values (current_date - $1::integer, $2, $3)`, [days, bytes, types])
  await add(0, 5, {})
  await add(1, 1000, { Basic: 1 })
  const rows = section(await shown(), 'Size and growth')
  expect(rows).toMatch(/The database \d[\d.,]* MB \+\d[\d.,]* MB – –/)
  expect(rows).toMatch(/Basic 2 \+1 – –/)
})

test.skipIf(isOnCluster())('many resources are estimated from the statistics of the database', async () => {
  const { resourcesByType } = await import('../../../src/store/estimates.ts')
  const database = await databaseOf(service)
  const { rows } = await database.query('select count(*)::int as count from resource')
  await database.query('analyze resource')
  const asked: string[] = []
  const on = {
    query: async ({ text, values }: { text: string; values: readonly unknown[] }) => {
      asked.push(text)
      const found = await database.query(text, [...values])
      return text.includes('reltuples') ? [{ rows: 1_000_000 }] : found.rows
    },
  }
  const found = await resourcesByType(on as never)
  expect(asked[1]).toContain('pg_stats')
  const { count } = found.find(({ type }) => type === 'Basic')!
  expect(count).toBeGreaterThan(1_500_000 / rows[0].count)
})

test('searches that took most time are listed by shape, of all processes, without what was searched for', async () => {
  const beside = await startBeside(service)
  for (const each of [service, beside]) {
    const ask = fhirCaller(() => each)
    await ask('GET', 'Patient?name=francine&birthdate=1990-01-01&_sort=-_lastUpdated', { token: service.token })
    await sampleAt(Date.now(), each)
  }
  await beside.stop()
  const text = await shown()
  const row = text.split('<tr>').find(each => each.includes('Patient?_sort&amp;birthdate&amp;name'))!
  expect(plain(row)).toMatch(/Patient\?_sort&amp;birthdate&amp;name 2 [\d.]+ ms [\d.]+ ms/)
  expect(text).not.toContain('francine')
})

test('settings are shown as they are in force, without secrets', async () => {
  const text = await shown()
  const settings = section(text, 'Settings in force')
  expect(settings).toMatch(/SEARCH_TIMEOUT 17000 not the default/)
  expect(settings).toMatch(/TIME_ZONE Africa\/Douala IANA/)
  expect(settings).toMatch(/METRICS_TOKEN secret/)
  expect(settings).toMatch(/ENCRYPTION_KEY secret/)
  expect(settings).toMatch(/DATABASE_URL secret/)
  expect(settings).toContain('AUDIT_ANCHOR_URL http://127.0.0.1:9/anchors …')
  for (const secret of [
    'metrics-token',
    'collector-password',
    'collector-token',
    Buffer.alloc(32, 'test').toString('base64'),
  ])
    expect(text).not.toContain(secret)
})

test('queues are listed with what waits', async () => {
  const queues = section(await shown(), 'What waits')
  expect(queues).toMatch(/Webhook deliveries that are due 0 –/)
  expect(queues).toContain('Changes that the audit trail has yet to record 0')
})

describe('the demo data', () => {
  test('is put back after a confirmation, which is on record with the user', async () => {
    const refused = await administrator.post('/portal/operations/reset', {})
    expect(refused.status).toBe(422)
    const { text, status, headers } = await administrator.post('/portal/operations/reset', { sure: 'yes' })
    expect([status, /\d+ resources of 4 demo patients/.test(text)]).toEqual([200, true])
    const { body } = await call('GET', 'Patient?_summary=count')
    expect(body.total).toBeGreaterThan(3)
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows).toMatchObject([
      { client_id: expect.stringMatching(/^user\//), query: expect.stringContaining('portal/operations/reset') },
    ])
    const from = { origin: 'https://evil.example' }
    expect((await administrator.post('/portal/operations/reset', { sure: 'yes' }, from)).status).toBe(403)
  })

  test('is not there in production', async () => {
    const production = await startBeside(service, { ENVIRONMENT: 'production', BASE_URL: service.url })
    const get = (path: string, init: RequestInit = {}) =>
      fetch(production.url + path, { ...init, headers: { cookie: administrator.cookie, origin: production.url } })
    const text = await (await get('/portal/operations')).text()
    expect(text).not.toContain('/portal/operations/reset')
    const body = new URLSearchParams({ sure: 'yes' })
    expect((await get('/portal/operations/reset', { method: 'POST', body })).status).toBe(403)
    await production.stop()
  })
})
