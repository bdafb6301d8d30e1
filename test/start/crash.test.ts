// kill -9 of a service, and of its database, at moments that matter: between a change and its row in the trail, between a change and
// those who are told of it, between work and its reply.
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminTool } from '../../src/commands/admin/tool.ts'
import { runTool } from '../../src/lib/command.ts'
import { emptyDatabase } from '../support/cluster.ts'
import { barrier } from '../support/concurrency.ts'
import { demoToken, endDatabase, freePort, isAlive, postmaster, type Running, run, until } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { age, expectToldOnce, pendingIn } from '../support/trail.ts'

let folder: string
let env: Record<string, string>
let base: string
let service: Running
let connection: pg.ClientConfig
let database: pg.Client
/** Of the demo client; good for all of the file. */
let authorization: string

beforeAll(async () => {
  folder = await temporaryFolder('pending')
  await emptyDatabase(folder)
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  env = { DATA_DIR: folder, PORT: String(port), WORKERS: '1', LOG_LEVEL: 'error', DATABASE_POOL: '8' }
  await start()
  authorization = `Bearer ${await demoToken(base)}`
  connection = { host: join(folder, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  await connect()
})

afterAll(async () => {
  service.child.kill('SIGKILL')
  await database.end()
  await endDatabase(folder)
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
async function client(made: () => void): Promise<void> {
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
  let output = ''
  const stream = { write: (text: string) => void (output += text) }
  await runTool(adminTool(env), ['audit', 'verify', '--json'], { stdout: stream, stderr: stream })
  return JSON.parse(output) as { isWhole: boolean; rows: number }
}

async function clients(): Promise<{ made: () => number; gone: Promise<unknown> }> {
  let made = 0
  const gone = Promise.all(Array.from({ length: 8 }, () => client(() => made++)))
  return { made: () => made, gone }
}

async function startAgain(): Promise<void> {
  await age(database)
  await start()
  await until('what was left over is told', async () => (await pendingIn(database)) === 0)
}

test('kill -9 of service and database right after answers loses no row, and the chain goes on whole', async () => {
  const headers = { authorization }
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

/** Kills the service as soon as enough is done, and starts it again when what was asked of it has failed. */
async function killed(asked: readonly Promise<unknown>[], between = async (): Promise<void> => {}): Promise<void> {
  service.child.kill('SIGKILL')
  await Promise.all(asked)
  await service.ended
  await between()
  await startAgain()
}

describe('kill -9 while eight clients write and as many make events', () => {
  const visit = { resourceType: 'Encounter', status: 'planned', class: { code: 'AMB' } }
  const confirmed: string[] = []
  let receiver: Receiver
  let changes: number

  beforeAll(async () => {
    receiver = await startReceiver()
    const wish = { callback_url: receiver.url, subscribed_events: ['encounter.created'] }
    expect((await send('/api/v1/connect/webhooks/subscriptions', wish)).status).toBe(201)
    // One in ten is refused, and one in ten is left without an answer.
    receiver.answer((response, { headers }) => {
      const lot = Number.parseInt(String(headers['webhook-id']).slice(-2), 16)
      if (lot < 26) response.writeHead(500).end()
      else if (lot >= 52) response.writeHead(200).end()
    })
    const { made, gone } = await clients()
    const visits = Array.from({ length: 8 }, async () => {
      try {
        for (;;) confirmed.push(((await (await send('/api/fhir/R4/Encounter', visit)).json()) as { id: string }).id)
      } catch {
        return
      }
    })
    await until('many changes are made', () => made() > 200 && confirmed.length > 100)
    await until('some are told', () => receiver.received.length > 20)
    await killed([gone, ...visits], async () => receiver.answer(200))
    changes = made()
  }, 120_000)

  test('leaves no version without its row after the next start', async () => {
    expect(await expectToldOnce(database, 'Flag')).toBeGreaterThanOrEqual(changes)
  })

  test('nor any event: whoever subscribed gets each at least once, those too that were under way', async () => {
    const nothingLeft = async () => {
      // Rows that the service holds at this moment are left to it: waiting for them in another order would be a deadlock.
      await database.query(`update webhook_delivery d set due_at = due_at - interval '1 hour'
        from (select endpoint, event from webhook_delivery for update skip locked) free
        where d.endpoint = free.endpoint and d.event = free.event`)
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
  })
})

async function send(path: string, body: object): Promise<Response> {
  return fetch(base + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** A transaction of patients under one tag. */
const bundle = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: Array.from({ length: 40 }, (_, index) => ({
    resource: { resourceType: 'Patient', meta: { tag: [{ code: 'crash' }] }, name: [{ family: `n${index}` }] },
    request: { method: 'POST', url: 'Patient' },
  })),
}

async function sendOnce(method: string, path: string, body?: object): Promise<Response> {
  const headers = {
    authorization,
    'content-type': 'application/fhir+json',
    'idempotency-key': 'the one',
  }
  return fetch(`${base}/api/fhir/R4${path}`, { method, headers, body: body && JSON.stringify(body) })
}

async function stored(): Promise<number> {
  const answer = await sendOnce('GET', '/Patient?_tag=crash&_summary=count')
  return ((await answer.json()) as { total: number }).total
}

const person = { first_name: 'Clotilde', last_name: 'Essomba', date_of_birth: '1971-06-18', sex: 'female' }
const married = { ...person, last_name: 'Manga', phone_number: '+237 699 11 22 33' }

async function resolve(body: object): Promise<{ status: string; health_id: string; possible_duplicates: number }> {
  const answer = await send('/api/v1/connect/patients/resolve', body)
  return (await answer.json()) as Awaited<ReturnType<typeof resolve>>
}

/** People, their Health IDs, what they are found by, and resources. */
async function counts(): Promise<number[]> {
  const { rows } = await database.query(
    `select (select count(*) from person)::int as people, (select count(*) from health_id)::int as ids,
      (select count(*) from person_posting)::int as postings, (select count(*) from resource)::int as resources`,
  )
  return Object.values(rows[0])
}

describe('kill -9 while work is half done', () => {
  let before: number[]

  beforeAll(async () => {
    await resolve(person)
    const { made, gone } = await clients()
    await until('some changes are made', () => made() > 50)
    const rows = await barrier(connection, 'audit_row')
    await until('changes wait for their rows', async () => (await pendingIn(database)) >= 8)
    before = await counts()
    const replies = await barrier(connection, 'idempotency')
    const lostBundle = sendOnce('POST', '', bundle).catch(() => 'lost')
    await until('the work is done and the reply is to be kept', async () => (await replies.waiting()) === 1)
    const codes = await barrier(connection, 'coded')
    const lostPerson = resolve(married).catch(() => 'lost')
    await until('the patient is stored, and its Task waits', async () => (await codes.waiting()) === 1)
    await killed([gone, lostBundle, lostPerson], async () => {
      expect([await lostBundle, await lostPerson]).toEqual(['lost', 'lost'])
      await rows.endWaiting()
      for (const each of [rows, replies, codes]) await each.lift()
      expect(await pendingIn(database)).toBe(8)
      expect(await counts()).toEqual(before)
    })
  }, 120_000)

  test('changes that are committed and whose rows are not have their rows after the next start', async () => {
    await expectToldOnce(database, 'Flag')
  })

  test('a request with an Idempotency-Key that was between its work and its reply leaves neither: the repeat does the work, once', async () => {
    expect(await stored()).toBe(0)
    const first = await sendOnce('POST', '', bundle)
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
    const again = await sendOnce('POST', '', bundle)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(await again.text()).toBe(await first.text())
    expect(await stored()).toBe(40)
  })

  test('a registration leaves nobody, and the next who resolves registers, once, with its Task', async () => {
    const since = await counts()
    const created = await resolve(married)
    expect([created.status, created.possible_duplicates]).toEqual(['created', 1])
    expect((await resolve(married)).health_id).toBe(created.health_id)
    const after = await counts()
    expect(after.map((count, index) => count - since[index]!)).toEqual([1, 1, expect.any(Number), 2])
  })
})

test('the audit trail is whole after all that', async () => {
  expect(await verify()).toMatchObject({ isWhole: true, chains: 4 })
})
