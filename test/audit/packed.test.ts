// Texts in the short forms of rows: the database reads them back as they were, whatever they hold.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import { packId, packIds, packQuery, queryParts } from '../../src/audit/packed.ts'
import type { AuditRecord } from '../../src/audit/record.ts'
import { type AuditRow, auditColumns, toRecord } from '../../src/audit/rows.ts'
import { verifyTrail } from '../../src/audit/verify.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { aRecord, emptyTrail, trailDatabase } from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const ids = ['01890a5d-ac96-774b-bcce-b302099a8057', '00000000-0000-0000-0000-000000000000']

let database: Database
beforeAll(async () => {
  database = await trailDatabase()
})
beforeEach(() => emptyTrail(database))

/** Writes records and reads them back; the trail is whole. */
async function throughTrail(records: readonly AuditRecord[]): Promise<AuditRecord[]> {
  await createAuditWriter({ database, key, log: createLog('silent'), now: () => new Date(0) }).write(records)
  expect(await verifyTrail(database, key, [])).toMatchObject({ isWhole: true, rows: records.length })
  const text = `select ${auditColumns} from audit_event order by sequence`
  const rows = await database.query<AuditRow>({ text, values: [] })
  return rows
    .map(toRecord)
    .map(({ chain: _, sequence: __, ...record }: AuditRecord & { chain?: number; sequence?: number }) => record)
}

const texts = [
  ...ids,
  ids[0]!.toUpperCase(),
  ids[0]!.replaceAll('-', ''),
  `${ids[0]} ${ids[1]}`,
  '',
  'a',
  'sixteen-letters.',
  'seventeen-letters',
  'fifteen-letters',
  'gr\u00fc\u00df dich, du 7',
  'AYkKXayWd0u8zrMCCZqAVw',
  ':AYkKXayWd0u8zrMCCZqAVw',
  ':',
]

test('ids of requests and resources come back as they were', async () => {
  const records = texts.flatMap(text => [aRecord({ requestId: text }), aRecord({ id: text })])
  expect(await throughTrail(records)).toEqual(records)
})

test('patients come back as they were, in their order', async () => {
  const patients = texts.filter(text => text !== '' && !text.includes(' '))
  const records = [patients, patients.toReversed(), [], ...patients.map(each => [each])].map(each =>
    aRecord({ patients: each }),
  )
  expect(await throughTrail(records)).toEqual(records)
})

test('queries come back as they were', async () => {
  const parts = queryParts.map(([, part]) => part)
  const queries = [
    ...parts,
    ...queryParts.map(([character]) => `a${character}b`),
    parts.join(''),
    ...['\x01', '\x02', '\x03', '\x03\x03', 'a\nb', 'Patient', `Patient/${ids[0]}/$everything`, `x${ids[0]}${ids[0]}`],
    ...['Observation?patient=abcdefgh&code=http%3A%2F%2Floinc.org%7C8867-4&_sort=-date&_count=20', 'a%3a', '\ufffd'],
  ]
  const records = queries.flatMap(query => [
    aRecord({ query, patients: [] }),
    aRecord({ query, patients: [ids[0]!, ids[1]!] }),
    aRecord({ query, type: 'Observation', patients: ['abcdefgh'] }),
    aRecord({ query, type: '' }),
  ])
  expect(await throughTrail(records)).toEqual(records)
})

test('times come back to the millisecond', async () => {
  const times = [0, 999, 1000, 1_767_225_599_999, 2 ** 31 * 1000, (2 ** 32 - 1) * 1000 + 7]
  const records = times.map(time => aRecord({ recordedAt: new Date(time) }))
  expect(await throughTrail(records)).toEqual(records)
})

test('UUIDs are short, and of queries what is said elsewhere or often', () => {
  expect([packId(ids[0]!).length, packId('sixteen-letters.').length, packIds(ids).length]).toEqual([16, 17, 32])
  const query = `Observation?patient=${ids[0]}&code=http%3A%2F%2Floinc.org%7C8867-4&_sort=-date&_count=20`
  expect(packQuery(query, 'Observation', ids[0]!).length).toBe(15)
})

test('parts of queries have a character each, and none is a part of a character', () => {
  const characters = queryParts.map(([character]) => character)
  expect(new Set(characters).size).toBe(characters.length)
  expect(characters.filter(each => each.length > 1 || each < '\x04' || each > '\x1f')).toEqual([])
  expect(queryParts.filter(([, part]) => !/^[\x20-\x7e]{2,}$/.test(part))).toEqual([])
})
