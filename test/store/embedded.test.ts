// The database that the service brings along: when it is killed, it comes back with everything that was committed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded.ts'
import { createLog } from '../../src/lib/log.ts'
import { onCleanup } from '../support/cleanup.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const log = createLog('silent')

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('test')
})

test('a database server that is killed is started again, at the same address, and stays ours until it is stopped', async () => {
  const pid = async () => Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const server = await startEmbedded(folder, 10, log)
  const ask = async (text: string): Promise<unknown[]> => {
    const client = new pg.Client(server.connection)
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(text)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }
  try {
    await ask('create table kept as select 7 as number')
    for (let kills = 0; kills < 2; kills++) {
      const killed = await pid()
      process.kill(killed, 'SIGKILL')
      // It is back once it answers, and ours again once our lock is there, a moment later.
      let rows: unknown[] = []
      for (const until = performance.now() + 15_000; rows.length === 0 && performance.now() < until; await sleep(50))
        rows = await ask(`select number from kept, pg_locks where locktype = 'advisory' and granted`).catch(() => [])
      expect(rows).toEqual([{ number: 7 }])
      expect(await pid()).not.toBe(killed)
    }
    await expect(startEmbedded(folder, 10, log)).rejects.toThrow('already runs on')
  } finally {
    await server.stop()
  }
  await expect(ask('select 1')).rejects.toThrow()
  await expect(pid()).rejects.toThrow('ENOENT')
})

test('files that are no database are left as they are, and the error names them', async () => {
  const data = join(folder, 'else', 'postgres')
  await mkdir(data, { recursive: true })
  await writeFile(join(data, 'notes.txt'), 'mine')
  await expect(startEmbedded(join(folder, 'else'), 10, log)).rejects.toThrow(
    `${data} holds files, but no complete database`,
  )
  expect(await readdir(data)).toEqual(['notes.txt'])
})

test('what a server that died left behind keeps none from starting, though another process has its number now', async () => {
  const { uid, gid } = await stat(join(folder, 'postgres'))
  const another = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {})
  onCleanup(async () => {
    another.kill()
  })
  await once(another, 'spawn')
  const lock = [another.pid, join(folder, 'postgres'), 0, 5432, join(folder, 'socket'), ''].join('\n')
  await writeFile(join(folder, 'postgres', 'postmaster.pid'), lock)
  await writeFile(join(folder, 'socket', '.s.PGSQL.5432.lock'), lock)
  const server = await startEmbedded(folder, 10, log)
  await server.stop()
  expect(another.exitCode).toBeNull()
})
