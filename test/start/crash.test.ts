// kill -9 of a service, and of its database, at moments that matter: between a change and its row in the trail, between a change and
// those who are told of it, between work and its reply.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transactionBundle } from '../load/bundles.ts'
import { barrier } from '../support/concurrency.ts'
import { demoToken, endDatabase, freePort, isAlive, postmaster, type Running, run, until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { age, expectToldOnce, pendingIn } from '../support/trail.ts'

let folder: string
let env: Record<string, string>
let base: string
let service: Running
let connection: pg.ClientConfig
let database: pg.Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'health-interop-pending-'))
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  env = { DATA_DIR: folder, PORT: String(port), WORKERS: '1', LOG_LEVEL: 'error', DATABASE_POOL: '8' }
  await start()
  connection = { host: join(folder, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  await connect()
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await database.end()
  await endDatabase(folder)
  await rm(folder, { recursive: true, force: true })
})

/** The database server may have been killed, too. */
async function connect(): Promise<void> {
  database = new pg.Client(connection)
  database.on('error', () => {})
  await database.connect()
}

async function start(): Promise<void> {
  service = run('src/main.ts', [], env)
  await until('the service prints its address', () => service.output().includes('Stop with Ctrl-C'), 60)
}

const flag = { resourceType: 'Flag', status: 'active', code: { text: 'falls' }, subject: { reference: 'Patient/x' } }

/** Creates, changes and deletes until nobody answers; `made` counts what was confirmed. */
async function client(authorization: string, made: () => void): Promise<void> {
  const send = async (method: string, path: string, body?: object): Promise<{ id: string } | undefined> => {
    const headers = { authorization, 'content-type': 'application/fhir+json' }
    const answer = await fetch(`${base}/api/fhir/R4/${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (answer.ok) made()
    return answer.status < 204 ? ((await answer.json()) as { id: string }) : undefined
  }
  try {
    for (;;) {
      const created = await send('POST', 'Flag', flag)
      await send('PUT', `Flag/${created!.id}`, { ...flag, id: created!.id, status: 'inactive' })
      await send('DELETE', `Flag/${created!.id}`)
    }
  } catch {
    return
  }
}

async function verify(): Promise<{ isWhole: boolean; rows: number }> {
  const command = run('src/admin.ts', ['audit', 'verify', '--json'], env)
  await command.ended
  return JSON.parse(command.output()) as { isWhole: boolean; rows: number }
}

const verified = async (): Promise<boolean> => (await verify()).isWhole

async function clients(): Promise<{ made: () => number; gone: Promise<unknown> }> {
  let made = 0
  const authorization = `Bearer ${await demoToken(base)}`
  const gone = Promise.all(Array.from({ length: 8 }, () => client(authorization, () => made++)))
  return { made: () => made, gone }
}

async function startAgain(): Promise<void> {
  await age(database)
  await start()
  await until('what was left over is told', async () => (await pendingIn(database)) === 0)
}

test('kill -9 of service and database right after answers loses no row, and the chain goes on whole', async () => {
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
  const server = await postmaster(folder)
  service.child.kill('SIGKILL')
  process.kill(server, 'SIGKILL')
  await Promise.all(clients)
  await until('the database server is gone', () => !isAlive(server))
  const { isWhole, rows } = await verify()
  expect(isWhole).toBe(true)
  expect(rows).toBeGreaterThanOrEqual(answered)
  await start()
  await connect()
  expect((await fetch(`${base}/api/fhir/R4/Patient/amina-bello`, { headers })).status).toBeLessThan(500)
  expect(await verify()).toMatchObject({ isWhole: true, rows: rows + 1, chains: 2 })
}, 60_000)

test('kill -9 while eight clients write leaves no version without its row after the next start', async () => {
  const { made, gone } = await clients()
  await until('many changes are made', () => made() > 200)
  service.child.kill('SIGKILL')
  await gone
  await startAgain()
  expect(await expectToldOnce(database, 'Flag')).toBeGreaterThanOrEqual(made())
  expect(await verified()).toBe(true)
}, 120_000)

test('nor does it when changes are committed whose rows are not', async () => {
  const { made, gone } = await clients()
  await until('some changes are made', () => made() > 50)
  const held = await barrier(connection, 'audit_event')
  await until('changes wait for their rows', async () => (await pendingIn(database)) >= 8)
  service.child.kill('SIGKILL')
  await gone
  await held.endWaiting()
  await held.lift()
  expect(await pendingIn(database)).toBe(8)
  await startAgain()
  await expectToldOnce(database, 'Flag')
  expect(await verified()).toBe(true)
}, 120_000)

test('nor any event: whoever subscribed gets each at least once, those too that were under way', async () => {
  const receiver = await startReceiver()
  const authorization = `Bearer ${await demoToken(base)}`
  const send = (path: string, body: object) =>
    fetch(base + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const wish = { callback_url: receiver.url, subscribed_events: ['encounter.created'] }
  expect((await send('/api/v1/connect/webhooks/subscriptions', wish)).status).toBe(201)
  // One in ten is refused, and one in ten is left without an answer.
  receiver.answer((response, { headers }) => {
    const lot = Number.parseInt(String(headers['webhook-id']).slice(-2), 16)
    if (lot < 26) response.writeHead(500).end()
    else if (lot >= 52) response.writeHead(200).end()
  })
  const confirmed: string[] = []
  const visit = { resourceType: 'Encounter', status: 'planned', class: { code: 'AMB' } }
  const writers = Array.from({ length: 8 }, async () => {
    try {
      for (;;) {
        const answer = await send('/api/fhir/R4/Encounter', visit)
        confirmed.push(((await answer.json()) as { id: string }).id)
      }
    } catch {
      return
    }
  })
  await until('many are written, and some are told', () => confirmed.length > 100 && receiver.received.length > 20)
  service.child.kill('SIGKILL')
  await Promise.all(writers)
  receiver.answer(200)
  await start()
  const nothingLeft = async () => {
    await database.query(`update webhook_delivery set due_at = due_at - interval '1 hour'`)
    const { rows } = await database.query(
      `select ((select count(*) from webhook_delivery) + (select count(*) from event_outbox))::int as left`,
    )
    return rows[0].left === 0
  }
  await until('everything is delivered', nothingLeft)
  const told = new Set(receiver.received.map(({ event }) => event.data.encounter_id))
  expect(confirmed.filter(id => !told.has(id))).toEqual([])
  const { rows } = await database.query(
    `select count(*)::int as events, count(*) filter (where exists (
        select from webhook_attempt a where a.event = e.id and a.outcome = 'delivered'))::int as delivered
      from event e where event = 'encounter.created'`,
  )
  expect(rows[0].delivered).toBe(rows[0].events)
  expect(rows[0].events).toBeGreaterThanOrEqual(confirmed.length)
}, 120_000)

async function sendOnce(method: string, path: string, body?: object): Promise<Response> {
  const headers = {
    authorization: `Bearer ${await demoToken(base)}`,
    'content-type': 'application/fhir+json',
    'idempotency-key': 'the one',
  }
  return fetch(`${base}/api/fhir/R4${path}`, { method, headers, body: body && JSON.stringify(body) })
}

async function stored(): Promise<number> {
  const answer = await sendOnce('GET', '/Observation?_tag=crash&_summary=count')
  return ((await answer.json()) as { total: number }).total
}

test('a request with an Idempotency-Key that is killed between its work and its reply leaves neither: the repeat does the work, once', async () => {
  const bundle = transactionBundle('crash', 40)
  const held = await barrier(connection, 'idempotency')
  const lost = sendOnce('POST', '', bundle).catch(() => 'lost')
  await until('the work is done and the reply is to be kept', async () => (await held.waiting()) === 1)
  service.child.kill('SIGKILL')
  expect(await lost).toBe('lost')
  await service.ended
  await held.lift()
  await start()
  expect(await stored()).toBe(0)
  const first = await sendOnce('POST', '', bundle)
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
  const again = await sendOnce('POST', '', bundle)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(await again.text()).toBe(await first.text())
  expect(await stored()).toBe(39)
}, 120_000)

const person = { first_name: 'Clotilde', last_name: 'Essomba', date_of_birth: '1971-06-18', sex: 'female' }

async function resolve(body: object): Promise<{ status: string; health_id: string; possible_duplicates: number }> {
  const headers = {
    authorization: `Bearer ${await demoToken(base)}`,
    'content-type': 'application/json',
  }
  const answer = await fetch(`${base}/api/v1/connect/patients/resolve`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Awaited<ReturnType<typeof resolve>>
}

test('a registration that is killed leaves nobody, and the next who resolves registers, once, with its Task', async () => {
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
}, 120_000)
