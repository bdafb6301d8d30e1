// Where the embedded database archives its log: one folder for each log without a gap.
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { archiveBacklog } from '../../src/db/archive-backlog.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { serverAccount } from '../../src/db/embedded-account.ts'
import { findBinaries, serverSettings } from '../../src/db/embedded-process.ts'
import { launch, port, socketFolder } from '../../src/db/embedded-server.ts'
import { archiveFolderOf, archiveSettings } from '../../src/db/log-archive.ts'
import { createLog } from '../../src/lib/log.ts'
import { onCleanup } from '../support/cleanup.ts'
import { emptyDatabase } from '../support/cluster.ts'
import { until } from '../support/process.ts'
import { roomyFolder } from '../support/roomy-folder.ts'

const log = createLog('silent')
let folder: string
let dataDir: string
let backups: string

beforeAll(async () => {
  folder = await roomyFolder(2 ** 30)
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  ;[dataDir, backups] = [join(folder, 'data'), join(folder, 'backups')]
  await mkdir(dataDir)
  await mkdir(backups)
})

const logNow = async (at: string | undefined): Promise<string | undefined> => {
  const archive = at === undefined ? undefined : { folder: at, seconds: 300 }
  return (await archiveSettings(dataDir, archive, undefined))['basic_archive.archive_directory']
}

test('a log goes on where it is, also while its disk is not mounted, until the database is used without an archive or with another', async () => {
  const first = await logNow(backups)
  expect(dirname(first!)).toBe(backups)
  expect(await readdir(backups)).toEqual([basename(first!)])
  await rename(backups, `${backups} away`)
  expect(await logNow(backups)).toBe(first)
  await rename(`${backups} away`, backups)

  const other = join(folder, 'other')
  await mkdir(other)
  expect(dirname((await logNow(other))!)).toBe(other)
  const again = await logNow(backups)
  expect(again).not.toBe(first)
  expect(await logNow(undefined)).toBeUndefined()
  expect([first, again]).not.toContain(await logNow(backups))
  expect(await readdir(backups)).toHaveLength(3)
})

test('no log begins in a folder that is not there', async () => {
  await expect(logNow(join(folder, 'nowhere'))).rejects.toThrow('create it, or mount the disk')
})

test('the server of a killed process is restarted if it archives elsewhere than it should; a disk that is away for a while costs nothing', async () => {
  await emptyDatabase(dataDir)
  const data = join(dataDir, 'postgres')
  const account = await serverAccount(dataDir)
  const socket = await socketFolder(data, account)
  const { postgres } = await findBinaries()
  const settings = await serverSettings(data, 10, socket, port)
  const orphan = await launch(postgres, data, socket, settings, account)
  const archive = { folder: backups, seconds: 1 }
  const server = await startEmbedded(dataDir, 10, log, { archive })
  const client = new pg.Client(server.connection)
  await client.connect()
  expect(() => process.kill(orphan.pid, 0)).toThrow('ESRCH')
  const at = await archiveFolderOf(client)
  expect(dirname(at!)).toBe(backups)

  // The disk is away for a while: nothing fails, and what was written then is archived afterwards.
  await rename(backups, `${backups} away`)
  await client.query('create table written as select 1; select pg_switch_wal()')
  const figures = async () => (await client.query(archiveBacklog.query)).rows[0]
  await until('the archiver has failed', async () => (await figures()).database_log_archive_failing === 1)
  expect((await figures()).database_log_archived_seconds).toBeGreaterThan(0)
  await rename(`${backups} away`, backups)
  await client.end()
  await server.stop()
  expect((await readdir(at!)).filter(name => name.length === 24).length).toBeGreaterThan(0)
})
