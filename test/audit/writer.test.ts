// Writing the trail: what shares a group, and what becomes of records whose group fails or that somebody else has told.

import { beforeAll, beforeEach, expect, test } from 'vitest'
import { beginChain, type Head, sealingKey } from '../../src/audit/chain.ts'
import type { Pending } from '../../src/audit/pending.ts'
import { recordOf } from '../../src/audit/records.ts'
import { type AuditRow, auditColumns, toRecord } from '../../src/audit/rows.ts'
import { verifyTrail } from '../../src/audit/verify.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import { unconfirmed } from '../../src/db/doubt.ts'
import { Failure } from '../../src/lib/failure.ts'
import { createLog } from '../../src/lib/log.ts'
import { noteStatement } from '../../src/store/note.ts'
import { until } from '../support/process.ts'
import {
  aChange,
  ageKept,
  aRecord,
  aRequester,
  emptyTrail,
  forge,
  keepChanges,
  trailDatabase,
} from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const now = new Date('2026-05-01T10:00:00.123Z')

let database: Database
beforeAll(async () => {
  database = await trailDatabase()
})
beforeEach(() => emptyTrail(database))

const recordsOf = ({ changes }: Pick<Pending, 'changes'>) => changes.map(each => recordOf(each, aRequester, now))
const ask = (text: string) => database.query<Record<string, unknown>>({ text, values: [] })
const shut = () => ask('alter table audit_row add constraint shut check (false) not valid')
const open = () => ask('alter table audit_row drop constraint shut')

/** A writer, and how far it says that its chain is after each group. */
function writing(on = database) {
  const heads: Head[] = []
  const errors: object[] = []
  const writer = createAuditWriter({
    ...{ database: on, key, now: () => now, moved: head => void heads.push(head) },
    log: createLog('error', { write: line => void errors.push(JSON.parse(line)) }),
  })
  return { writer, heads, errors, ends: () => heads.map(({ chain, sequence }) => [chain, sequence]) }
}

async function trail() {
  const rows = await database.query<AuditRow>({
    text: `select ${auditColumns} from audit_event order by chain, sequence`,
    values: [],
  })
  return rows.map(toRecord)
}
const toldIds = async () => (await trail()).map(({ id }) => id)
const pendingIds = async () => (await ask('select id from audit_pending order by id')).map(({ id }) => id)

test('records are there when writing them is over, in the order in which they came', async () => {
  const { writer, heads } = writing()
  const records = ['ada', 'ben', 'cleo'].map(id => aRecord({ id }))
  await writer.write(records)
  expect(await trail()).toEqual(records.map((record, index) => ({ ...record, chain: 1, sequence: index + 1 })))
  const verdict = await verifyTrail(database, key, [])
  expect(verdict).toMatchObject({ isWhole: true, heads })
})

test('what arrives together, and what arrives while a group is being committed, shares a group', async () => {
  const { writer, ends } = writing()
  const first = Promise.all(['ada', 'ben'].map(id => writer.write([aRecord({ id })])))
  await new Promise<void>(done => setImmediate(done))
  await Promise.all([first, ...['cleo', 'dora', 'emil'].map(id => writer.write([aRecord({ id })]))])
  await writer.write([aRecord({ id: 'finn' })])
  expect(ends()).toEqual([
    [1, 2],
    [1, 5],
    [1, 6],
  ])
  expect(await toldIds()).toEqual(['ada', 'ben', 'cleo', 'dora', 'emil', 'finn'])
})

test('a group has no more than two thousand rows, but for those of one request', async () => {
  const { writer, ends } = writing()
  const many = (count: number) => writer.write(Array<ReturnType<typeof aRecord>>(count).fill(aRecord()))
  await Promise.all([many(1500), many(500), many(1), many(2001), many(1)])
  expect(ends().map(([, sequence]) => sequence)).toEqual([2000, 2001, 4002, 4003])
})

test('a process in which nothing was asked has no chain', async () => {
  const { writer, ends } = writing()
  await writer.write([])
  await writer.close()
  expect([await ask('select from audit_chain'), ends()]).toEqual([[], []])
})

test('whoever writes hears what kept it from being written, and the next group begins a chain', async () => {
  const { writer, errors, ends } = writing()
  await writer.write([aRecord({ id: 'ada' })])
  await shut()
  const refused = await Promise.allSettled(['ben', 'cleo'].map(id => writer.write([aRecord({ id })])))
  expect(refused).toMatchObject(Array(2).fill({ status: 'rejected', reason: { code: '23514' } }))
  expect(errors).toMatchObject([
    { err: { code: '23514' }, pending: 0, msg: 'audit: could not write a group of records' },
  ])
  await open()
  await writer.write([aRecord({ id: 'dora' })])
  expect(await toldIds()).toEqual(['ada', 'dora'])
  expect(ends()).toEqual([
    [1, 1],
    [2, 1],
  ])
})

test('a chain that has its most rows is followed by another, which names anew who asked', async () => {
  const writer = createAuditWriter({ database, key, log: createLog('silent'), now: () => now, chainRows: 2 })
  const records = ['ada', 'ben', 'cleo'].map(id => aRecord({ id }))
  for (const record of records) await writer.write([record])
  expect((await trail()).map(({ chain, sequence, id }) => [chain, sequence, id])).toEqual([
    [1, 1, 'ada'],
    [1, 2, 'ben'],
    [2, 1, 'cleo'],
  ])
  expect(await ask('select chain, number from audit_source order by chain')).toEqual([
    { chain: 1, number: 1 },
    { chain: 2, number: 1 },
  ])
  expect(await verifyTrail(database, key, [])).toMatchObject({ isWhole: true, rows: 3 })
})

test('who asks and what is done is one row for a chain, whatever the number of records', async () => {
  const { writer } = writing()
  const other = { clientId: 'another', outcome: 4, problem: 'FORBIDDEN' } as const
  const records = [aRecord(), aRecord(other), aRecord({ id: 'ben' }), aRecord({ ...other, id: 'ben' })]
  await writer.write(records)
  for (const record of records) await writer.write([record])
  expect(await ask('select number, client_id from audit_source order by number')).toEqual([
    { number: 1, client_id: 'app' },
    { number: 2, client_id: 'another' },
  ])
  expect(await ask('select number, problem from audit_kind order by number')).toEqual([
    { number: 1, problem: '' },
    { number: 2, problem: 'FORBIDDEN' },
  ])
  expect((await trail()).map(({ clientId, problem }) => [clientId, problem])).toEqual(
    [...records, ...records].map(({ clientId, problem }) => [clientId, problem]),
  )
})

test('what a group that failed would have named is named by the next one', async () => {
  const { writer } = writing()
  await writer.write([aRecord()])
  const kept = await keepChanges(database, [aChange('ada')])
  await ask(`delete from audit_pending where id = '${kept.id}'`)
  const strange = { ...aRequester, clientId: 'strange' }
  const [change] = kept.changes
  await writer.write([recordOf(change!, strange, now), aRecord({ clientId: 'strange', id: 'ben' })], [kept])
  expect((await trail()).map(({ clientId, id }) => [clientId, id])).toEqual([
    ['app', 'ada'],
    ['strange', 'ben'],
  ])
  expect(await verifyTrail(database, key, [])).toMatchObject({ isWhole: true, rows: 2 })
})

test('a process whose head somebody moved begins a chain of its own', async () => {
  const { writer, ends } = writing()
  await writer.write([aRecord()])
  await forge(database, 'update audit_head set sequence = 6')
  await expect(writer.write([aRecord()])).rejects.toMatchObject({ code: 'HI004' })
  await writer.write([aRecord()])
  expect(ends()).toEqual([
    [1, 1],
    [2, 1],
  ])
})

/** The database, whose connection is lost so many times before or after a group is written. */
function losing(moment: 'before' | 'after', times: number): Database {
  let left = times
  const query: Database['query'] = async statement => {
    const isLost = statement.name?.startsWith('audit-group') && left-- > 0
    const rows = isLost && moment === 'before' ? [] : await database.query<never>(statement)
    if (isLost) throw unconfirmed(new Error('Connection terminated unexpectedly'))
    return rows
  }
  return { ...database, query }
}

test('a group whose connection was lost is there once, whether it had been committed or not', async () => {
  for (const moment of ['before', 'after'] as const) {
    const { writer, errors } = writing(losing(moment, 1))
    const kept = await keepChanges(database, [aChange('ada')])
    await Promise.all([writer.write(recordsOf(kept), [kept]), writer.write([aRecord({ id: moment })])])
    await writer.write([aRecord({ id: 'cleo' })])
    expect(errors).toEqual([])
  }
  expect(await toldIds()).toEqual(['ada', 'before', 'cleo', 'ada', 'after', 'cleo'])
  expect(await pendingIds()).toEqual([])
  expect(await verifyTrail(database, key, [])).toMatchObject({ isWhole: true, rows: 6 })
})

test('a group whose connections are lost again and again fails, and its changes are told later', async () => {
  const { writer, errors } = writing(losing('before', 4))
  const kept = await keepChanges(database, [aChange('ada')])
  await expect(writer.write(recordsOf(kept), [kept])).rejects.toMatchObject({ code: 'UNCONFIRMED' })
  expect(errors).toMatchObject([{ pending: 1 }])
  await writer.write([aRecord({ id: 'ben' })])
  await until('nothing is pending', async () => (await pendingIds()).length === 0, 5)
  expect(new Set(await toldIds())).toEqual(new Set(['ada', 'ben']))
})

test('a group for which no connection opens in time fails at once', async () => {
  const tries: string[] = []
  const query: Database['query'] = async statement => {
    if (!statement.name?.startsWith('audit-group')) return database.query<never>(statement)
    tries.push(statement.name)
    const cause = new Error('Connection terminated due to connection timeout')
    throw new Failure('UNAVAILABLE', 'The service is busy: try again.', { cause })
  }
  const { writer } = writing({ ...database, query })
  await expect(writer.write([aRecord()])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(tries).toHaveLength(1)
})

test('changes whose records failed are told as soon as the trail can be written again', async () => {
  const { writer, errors } = writing()
  const [ada, ben] = [await keepChanges(database, [aChange('ada')]), await keepChanges(database, [aChange('ben')])]
  await shut()
  await Promise.allSettled([ada, ben].map(each => writer.write(recordsOf(each), [each])))
  expect(errors).toMatchObject([{ pending: 2 }])
  await open()
  await writer.write([aRecord({ id: 'cleo' })])
  await until('nothing is pending', async () => (await pendingIds()).length === 0, 5)
  await writer.close()
  expect((await toldIds()).toSorted()).toEqual(['ada', 'ben', 'cleo'])
})

test('changes whose records failed are told before the process ends', async () => {
  const { writer } = writing()
  const kept = await keepChanges(database, [aChange('ada')])
  await shut()
  await expect(writer.write(recordsOf(kept), [kept])).rejects.toThrow()
  await open()
  await writer.close()
  expect([await toldIds(), await pendingIds()]).toEqual([['ada'], []])
})

test('closing waits until what was asked for is written', async () => {
  const { writer } = writing()
  const written = writer.write([aRecord({ id: 'ada' })])
  await writer.close()
  expect(await toldIds()).toEqual(['ada'])
  await written
})

test('what others have told meanwhile is left out of a group, and all the rest is written', async () => {
  const { writer, errors } = writing()
  const [ada, ben, cleo] = await Promise.all(['ada', 'ben', 'cleo'].map(id => keepChanges(database, [aChange(id)])))
  await ask(`delete from audit_pending where id = '${ben!.id}'`)
  await Promise.all([
    writer.write([...recordsOf(ada!), ...recordsOf(ben!), aRecord({ id: 'read' })], [ada!, ben!]),
    writer.write(recordsOf(cleo!), [cleo!]),
  ])
  expect(await toldIds()).toEqual(['ada', 'read', 'cleo'])
  expect([await pendingIds(), errors]).toEqual([[], []])
  // Nothing of it is left: that is no failure.
  await writer.write(recordsOf(ben!), [ben!])
  expect(await toldIds()).toHaveLength(3)
})

test('of two in a group that tell the same change the first does', async () => {
  const { writer } = writing()
  const kept = await keepChanges(database, [aChange('ada')])
  const read = aRecord({ id: 'read' })
  await Promise.all([writer.write(recordsOf(kept), [kept]), writer.write([...recordsOf(kept), read], [kept])])
  expect([await toldIds(), await pendingIds()]).toEqual([['ada', 'read'], []])
})

/** Changes that are kept, and noted as committed. */
async function noted(writer: ReturnType<typeof createAuditWriter>, ...ids: string[]): Promise<void> {
  const notes = ids.map(id => writer.noteFor(aRequester)([aChange(id)]))
  for (const note of notes) await database.query(noteStatement(note))
  for (const { committed } of notes) committed()
}

test('changes that nobody asked for are told when they are committed, as of when they were made', async () => {
  const { writer } = writing()
  await noted(writer, 'ada')
  await writer.close()
  expect(await trail()).toEqual([{ ...recordOf(aChange('ada'), aRequester, now), chain: 1, sequence: 1 }])
  expect(await pendingIds()).toEqual([])
})

test('of changes that nobody asked for no more than a hundred wait for their group; the rest is found later', async () => {
  const { writer } = writing()
  await noted(writer, ...Array.from({ length: 102 }, (_, at) => `${at}`))
  await writer.close()
  expect([(await toldIds()).length, (await pendingIds()).length]).toEqual([100, 2])
  await noted(writer, 'ada')
  await writer.close()
  expect((await toldIds()).at(-1)).toBe('ada')
})

test('changes that nobody asked for are kept when they cannot be told, and told later', async () => {
  const { writer } = writing()
  await shut()
  await noted(writer, 'ada')
  await until('they could not be told', async () => (await ask('select from audit_chain')).length > 0, 5)
  await open()
  await writer.close()
  expect([await toldIds(), await pendingIds()]).toEqual([['ada'], []])
})

test('what other processes left over is told from the beginning on', async () => {
  const { writer } = writing()
  await beginChain(database, key, now)
  await ageKept(database, 11, await keepChanges(database, [aChange('ada')], now))
  writer.start()
  await writer.close()
  expect(await trail()).toEqual([{ ...recordOf(aChange('ada'), aRequester, now), chain: 2, sequence: 1 }])
})
