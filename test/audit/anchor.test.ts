// The anchor of the audit trail: what its file, outside of the database, proves of rows that are gone.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lineText, readLine, type SealedLine } from '../../src/audit/anchor-line.ts'
import { readAnchor } from '../../src/audit/anchored.ts'
import { sealingKey } from '../../src/audit/chain.ts'
import { adminOn } from '../support/admin.ts'
import { cleanUp } from '../support/cleanup.ts'
import { fhirCaller } from '../support/fhir.ts'
import { scrape } from '../support/metrics.ts'
import { until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { testKey } from '../support/server.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { databaseOf, tamper } from '../support/trail.ts'

let service: Service
let database: pg.Client
let file: string

const key = sealingKey(Buffer.from(testKey, 'base64'))
const pool = { DATABASE_POOL: '4' }

beforeEach(async () => {
  service = await startService(pool)
  database = await databaseOf(service)
  file = join(service.dataDir, 'audit-anchor.ndjson')
})

afterEach(cleanUp)

async function ask(of: Service, times: number): Promise<void> {
  const call = fhirCaller(() => of)
  for (let each = 0; each < times; each++)
    await call('GET', `Observation?patient=amina-${each}`, { token: service.token })
}

/** A process that answers some requests, and stops. */
async function passing(times: number, env: Record<string, string> = {}): Promise<void> {
  const process = await startBeside(service, { ...pool, ...env })
  await ask(process, times)
  await process.stop()
}

const textOf = (): Promise<string> => readFile(file, 'utf8')
const linesOf = async (): Promise<string[]> => (await textOf()).split('\n').slice(0, -1)
const read = async (): Promise<SealedLine[]> => (await linesOf()).map(line => readLine(key, line)!)
const headsOf = ({ heads }: SealedLine) => heads.map(({ chain, sequence }) => [chain, sequence])
const checked = async () => readAnchor(key, [{ name: 'anchor', text: await textOf() }])

const { admin } = adminOn(() => service.database)

/** What `npm run admin -- audit verify` says, and its exit code. */
async function verify(...options: string[]): Promise<[number | null, string]> {
  const { code, output } = await admin(['audit', 'verify', ...options], { DATA_DIR: service.dataDir })
  return [code, output]
}

/** Deletes the last rows of a chain, and puts back the sealed head that was kept of it. */
async function cutBack(kept: { chain: number; sequence: string; hash: Buffer; seal: Buffer }): Promise<void> {
  const hex = (bytes: Buffer) => `decode('${bytes.toString('hex')}', 'hex')`
  await tamper(
    database,
    `delete from audit_row where chain = ${kept.chain} and sequence > ${kept.sequence};
     update audit_head set sequence = ${kept.sequence}, hash = ${hex(kept.hash)}, seal = ${hex(kept.seal)} where chain = ${kept.chain}`,
  )
}

test('rows that were deleted under an older sealed head are found, with chain, row and time of the anchor', async () => {
  await ask(service, 3)
  const { rows } = await database.query('select * from audit_head where chain = 1')
  await ask(service, 2)
  await service.stop()
  const [line] = await read()
  expect(await verify()).toEqual([
    0,
    `The audit trail is intact: 5 rows in 1 chains.\nThe anchor is intact: 1 lines, the last of ${line!.time}.\n`,
  ])
  await cutBack(rows[0])
  const [code, text] = await verify()
  expect(code).toBe(1)
  expect(text).toContain(
    `chain 1, row 4 (AuditEvent/1-4): the row is missing: the anchor of ${line!.time} has the chain up to row 5`,
  )
  const [, json] = await verify('--json')
  expect(JSON.parse(json)).toMatchObject({ isWhole: false, anchor: { file, lines: 1, problems: [] } })
  // Without an anchor the same trail cannot be told from a whole one, and that is said.
  await rm(file)
  expect(await verify()).toEqual([
    0,
    `The audit trail is intact: 3 rows in 1 chains.\nThere is no anchor in ${file} yet: rows cut off at the end under an older head cannot be detected.\n`,
  ])
  expect((await verify('--anchor', file))[0]).toBe(2)
})

test('rows that were deleted before an interval was over are anchored nevertheless, since the process knows them', async () => {
  await ask(service, 1)
  const { rows } = await database.query('select * from audit_head where chain = 1')
  await ask(service, 2)
  await cutBack(rows[0])
  await service.stop()
  expect((await read()).map(headsOf)).toEqual([[[1, 3]]])
})

test('a line that was removed, changed or cut makes the check fail, and is named', async () => {
  for (let each = 0; each < 4; each++) await passing(1)
  const lines = await linesOf()
  const whole = `${lines.join('\n')}\n`
  const cases: [string, string][] = [
    [
      whole.replace(`${lines[1]}\n`, ''),
      `${file}, line 2: lines before it are missing: it has number 3 and follows number 1`,
    ],
    [
      whole.replace(`${lines[0]}\n`, ''),
      `${file}, line 1: lines before it are missing: it has number 2 and follows none`,
    ],
    [whole.slice(0, -20), `${file}, line 4: the line is cut off`],
    [
      whole.replace('"sequence":1', '"sequence":2'),
      `${file}, line 1: the line was changed, or was not sealed with the key of this deployment`,
    ],
  ]
  for (const [text, problem] of cases)
    expect(readAnchor(key, [{ name: file, text }]).problems.slice(0, 1), problem).toEqual([problem])
  await writeFile(file, cases[0]![0])
  const [code, text] = await verify()
  expect([code, text.split('\n').slice(1)]).toEqual([1, ['The anchor is broken.', `  ${cases[0]![1]}`, '']])
})

test('processes that write at the same time make one sequence of lines, in which each chain has its last head', async () => {
  const beside = await Promise.all([startBeside(service, pool), startBeside(service, pool)])
  const all = [service, ...beside]
  await Promise.all(all.map((each, index) => ask(each, index + 2)))
  await Promise.all(all.map(each => each.stop()))
  const { lines, problems, heads } = await checked()
  expect([lines, problems]).toEqual([3, []])
  const { rows } = await database.query(
    `select chain, sequence::int, encode(hash, 'hex') as hash from audit_head order by chain`,
  )
  expect([...heads.values()].sort((a, b) => a.chain - b.chain)).toEqual(rows)
  expect((await verify())[0]).toBe(0)
})

test('while the service runs a line is written at each interval in which a chain moved', async () => {
  const running = await startBeside(service, { ...pool, AUDIT_ANCHOR_SECONDS: '1' })
  await ask(running, 2)
  const value = async (line: string) => (await scrape(running.url)).value(line)
  const written = 'audit_anchor_lines_total{target="file",outcome="written"}'
  await until('a line is written', async () => (await textOf().catch(() => '')).includes('"sequence":2'))
  await until('the line is counted', async () => (await value(written))! > 0)
  expect(await value('audit_anchor_lines_total{target="file",outcome="failed"}')).toBe(0)
})

test('the head of a process that died before it could write is written by the next one', async () => {
  await passing(3, { AUDIT_ANCHOR_FILE: 'off' })
  await passing(2)
  expect((await read()).map(headsOf)).toEqual([
    [
      [2, 2],
      [1, 3],
    ],
  ])
})

test('a full file is set aside, and the next one begins with all its heads and follows its last line', async () => {
  const small = { AUDIT_ANCHOR_BYTES: '1024' }
  let times = 0
  while ((await readFile(`${file}.1`).catch(() => undefined)) === undefined) {
    await passing(1, small)
    expect(++times).toBeLessThan(10)
  }
  const former = (await readFile(`${file}.1`, 'utf8')).split('\n').slice(0, -1)
  const [first] = await read()
  expect(first).toMatchObject({ line: former.length + 1, begins: true, previous: readLine(key, former.at(-1)!)!.seal })
  expect(headsOf(first!).map(([chain]) => chain)).toEqual(Array.from({ length: times }, (_, index) => index + 1))
  expect((await verify())[1]).toContain(`The anchor is intact: ${former.length + 1} lines`)
  // The new file proves as much alone.
  await rm(`${file}.1`)
  expect((await checked()).problems).toEqual([])
})

test('a file whose last line is no line is set aside as it is, and the check names it', async () => {
  await passing(2)
  await writeFile(file, `${await textOf()}{"line":2,"ti`)
  await passing(1)
  expect((await read()).map(headsOf)).toEqual([
    [
      [1, 2],
      [2, 1],
    ],
  ])
  const [code, text] = await verify()
  expect([code, text]).toEqual([1, expect.stringContaining(`${file}.1, line 2: the line is cut off`)])
})

test('a file that cannot be written is counted and keeps no request from its answer; the line is written later', async () => {
  const folder = join(service.dataDir, 'taken')
  const running = await startBeside(service, {
    ...pool,
    AUDIT_ANCHOR_SECONDS: '1',
    AUDIT_ANCHOR_FILE: join(folder, 'anchor'),
  })
  await mkdir(service.dataDir, { recursive: true })
  await writeFile(folder, 'a file where a folder should be')
  await ask(running, 2)
  const failed = 'audit_anchor_lines_total{target="file",outcome="failed"}'
  await until('the failure is counted', async () => (await scrape(running.url)).value(failed)! > 0)
  expect((await fhirCaller(() => running)('GET', 'Observation?patient=x', { token: service.token })).status).toBe(200)
  await rm(folder)
  await running.stop()
  expect(await readFile(join(folder, 'anchor'), 'utf8')).toContain('"sequence":3')
})

test('a collector gets every line, those too that it did not take at first, and what it keeps can be checked', async () => {
  const collector = await startReceiver()
  const env = { ...pool, AUDIT_ANCHOR_SECONDS: '1', AUDIT_ANCHOR_URL: `${collector.url}?from=here` }
  const running = await startBeside(service, env)
  collector.answer(500)
  await ask(running, 1)
  await collector.until(1)
  collector.answer(200)
  await ask(running, 1)
  await running.stop()
  const kept = collector.received.map(each => each.body)
  expect(kept[0]).toBe(kept[1])
  expect(new Set(kept)).toEqual(new Set((await linesOf()).map(line => `${line}\n`)))
  const anchored = readAnchor(key, [{ name: 'kept', text: kept.toReversed().join('') }])
  expect(anchored.problems).toEqual([])
  expect(anchored.heads.get(1)?.sequence).toBe(2)
})

test.each([
  ['http://collector.example.org/', 'AUDIT_ANCHOR_URL must start with https://'],
  ['https://10.0.0.1/', 'AUDIT_ANCHOR_URL must resolve to a public address'],
])('lines are not sent to %s: the service does not start', async (url, problem) => {
  await expect(startBeside(service, { ...pool, AUDIT_ANCHOR_URL: url })).rejects.toThrow(problem)
  const off = { AUDIT_ANCHOR_URL: 'https://collector.example.org/', AUDIT_ANCHOR_FILE: 'off' }
  await expect(startBeside(service, { ...pool, ...off })).rejects.toThrow('AUDIT_ANCHOR_FILE is off')
})

test('a line is read only with the key that sealed it', () => {
  const line = { line: 1, time: '2026-05-01T10:00:00.000Z', begins: true, heads: [], previous: '' }
  expect(readLine(key, lineText(key, line))).toMatchObject(line)
  expect(readLine(sealingKey(Buffer.alloc(32)), lineText(key, line))).toBeUndefined()
})
