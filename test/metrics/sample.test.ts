// Samples of figures: what is read of a scrape, and the curves that samples make.
import { expect, test } from 'vitest'
import { pointsOf, type Sample, sampleOf, type TimedSample, totalsOf } from '../../src/metrics/sample.ts'
import { createSearchShapes, shapeOf } from '../../src/store/search/shapes.ts'

const scrape = `# HELP http_requests_total Completed HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="GET",route="/a",status="200"} 90
http_requests_total{method="GET",route="/a",status="404"} 7
http_requests_total{method="PUT",route="/b{c}",status="503"} 3
http_request_duration_seconds_bucket{le="0.1",method="GET",route="/a"} 80
http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/a"} 97
http_request_duration_seconds_bucket{le="0.1",method="PUT",route="/b{c}"} 1
http_request_duration_seconds_bucket{le="+Inf",method="PUT",route="/b{c}"} 3
http_requests_in_flight 2
database_pool_connections{pool="planned",state="used"} 3
database_pool_connections{pool="planned",state="idle"} 5
database_pool_connections{pool="fixed",state="waiting"} 1
webhook_queue_deliveries 4
event_outbox_events 5
audit_pending_changes 6
nodejs_eventloop_lag_p99_seconds 0.0125
process_resident_memory_bytes 1.5e+8
`

test('a sample holds what a scrape says, in few numbers', () => {
  expect(sampleOf(scrape)).toEqual({
    ...{ requests: 100, refused: 7, failed: 3, within: { '0.1': 81, '+Inf': 100 } },
    ...{ inFlight: 2, connections: 4, waiting: 15, lag: 0.0125, memory: 150_000_000 },
  })
  expect(sampleOf('')).toEqual({
    ...{ requests: 0, refused: 0, failed: 0, within: {}, inFlight: 0, connections: 0, waiting: 0, lag: 0, memory: 0 },
  })
  expect(totalsOf(scrape).get('database_pool_connections')).toBe(9)
})

const begin = Date.UTC(2026, 0, 1)
const minute = 60_000
const at = (minutes: number, requests: number, more: Partial<Sample> = {}, instance = 'a'): TimedSample => ({
  at: new Date(begin + minutes * minute),
  instance,
  figures: { ...sampleOf(''), requests, within: { '0.1': requests, '1': requests, '+Inf': requests }, ...more },
})

test('counts become rates between two samples, and levels the highest of their part', () => {
  const samples = [at(0, 100), at(1, 160, { failed: 6, lag: 0.3 }), at(5, 400, { failed: 6, lag: 0.1, waiting: 9 })]
  expect(pointsOf(samples, 5 * minute)).toMatchObject([
    { at: new Date(begin), requestsPerSecond: 1, failedPerSecond: 0.1, p95: 0.1, lag: 0.3, waiting: 0 },
    { at: new Date(begin + 5 * minute), requestsPerSecond: 1, failedPerSecond: 0, lag: 0.1, waiting: 9 },
  ])
})

test('a restart begins the counts anew, and a gap is no part', () => {
  const points = pointsOf([at(0, 1000), at(1, 60), at(60, 60 + 59 * 60)], 5 * minute)
  expect(
    points.map(({ at: when, requestsPerSecond }) => [(when.getTime() - begin) / minute, requestsPerSecond]),
  ).toEqual([
    [0, 1],
    [60, 1],
  ])
})

test('services beside each other are added, what waits in their database is not', () => {
  const more = { inFlight: 3, memory: 10, waiting: 7, lag: 0.2 }
  const samples = [at(0, 0, more), at(0, 0, more, 'b'), at(1, 60, more), at(1, 120, { ...more, lag: 0.4 }, 'b')]
  expect(pointsOf(samples, 5 * minute)).toMatchObject([
    { requestsPerSecond: 3, inFlight: 6, memory: 20, waiting: 7, lag: 0.4 },
  ])
})

test('95 of 100 requests are within the first bound that holds as many; of none nothing is said', () => {
  const p95 = (within: Record<string, number>) =>
    pointsOf([at(0, 0, { within: {} }), at(1, 1, { within })], 5 * minute)[0]!.p95
  expect(p95({ '0.1': 94, '0.5': 95, '1': 100, '+Inf': 100 })).toBe(0.5)
  expect(p95({ '0.1': 1, '10': 2, '+Inf': 100 })).toBe(10)
  expect(p95({ '0.1': 0, '+Inf': 0 })).toBeUndefined()
  expect(pointsOf([], 5 * minute)).toEqual([])
})

test('the shape of a search is its type and the names of its parameters, in one order, without values', () => {
  const applied = [
    ['subject:Patient.name', 'Bello'],
    ['code', 'a'],
    ['code', 'b'],
    ['_cursor', 'secret'],
  ] as const
  expect(shapeOf({ types: ['Observation'], applied })).toBe('Observation?code&subject:Patient.name')
  expect(shapeOf({ types: ['Observation', 'Flag'], applied: [] })).toBe('*?')
  const long = Array.from({ length: 100 }, (_, index) => [`name-${index}`, ''] as const)
  expect(shapeOf({ types: ['Flag'], applied: long }).length).toBeLessThan(210)
})

test('times of searches are kept by shape, for a bounded number of shapes, until they are taken', () => {
  const shapes = createSearchShapes()
  const search = (name: string) => ({ types: ['Flag'], applied: [[name, 'x']] as const })
  shapes.note(search('code'), 5)
  shapes.note(search('code'), 3)
  for (let index = 0; index < 600; index++) shapes.note(search(`name-${index}`), 1)
  const [code, ...more] = shapes.take()
  expect(code).toEqual({ shape: 'Flag?code', count: 2, total: 8, longest: 5 })
  expect(more).toHaveLength(500)
  expect(more.at(-1)).toEqual({ shape: '(others)', count: 101, total: 101, longest: 1 })
  expect(shapes.take()).toEqual([])
})
