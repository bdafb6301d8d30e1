// npm run admin -- backup and restore: of a service that is used meanwhile, to the end of its log and to a moment before.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminTool } from '../../../src/commands/admin/tool.ts'
import { runTool } from '../../../src/lib/command.ts'
import { emptyDatabase } from '../../support/cluster.ts'
import { demoToken, endDatabase, freePort, type Running, run, until } from '../../support/process.ts'
import { roomyFolder } from '../../support/roomy-folder.ts'

const shell = promisify(execFile)
const started: { service: Running; dataDir: string }[] = []
let folder: string
let dataDir: string
let backups: string
let base: string
let authorization: string

/** A service that runs on a data folder. */
async function serve(dataDir: string, env: Record<string, string> = {}): Promise<{ service: Running; base: string }> {
  const port = await freePort()
  const settings = { DATA_DIR: dataDir, PORT: String(port), WORKERS: '1', LOG_LEVEL: 'error', DATABASE_POOL: '8' }
  const service = run('src/main.ts', [], { ...settings, ...env })
  started.push({ service, dataDir })
  await until('the service prints its address', () => service.output().includes('Stop with Ctrl-C'), 60)
  return { service, base: `http://127.0.0.1:${port}` }
}

async function admin(...args: string[]): Promise<{ code: number; output: string }> {
  let output = ''
  const stream = { write: (text: string) => void (output += text) }
  const tool = adminTool({ DATA_DIR: dataDir, BACKUP_DIR: backups })
  return { code: await runTool(tool, args, { stdout: stream, stderr: stream }), output }
}

async function told(...args: string[]) {
  const { code, output } = await admin(...args, '--json')
  expect(code, output).toBe(0)
  return JSON.parse(output)
}

/** The id, version and code of each Flag that a search finds, in order. */
async function found(at: string): Promise<string[]> {
  const flags: string[] = []
  for (let url: string | undefined = `${at}/api/fhir/R4/Flag?_tag=backup|a,backup|b&_count=500`; url; ) {
    const bundle = await (await fetch(url, { headers: { authorization } })).json()
    for (const { resource } of bundle.entry ?? [])
      flags.push(`${resource.id} ${resource.meta.versionId} ${resource.meta.tag[0].code}`)
    url = bundle.link.find(({ relation }: { relation: string }) => relation === 'next')?.url
  }
  return flags.sort()
}

const versionOf = async (at: string, id: string): Promise<number> => {
  const answer = await fetch(`${at}/api/fhir/R4/Flag/${id}`, { headers: { authorization } })
  return answer.status === 200
    ? Number(((await answer.json()) as { meta: { versionId: string } }).meta.versionId)
    : answer.status
}

async function put(id: string, code: 'a' | 'b'): Promise<void> {
  const flag = {
    ...{ resourceType: 'Flag', id, status: 'active', code: { text: 'falls' }, subject: { reference: 'Patient/x' } },
    meta: { tag: [{ system: 'backup', code }] },
  }
  const answer = await fetch(`${base}/api/fhir/R4/Flag/${id}`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/fhir+json' },
    body: JSON.stringify(flag),
  })
  expect(answer.status).toBeLessThan(300)
}

/** Creates and changes until it is told to end. @returns the versions that were confirmed. */
async function load(name: string, isOver: () => boolean): Promise<[id: string, version: number][]> {
  const confirmed: [string, number][] = []
  for (let number = 0; !isOver(); number++) {
    const id = `${name}-${number}`
    await put(id, 'a')
    if (number % 2 === 1) await put(id, 'b')
    confirmed.push([id, 1 + (number % 2)])
  }
  return confirmed
}

let backup: string
let confirmed: [string, number][]
/** What a search answers at the moment, and at the end. */
let then: string[]
let last: string[]
let moment: string

beforeAll(async () => {
  folder = await roomyFolder(4 * 2 ** 30)
  ;[dataDir, backups] = [join(folder, 'data'), join(folder, "disk 100% the doctor's")]
  await mkdir(backups)
  await emptyDatabase(dataDir)
  const { service, base: address } = await serve(dataDir, { BACKUP_DIR: backups })
  base = address
  authorization = `Bearer ${await demoToken(base)}`

  const killed = run('src/commands/admin.ts', ['backup'], { DATA_DIR: dataDir, BACKUP_DIR: backups })
  await until('a backup has begun', async () => (await readdir(backups)).some(name => name.endsWith('.partial')))
  killed.child.kill('SIGKILL')
  await killed.ended
  expect((await admin('backups')).output).toBe('There are no backups.\n')
  const nowhere = join(folder, 'nope')
  const output = `There is no ${nowhere}: the folder for backups is not there.\n`
  expect(await admin('backups', nowhere)).toMatchObject({ code: 1, output })

  let isOver = false
  const loads = ['one', 'two', 'three'].map(name => load(name, () => isOver))
  await until('the lock of the killed backup is gone', async () => {
    const { code, output } = await admin('backup', '--json')
    if (code === 0) backup = JSON.parse(output).folder
    else expect(output).toContain('Another backup')
    return code === 0
  })
  isOver = true
  confirmed = (await Promise.all(loads)).flat()
  await put('before', 'a')
  await put('changed', 'a')
  then = await found(base)
  const at = Date.now() + 1
  moment = new Date(at).toISOString()
  await until('the moment is over', () => Date.now() > at)
  await put('changed', 'b')
  await put('after', 'a')
  last = await found(base)
  const inUse = await admin('restore', '--from', backup, '--move-aside')
  expect([inUse.code, inUse.output]).toEqual([1, expect.stringContaining('stop the service')])
  service.child.kill('SIGTERM')
  await service.ended
}, 120_000)

afterAll(async () => {
  for (const { service, dataDir } of started) {
    service.child.kill('SIGKILL')
    await service.ended
    await endDatabase(dataDir)
  }
  await rm(folder, { recursive: true, force: true })
})

test('what a killed backup left is gone, and the next one is listed with the moments to which it can be restored', async () => {
  const { backups: listed } = await told('backups')
  expect(listed).toMatchObject([{ folder: backup, isDamaged: false }])
  expect(listed[0].from < moment && moment < listed[0].until).toBe(true)
  expect((await readdir(backups)).map(name => name.replace(/-.*/, '')).sort()).toEqual(['backup', 'log'])
  const { stdout } = await shell('find', [backup, '-perm', '/077'])
  expect(stdout).toBe('')
})

test('restored to the end of the log, every confirmed change is there, searches answer the same, and the trail is whole', async () => {
  const restored = join(folder, 'end')
  expect(await told('restore', '--from', backup, '--data-dir', restored)).toMatchObject({ hasKey: true, aside: null })
  const again = await admin('restore', '--from', backup, '--data-dir', restored)
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('holds a database')])
  const { base: at } = await serve(restored)
  expect(await found(at)).toEqual(last)
  expect(confirmed.length).toBeGreaterThan(20)
  expect(confirmed.filter(([id, version]) => !last.some(each => each.startsWith(`${id} ${version} `)))).toEqual([])
  expect(await versionOf(at, 'after')).toBe(1)
  dataDir = restored
  expect(await told('audit', 'verify')).toMatchObject({ isWhole: true })
})

test('restored to a moment, exactly the state of then is there, and the anchor tells what is lost', async () => {
  const restored = join(folder, 'then')
  await mkdir(join(restored, 'postgres'), { recursive: true })
  await writeFile(join(restored, 'postgres', 'former'), '')
  const { aside, lastChange } = await told(
    'restore',
    '--from',
    backup,
    '--data-dir',
    restored,
    '--time',
    moment,
    '--move-aside',
  )
  expect(existsSync(join(aside, 'former'))).toBe(true)
  expect(lastChange <= moment).toBe(true)
  const { base: at } = await serve(restored)
  expect(await found(at)).toEqual(then)
  expect(await Promise.all(['before', 'changed', 'after'].map(id => versionOf(at, id)))).toEqual([1, 1, 404])
  dataDir = restored
  expect(await told('audit', 'verify')).toMatchObject({ isWhole: true })
  const { code, output } = await admin('audit', 'verify', '--anchor', join(folder, 'data', 'audit-anchor.ndjson'))
  expect(code, output).toBe(1)
})

/** A copy of the backup with its log, in which something is broken. */
async function broken(name: string, breakIt: (backup: string, log: string) => Promise<void>): Promise<string> {
  const copy = join(folder, name)
  await shell('cp', ['-a', backups, copy])
  const [at, log] = (await readdir(copy)).sort().map(each => join(copy, each))
  await breakIt(at!, log!)
  return at!
}

async function flip(file: string, at: number): Promise<void> {
  await using handle = await open(file, 'r+')
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at)
  await handle.write(Buffer.of(buffer[0]! ^ 1), 0, 1, at)
}

const newest = async (log: string): Promise<string> =>
  join(
    log,
    (await readdir(log))
      .filter(each => each.length === 24)
      .sort()
      .at(-1)!,
  )

describe.concurrent('is refused, and leaves nothing behind:', () => {
  test.each<[what: string, reason: string, breakIt: (backup: string, log: string) => Promise<void>, args?: string[]]>([
    ['a flipped byte', 'is not as it was copied', at => flip(join(at, 'postgres/global/pg_control'), 100)],
    ['a missing file', 'is missing', at => rm(join(at, 'postgres/PG_VERSION'))],
    ['a flipped byte of the manifest', 'is not as it was written', at => flip(join(at, 'manifest.json'), 120)],
    ['a missing manifest', 'is not a backup', at => rm(join(at, 'manifest.json'))],
    ['a log that is gone', 'cannot be read', (_at, log) => rm(log, { recursive: true })],
    [
      'a segment of the log that is damaged',
      'damaged or cannot be read',
      async (_at, log) => flip(await newest(log), 30),
    ],
    ['a time before the backup', 'use an older one', async () => {}, ['--time', '2026-01-01T00:00:00Z']],
    ['a time after the end of the log', 'holds no change after', async () => {}, ['--time', '2126-01-01T00:00:00Z']],
  ])('%s', async (what, reason, breakIt, args = []) => {
    const target = join(folder, `refused ${what}`)
    const from = await broken(what, breakIt)
    const { code, output } = await admin('restore', '--from', from, '--data-dir', target, ...args)
    expect([code, output]).toEqual([1, expect.stringContaining(reason)])
    expect(existsSync(target)).toBe(false)
  })

  test('a gap in the log, unless the moment lies before it', async () => {
    const from = await broken('gap', async (_at, log) =>
      rename(await newest(log), join(log, '0000000100000000000000FF')),
    )
    const { code, output } = await admin('restore', '--from', from, '--data-dir', join(folder, 'refused'))
    expect([code, output]).toEqual([1, expect.stringContaining('has a gap')])
  })

  test('the key of another database in the folder', async () => {
    const other = join(folder, 'other')
    await mkdir(other)
    await writeFile(join(other, 'encryption.key'), 'another')
    const { code, output } = await admin('restore', '--from', backup, '--data-dir', other)
    expect([code, output]).toEqual([1, expect.stringContaining('is not the key of the backup')])
    expect(await readFile(join(other, 'encryption.key'), 'utf8')).toBe('another')
  })
})

test('a server of your own is left to its own tools', async () => {
  let output = ''
  const stream = { write: (text: string) => void (output += text) }
  const tool = adminTool({ DATABASE_URL: 'postgres://nowhere.invalid/x' })
  for (const args of [
    ['backup', '--to', folder],
    ['backups', folder],
    ['restore', '--from', backup],
  ]) {
    output = ''
    expect(await runTool(tool, args, { stdout: stream, stderr: stream })).toBe(1)
    expect(output).toContain('pgBackRest')
  }
})

test('wrong arguments are named', async () => {
  const cases: [string[], string][] = [
    [['restore'], '--from is required'],
    [['restore', '--from', backup, '--time', '2026-11-23 08:15'], 'a time with its zone'],
    [['backup', '--keep', '0'], 'a number from 1 on'],
    [['backup', backups], 'unexpected argument'],
  ]
  for (const [args, words] of cases) {
    const { code, output } = await admin(...args)
    expect([code, output]).toEqual([2, expect.stringContaining(words)])
  }
})
