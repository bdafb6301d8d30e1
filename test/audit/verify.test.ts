import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sealingKey } from '../../src/audit/chain.ts'
import { verdictText } from '../../src/audit/verdict.ts'
import { type Verdict, verifyTrail } from '../../src/audit/verify.ts'
import { adminOn } from '../support/admin.ts'
import { cleanUp, onCleanup } from '../support/cleanup.ts'
import { fhirCaller } from '../support/fhir.ts'
import { testKey } from '../support/server.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { databaseOf, tamper } from '../support/trail.ts'

let service: Service
let database: pg.Client

const key = sealingKey(Buffer.from(testKey, 'base64'))
const verify = (known: Verdict['heads'] = []): Promise<Verdict> => {
  const seen = known.map(head => ({ ...head, by: 'an earlier check' }))
  return verifyTrail(service.application.database, key, seen)
}

/** A trail of two chains: five rows, and three rows of a process that started later. */
beforeEach(async () => {
  service = await startService({ DATABASE_POOL: '4' })
  database = await databaseOf(service)
  await ask(service, 5)
  await ask(await startBeside(service, { DATABASE_POOL: '4' }), 3)
})

afterEach(cleanUp)

async function ask(of: Service, times: number): Promise<void> {
  const call = fhirCaller(() => of)
  for (let each = 0; each < times; each++)
    await call('GET', `Observation?patient=amina-${each}`, { token: service.token })
}

test('a trail that nobody touched is whole, and its heads are told', async () => {
  const { heads, ...verdict } = await verify()
  expect(verdict).toEqual({ isWhole: true, chains: 2, rows: 8, broken: [] })
  expect(heads.map(({ chain, sequence }) => [chain, sequence])).toEqual([
    [1, 5],
    [2, 3],
  ])
})

test('rows can be neither changed nor removed by ordinary means, and heads only move forward', async () => {
  for (const statement of [
    `update audit_event set client_id = 'nobody'`,
    'delete from audit_event',
    'truncate audit_event',
    'delete from audit_head',
    'update audit_head set sequence = sequence - 1',
    'truncate audit_chain cascade',
    'delete from audit_chain',
  ])
    await expect(database.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  expect((await verify()).isWhole).toBe(true)
})

const columns = {
  recorded_at: `recorded_at + interval '1 ms'`,
  action: `'D'`,
  interaction: `'delete'`,
  outcome: '8',
  problem: `'INTERNAL_ERROR'`,
  client_id: `'somebody'`,
  organization_id: `'somewhere'`,
  token_id: `'another'`,
  address: `'10.0.0.1'`,
  request_id: `'another'`,
  resource_type: `'Condition'`,
  resource_id: `'another'`,
  version: '7',
  query: `'Observation'`,
  patients: `'{}'`,
  resources: '7',
  purpose: `'ETREAT'`,
}

test('a change to any column of a row is found, and the row is named', async () => {
  for (const [column, value] of Object.entries(columns)) {
    await database.query('create temp table before as select * from audit_event')
    await tamper(database, `update audit_event set ${column} = ${value} where chain = 1 and sequence = 3`)
    const { broken, isWhole } = await verify()
    expect([column, isWhole, broken]).toEqual([
      column,
      false,
      [{ chain: 1, sequence: 3, problem: 'the row is not what was hashed' }],
    ])
    await tamper(database, 'delete from audit_event; insert into audit_event select * from before; drop table before')
  }
  expect((await verify()).isWhole).toBe(true)
})

test.each([
  ['a row is removed', 'delete from audit_event where chain = 1 and sequence = 2', [1, 2, 'the row is missing']],
  [
    'a row is removed and those after it are numbered anew',
    'delete from audit_event where chain = 1 and sequence = 2; update audit_event set sequence = sequence - 1 where chain = 1 and sequence > 2',
    [1, 2, 'the row does not follow the one before it'],
  ],
  [
    'the end of a chain is cut off',
    'delete from audit_event where chain = 2 and sequence > 1',
    [2, 2, 'the row is missing, and all after it: the head of the chain is at 3'],
  ],
  [
    'the end is cut off and the head moved back',
    `delete from audit_event where chain = 2 and sequence > 1;
     update audit_head set sequence = 1, hash = (select hash from audit_event where chain = 2 and sequence = 1) where chain = 2`,
    [2, undefined, 'the head of the chain was not sealed with the key of this deployment'],
  ],
  [
    'a row is added beyond the head',
    `insert into audit_event select chain, 4, recorded_at, action, interaction, outcome, problem, client_id, organization_id, token_id, address,
       request_id, resource_type, resource_id, version, query, patients, resources, purpose, previous, hash
     from audit_event where chain = 2 and sequence = 3`,
    [2, 4, 'the row does not follow the one before it'],
  ],
  [
    'a head is moved back',
    'update audit_head set sequence = 2 where chain = 2',
    [2, 3, 'the row is beyond the head of the chain'],
  ],
  [
    'a head is given another hash',
    `update audit_head set hash = (select hash from audit_head where chain = 1) where chain = 2`,
    [2, 3, 'the row is not the one that the head of the chain names'],
  ],
  ['a head is removed', 'delete from audit_head where chain = 1', [1, undefined, 'the head of the chain is missing']],
  [
    'a whole chain is removed',
    'delete from audit_event where chain = 1; delete from audit_head where chain = 1; delete from audit_chain where number = 1',
    [1, undefined, 'the chain is missing'],
  ],
  [
    'the beginning of a chain is changed',
    `update audit_chain set started_at = started_at - interval '1 day' where number = 2`,
    [2, undefined, 'the beginning of the chain is not what was hashed'],
  ],
  [
    'a chain no longer follows the one before it, and is hashed anew',
    `update audit_chain set previous = '', hash = sha256(convert_to(E'\\n2 ' || (extract(epoch from started_at) * 1000)::bigint, 'UTF8'))
     where number = 2`,
    [2, undefined, 'the beginning of the chain is not what was hashed'],
  ],
])('%s, and the place is named', async (_what, statement, [chain, sequence, problem]) => {
  await tamper(database, statement as string)
  const verdict = await verify()
  expect(verdict.isWhole).toBe(false)
  expect(verdict.broken[0]).toEqual(sequence === undefined ? { chain, problem } : { chain, sequence, problem })
  expect(verdictText(verdict)).toContain(`first at chain ${chain}`)
})

test('every chain that is broken is named, in order, and what is good is counted', async () => {
  await tamper(
    database,
    `update audit_event set purpose = 'ETREAT' where chain = 2 and sequence = 2;
     delete from audit_event where chain = 1 and sequence = 4;
     insert into audit_event select 0, sequence, recorded_at, action, interaction, outcome, problem, client_id, organization_id, token_id,
       address, request_id, resource_type, resource_id, version, query, patients, resources, purpose, previous, hash
     from audit_event where chain = 2 and sequence = 3`,
  )
  expect(await verify()).toMatchObject({
    isWhole: false,
    rows: 4,
    broken: [
      { chain: 0, sequence: 3, problem: 'the row belongs to no chain' },
      { chain: 1, sequence: 4, problem: 'the row is missing' },
      { chain: 2, sequence: 2, problem: 'the row is not what was hashed' },
    ],
  })
})

test('what an earlier check saw cannot go, not even if it is sealed anew or is the last chain', async () => {
  const { heads } = await verify()
  expect((await verify(heads)).isWhole).toBe(true)
  await tamper(
    database,
    'delete from audit_event where chain = 2; delete from audit_head where chain = 2; delete from audit_chain where number = 2',
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
    { chain: 2, sequence: 2, problem: 'the row is not the one that an earlier check has' },
  ])
  expect((await verify([{ ...seen, sequence: 5 }])).broken).toEqual([
    { chain: 2, sequence: 4, problem: 'the row is missing: an earlier check has the chain up to row 5' },
  ])
})

test('processes write chains of their own at the same time, and each stays whole', async () => {
  const beside = await Promise.all([
    startBeside(service, { DATABASE_POOL: '4' }),
    startBeside(service, { DATABASE_POOL: '4' }),
  ])
  await Promise.all([service, ...beside].flatMap(each => Array.from({ length: 10 }, () => ask(each, 5))))
  const checks = await Promise.all([verify(), ask(service, 5).then(() => verify())])
  expect(checks.map(check => check.isWhole)).toEqual([true, true])
  expect(checks[1]).toMatchObject({ chains: 4, rows: 8 + 150 + 5 })
})

test('a process whose head was moved by another begins a chain of its own', async () => {
  await tamper(database, `update audit_head set sequence = 6 where chain = 1`)
  const call = fhirCaller(() => service)
  expect((await call('GET', 'Observation?patient=x')).status).toBe(503)
  expect((await call('GET', 'Observation?patient=x')).status).toBe(200)
  expect((await verify()).heads.map(({ chain, sequence }) => [chain, sequence])).toContainEqual([3, 1])
})

test('npm run admin -- audit verify tells people and programs, by its exit code too', async () => {
  const { admin, adminProcess } = adminOn(() => service.database)
  const env = { AUDIT_ANCHOR_FILE: 'off' }
  const folder = await mkdtemp(join(tmpdir(), 'health-interop-admin-'))
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  expect(await adminProcess(['audit', 'verify'], env)).toEqual({
    code: 0,
    output:
      'The audit trail is whole: 8 rows in 2 chains.\n' +
      'The anchor is turned off: rows that were cut off the end under an older head are not noticed.\n',
  })
  const json = await admin(['audit', 'verify', '--json'], env)
  expect(json.code).toBe(0)
  const known = join(folder, 'heads.json')
  await writeFile(known, json.output)
  await tamper(database, 'delete from audit_event where chain = 1 and sequence = 4')
  const bad = await adminProcess(['audit', 'verify', '--known', known], env)
  expect(bad.code).toBe(1)
  expect(bad.output).toContain('The audit trail is broken, first at chain 1, row 4 (AuditEvent/1-4).')
  expect((await admin(['audit', 'verify', '--known', join(folder, 'absent')], env)).code).toBe(2)
  const unknown = await admin(['audit', 'mend'], env)
  expect(unknown.code).toBe(2)
  expect(unknown.output).toContain('there is no command audit mend')
})
