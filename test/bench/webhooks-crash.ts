// npm run bench -- webhook-crash: events are written and delivered while processes are killed; at the end every delivery is looked for.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../src/db/database.ts'
import { demoToken, postmaster, until } from '../support/process.ts'
import { line, table } from './figures.ts'
import { type Api, createApi } from './webhooks-api.ts'
import { openOwn, startService, stopService, sum, type WebhookBench } from './webhooks-field.ts'
import { type Inbox, openInbox } from './webhooks-inbox.ts'
import { endAtOnce, workersOf } from './webhooks-killing.ts'
import { expected, type Reckoning, reckon } from './webhooks-reckoning.ts'

const events = 10_000
const receivers = 20
/** Share of attempts that a receiver answers with 500. */
const failing = 0.05
const workers = 2

/** Prints a table, and has the process end with 1 if something was lost. */
export async function crashWebhooks(bench: WebhookBench): Promise<void> {
  process.stdout.write(
    `${events} events for ${receivers} receivers that answer 500 to ${failing * 100} % of attempts, ${workers} workers. What is to be tried again waits a minute by\nthe schedule: the bench moves due_at of what waits forward in the database, so that the run ends.\n\n`,
  )
  const said: string[] = []
  let service = await startService(bench, workers, said)
  const inbox = await openInbox()
  const began = performance.now()
  const first = await lastKey(bench)
  await prepare(bench, inbox)
  const writing = writeAll(bench, inbox)
  for (const [index, share] of moments().entries()) {
    await received(inbox, share * events * receivers)
    service = await (index < 3 ? killWorker(service, inbox) : killAll(bench, service, inbox, said))
  }
  const acknowledged = await writing
  await drained(bench)
  const reckoning = await judged(bench, inbox, first, acknowledged)
  await inbox.stop()
  await stopService(service)
  print(reckoning, said, (performance.now() - began) / 1000)
}

/** Random shares of all deliveries: a worker is killed at each of the first three, and everything at the last. */
function moments(): number[] {
  const three = Array.from({ length: 3 }, () => 0.05 + 0.5 * Math.random()).sort((one, other) => one - other)
  return [...three, 0.6 + 0.25 * Math.random()]
}

async function prepare({ base }: WebhookBench, inbox: Inbox): Promise<void> {
  const api = createApi(base, await demoToken(base))
  await api.ensurePatients()
  await api.subscribe(inbox.urls.slice(0, receivers))
  await inbox.behave({ failing, keeps: 'tallies' })
}

/** So much is written ahead of what is delivered, so that processes are killed that write as well as deliver. */
const ahead = 1500

/** Writes until so many are acknowledged; what is refused or cut off is written again, under new ids. */
async function writeAll({ base }: WebhookBench, inbox: Inbox): Promise<string[]> {
  const acknowledged: string[] = []
  let api: Api | undefined
  while (acknowledged.length < events) {
    await received(inbox, (acknowledged.length - ahead) * receivers)
    try {
      api ??= createApi(base, await demoToken(base))
      acknowledged.push(...(await api.writeEncounters(100)))
    } catch {
      api = undefined
      await wait(200)
    }
  }
  return acknowledged
}

async function received(inbox: Inbox, many: number): Promise<void> {
  await until(`${many} deliveries`, async () => sum((await inbox.heard()).counts) >= many, 600)
}

async function killWorker(service: ChildProcess, inbox: Inbox): Promise<ChildProcess> {
  const all = workersOf(service.pid!)
  const one = all[Math.floor(Math.random() * all.length)]!
  const { counts } = await inbox.heard()
  process.kill(one, 'SIGKILL')
  process.stdout.write(`kill -9 of worker ${one} after ${sum(counts)} attempts\n`)
  return service
}

async function killAll(
  bench: WebhookBench,
  service: ChildProcess,
  inbox: Inbox,
  said: string[],
): Promise<ChildProcess> {
  const { counts } = await inbox.heard()
  await endAtOnce(service, await postmaster(bench.dataDir))
  process.stdout.write(`kill -9 of the service and its PostgreSQL after ${sum(counts)} attempts, and a new start\n\n`)
  return startService(bench, workers, said)
}

/** Has what waits for another attempt tried at once, until nothing waits. */
async function drained({ dataDir }: WebhookBench): Promise<void> {
  const database = openOwn(dataDir)
  await until('the outbox and the queue are empty', async () => (await hastened(database)) === 0, 600)
  await database.end()
}

/** @returns how much is left in the outbox and the queue */
async function hastened(database: Database): Promise<number> {
  await database.query({
    text: 'update webhook_delivery set due_at = clock_timestamp() where lease is null and attempt > 1 and due_at > clock_timestamp()',
    values: [],
  })
  await wait(500)
  const [row] = await database.query<{ left: number }>({
    text: 'select ((select count(*) from event_outbox) + (select count(*) from webhook_delivery))::integer as left',
    values: [],
  })
  return row!.left
}

async function lastKey({ dataDir }: WebhookBench): Promise<number> {
  const database = openOwn(dataDir)
  const [row] = await database.query<{ last: number }>({
    text: 'select coalesce(max(key), 0) as last from resource',
    values: [],
  })
  await database.end()
  return row!.last
}

async function judged({ dataDir }: WebhookBench, inbox: Inbox, first: number, acknowledged: readonly string[]) {
  const database = openOwn(dataDir)
  const { tallies } = await inbox.heard('everything')
  const reckoning = reckon(await expected(database, first), acknowledged, tallies, receivers)
  await database.end()
  return reckoning
}

function print(reckoning: Reckoning, said: readonly string[], seconds: number): void {
  process.stdout.write(table(['what', 'number']))
  for (const [what, { number }] of Object.entries(reckoning)) process.stdout.write(line([what, number]))
  process.stdout.write(line(['warnings and errors that the service has written', said.length]))
  process.stdout.write(line(['seconds', seconds.toFixed(0)]))
  const wrong = Object.entries(reckoning).filter(([, { number, isLoss }]) => isLoss && number > 0)
  process.stdout.write(
    wrong.length === 0 ? '\nNothing was lost.\n' : `\nLOST: ${wrong.map(([what]) => what).join('; ')}\n`,
  )
  if (wrong.length > 0) process.exitCode = 1
}
