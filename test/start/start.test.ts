import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transactionBundle } from '../load/bundles.ts'
import { read } from '../support/metrics.ts'
import {
  demoToken,
  endDatabase,
  freePort,
  isAlive,
  postmaster,
  type Running,
  run,
  runScript,
  until,
} from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let folder: string
let env: Record<string, string>
let base: string
const started: Running[] = []

beforeAll(async () => {
  folder = await temporaryFolder('start')
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  env = { DATA_DIR: join(folder, 'data'), PORT: String(port), WORKERS: '2', LOG_LEVEL: 'info', DATABASE_POOL: '4' }
})

afterAll(async () => {
  for (const each of started) each.child.kill('SIGKILL')
  await endDatabase(join(folder, 'data'))
})

interface ToOne {
  /** The process that answers on this connection. */
  readonly pid: number
  readonly get: (path: string, headers?: Record<string, string>) => Promise<string>
  readonly figures: () => Promise<{ health: number; workers: number; missing: number }>
  readonly close: () => void
}

/** A connection to each of the two processes: new ones go to either in turn. */
async function connectionsToBoth(service: Running): Promise<[ToOne, ToOne]> {
  const one = await connect(service)
  for (;;) {
    const other = await connect(service)
    if (other.pid !== one.pid) return [one, other]
    other.close()
  }
}

/** A connection of its own, whose requests are answered by one process: the one that logs the first of them. */
async function connect(service: Running): Promise<ToOne> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const get = (path: string, headers: Record<string, string> = {}): Promise<string> =>
    new Promise((done, fail) => {
      request(base + path, { agent, headers }, reply => void text(reply).then(done, fail))
        .once('error', fail)
        .end()
    })
  const id = randomUUID()
  await get('/readyz', { 'x-request-id': id })
  const line = () =>
    service
      .output()
      .split('\n')
      .find(each => each.includes(id))
  await until('the request is logged', () => line() !== undefined)
  const figures = async () => {
    const { value } = read(await get('/metrics'))
    return {
      health: value('http_requests_total{method="GET",route="/healthz",status="200"}') ?? 0,
      workers: value('health_interop_workers')!,
      missing: value('health_interop_workers_missing')!,
    }
  }
  return { pid: (JSON.parse(line()!) as { pid: number }).pid, get, figures, close: () => agent.destroy() }
}

async function start(service = run('src/main.ts', [], env)): Promise<Running> {
  started.push(service)
  let isOver = false
  void service.ended.then(() => (isOver = true))
  // The first start makes the database, which a busy disk takes its time for.
  await until('the service prints its address', () => isOver || service.output().includes('Stop with Ctrl-C'), 90)
  return service
}

describe('a service', () => {
  let service: Running
  beforeAll(async () => {
    service = await start()
  }, 120_000)

  test('prints at its start the address, the demo client and three calls to try', async () => {
    expect(service.output()).toContain('demo-client / demo-secret-for-local-use-only')
    expect(service.output().match(/curl -s/g)).toHaveLength(3)
    const steps = [
      'starting: ',
      'opening the database',
      'migrating the database',
      'checking the maps',
      'demo data',
      'to serve',
    ]
    const places = steps.map(step => service.output().indexOf(step))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThanOrEqual(0)
    expect(await fetch(`${base}/healthz`).then(reply => reply.json())).toMatchObject({ status: 'ok' })
    expect(await fetch(`${base}/readyz`).then(reply => reply.json())).toMatchObject({
      status: 'ok',
      checks: { database: 'ok' },
    })
  })

  test('counts the requests of all its processes, whichever is asked, and also when one is stuck or killed', async () => {
    const [one, other] = await connectionsToBoth(service)
    const before = (await one.figures()).health
    for (let sent = 0; sent < 5; sent++) await one.get('/healthz')
    for (let sent = 0; sent < 7; sent++) await other.get('/healthz')
    const all = { health: before + 12, workers: 2, missing: 0 }
    expect([await one.figures(), await other.figures()]).toEqual([all, all])
    process.kill(other.pid, 'SIGSTOP')
    expect(await one.figures()).toEqual({ ...all, missing: 1 })
    process.kill(other.pid, 'SIGKILL')
    await until('another process has taken its place', async () => (await one.figures()).missing === 0)
    expect(await one.figures()).toEqual(all)
    one.close()
  })

  test.runIf(existsSync('/proc/self/status'))(
    'holds little memory at rest, and next to none in the process that only starts the others',
    async () => {
      const [one, other] = await connectionsToBoth(service)
      // Without a filled compile cache, as in a fresh clone, a process holds some 20 MB more.
      for (const { pid } of [one, other]) expect(await megabytes(pid)).toBeLessThan(180)
      expect(await megabytes(service.child.pid!)).toBeLessThan(90)
      for (const each of [one, other]) each.close()
    },
  )

  test('has a database whose log names nobody, whatever collides', async () => {
    const log = () => readFile(join(folder, 'data', 'postgres.log'), 'utf8')
    const client = await holding('create temporary table person (name text primary key)')
    const insert = () => client.query('insert into person values ($1)', ['ada-lovelace'])
    await insert()
    await expect(insert()).rejects.toThrow('duplicate key')
    await client.end()
    await until('PostgreSQL has told that they collide', async () => (await log()).includes('duplicate key'))
    expect(await log()).not.toContain('ada-lovelace')
  })

  test('is left alone by a second one on the same folder, which says so in one sentence', async () => {
    const second = run('src/main.ts', [], { ...env, PORT: String(await freePort()) })
    expect(await second.ended).toBe(1)
    expect(second.output().trim().split('\n').at(-1)).toMatch(
      /^Another process \(health-interop \d+\) already runs on .*: stop it, or set DATA_DIR to another folder\.$/,
    )
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
  })

  test('has its port to itself: another one says plainly that it is in use', async () => {
    const second = run('src/main.ts', [], { ...env, DATA_DIR: join(folder, 'other') })
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`Port ${env['PORT']} is in use`)
  })

  test('ends cleanly at SIGTERM, when the request in hand is answered', async () => {
    const pid = await postmaster(join(folder, 'data'))
    const token = await demoToken(base)
    const sent = request(`${base}/api/fhir/R4`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
    })
    const answer = new Promise<number>((done, fail) =>
      sent.once('response', reply => done(reply.statusCode!)).once('error', fail),
    )
    const text = JSON.stringify(transactionBundle('in hand', 500))
    sent.write(text.slice(0, 1000))
    await until('the request has arrived', async () => (await fetch(`${base}/healthz`)).ok)
    service.child.kill('SIGTERM')
    // One that comes while the workers let go of the port may be taken and answered by none, until the service has ended.
    await until('no new connection is answered', () =>
      fetch(`${base}/healthz`, { signal: AbortSignal.timeout(2000) }).then(
        () => false,
        () => true,
      ),
    )
    sent.end(text.slice(1000))
    expect(await answer).toBe(200)
    expect(await service.ended).toBe(0)
    expect(isAlive(pid)).toBe(false)
  })
})

/** The memory of a process that no file backs. */
async function megabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/RssAnon:\s*(\d+)/.exec(status)![1]) / 1024
}

/** Begins a transaction beside the service, in its database, with a statement. */
async function holding(statement: string): Promise<pg.Client> {
  const lock = await readFile(join(folder, 'data', 'postgres/postmaster.pid'), 'utf8')
  const client = new pg.Client({ host: lock.split('\n')[4], user: 'postgres', database: 'health_interop' })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query(statement)
  return client
}

test('after kill -9 the next start takes over the database server that was left behind, and npm passes signals on to it', async () => {
  const first = await start()
  const pid = await postmaster(join(folder, 'data'))
  first.child.kill('SIGKILL')
  await first.ended
  expect(isAlive(pid)).toBe(true)
  await until('the port is free again', () =>
    fetch(`${base}/healthz`).then(
      () => false,
      () => true,
    ),
  )
  const second = await start(runScript('start', env))
  expect(second.output()).toContain('took over the database server')
  expect(await postmaster(join(folder, 'data'))).toBe(pid)
  // A request that would wait for as long as a statement may take does not keep the service from ending.
  const headers = { authorization: `Bearer ${await demoToken(base)}`, 'content-type': 'application/fhir+json' }
  const put = (active: boolean) =>
    fetch(`${base}/api/fhir/R4/Patient/held`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ resourceType: 'Patient', id: 'held', active }),
    })
  expect((await put(true)).status).toBe(201)
  const client = await holding(`select 1 from directory where id = 'held' for update`)
  const cut = put(false).then(
    ({ status }) => status,
    () => 'cut off',
  )
  await until('the request waits', async () => {
    const { rows } = await client.query(`select from pg_locks where not granted`)
    return rows.length > 0
  })
  for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT'] as const) second.child.kill(signal)
  expect(await cut).toBe('cut off')
  expect(await second.ended).toBe(0)
  expect(isAlive(pid)).toBe(false)
  await client.end().catch(() => {})
}, 180_000)

test('wrong settings are named, each with what it should be, before anything starts', async () => {
  const service = run('src/main.ts', [], { ...env, PORT: 'eighty', WORKERS: '0', ENVIRONMENT: 'test' })
  expect(await service.ended).toBe(1)
  expect(service.output()).toContain('PORT is "eighty", but must be a whole number from 0 to 65535')
  expect(service.output()).toContain('WORKERS is "0", but must be a whole number from 1 to 64')
  expect(service.output()).toContain('ENVIRONMENT is "test", but must be one of local, sandbox, production')
})

test('what production needs and is not set is named all at once, before a database is made', async () => {
  const data = join(folder, 'production')
  const service = run('src/main.ts', [], { ...env, ENVIRONMENT: 'production', DATA_DIR: data })
  expect(await service.ended).toBe(1)
  expect(service.output()).toMatch(/^BASE_URL is empty, .*\nENCRYPTION_KEY is empty, .*\n$/)
  expect(existsSync(data)).toBe(false)
})

test('standbys without their primary are refused, before a database is made', async () => {
  const data = join(folder, 'standbys')
  const service = run('src/main.ts', [], {
    ...env,
    DATABASE_READ_URL: 'postgres://reader@127.0.0.1:1/x',
    DATA_DIR: data,
  })
  expect(await service.ended).toBe(1)
  expect(service.output()).toMatch(/^DATABASE_READ_URL names standbys, but DATABASE_URL is empty: .*\n$/)
  expect(existsSync(data)).toBe(false)
})

test('a database that cannot be reached is said plainly', async () => {
  const service = run('src/main.ts', [], {
    ...env,
    DATABASE_URL: `postgres://nobody@127.0.0.1:${await freePort()}/nothing`,
  })
  expect(await service.ended).toBe(1)
  expect(service.output().trim().split('\n').at(-1)).toBe(
    'The database of DATABASE_URL cannot be reached: check the URL and that the server is running.',
  )
})
