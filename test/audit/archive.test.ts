// The trail ages: periods end, become files that are verified, and leave the database, and nothing is lost on the way.
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { archivesOf, sealOfArchive } from '../../src/audit/archive/archive.ts'
import { createKeeper } from '../../src/audit/archive/keeper.ts'
import { archiveDue, type NewArchive } from '../../src/audit/archive/make.ts'
import { periodStates } from '../../src/audit/archive/periods.ts'
import { archivesText, verifyArchives } from '../../src/audit/archive/verify.ts'
import { type Head, sealingKey } from '../../src/audit/chain.ts'
import { type AuditRow, auditColumns } from '../../src/audit/rows.ts'
import { verifyNewest, verifyTrail } from '../../src/audit/verify.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { until } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { agePeriods, aRecord, forge, trailDatabase } from '../support/trail.ts'

const key = sealingKey(Buffer.alloc(32, 7))
const silent = createLog('silent')
const uuid = '01890a5d-ac96-774b-bcce-b302099a8057'

/** Records of each form that ids, queries and texts have. */
const records = [
  aRecord({ requestId: uuid, id: uuid, patients: [uuid], tokenId: 'another', action: 'C', interaction: 'create' }),
  aRecord({ requestId: 'sixteen-letters.', id: 'sixteen-letters.', patients: ['sixteen-letters.'], version: 0 }),
  aRecord({ requestId: '', id: '', type: '', patients: [], query: 'Patient?name=a\u0001b\n"ü', resources: 70_000 }),
  aRecord({ patients: [uuid, 'ada', uuid], query: `Observation?patient=${uuid}`, outcome: 4, problem: 'FORBIDDEN' }),
]

/** A trail of its own, a folder for archives, and processes that write. */
async function aTrail() {
  const database = await trailDatabase()
  const folder = join(await temporaryFolder('archive'), 'archives')
  let month = 0
  const process = (more: { chainRows?: number; periodRows?: number } = {}) => {
    const heads: Head[] = []
    const writer = createAuditWriter({
      ...{ database, key, log: silent, ...more },
      now: () => new Date(Date.UTC(2026, 4 + month, 15)),
      moved: head => void heads.push(head),
    })
    return { write: writer.write, chain: () => heads.at(-1)?.chain }
  }
  return {
    ...{ database, folder, process },
    /** Lets a month go by, for processes and for the database. */
    async pass() {
      month += 1
      await agePeriods(database, 31)
    },
    archive: async (days = 0, on = database): Promise<NewArchive[]> => {
      const made: NewArchive[] = []
      await archiveDue({ database: on, key, folder }, days, each => made.push(each))
      return made
    },
    async verify(known: readonly Head[] = []) {
      const seen = known.map(head => ({ ...head, by: 'an earlier check' }))
      const verdict = await verifyTrail(database, key, seen)
      return { ...verdict, archives: await verifyArchives(folder, verdict.archived, key, seen) }
    },
  }
}

const rowsOf = (database: Database): Promise<AuditRow[]> =>
  database.query<AuditRow>({ text: `select ${auditColumns} from audit_event order by chain, sequence`, values: [] })

const tablesOf = async (database: Database): Promise<string[]> => {
  const rows = await database.query<{ name: string }>({
    text: `select relname as name from pg_class where relkind = 'r' and relname ~ '^audit_(row|source|kind)_' order by relname`,
    values: [],
  })
  return rows.map(({ name }) => name)
}

/** A trail whose first period has ended: two processes wrote it, and one has written since. */
async function endedPeriod() {
  const trail = await aTrail()
  const [one, other] = [trail.process(), trail.process()]
  await one.write(records)
  await other.write(records.slice(0, 2))
  await trail.pass()
  await one.write([aRecord({ id: 'later' })])
  return { ...trail, one, other }
}

test('a period ends with its month: the next record is in a chain of the next period', async () => {
  const { database, process, pass, verify } = await aTrail()
  const [one, other] = [process(), process()]
  await one.write([aRecord()])
  await other.write([aRecord()])
  await pass()
  await one.write([aRecord()])
  await one.write([aRecord()])
  await other.write([aRecord()])
  expect([one.chain(), other.chain()]).toEqual([1_000_001, 1_000_002])
  const states = await periodStates(database)
  expect(states.map(each => [each.number, each.chains, each.rows, each.endedAt !== null])).toEqual([
    [0, 2, 2, true],
    [1, 2, 3, false],
  ])
  expect(await verify()).toMatchObject({ isWhole: true, chains: 4, rows: 5 })
})

test('a period ends when it has many rows', async () => {
  const { process, verify } = await aTrail()
  const one = process({ chainRows: 2, periodRows: 4 })
  const chains: unknown[] = []
  for (let row = 0; row < 9; row++) {
    await one.write([aRecord()])
    chains.push(one.chain())
  }
  expect(chains).toEqual([1, 1, 2, 2, 1_000_001, 1_000_001, 1_000_002, 1_000_002, 2_000_001])
  expect(await verify()).toMatchObject({ isWhole: true, rows: 9 })
})

test('the partitions of the next period are made ahead, by any number of processes at once', async () => {
  const { database, folder, process, pass } = await aTrail()
  await process().write([aRecord()])
  await pass()
  await process().write([aRecord()])
  expect(await tablesOf(database)).not.toContain('audit_row_2')
  const keepers = [1, 2, 3].map(() => createKeeper({ database, key, folder, log: silent, days: 0, counted: () => {} }))
  for (const keeper of keepers) keeper.start()
  await until('there is room', async () => (await tablesOf(database)).includes('audit_row_2'), 5)
  for (const keeper of keepers) await keeper.close()
  expect((await tablesOf(database)).filter(name => name.startsWith('audit_row_'))).toEqual([
    'audit_row_0',
    'audit_row_1',
    'audit_row_2',
  ])
})

test('the rows of an archived period are in a file with all that they say, and no more in the database', async () => {
  const { database, folder, archive, verify } = await endedPeriod()
  const before = await rowsOf(database)
  const [made, ...more] = await archive()
  expect([made, more]).toMatchObject([{ period: 0, chains: 2, rows: 6 }, []])
  expect(await readdir(folder)).toEqual([made!.file])
  const lines = gunzipSync(await readFile(join(folder, made!.file)))
    .toString()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.map(({ line }) => line).join(' ')).toBe('period chain row row row row head chain row row head end')
  const written = lines.filter(({ line }) => line === 'row').map(({ line: _, hash: __, ...row }) => row)
  expect(written).toEqual(JSON.parse(JSON.stringify(before.slice(0, 6))))
  expect((await rowsOf(database)).map(({ chain, resource_id }) => [chain, resource_id])).toEqual([[1_000_001, 'later']])
  expect(await tablesOf(database)).toEqual(['audit_kind_1', 'audit_row_1', 'audit_source_1'])
  const verdict = await verify()
  expect(verdict).toMatchObject({ isWhole: true, chains: 3, rows: 1, archives: [{ period: 0, rows: 6, broken: [] }] })
  expect(archivesText(folder, verdict.archives)).toBe(`The archives are intact: 6 rows in 1 files in ${folder}.\n`)
  expect(await archive()).toEqual([])
})

test('a period stays in the database until it ended so many days ago', async () => {
  const { database, archive } = await endedPeriod()
  await agePeriods(database, 9)
  expect(await archive(10)).toEqual([])
  expect(await archive(9)).toMatchObject([{ period: 0 }])
})

test('a process that still writes to a closed period begins another chain, and nothing is lost', async () => {
  const { database, archive, other, process, verify } = await endedPeriod()
  await database.query({ text: 'select audit_close(0)', values: [] })
  const slow = process()
  await other.write([aRecord({ id: 'at the end' })])
  await archive()
  await other.write([aRecord({ id: 'after the end' })])
  await slow.write([aRecord({ id: 'new' })])
  expect((await rowsOf(database)).map(row => row.resource_id)).toEqual(['later', 'at the end', 'after the end', 'new'])
  expect(await verify()).toMatchObject({ isWhole: true, rows: 4, archives: [{ rows: 6, broken: [] }] })
})

test('a process whose clock is behind writes on after its period has left the database', async () => {
  const { database, archive, process, pass } = await aTrail()
  const behind = createAuditWriter({ database, key, log: silent, now: () => new Date(Date.UTC(2026, 4, 15)) })
  await behind.write([aRecord()])
  await pass()
  await process().write([aRecord()])
  await archive()
  await behind.write([aRecord({ id: 'late' })])
  expect((await rowsOf(database)).map(row => row.resource_id)).toEqual(['ada', 'late'])
})

test('a period in which a row was changed is not archived, and its rows stay', async () => {
  const { database, folder, archive } = await endedPeriod()
  await forge(database, 'update audit_row set version = 7 where chain = 2 and sequence = 2')
  await expect(archive()).rejects.toThrow(
    'Period 0 of the audit trail is broken, and is not archived. Chain 2, row 2: the row does not match its hash.',
  )
  expect(await rowsOf(database)).toHaveLength(7)
  expect([await readdir(folder), await archivesOf(database)]).toEqual([[], []])
})

test('a broken period does not keep a later one from its archive', async () => {
  const { database, archive, one, pass } = await endedPeriod()
  await pass()
  await one.write([aRecord()])
  await forge(database, 'delete from audit_row where chain = 1 and sequence = 2')
  await expect(archive()).rejects.toThrow('Chain 1, row 2: the row is missing')
  expect((await archivesOf(database)).map(({ period }) => period)).toEqual([1])
})

test('a folder that cannot be written to keeps the rows in the database', async () => {
  const { database, folder, archive } = await endedPeriod()
  await writeFile(folder, 'a file, not a folder')
  await expect(archive()).rejects.toMatchObject({ code: expect.stringMatching(/^(EEXIST|ENOTDIR)$/) })
  expect(await rowsOf(database)).toHaveLength(7)
  await rm(folder)
  expect(await archive()).toHaveLength(1)
})

test('an archive that cannot be written to its end leaves no file', async () => {
  const { database, folder, archive } = await endedPeriod()
  const failing: Database = {
    ...database,
    query: asked =>
      asked.text.includes('from audit_event') ? Promise.reject(new Error('no answer')) : database.query(asked),
  }
  await expect(archive(0, failing)).rejects.toThrow('no answer')
  expect([await readdir(folder), await rowsOf(database)]).toEqual([[], expect.objectContaining({ length: 7 })])
})

/** A database that a process loses when it runs a statement like this. */
const dyingAt = (database: Database, statement: RegExp): Database => ({
  ...database,
  async run(asked) {
    if (statement.test(asked.text)) throw new Error('the process dies')
    await database.run(asked)
  },
})

test.each([
  ['before it is recorded', /insert into audit_archive/],
  ['before its rows leave', /detach partition audit_row_0 concurrently/],
  ['before its rows are dropped', /drop table audit_row_0/],
  ['before its names leave', /detach partition audit_kind_0 concurrently/],
])('an archive whose process dies %s is finished by the next one', async (_, statement) => {
  const { database, folder, archive, verify } = await endedPeriod()
  await expect(archive(0, dyingAt(database, statement))).rejects.toThrow('the process dies')
  expect(await verify()).toMatchObject({ isWhole: true })
  expect((await rowsOf(database)).at(-1)?.resource_id).toBe('later')
  await archive()
  expect(await tablesOf(database)).toEqual(['audit_kind_1', 'audit_row_1', 'audit_source_1'])
  expect(await readdir(folder)).toHaveLength(1)
  expect(await verify()).toMatchObject({ isWhole: true, rows: 1, archives: [{ rows: 6, broken: [] }] })
})

test('a period that another process archives is left to it, until that is presumed dead', async () => {
  const { database, archive } = await endedPeriod()
  await database.query({ text: `update audit_period set archiver_until = now() + interval '1 minute'`, values: [] })
  expect(await archive()).toEqual([])
  await database.query({ text: `update audit_period set archiver_until = now() - interval '1 second'`, values: [] })
  expect(await archive()).toHaveLength(1)
})

test('a check of the trail that has begun before sees it whole', async () => {
  const { database, archive } = await endedPeriod()
  const { counts, archiving } = await database.transaction(async on => {
    await on.query({ text: 'set transaction isolation level repeatable read', values: [] })
    const count = () =>
      on.query<{ count: number }>({ text: 'select count(*)::int as count from audit_event', values: [] })
    const before = await count()
    const archiving = archive()
    await until('the period is archived', async () => (await archivesOf(database)).length === 1, 5)
    return { counts: [...before, ...(await count())], archiving }
  })
  await archiving
  expect(counts).toEqual([{ count: 7 }, { count: 7 }])
  expect(await rowsOf(database)).toHaveLength(1)
})

/** Changes lines of an archive, and what the database says of the file so that it is the same again. */
async function rewrite(path: string, change: (lines: string[]) => string[]): Promise<void> {
  const lines = gunzipSync(await readFile(path))
    .toString()
    .split('\n')
  await writeFile(path, gzipSync(change(lines).join('\n'), { level: 1 }))
}

const change = (place: number, from: RegExp, to: string) => (lines: string[]) =>
  lines.map((line, index) => (index === place ? line.replace(from, to) : line))

test.each<[string, (path: string) => Promise<unknown>, object]>([
  ['is missing', path => rm(path), { problem: expect.stringMatching(/^it is not in /) }],
  ['was moved away', path => rename(path, `${path}.old`), { problem: expect.stringMatching(/^it is not in /) }],
  [
    'has a changed byte',
    async path => {
      const bytes = await readFile(path)
      bytes[bytes.length - 20]! ^= 1
      await writeFile(path, bytes)
    },
    { problem: expect.stringMatching(/^it cannot be read: /) },
  ],
  [
    'is cut off',
    async path => writeFile(path, (await readFile(path)).subarray(0, -30)),
    { problem: expect.stringMatching(/^it cannot be read: /) },
  ],
  [
    'was packed anew',
    path => rewrite(path, lines => lines),
    { rows: 6, broken: [], problem: 'it is not the file that was written' },
  ],
  [
    'has a changed row',
    path => rewrite(path, change(2, /"client_id":"app"/, '"client_id":"nobody"')),
    { broken: [{ chain: 1, sequence: 1, problem: 'the row does not match its hash' }] },
  ],
  [
    'lacks a row',
    path => rewrite(path, lines => lines.toSpliced(3, 1)),
    { broken: [{ chain: 1, sequence: 2, problem: 'the row is missing' }] },
  ],
  [
    'lacks the last row of a chain',
    path => rewrite(path, lines => lines.toSpliced(5, 1)),
    {
      broken: [
        { chain: 1, sequence: 4, problem: 'the row is missing, and all after it: the head of the chain is at 4' },
      ],
    },
  ],
  [
    'has another head',
    path => rewrite(path, change(6, /"sequence":4/, '"sequence":3')),
    { problem: 'the head of chain 1 is not that of the database' },
  ],
  [
    'lacks a chain',
    path => rewrite(path, lines => lines.toSpliced(7, 4)),
    { problem: 'it holds other numbers of chains and rows than it says' },
  ],
  ['lacks its end', path => rewrite(path, lines => lines.toSpliced(11, 1)), { problem: 'its end is missing' }],
  [
    'goes on after its end',
    path => rewrite(path, lines => [...lines.slice(0, -1), lines[2]!, '']),
    { problem: expect.stringMatching(/is not in its chain|lines follow its end/) },
  ],
  [
    'is of another period',
    path => rewrite(path, change(0, /"period":0/, '"period":1')),
    { problem: 'it is not of period 0' },
  ],
  [
    'holds what is no line',
    path => rewrite(path, lines => ['{', ...lines]),
    { problem: expect.stringMatching(/JSON/) },
  ],
  [
    'holds a row of nothing',
    path => rewrite(path, change(2, /.*/, '{"line":"row"}')),
    { problem: expect.stringMatching(/^it cannot be read/) },
  ],
])('an archive that %s is named', async (_, damage, expected) => {
  const { folder, archive, verify } = await endedPeriod()
  const [made] = await archive()
  await damage(join(folder, made!.file))
  const { archives } = await verify()
  expect(archives).toMatchObject([{ period: 0, file: made!.file, ...expected }])
  expect(archivesText(folder, archives)).toMatch(/^The archives are broken\.\n {2}audit-0-.*: ./)
})

test('an archive that somebody put in the place of another is named, since the seal is not theirs', async () => {
  const { database, archive, verify } = await endedPeriod()
  const [made] = await archive()
  const seal = sealOfArchive(sealingKey(Buffer.alloc(32, 8)), made!)
  await forge(database, `update audit_archive set rows = 5, seal = decode('${seal}', 'hex')`)
  expect((await verify()).archives).toMatchObject([
    { problem: 'what the database says of it was not sealed with the key of this deployment' },
  ])
})

test('rows that are said to be archived, and are not, are missed', async () => {
  const { database, verify } = await endedPeriod()
  await forge(
    database,
    `insert into audit_archive (period, file, bytes, sha256, chains, rows, seal) values (0, '${randomUUID()}', 0, '', 0, 0, '')`,
  )
  expect((await verify()).archives).toMatchObject([{ rows: 0, problem: expect.stringContaining('not sealed') }])
})

test('a chain of an archived period that is gone from the database is named', async () => {
  const { database, archive, verify } = await endedPeriod()
  const { heads } = await verify()
  await archive()
  await forge(database, 'delete from audit_head where chain = 2', 'delete from audit_chain where number = 2')
  const { broken, archives } = await verify(heads)
  expect(broken).toMatchObject([
    { chain: 2, problem: expect.stringContaining('the chain is missing') },
    { chain: 1_000_001 },
  ])
  expect(archives[0]?.problem).toBe('the beginning of chain 2 is not that of the database')
})

test('a head that was seen before is looked for in archives too', async () => {
  const { archive, verify } = await endedPeriod()
  const { heads } = await verify()
  await archive()
  expect((await verify(heads)).archives).toMatchObject([{ broken: [], problem: undefined }])
  const other = heads.map(head => (head.chain === 1 ? { ...head, sequence: 2 } : head))
  expect((await verify(other)).archives).toMatchObject([
    { broken: [{ chain: 1, sequence: 2, problem: 'the row differs from the row in an earlier check' }] },
  ])
})

test('the newest rows are checked without those that are archived', async () => {
  const { database, archive } = await endedPeriod()
  await archive()
  expect(await verifyNewest(database, key, [], 100)).toMatchObject({ isWhole: true, rows: 1, unread: 0, chains: 3 })
})

test('neither periods nor archives can be changed by ordinary means', async () => {
  const { database, archive } = await endedPeriod()
  await archive()
  for (const text of [
    'delete from audit_period',
    'update audit_period set number = 9 where number = 0',
    'update audit_period set ended_at = null where number = 0',
    'delete from audit_archive',
    'update audit_archive set rows = 0',
    'truncate audit_archive',
    'delete from audit_row_1',
    'update audit_source_1 set client_id = client_id',
    'truncate audit_kind_1',
  ])
    await expect(database.query({ text, values: [] }), text).rejects.toMatchObject({ code: '42501' })
})

test('the keeper archives what is due, and counts it', async () => {
  const { database, folder } = await endedPeriod()
  await agePeriods(database, 40)
  const counts: string[] = []
  const keeper = createKeeper({ database, key, folder, log: silent, days: 30, counted: each => counts.push(each) })
  keeper.start()
  await until('the period is archived', async () => counts.length > 0, 5)
  await keeper.close()
  expect([counts, await readdir(folder)]).toMatchObject([
    ['written'],
    [expect.stringMatching(/^audit-0-.*\.ndjson\.gz$/)],
  ])
})

test('a keeper that is closed ends its archive, which another one makes', async () => {
  const { database, folder, archive, verify } = await endedPeriod()
  const counts: string[] = []
  const keeper = createKeeper({ database, key, folder, log: silent, days: 1, counted: each => counts.push(each) })
  await agePeriods(database, 2)
  keeper.start()
  await keeper.close()
  expect(counts).not.toContain('failed')
  await archive()
  expect(await verify()).toMatchObject({ isWhole: true, archives: [{ rows: 6, broken: [] }] })
})
