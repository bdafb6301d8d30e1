// A service that is killed while it registers somebody leaves nothing: no patient, no Task, nobody in the register.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barrier } from '../support/concurrency.ts'
import { demoToken, endDatabase, freePort, type Running, run, until } from '../support/process.ts'

let folder: string
let url: string
let service: Running

async function start(): Promise<void> {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const env = {
    DATA_DIR: folder,
    PORT: String(port),
    WORKERS: '1',
    LOG_LEVEL: 'warn',
    BASE_URL: 'http://service.example',
  }
  service = run('src/main.ts', [], env)
  const answers = () =>
    fetch(`${url}/readyz`).then(
      answer => answer.ok,
      () => false,
    )
  await until('the service answers', answers, 60)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'health-interop-resolve-'))
  await start()
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await endDatabase(folder)
  await rm(folder, { recursive: true, force: true })
})

const person = { first_name: 'Clotilde', last_name: 'Essomba', date_of_birth: '1971-06-18', sex: 'female' }

async function resolve(body: object): Promise<{ status: string; health_id: string; possible_duplicates: number }> {
  const headers = {
    authorization: `Bearer ${await demoToken(url)}`,
    'content-type': 'application/json',
  }
  const answer = await fetch(`${url}/api/v1/connect/patients/resolve`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Awaited<ReturnType<typeof resolve>>
}

test('and the next who resolves registers, once, with its Task', async () => {
  const connection = { host: join(folder, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  const database = new pg.Client(connection)
  await database.connect()
  const counts = async (): Promise<number[]> => {
    const { rows } = await database.query(
      `select (select count(*) from person)::int as people, (select count(*) from health_id)::int as ids,
        (select count(*) from person_posting)::int as postings, (select count(*) from resource)::int as resources`,
    )
    return Object.values(rows[0])
  }
  await resolve(person)
  const before = await counts()
  const married = { ...person, last_name: 'Manga', phone_number: '+237 699 11 22 33' }
  const held = await barrier(connection, 'coded')
  const lost = resolve(married).catch(() => 'lost')
  await until('the patient is stored, and its Task waits', async () => (await held.waiting()) === 1)
  service.child.kill('SIGKILL')
  expect(await lost).toBe('lost')
  await service.ended
  await held.lift()
  expect(await counts()).toEqual(before)
  await start()
  const created = await resolve(married)
  expect([created.status, created.possible_duplicates]).toEqual(['created', 1])
  expect((await resolve(married)).health_id).toBe(created.health_id)
  const after = await counts()
  expect(after.map((count, index) => count - before[index]!)).toEqual([1, 1, expect.any(Number), 2])
  await database.end()
}, 120_000)
