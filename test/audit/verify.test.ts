// Checking the trail: whatever somebody with all rights over the database does to it is found, and its place is named.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import { insertion } from '../../src/audit/group.ts'
import { verdictText } from '../../src/audit/verdict.ts'
import { type ChainVerdict, verifyNewest, verifyTrail } from '../../src/audit/verify.ts'
import type { Database } from '../../src/db/database.ts'
import { aRecord, chainOf, emptyTrail, forge, trailDatabase } from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const verify = (known: ChainVerdict['heads'] = []): Promise<ChainVerdict> => {
  const seen = known.map(head => ({ ...head, by: 'an earlier check' }))
  return verifyTrail(database, key, seen)
}

let database: Database
beforeAll(async () => {
  database = await trailDatabase()
})

/** A trail of two chains: five rows, and three rows of a process that started later. */
beforeEach(async () => {
  await emptyTrail(database)
  await chainOf(database, key, 5)
  await chainOf(database, key, 3)
})

test('a trail that nobody touched is whole, and its heads are told', async () => {
  const { heads, ...verdict } = await verify()
  expect(verdict).toEqual({ isWhole: true, chains: 2, rows: 8, broken: [], archived: [] })
  expect(heads.map(({ chain, sequence }) => [chain, sequence])).toEqual([
    [1, 5],
    [2, 3],
  ])
})

test('a trail in which nothing was ever written is whole, unless somebody has seen one', async () => {
  const { heads } = await verify()
  await emptyTrail(database)
  expect(await verify()).toEqual({ isWhole: true, chains: 0, rows: 0, broken: [], heads: [], archived: [] })
  expect((await verify(heads.slice(1))).broken).toEqual([
    { chain: 2, problem: 'the chain is missing: an earlier check has its row 3' },
  ])
})

test('a chain whose head is gone is told as one that never had a row', async () => {
  await forge(database, 'delete from audit_head where chain = 2')
  expect((await verify()).heads[1]).toEqual({ chain: 2, sequence: 0, hash: '' })
})

test('rows can be neither changed nor removed by ordinary means, and heads only move forward', async () => {
  for (const statement of [
    'update audit_row set version = 7',
    'delete from audit_row',
    'truncate audit_row',
    `update audit_source set client_id = 'nobody'`,
    'delete from audit_source',
    'truncate audit_source',
    'update audit_kind set outcome = 0',
    'delete from audit_kind',
    'truncate audit_kind',
    'delete from audit_head',
    'update audit_head set sequence = sequence - 1',
    'truncate audit_chain cascade',
    'delete from audit_chain',
  ])
    await expect(database.query({ text: statement, values: [] }), statement).rejects.toMatchObject({ code: '42501' })
  expect((await verify()).isWhole).toBe(true)
})

/** Sets a column of a row for a moment, and expects that the row with this sequence of chain 1 is named. */
async function expectNamed(table: string, column: string, value: string, named: number): Promise<void> {
  const place = table === 'audit_row' ? 'sequence' : 'number'
  await forge(
    database,
    `create table before as select * from ${table}`,
    `update ${table} set ${column} = ${value} where chain = 1 and ${place} = ${named}`,
  )
  const { broken, isWhole } = await verify()
  expect([column, isWhole, broken]).toEqual([
    column,
    false,
    [{ chain: 1, sequence: named, problem: 'the row does not match its hash' }],
  ])
  await forge(database, `delete from ${table}`, `insert into ${table} select * from before`, 'drop table before')
}

test.each([
  ['second', 'second + 1'],
  ['millisecond', 'millisecond + 1'],
  ['second = second - 1, millisecond', 'millisecond + 1000'],
  ['client_key', '7'],
  ['request', `'\\x00'::bytea || request`],
  ['resource', `'\\x00'::bytea || resource`],
  ['patients', `'\\x00'::bytea || patients`],
  ['source', '7'],
  ['kind', '7'],
  ['version', '7'],
  ['resources', '7'],
  ['request', `'another'::bytea`],
  ['request', `'\\xff00ff'::bytea`],
  ['resource', `'another'::bytea`],
  ['resource', `''::bytea`],
  ['query', `'Observation'`],
  ['query', `E'\\x01\\x02'`],
  ['patients', `''::bytea`],
  ['patients', `'sixteen letters.'::bytea`],
  ['patients', `'\\xff'::bytea`],
  ['patients', `'\\x00'::bytea`],
  ['hash', `'\\x00'::bytea`],
  ['hash', 'hash || hash'],
])('a change of %s in a row to %s is found, and the row is named', async (column, value) => {
  await expectNamed('audit_row', column, value, 3)
  expect((await verify()).isWhole).toBe(true)
})

test.each([
  ['client_id', 'audit_source', `'somebody'`],
  ['organization_id', 'audit_source', `'somewhere'`],
  ['token_id', 'audit_source', `'another'`],
  ['address', 'audit_source', `'10.0.0.1'`],
  ['purpose', 'audit_source', `'ETREAT'`],
  ['action', 'audit_kind', `'D'`],
  ['interaction', 'audit_kind', `'delete'`],
  ['outcome', 'audit_kind', '8'],
  ['problem', 'audit_kind', `'INTERNAL_ERROR'`],
  ['resource_type', 'audit_kind', `'Condition'`],
  ['number', 'audit_source', '9'],
  ['number', 'audit_kind', '9'],
])('a change of %s in %s is found, and the first row that names it is named', async (column, table, value) => {
  await expectNamed(table, column, value, 1)
  expect((await verify()).isWhole).toBe(true)
})

test.each([
  ['a row is removed', 'delete from audit_row where chain = 1 and sequence = 2', [1, 2, 'the row is missing']],
  [
    'a row is removed and those after it are numbered anew',
    'delete from audit_row where chain = 1 and sequence = 2; update audit_row set sequence = sequence - 1 where chain = 1 and sequence > 2',
    [1, 2, 'the row does not match its hash'],
  ],
  [
    'the end of a chain is cut off',
    'delete from audit_row where chain = 2 and sequence > 1',
    [2, 2, 'the row is missing, and all after it: the head of the chain is at 3'],
  ],
  [
    'a row is added beyond the head',
    `insert into audit_row select chain, 4, second, source, kind, client_key, version, resources, millisecond, request, resource, query,
       patients, hash
     from audit_row where chain = 2 and sequence = 3`,
    [2, 4, 'the row does not match its hash'],
  ],
  [
    'a head is moved back',
    'update audit_head set sequence = 2 where chain = 2',
    [2, 3, 'the row is after the head of the chain'],
  ],
  [
    'a head is given another hash',
    `update audit_head set hash = (select hash from audit_head where chain = 1) where chain = 2`,
    [2, 3, 'the row differs from the row in the head of the chain'],
  ],
  ['a head is removed', 'delete from audit_head where chain = 1', [1, undefined, 'the head of the chain is missing']],
  [
    'a whole chain is removed',
    'delete from audit_row where chain = 1; delete from audit_head where chain = 1; delete from audit_chain where number = 1',
    [1, undefined, 'the chain is missing'],
  ],
  [
    'the beginning of a chain is changed',
    `update audit_chain set started_at = started_at - interval '1 day' where number = 2`,
    [2, undefined, 'the start of the chain does not match its hash'],
  ],
  [
    'a chain no longer follows the one before it, and is hashed anew',
    `update audit_chain set previous = '', hash = sha256(convert_to(E'\\n2 ' || (extract(epoch from started_at) * 1000)::bigint, 'UTF8'))
     where number = 2`,
    [2, undefined, 'the start of the chain does not match its hash'],
  ],
])('%s, and the place is named', async (_what, statement, [chain, sequence, problem]) => {
  await forge(database, ...(statement as string).split(';'))
  const verdict = await verify()
  expect(verdict.isWhole).toBe(false)
  expect(verdict.broken[0]).toEqual(sequence === undefined ? { chain, problem } : { chain, sequence, problem })
  expect(verdictText(verdict)).toContain(`first at chain ${chain}`)
})

test('the end is cut off and the head moved back, and the chain is named', async () => {
  const [chain] = await database.query<{ hash: string }>({
    text: `select encode(hash, 'hex') as hash from audit_chain where number = 2`,
    values: [],
  })
  const { next } = insertion({ chain: 2, sequence: 0, hash: chain!.hash }, { records: [aRecord()], pending: [] }, key)
  await forge(
    database,
    'delete from audit_row where chain = 2 and sequence > 1',
    `update audit_head set sequence = 1, hash = decode('${next.hash}', 'hex') where chain = 2`,
  )
  const problem = 'the head of the chain was not sealed with the key of this deployment'
  expect((await verify()).broken).toEqual([{ chain: 2, problem }])
})

test('every chain that is broken is named, in order, and what is good is counted', async () => {
  await forge(
    database,
    `update audit_row set version = 7 where chain = 2 and sequence = 2;
     delete from audit_row where chain = 1 and sequence = 4;
     insert into audit_row select 0, sequence, second, source, kind, client_key, version, resources, millisecond, request, resource, query,
       patients, hash
     from audit_row where chain = 2 and sequence = 3`,
  )
  expect(await verify()).toMatchObject({
    isWhole: false,
    rows: 4,
    broken: [
      { chain: 0, sequence: 3, problem: 'the row does not belong to a chain' },
      { chain: 1, sequence: 4, problem: 'the row is missing' },
      { chain: 2, sequence: 2, problem: 'the row does not match its hash' },
    ],
  })
})

test('what an earlier check saw cannot go, not even if it is sealed anew or is the last chain', async () => {
  const { heads } = await verify()
  expect((await verify(heads)).isWhole).toBe(true)
  await forge(
    database,
    'delete from audit_row where chain = 2; delete from audit_head where chain = 2; delete from audit_chain where number = 2',
  )
  expect((await verify()).isWhole).toBe(true)
  expect((await verify(heads)).broken).toEqual([
    { chain: 2, problem: 'the chain is missing: an earlier check has its row 3' },
  ])
})

test('a row that is not the one an earlier check saw is named, and so is one that it saw beyond the end', async () => {
  const { heads } = await verify()
  const seen = { ...heads[1]!, sequence: 2, hash: heads[0]!.hash }
  expect((await verify([seen])).broken).toEqual([
    { chain: 2, sequence: 2, problem: 'the row differs from the row in an earlier check' },
  ])
  expect((await verify([{ ...seen, sequence: 5 }])).broken).toEqual([
    { chain: 2, sequence: 4, problem: 'the row is missing: an earlier check has the chain up to row 5' },
  ])
})

test('chains of more rows than are read at a time are checked to their end', async () => {
  await chainOf(database, key, 5001)
  expect(await verify()).toMatchObject({ isWhole: true, rows: 5009 })
  await forge(database, 'update audit_row set version = 7 where chain = 3 and sequence = 5001')
  expect(await verify()).toMatchObject({
    rows: 5008,
    broken: [{ chain: 3, sequence: 5001, problem: 'the row does not match its hash' }],
  })
})

describe('of a long trail the newest rows are read', () => {
  const newest = (most: number, known: ChainVerdict['heads'] = []) =>
    verifyNewest(
      database,
      key,
      known.map(head => ({ ...head, by: 'an earlier check' })),
      most,
    )

  test.each([
    [100, 8, 0],
    [8, 8, 0],
    [7, 7, 1],
    [4, 4, 4],
    [3, 3, 5],
    [2, 2, 6],
  ])('at most %i: %i are good, and %i were not read', async (most, rows, unread) => {
    expect(await newest(most)).toMatchObject({ isWhole: true, chains: 2, rows, unread, broken: [] })
  })

  test('what was done to them is found, and what was done to older ones is left to the whole check', async () => {
    await forge(database, 'update audit_row set version = 7 where chain = 1 and sequence = 3')
    expect((await newest(6)).broken).toEqual([{ chain: 1, sequence: 3, problem: 'the row does not match its hash' }])
    expect(await newest(6)).toMatchObject({ isWhole: false, rows: 3, unread: 2 })
    expect((await newest(3)).isWhole).toBe(true)
    expect((await verify()).isWhole).toBe(false)
  })

  test.each([
    [
      'the row that they follow is removed',
      'delete from audit_row where chain = 1 and sequence = 3',
      [1, 3, 'the row is missing'],
    ],
    [
      'the row that they follow has another hash',
      `update audit_row set hash = '\\x00000000' where chain = 1 and sequence = 3`,
      [1, 3, 'the row does not match its hash'],
    ],
    [
      'the end of a chain is cut off',
      'delete from audit_row where chain = 2 and sequence > 1',
      [2, 2, 'the row is missing, and all after it: the head of the chain is at 3'],
    ],
    ['a head is removed', 'delete from audit_head where chain = 2', [2, undefined, 'the head of the chain is missing']],
  ] as const)('%s', async (_, statement, [chain, sequence, problem]) => {
    await forge(database, statement)
    expect((await newest(5)).broken).toEqual([{ chain, ...(sequence !== undefined && { sequence }), problem }])
  })

  test('a check begins after a row that holds its whole hash, and sees nothing of the rows before', async () => {
    await chainOf(database, key, 2500)
    await forge(database, 'update audit_row set version = 7 where chain = 3 and sequence = 1500')
    expect(await newest(500)).toMatchObject({ isWhole: true, rows: 500, unread: 2008 })
    expect(await newest(501)).toMatchObject({
      ...{ isWhole: false, rows: 0, unread: 2007 },
      broken: [{ chain: 3, sequence: 1500, problem: 'the row does not match its hash' }],
    })
  })

  test.each([
    ['is removed', 'delete from audit_row where chain = 3 and sequence = 2000', 2000, 'the row is missing'],
    [
      'has another hash',
      'update audit_row set hash = sha256(hash) where chain = 3 and sequence = 2000',
      2001,
      'the row does not match its hash',
    ],
    [
      'has not the whole of it',
      'update audit_row set hash = substr(hash, 1, 4) where chain = 3 and sequence = 2000',
      2001,
      'the row does not match its hash',
    ],
  ])('the row with which a check begins %s', async (_, statement, sequence, problem) => {
    await chainOf(database, key, 2500)
    await forge(database, statement)
    expect((await newest(400)).broken).toEqual([{ chain: 3, sequence, problem }])
    expect((await verify()).broken).toMatchObject([{ chain: 3, sequence: 2000 }])
  })

  test('a row that is put into a chain that does not exist is named', async () => {
    await forge(database, 'update audit_row set chain = 9 where chain = 1 and sequence = 1')
    expect((await newest(3)).broken).toEqual([{ chain: 9, sequence: 1, problem: 'the row does not belong to a chain' }])
  })

  test('a head that was seen before must still be among them', async () => {
    const { heads } = await verify()
    const seen = heads.map(head => ({ ...head, hash: 'f'.repeat(64) }))
    expect((await newest(2, seen)).broken).toEqual([
      { chain: 2, sequence: 3, problem: 'the row differs from the row in an earlier check' },
    ])
  })
})
