// A service that is killed between the work and its reply leaves neither, nor the key.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transactionBundle } from '../load/bundles.ts'
import { barrier } from '../support/concurrency.ts'
import { demoToken, endDatabase, freePort, type Running, run, until } from '../support/process.ts'

let folder: string
let url: string
let service: Running

async function start(): Promise<void> {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  service = run('src/main.ts', [], { DATA_DIR: folder, PORT: String(port), WORKERS: '1', LOG_LEVEL: 'warn' })
  await until(
    'the service answers',
    () =>
      fetch(`${url}/readyz`).then(
        answer => answer.ok,
        () => false,
      ),
    60,
  )
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'health-interop-idempotency-'))
  await start()
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await endDatabase(folder)
  await rm(folder, { recursive: true, force: true })
})

async function send(method: string, path: string, body?: object): Promise<Response> {
  const headers = {
    authorization: `Bearer ${await demoToken(url)}`,
    'content-type': 'application/fhir+json',
    'idempotency-key': 'the one',
  }
  return fetch(`${url}/api/fhir/R4${path}`, { method, headers, body: body && JSON.stringify(body) })
}

async function stored(): Promise<number> {
  const answer = await send('GET', '/Observation?_tag=crash&_summary=count')
  return ((await answer.json()) as { total: number }).total
}

test('and the repeat after the restart does the work, once', async () => {
  const bundle = transactionBundle('crash', 40)
  const server = { host: join(folder, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  const held = await barrier(server, 'idempotency')
  const lost = send('POST', '', bundle).catch(() => 'lost')
  await until('the work is done and the reply is to be kept', async () => (await held.waiting()) === 1)
  service.child.kill('SIGKILL')
  expect(await lost).toBe('lost')
  await service.ended
  await held.lift()
  await start()
  expect(await stored()).toBe(0)
  const first = await send('POST', '', bundle)
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
  const again = await send('POST', '', bundle)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(await again.text()).toBe(await first.text())
  expect(await stored()).toBe(39)
}, 120_000)
