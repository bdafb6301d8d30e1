// What Prometheus scrapes, and who may.
import pg from 'pg'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { fhirCaller } from '../support/fhir.ts'
import { mustBeWellFormed, scrape } from '../support/metrics.ts'
import { until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const look = () => scrape(service.url)
let began: number

beforeAll(async () => {
  began = performance.now()
  service = await startService()
})

describe('requests', () => {
  test('are counted by method, route and status, and name nobody', async () => {
    const before = await look()
    const one = (method: string, route: string, status: number) =>
      `http_requests_total{method="${method}",route="${route}",status="${status}"}`
    const counted = [
      one('PUT', '/api/fhir/R4/{type}/{id}', 201),
      one('GET', '/api/fhir/R4/{type}/{id}', 200),
      one('GET', '/api/fhir/R4/{type}/{id}', 404),
      one('GET', '/api/fhir/R4/{type}', 200),
      one('GET', 'none', 404),
      one('other', 'none', 404),
    ]
    await call('PUT', 'Patient/francine-1', { body: { resourceType: 'Patient', id: 'francine-1' } })
    await call('GET', 'Patient/francine-1')
    await call('GET', 'Patient/francine-2')
    await call('GET', 'Patient?name=francine')
    await call('GET', '/francine')
    await call('PROPFIND', '/francine')
    const after = await look()
    expect(counted.map(line => (after.value(line) ?? 0) - (before.value(line) ?? 0))).toEqual([1, 1, 1, 1, 1, 1])
    expect(after.text).not.toContain('francine')
    expect(after.text).not.toContain('demo-client')
  })

  test('have durations in seconds, in buckets that add up', async () => {
    const { value, text } = await look()
    const labels = 'method="GET",route="/api/fhir/R4/{type}"'
    const count = value(`http_request_duration_seconds_count{${labels}}`)!
    expect(count).toBeGreaterThan(0)
    expect(value(`http_request_duration_seconds_bucket{le="+Inf",${labels}}`)).toBe(count)
    const bounds = [...text.matchAll(/^http_request_duration_seconds_bucket\{le="([^"]+)"/gm)].map(([, bound]) => bound)
    const buckets = [...new Set(bounds)].map(le => value(`http_request_duration_seconds_bucket{le="${le}",${labels}}`)!)
    expect(buckets.length).toBeGreaterThan(5)
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
    // One was sent after the other: together they have lasted no longer than all that was done until now.
    const passed = (performance.now() - began) / 1000
    expect(value(`http_request_duration_seconds_sum{${labels}}`)!).toBeLessThan(passed)
  })

  test('in flight are those that are not answered yet: the scrape itself', async () => {
    expect((await look()).value('http_requests_in_flight')).toBe(1)
  })
})

test('everything is in the format of Prometheus, with what runs here, its process and its connections', async () => {
  const { status, type, text, value, sum } = await look()
  expect({ status, type }).toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' })
  mustBeWellFormed(text)
  expect(value('health_interop_info{version="1.2.0",environment="local"}')).toBe(1)
  expect(value('health_interop_database_up')).toBe(1)
  expect(value('request_log_dropped_total')).toBe(0)
  expect([value('health_interop_workers'), value('health_interop_workers_missing')]).toEqual([1, 0])
  expect(
    sum('database_pool_connections', 'state="used"') + sum('database_pool_connections', 'state="idle"'),
  ).toBeGreaterThan(0)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(value('nodejs_eventloop_lag_max_seconds')).toBeLessThan(process.uptime())
})

test('attempts to deliver webhooks are counted by what came of them, and subscriptions by how they fare', async () => {
  // A subscription also receives what was created before it and is not yet dispatched.
  await until('what was created before is dispatched', async () => (await look()).value('event_outbox_events') === 0)
  const receiver = await startReceiver()
  const wish = { callback_url: receiver.url, subscribed_events: ['patient.created'] }
  expect((await call('POST', '/api/v1/connect/webhooks/subscriptions', { body: wish, headers: json })).status).toBe(201)
  await call('POST', 'Patient', { body: { resourceType: 'Patient' } })
  const attempts = async (outcome: string) => (await look()).value(`webhook_attempts_total{outcome="${outcome}"}`)
  await until('the delivery is counted', async () => (await attempts('delivered')) === 1)
  receiver.answer(500)
  await call('POST', 'Patient', { body: { resourceType: 'Patient' } })
  await until('the failure is counted', async () => (await attempts('failed')) === 1)
  await until(
    'the subscription is failing',
    async () => (await look()).value('webhook_subscriptions{state="failing"}') === 1,
  )
  const { value } = await look()
  expect(value('webhook_attempt_duration_seconds_count')).toBe(2)
  // The next attempt is due later.
  expect([value('webhook_waiting_deliveries'), value('webhook_queue_deliveries')]).toEqual([1, 0])
})

const json = { 'content-type': 'application/json' }

test('without the database there are still figures of the processes', async () => {
  const alone = await startService()
  const server = new pg.Client({ ...inject('server'), database: 'postgres' })
  await server.connect()
  await server.query(`alter database ${alone.database} allow_connections false`)
  // And waits until they have ended.
  await server.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [
    alone.database,
  ])
  const { status, text, value } = await scrape(alone.url)
  await server.query(`alter database ${alone.database} allow_connections true`)
  await server.end()
  expect(status).toBe(200)
  mustBeWellFormed(text)
  expect(value('health_interop_database_up')).toBe(0)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(0)
  expect(text).not.toContain('webhook_queue_deliveries')
  expect((await scrape(alone.url)).value('health_interop_database_up')).toBe(1)
})

describe('outside of the local environment', () => {
  const token = 'a-token-of-the-scraper'

  test('there is nothing at /metrics without METRICS_TOKEN', async () => {
    const sandbox = await startService({ ENVIRONMENT: 'sandbox' })
    const [there, nowhere] = await Promise.all(
      ['/metrics', '/nowhere'].map(async path => {
        const answer = await fetch(sandbox.url + path)
        const { request_id: _, ...body } = (await answer.json()) as Record<string, unknown>
        return { status: answer.status, body }
      }),
    )
    expect(there).toEqual(nowhere)
    expect(there!.status).toBe(404)
    const description = await fetch(`${sandbox.url}/openapi.json`)
    expect(await description.text()).not.toContain('"/metrics"')
  })

  test('METRICS_TOKEN opens it, and nothing else does: 401, and nothing of that in the audit trail', async () => {
    const sandbox = await startService({ ENVIRONMENT: 'sandbox', METRICS_TOKEN: token })
    const sent = [undefined, 'Bearer', `Bearer ${token}x`, `Bearer ${sandbox.token}`, `Basic ${token}`, token]
    for (const authorization of sent) {
      const answer = await fetch(`${sandbox.url}/metrics`, { headers: authorization ? { authorization } : {} })
      expect(answer.status, authorization).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="metrics"')
      expect(await answer.json()).toMatchObject({ status: 'error', error_code: 'UNAUTHENTICATED' })
    }
    const right = await scrape(sandbox.url, { authorization: `Bearer ${token}` })
    expect(right.status).toBe(200)
    expect(right.value('health_interop_info{version="1.2.0",environment="sandbox"}')).toBe(1)
    expect(right.value('http_requests_total{method="GET",route="/metrics",status="401"}')).toBe(sent.length)
    const rows = await sandbox.application.database.query({ text: 'select from audit_event', values: [] })
    expect(rows).toEqual([])
    const { paths } = (await (await fetch(`${sandbox.url}/openapi.json`)).json()) as {
      paths: Record<string, { get: object }>
    }
    expect(paths['/metrics']!.get).toMatchObject({
      security: [{}],
      responses: { 401: { $ref: '#/components/responses/Unauthenticated' } },
    })
  })
})
