// What the trail holds in several rows is shown to a patient as one access for each request.
import { expect, test } from 'vitest'
import { accessesOf } from '../../src/audit/accesses.ts'
import type { AuditPlace } from '../../src/audit/reader.ts'
import type { ChainedRecord } from '../../src/audit/record.ts'

const row = (sequence: number, more: Partial<ChainedRecord> = {}): ChainedRecord => ({
  recordedAt: new Date(1_000_000 - sequence),
  action: 'R',
  interaction: 'read',
  outcome: 0,
  problem: '',
  clientId: 'clinic',
  organizationId: 'clinic',
  tokenId: '',
  address: '',
  requestId: `request-${sequence}`,
  type: 'Observation',
  id: '',
  version: 0,
  query: '',
  patients: ['amina'],
  resources: 1,
  purpose: '',
  chain: 1,
  sequence,
  ...more,
})

/** A trail that holds these rows, newest first, and notes what it was asked. */
function trailOf(rows: readonly ChainedRecord[]) {
  const asked: { after: AuditPlace | undefined; count: number; tests: unknown; text: string }[] = []
  return {
    asked,
    read: () => Promise.reject(new Error('nothing is read by its id')),
    archivedUntil: () => Promise.resolve(undefined),
    search: async (query: { tests: unknown; count: number; after?: AuditPlace | undefined; text: string }) => {
      asked.push({ ...query, after: query.after })
      const { after } = query
      const start = after
        ? rows.findIndex(each => each.sequence === after.sequence && each.chain === after.chain) + 1
        : 0
      return rows.slice(start, start + query.count + 1)
    },
  }
}

const shown = async (rows: readonly ChainedRecord[], limit = 10) =>
  (await accessesOf(trailOf(rows), ['amina'], limit, undefined)).accesses.map(({ main, last }) => [
    main.sequence,
    last.sequence,
  ])

test('the rows of a request are one access: what says most stands for it, and the next page begins after its last row', async () => {
  const same = { requestId: 'one' }
  expect(
    await shown([
      row(1, { ...same, action: 'E' }),
      row(2, { ...same, action: 'R' }),
      row(3, { ...same, action: 'U' }),
      row(4, { ...same, action: 'C', type: 'Provenance' }),
      row(5, { ...same, action: 'R' }),
      row(6),
    ]),
  ).toEqual([
    [3, 5],
    [6, 6],
  ])
})

test.each([
  ['a deletion says more than an update', ['U', 'D'], 2],
  ['an update says more than a reading', ['R', 'U'], 2],
  ['a creation says more than a reading', ['R', 'C'], 2],
  ['a reading says more than a search', ['E', 'R'], 2],
  ['of two that say the same, the newer stands for both', ['U', 'C'], 1],
  ['a search does not stand for a reading', ['R', 'E'], 1],
] as const)('%s', async (_what, actions, main) => {
  const rows = actions.map((action, at) => row(at + 1, { requestId: 'one', action }))
  expect(await shown(rows)).toEqual([[main, 2]])
})

test('a note of who made a change never stands for a search of the same request', async () => {
  const rows = [
    row(1, { requestId: 'one', type: 'Provenance', action: 'D' }),
    row(2, { requestId: 'one', action: 'E' }),
  ]
  expect(await shown(rows)).toEqual([[2, 2]])
})

test.each([
  ['of another request', { requestId: 'two' }],
  ['of another client that chose the same request id', { requestId: 'one', clientId: 'pharmacy' }],
  ['that began an emergency access', { requestId: 'one', interaction: 'emergency' }],
] as const)('a row %s is an access of its own', async (_what, more) => {
  expect(await shown([row(1, { requestId: 'one' }), row(2, more)])).toHaveLength(2)
  expect(await shown([row(1, more), row(2, { requestId: 'one' })])).toHaveLength(2)
})

test('rows without a request id, which the service wrote by itself, are never one access', async () => {
  expect(await shown([row(1, { requestId: '' }), row(2, { requestId: '' })])).toHaveLength(2)
})

test('one access more than the limit tells that there are more, and no further batch is read for it', async () => {
  const trail = trailOf(Array.from({ length: 450 }, (_, at) => row(at + 1)))
  expect((await accessesOf(trail, ['amina'], 20, undefined)).accesses).toHaveLength(21)
  expect(trail.asked).toEqual([{ tests: [{ patient: 'amina' }], count: 200, after: undefined, text: 'patient=own' }])
})

test('a request of more rows than a batch holds goes on into the next batch, from its last row', async () => {
  const rows = [
    ...Array.from({ length: 250 }, (_, at) => row(at + 1, { requestId: 'one', ...(at === 240 && { action: 'D' }) })),
    row(251),
  ]
  const trail = trailOf(rows)
  const { accesses: found } = await accessesOf(trail, ['amina'], 20, undefined)
  expect(found.map(({ main, last }) => [main.sequence, last.sequence])).toEqual([
    [241, 250],
    [251, 251],
  ])
  expect(trail.asked.map(({ after }) => after)).toEqual([
    undefined,
    { time: rows[199]!.recordedAt.getTime(), chain: 1, sequence: 200 },
  ])
})

test('a batch that ends with the trail is the last that is read', async () => {
  const trail = trailOf(Array.from({ length: 200 }, (_, at) => row(at + 1)))
  expect((await accessesOf(trail, ['amina'], 300, undefined)).accesses).toHaveLength(200)
  expect(trail.asked).toHaveLength(1)
})

test('the page is filled over batches until one access more than it shows is whole', async () => {
  const trail = trailOf(Array.from({ length: 401 }, (_, at) => row(at + 1)))
  expect((await accessesOf(trail, ['amina'], 199, undefined)).accesses).toHaveLength(200)
  expect(trail.asked).toHaveLength(2)
})

test('reading ends after ten batches, however many rows one request has, and the next page goes on from there', async () => {
  const recordedAt = new Date(1_000_000)
  const rows = Array.from({ length: 2500 }, (_, at) => row(at + 1, { requestId: 'one', recordedAt }))
  const trail = trailOf([...rows, row(2501)])
  const { accesses, isCut } = await accessesOf(trail, ['amina'], 20, undefined)
  expect([accesses.map(({ last }) => last.sequence), isCut]).toEqual([[2000], true])
  expect(trail.asked).toHaveLength(10)
  const rest = await accessesOf(trail, ['amina'], 20, { time: 1_000_000, chain: 1, sequence: 2000 })
  expect([rest.accesses.map(({ last }) => last.sequence), rest.isCut]).toEqual([[2500, 2501], false])
})

test('rows of a second after each other are several accesses, although the client gave its requests one id', async () => {
  const at = (ms: number) => ({ requestId: 'one', recordedAt: new Date(1_000_000 - ms) })
  const rows = [row(1, at(0)), row(2, at(999)), row(3, at(1000)), row(4, at(1500)), row(5, at(2500))]
  expect(await shown(rows)).toEqual([
    [1, 2],
    [3, 4],
    [5, 5],
  ])
})

test('an empty trail has no accesses, and a page begins after the place that was asked for', async () => {
  expect(await shown([])).toEqual([])
  const trail = trailOf([row(1), row(2), row(3)])
  const place = { time: 0, chain: 1, sequence: 2 }
  expect((await accessesOf(trail, ['amina'], 20, place)).accesses.map(({ main }) => main.sequence)).toEqual([3])
})
