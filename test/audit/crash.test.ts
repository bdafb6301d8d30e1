import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoToken, endDatabase, freePort, isAlive, postmaster, type Running, run, until } from '../support/process.ts'

let folder: string
let env: Record<string, string>
let base: string
let service: Running

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'health-interop-audit-'))
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  env = { DATA_DIR: folder, PORT: String(port), WORKERS: '1', LOG_LEVEL: 'error', DATABASE_POOL: '4' }
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await endDatabase(folder)
  await rm(folder, { recursive: true, force: true })
})

async function start(): Promise<void> {
  service = run('src/main.ts', [], env)
  await until('the service prints its address', () => service.output().includes('Stop with Ctrl-C'))
}

interface Heads {
  readonly isWhole: boolean
  readonly rows: number
}

async function verified(): Promise<Heads> {
  const command = run('src/admin.ts', ['audit', 'verify', '--json'], env)
  await command.ended
  return JSON.parse(command.output()) as Heads
}

test('kill -9 of service and database right after answers loses no row, and the chain goes on whole', async () => {
  await start()
  const headers = { authorization: `Bearer ${await demoToken(base)}` }
  let answered = 0
  const ask = async (): Promise<void> => {
    for (;;) {
      const reply = await fetch(`${base}/api/fhir/R4/Patient/amina-bello`, { headers }).catch(() => undefined)
      if (!reply) return
      if (reply.status === 200) answered++
    }
  }
  const clients = Array.from({ length: 8 }, ask)
  await until('many answers have come', () => answered > 200)
  const database = await postmaster(folder)
  service.child.kill('SIGKILL')
  process.kill(database, 'SIGKILL')
  await Promise.all(clients)
  await until('the database server is gone', () => !isAlive(database))
  const { isWhole, rows } = await verified()
  expect(isWhole).toBe(true)
  expect(rows).toBeGreaterThanOrEqual(answered)
  await start()
  expect((await fetch(`${base}/api/fhir/R4/Patient/amina-bello`, { headers })).status).toBeLessThan(500)
  expect(await verified()).toMatchObject({ isWhole: true, rows: rows + 1, chains: 2 })
}, 60_000)
