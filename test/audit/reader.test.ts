// Reading the trail for a caller: what he may see, in which order, and what is told of it.
import { beforeAll, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import { type Auditor, auditId, createAuditReader } from '../../src/audit/reader.ts'
import type { AuditRecord } from '../../src/audit/record.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Access } from '../../src/store/access.ts'
import { databaseOf, type Interaction } from '../../src/store/principal.ts'
import { aRecord, trailDatabase } from '../support/trail.ts'

let database: Database
const time = (minute: number) => new Date(Date.UTC(2026, 4, 1, 10, minute))
const record = (id: string, minute: number, more: Partial<AuditRecord> = {}) =>
  aRecord({ id, recordedAt: time(minute), ...more })

/** Two chains: 1-1 to 1-4, and 2-1 and 2-2, which are as old as 1-2 and 1-3. */
const first = [
  record('a', 1),
  record('b', 2),
  record('c', 3, { organizationId: 'elsewhere', action: 'D' }),
  record('d', 3),
]
const second = [record('e', 2), record('f', 3, { action: 'D' })]

beforeAll(async () => {
  database = await trailDatabase()
  const key = sealingKey(Buffer.alloc(32, 7))
  for (const records of [first, second])
    await createAuditWriter({ database, key, log: createLog('silent'), now: () => time(0) }).write(records)
})

/** A reader for somebody of the clinic, and what is told of what he does. */
function reading(more: Partial<Auditor> = {}) {
  const told: Access[] = []
  const asked: [string, Interaction][] = []
  const reader = createAuditReader(principal => databaseOf(principal, database))({
    ...{
      organizationId: 'clinic',
      consentExempt: false,
      party: { organizationId: 'clinic' },
      witness: access => void told.push(access),
    },
    may: (type, interaction) => asked.push([type, interaction]) > 0,
    ...more,
  })
  const found = async (query: Partial<Parameters<typeof reader.search>[0]> = {}) =>
    (await reader.search({ tests: [], count: 100, text: '', ...query })).map(({ id }) => id).join('')
  return { reader, told, asked, found }
}

const keeper = { consentExempt: true }
const of = { type: 'AuditEvent', patients: [] }

test('a row is read by its id, and that is told', async () => {
  const { reader, told, asked } = reading()
  expect(await reader.read('1-2')).toEqual({ ...first[1], chain: 1, sequence: 2 })
  expect(told).toEqual([{ ...of, deed: 'read', id: '1-2', resources: 1 }])
  expect(asked).toEqual([['AuditEvent', 'r']])
})

test.each(['1-5', '3-1', '1-3', 'absent', '01-1'])('%s is no row that is there for the clinic', async id => {
  const { reader, told } = reading()
  const failure = await reader.read(id).catch(error => error)
  expect(failure).toMatchObject({ code: 'NOT_FOUND', message: `There is no AuditEvent/${id}.` })
  expect(told).toEqual([{ ...of, deed: 'read', id, resources: 0, failure }])
})

test('of an id that is none no more is repeated than an id can be long', async () => {
  await expect(reading().reader.read('x'.repeat(100))).rejects.toMatchObject({
    message: `There is no AuditEvent/${'x'.repeat(64)}.`,
  })
})

test('everybody sees what their own organisation did, the record-keeping system what anybody did', async () => {
  expect(await reading().found()).toBe('fdeba')
  expect(await reading({ organizationId: 'elsewhere' }).found()).toBe('c')
  expect(await reading(keeper).found()).toBe('fdceba')
  expect((await reading(keeper).reader.read('1-3')).organizationId).toBe('elsewhere')
})

test('a search finds what meets all tests, one more than asked for, and goes on after a place', async () => {
  const { found } = reading(keeper)
  const deletions = { column: 'action', among: ['D'] } as const
  expect(await found({ tests: [deletions] })).toBe('fc')
  expect(await found({ tests: [deletions, { column: 'organization_id', among: ['clinic'] }] })).toBe('f')
  expect(await found({ count: 2 })).toBe('fdc')
  expect(await found({ after: { time: time(3).getTime(), chain: 1, sequence: 4 } })).toBe('ceba')
  expect(await found({ after: { time: time(2).getTime(), chain: 2, sequence: 1 }, tests: [{ patient: 'ada' }] })).toBe(
    'ba',
  )
  expect(await reading().found({ after: { time: time(3).getTime(), chain: 1, sequence: 4 }, count: 1 })).toBe('eb')
})

test('a search is told with what was asked for and how much was shown', async () => {
  const { reader, told, asked } = reading()
  await reader.search({ tests: [], count: 2, text: 'action=R' })
  await reader.search({ tests: [], count: 9, text: '' })
  expect(told).toEqual([
    { ...of, deed: 'search-type', query: 'AuditEvent?action=R', resources: 2 },
    { ...of, deed: 'search-type', query: 'AuditEvent?', resources: 5 },
  ])
  expect(asked[0]).toEqual(['AuditEvent', 's'])
})

test('whoever has no scope for the trail is told which one it takes, and that he tried is on record', async () => {
  const { reader, told } = reading({ may: () => false })
  const refused = [reader.read('1-1'), reader.search({ tests: [], count: 1, text: '' })]
  const [read, search] = await Promise.all(refused.map(each => each.catch(error => error)))
  const message = (interaction: string) =>
    `Reading the audit trail requires the scope system/AuditEvent.${interaction}.`
  expect(read).toMatchObject({ code: 'INSUFFICIENT_SCOPE', message: message('r') })
  expect(search).toMatchObject({ code: 'INSUFFICIENT_SCOPE', message: message('s') })
  expect(told).toEqual([
    { ...of, deed: 'read', id: '1-1', resources: 0, failure: read },
    { ...of, deed: 'search-type', query: 'AuditEvent?', resources: 0, failure: search },
  ])
})

test('nobody has to be told', async () => {
  const { reader, found } = reading({ witness: undefined })
  expect([(await reader.read('1-1')).id, await found()]).toEqual(['a', 'fdeba'])
  await expect(reader.read('absent')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('statements of a caller take his share of the database', async () => {
  const texts: string[] = []
  const own = {
    async query({ text }: { text: string }) {
      texts.push(text)
      return []
    },
  }
  await reading({ database: own as never }).found()
  expect(texts).toEqual([expect.stringContaining('from audit_source'), expect.stringContaining('from audit_event')])
})

test.each<[string, ReturnType<typeof auditId>]>([
  ['7-1042', { chain: 7, sequence: 1042 }],
  ['999999999-999999999999999', { chain: 999_999_999, sequence: 999_999_999_999_999 }],
  ['2147483647-1', { chain: 2_147_483_647, sequence: 1 }],
  ['2147483648-1', undefined],
  ['1-1234567890123456', undefined],
  ['0-1', undefined],
  ['1-0', undefined],
  ['x1-1', undefined],
  ['1-1x', undefined],
  ['1_1', undefined],
])('%s is the id of %o', (text, id) => expect(auditId(text)).toEqual(id))
