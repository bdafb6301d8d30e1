// The backups of a folder: which there are, how far they reach, and which are kept.
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { reachOf } from '../../src/db/backup/archived.ts'
import { backupsIn, keepNewest } from '../../src/db/backup/list.ts'
import { type Manifest, readManifest, writeManifest } from '../../src/db/backup/manifest.ts'
import { onCleanup } from '../support/cleanup.ts'
import { roomyFolder } from '../support/roomy-folder.ts'

let folder: string
beforeEach(async () => {
  const made = await roomyFolder(2 ** 20)
  folder = made
  onCleanup(() => rm(made, { recursive: true, force: true }))
})

const segment = (number: number, timeline = 1): string =>
  `${String(timeline).padStart(8, '0')}00000000${number.toString(16).toUpperCase().padStart(8, '0')}`

const manifest = (first: number, more: Partial<Manifest> = {}): Manifest => ({
  ...{ startedAt: '2026-11-23T08:00:00.000Z', consistentAt: '2026-11-23T08:01:00.000Z' },
  segments: { first: segment(first), last: segment(first + 1) },
  ...{ segmentBytes: 2 ** 24, log: 'log-a', files: [], folders: [] },
  ...more,
})

async function addBackup(name: string, content: Manifest): Promise<string> {
  await mkdir(join(folder, name))
  await writeManifest(join(folder, name), content)
  return join(folder, name)
}

async function addLog(name: string, ...files: string[]): Promise<void> {
  await mkdir(join(folder, name))
  for (const file of files) await writeFile(join(folder, name, file), '')
}

test('only folders with a whole name are listed, the oldest first, and a damaged manifest is told', async () => {
  await addBackup('backup-2', manifest(3))
  const damaged = await addBackup('backup-1', manifest(1))
  await appendFile(join(damaged, 'manifest.json'), ' x')
  await mkdir(join(folder, 'backup-3.partial'))
  await addLog('log-a')
  const found = await backupsIn(folder)
  expect(found.map(each => [basename(each.folder), each.manifest])).toEqual([
    ['backup-1', undefined],
    ['backup-2', manifest(3)],
  ])
})

test('a manifest whose files lie outside of the backup is refused', async () => {
  for (const path of ['../secret', '/etc/secret', 'postgres/../../secret']) {
    await rm(join(folder, 'backup-1'), { recursive: true, force: true })
    const at = await addBackup('backup-1', manifest(1, { files: [{ path, bytes: 1, sha256: '' }] }))
    await expect(readManifest(at)).rejects.toThrow('damaged')
  }
})

test('a backup reaches as far as its log has no gap', async () => {
  const at = await addBackup('backup-1', manifest(1))
  await addLog('log-a', segment(1), segment(2), `${segment(2)}.00000028.backup`, segment(3, 2), 'archtemp.x')
  expect(await reachOf(at, await readManifest(at))).toMatchObject({ last: segment(2), archivedAt: undefined })
  for (const number of [3, 4, 6]) await writeFile(join(folder, 'log-a', segment(number)), '')
  expect(await reachOf(at, await readManifest(at))).toMatchObject({
    ...{ last: segment(4), missing: segment(5), archivedAt: expect.any(Date) },
  })
  expect(await reachOf(at, manifest(1, { log: null }))).toMatchObject({ last: segment(2), log: undefined })
})

test('of older backups nothing is kept, and of the logs what the kept ones need, whatever its timeline', async () => {
  await addBackup('backup-1', manifest(1, { log: 'log-b' }))
  await addBackup('backup-2', manifest(3))
  await addBackup('backup-3', manifest(6))
  await addBackup('backup-4', manifest(8))
  await addLog('log-a', segment(5), segment(6), segment(7), segment(5, 2), segment(6, 2), '00000002.history')
  await addLog('log-b', segment(1))
  expect((await keepNewest(folder, 2)).map(each => basename(each))).toEqual(['backup-1', 'backup-2'])
  expect((await readdir(folder)).sort()).toEqual(['backup-3', 'backup-4', 'log-a'])
  expect((await readdir(join(folder, 'log-a'))).sort()).toEqual(
    ['00000002.history', segment(6), segment(6, 2), segment(7)].sort(),
  )
  expect(await keepNewest(folder, 5)).toEqual([])
})
