// The service under load while its database fails over: the primary is killed, its standby takes its place, the former primary returns as
// the standby of that one, which hangs in its turn. Nothing that was answered with success is missing.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminTool } from '../../src/commands/admin/tool.ts'
import { runTool } from '../../src/lib/command.ts'
import { ended, linesOf, ordered } from '../support/bulk.ts'
import { fhirCaller } from '../support/fhir.ts'
import { demoToken, freePort, type Running, run, until } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { testKey } from '../support/server.ts'
import type { Service } from '../support/service.ts'
import { addressOf, type PostgresServer, startPrimary, startStandby } from '../support/standby.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let [one, two] = [] as unknown as [PostgresServer, PostgresServer]
let folder: string
let env: Record<string, string>
let base: string
let token: string
let service: Running
let receiver: Receiver
let load: Load

const call = fhirCaller(() => ({ url: base, token }) as Service)

beforeAll(async () => {
  one = await startPrimary('one')
  two = await startStandby(one, 'two')
  await one.set('synchronous_standby_names', 'two')
  folder = await temporaryFolder('failover')
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  env = {
    DATABASE_URL: addressOf([one, two]),
    ...{ DATA_DIR: folder, PORT: String(port), WORKERS: '2', DATABASE_POOL: '6', LOG_LEVEL: 'warn' },
    ...{
      ENCRYPTION_KEY: testKey,
      BULK_FILE_RESOURCES: '10',
      BULK_LEASE_SECONDS: '1',
      METRICS_TOKEN: 'metrics-of-the-test',
    },
  }
  service = run('src/main.ts', [], env)
  await until('the service answers', isReady, 60)
  token = await demoToken(base)
  receiver = await startReceiver()
  const wish = { callback_url: receiver.url, subscribed_events: ['encounter.created'] }
  expect((await send('/api/v1/connect/webhooks/subscriptions', wish)).status).toBe(201)
}, 120_000)

afterAll(async () => {
  service.child.kill('SIGTERM')
  await service.ended
})

const readiness = (): Promise<number | undefined> =>
  fetch(`${base}/readyz`).then(
    answer => answer.status,
    () => undefined,
  )

const isReady = async (): Promise<boolean> => (await readiness()) === 200

const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(base + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })

interface Load {
  /** Ids of what was answered with 201. */
  readonly created: string[]
  /** Keys of requests that were repeated until they were answered with success. */
  readonly keys: string[]
  /** Error codes of all other answers, and how often each came. */
  readonly refused: Map<string, number>
  /** Reads that were answered. */
  reads: number
  stop(): Promise<void>
}

const visit = { resourceType: 'Encounter', status: 'planned', class: { code: 'AMB' } }

/** Clients that write, that write with keys, and that read, without a pause for as long as they are answered. */
function startLoad(): Load {
  let isOver = false
  const refused = new Map<string, number>()
  const refuse = async (answer: Response): Promise<void> => {
    const { error_code: code } = (await answer.json()) as { error_code: string }
    refused.set(code, (refused.get(code) ?? 0) + 1)
    expect(answer.status).toBeGreaterThanOrEqual(409)
    await sleep(50)
  }
  const forever = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver) await work()
  }
  const write = async (): Promise<void> => {
    const answer = await send('/api/fhir/R4/Encounter', visit)
    if (answer.status === 201) created.push(((await answer.json()) as { id: string }).id)
    else await refuse(answer)
  }
  const writeOnce = async (): Promise<void> => {
    const key = `visit-${crypto.randomUUID()}`
    const named = { ...visit, identifier: [{ system: 'urn:key', value: key }] }
    for (;;) {
      const answer = await send('/api/fhir/R4/Encounter', named, { 'idempotency-key': key })
      await (answer.status === 201 ? answer.text() : refuse(answer))
      if (answer.status === 201) return void keys.push(key)
    }
  }
  const read = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const answer = await fetch(`${base}/api/fhir/R4/Patient/amina-bello`, { headers })
    if (answer.status >= 500) return refuse(answer)
    load.reads++
    await answer.text()
  }
  const [created, keys]: [string[], string[]] = [[], []]
  const clients = [write, write, write, writeOnce, writeOnce, writeOnce, read].map(forever)
  const load: Load = {
    ...{ created, keys, refused, reads: 0 },
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
  }
  return load
}

/** Waits until the load goes on: each kind of client is answered again. */
async function goesOn(): Promise<void> {
  const [created, keys, reads] = [load.created.length, load.keys.length, load.reads]
  await until(
    'every client is answered again',
    () => load.created.length > created + 20 && load.keys.length > keys + 20 && load.reads > reads + 20,
    60,
  )
}

/** Orders an export of resources, and resolves once it hangs in the middle on this server. */
async function exportUnderWay(on: PostgresServer): Promise<string> {
  const entry = Array.from({ length: 80 }, (_, index) => ({
    resource: { resourceType: 'Basic', id: `b${index}`, code: { text: 'exported' } },
    request: { method: 'PUT', url: `Basic/b${index}` },
  }))
  expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
  await on.query(
    `create function hang() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`,
  )
  await on.query(`create trigger hang before insert on bulk_file for each row
    when (new.number = 3 and current_setting('port') = '${on.connection.port}') execute function hang()`)
  const exporting = await ordered(call, '$export?_type=Basic')
  const hanging = `select from pg_stat_activity where wait_event = 'PgSleep'`
  await until('the export hangs in the middle', async () => (await on.query(hanging)).length > 0)
  return exporting
}

const verify = async (): Promise<unknown> => {
  let output = ''
  const stream = { write: (text: string) => void (output += text) }
  await runTool(adminTool(env), ['audit', 'verify', '--json'], { stdout: stream, stderr: stream })
  return JSON.parse(output)
}

/** What was confirmed before and is not in the database; what was done more than once. */
async function missing(on: PostgresServer): Promise<{ missing: string[]; repeated: string[] }> {
  const [created, keys] = [[...load.created], [...load.keys]]
  const rows = await on.query('select id, body from resource union all select id, body from history')
  const stored = new Set(rows.map(row => row['id']))
  const counts = new Map<string, number>()
  for (const { body } of rows) {
    const [key] = /visit-[0-9a-f-]{36}/.exec(String(body)) ?? []
    if (key) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return {
    missing: [...created.filter(id => !stored.has(id)), ...keys.filter(key => !counts.has(key))],
    repeated: [...counts].filter(([, count]) => count > 1).map(([key]) => key),
  }
}

test('a killed primary, its return, and a hanging one cost answers, and nothing that was confirmed', async () => {
  load = startLoad()
  await goesOn()
  const exporting = await exportUnderWay(one)
  await one.kill()
  await until('the service is not ready', async () => (await readiness()) === 503)
  await two.promote()
  await goesOn()
  expect(await missing(two)).toEqual({ missing: [], repeated: [] })

  const exported = await ended(call, exporting)
  expect(exported.status).toBe(200)
  const ids = (await linesOf(exported.body.output, token)).map(each => each.id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBe(80)

  await one.follow(two)
  await two.set('synchronous_standby_names', 'one')
  await goesOn()
  await two.freeze()
  await until('the service is not ready', async () => (await readiness()) === 503)
  await one.promote()
  await goesOn()
  two.thaw()
  await goesOn()
  await load.stop()
  expect(await missing(one)).toEqual({ missing: [], repeated: [] })
  for (const code of load.refused.keys())
    expect(['UNAVAILABLE', 'UNCONFIRMED', 'IDEMPOTENCY_IN_PROGRESS']).toContain(code)
}, 150_000)

test('every event of what was confirmed arrives', async () => {
  const nothingLeft = async (): Promise<boolean> => {
    await one.query(`update webhook_delivery d set due_at = due_at - interval '1 hour'
      from (select endpoint, event from webhook_delivery for update skip locked) free
      where d.endpoint = free.endpoint and d.event = free.event`)
    const [row] = await one.query(
      `select ((select count(*) from webhook_delivery) + (select count(*) from event_outbox))::int as left`,
    )
    return row!['left'] === 0
  }
  await until('everything is delivered', nothingLeft, 60)
  const told = new Set(receiver.received.map(({ event }) => event.data.encounter_id))
  expect(load.created.filter(id => !told.has(id))).toEqual([])
})

test('the audit trail is whole, and nothing waits for it', async () => {
  await until(
    'nothing is pending',
    async () => (await one.query('select count(*)::int as count from audit_pending'))[0]!['count'] === 0,
  )
  expect(await verify()).toMatchObject({ isWhole: true })
})

test('no process ended, and log and metrics tell of both times without a primary', async () => {
  expect(service.child.exitCode).toBe(null)
  expect(service.output()).not.toContain('a worker process ended')
  expect(service.output()).toContain('the database is out of reach')
  expect(service.output()).toMatch(new RegExp(`"server":"127.0.0.1:${two.connection.port}".*the database is back`))
  expect(service.output()).toMatch(new RegExp(`"server":"127.0.0.1:${one.connection.port}".*the database is back`))
  const metrics = await fetch(`${base}/metrics`, { headers: { authorization: 'Bearer metrics-of-the-test' } })
  const text = await metrics.text()
  expect(Number(/^database_outages_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(2)
  expect(Number(/^database_outage_seconds_total ([\d.]+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
})
