// kill -9: between a change and its row in the trail, and between a change and those who are told of it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barrier } from '../support/concurrency.ts'
import { demoToken, endDatabase, freePort, type Running, run, until } from '../support/process.ts'
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
  database = new pg.Client(connection)
  await database.connect()
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await database.end()
  await endDatabase(folder)
  await rm(folder, { recursive: true, force: true })
})

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

async function verified(): Promise<boolean> {
  const command = run('src/admin.ts', ['audit', 'verify', '--json'], env)
  await command.ended
  return (JSON.parse(command.output()) as { isWhole: boolean }).isWhole
}

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
  await until('many are written, and some are told', () => confirmed.length > 300 && receiver.received.length > 50)
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
