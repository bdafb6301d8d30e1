// A copy of the data folder of a server that is used meanwhile, as pg_basebackup would make it.
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { copyRunning } from '../../src/db/base-backup.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { giveFolder, serverAccount } from '../../src/db/embedded-account.ts'
import { segmentsBetween } from '../../src/db/log-segments.ts'
import { createLog } from '../../src/lib/log.ts'
import { onCleanup } from '../support/cleanup.ts'
import { emptyDatabase } from '../support/cluster.ts'
import { roomyFolder } from '../support/roomy-folder.ts'

const log = createLog('silent')
let folder: string
let server: EmbeddedServer
let client: pg.Client

beforeAll(async () => {
  folder = await roomyFolder(2 ** 30)
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  await emptyDatabase(join(folder, 'data'))
  server = await startEmbedded(join(folder, 'data'), 10, log)
  onCleanup(() => server.stop(0))
  client = await connect(server)
})

async function connect({ connection }: EmbeddedServer): Promise<pg.Client> {
  const connected = new pg.Client(connection)
  await connected.connect()
  onCleanup(() => connected.end())
  return connected
}

const slots = async (): Promise<number> => (await client.query('select from pg_replication_slots')).rowCount!

test('a copy that is made while rows are written has every row that was committed before its end, and starts by itself', async () => {
  await client.query('create table kept (number int primary key, text text)')
  const acknowledged: number[] = []
  let isCopied = false
  const write = async (): Promise<void> => {
    const writer = await connect(server)
    while (!isCopied) {
      // Files come and go, too.
      await writer.query('create table passing as select generate_series(1, 1000) as number; drop table passing')
      await writer.query(`insert into kept select $1::int, repeat('x', 5000)`, [acknowledged.length + 1])
      acknowledged.push(Date.now())
    }
  }
  const writing = write()
  const copy = join(folder, 'copy', 'postgres')
  await mkdir(join(folder, 'copy'))
  const copied = await copyRunning(server.connection, copy)
  isCopied = true
  await writing

  expect(copied.files.map(({ path }) => path)).toContain(`pg_wal/${copied.segments.last}`)
  expect(await readdir(join(folder, 'copy'))).toEqual(['postgres'])
  expect(await slots()).toBe(0)
  const account = await serverAccount(join(folder, 'copy'))
  if (account) await giveFolder(copy, account)
  const other = await startEmbedded(join(folder, 'copy'), 10, log)
  onCleanup(() => other.stop(0))
  const { rows } = await (await connect(other)).query(
    'select count(*)::int as count, max(number) as most, sum(length(text))::int as bytes from kept',
  )
  const { count, most, bytes } = rows[0]
  expect([most, bytes]).toEqual([count, count * 5000])
  const before = acknowledged.filter(at => at <= copied.consistentAt.getTime()).length
  expect(before).toBeGreaterThan(0)
  expect(count).toBeGreaterThanOrEqual(before)
  expect(count).toBeLessThanOrEqual(acknowledged.length)
})

test('each file of the copy is as it was noted, and its account alone can read it', async () => {
  const copy = join(folder, 'noted')
  const { files, folders } = await copyRunning(server.connection, copy)
  const found = (await readdir(copy, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  expect(found.map(({ parentPath, name }) => join(parentPath, name)).sort()).toEqual(
    files.map(({ path }) => join(copy, path)).sort(),
  )
  const { stdout } = await promisify(execFile)(
    'sha256sum',
    files.map(({ path }) => join(copy, path)),
  )
  expect(
    stdout
      .trim()
      .split('\n')
      .map(line => line.slice(0, 64)),
  ).toEqual(files.map(({ sha256 }) => sha256))
  const { stdout: open } = await promisify(execFile)('find', [copy, '-perm', '/077'])
  expect(open).toBe('')
  expect(folders).toEqual(expect.arrayContaining(['pg_wal', 'pg_replslot', 'pg_notify']))
})

test('a copy whose connection is lost leaves no folder, no slot and no backup that goes on', async () => {
  const copy = join(folder, 'lost')
  const copying = copyRunning(server.connection, copy)
  const refused = expect(copying).rejects.toThrow()
  const end = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'health-interop backup'`
  while ((await client.query(`${end} and query like '%pg_backup_start%'`)).rowCount === 0);
  await refused
  expect((await readdir(folder)).filter(name => name.startsWith('lost'))).toEqual([])
  expect(await slots()).toBe(0)
})

test('a folder that holds something is not replaced', async () => {
  await mkdir(join(folder, 'full'))
  await writeFile(join(folder, 'full', 'precious'), 'kept')
  await expect(copyRunning(server.connection, join(folder, 'full'))).rejects.toThrow('already exists')
  expect(await readFile(join(folder, 'full', 'precious'), 'utf8')).toBe('kept')
})

test('segments of the log are counted across the end of a log', () => {
  expect(segmentsBetween('0000000200000001000000FE', '000000020000000200000001', 2 ** 24)).toEqual([
    ...['0000000200000001000000FE', '0000000200000001000000FF', '000000020000000200000000', '000000020000000200000001'],
  ])
  expect(() => segmentsBetween('000000010000000000000001', '000000020000000000000001', 2 ** 24)).toThrow('timeline')
})
