// What the benches of webhooks work on: a running service, receivers, and a connection to its database with which sending is held back.
import type { ChildProcess } from 'node:child_process'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { demoToken, postmaster, until } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'
import { type Api, createApi } from './webhooks-api.ts'
import { type Inbox, openInbox } from './webhooks-inbox.ts'

export interface WebhookBench {
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly base: string
  readonly port: number
  readonly seconds: number
  readonly rounds: number
}

/** Milliseconds of CPU, by who used them. */
export interface Cpu {
  readonly service: number
  readonly postgres: number
  readonly receiver: number
}

export interface Field {
  readonly api: Api
  readonly inbox: Inbox
  readonly database: Database
  readonly service: ChildProcess
  cpu(): Promise<Cpu>
  /** What the service has said, at the level warn and above. */
  readonly said: readonly string[]
  stop(): Promise<void>
}

/** Starts the service with so many workers, and the receivers. */
export async function openField(bench: WebhookBench, workers: number): Promise<Field> {
  const said: string[] = []
  const service = await startService(bench, workers, said)
  const inbox = await openInbox()
  const database = openOwn(bench.dataDir)
  const server = await postmaster(bench.dataDir)
  return {
    ...{ inbox, database, service, said },
    api: createApi(bench.base, await demoToken(bench.base)),
    cpu: async () => cpuApart(service.pid!, server, inbox.pid),
    async stop() {
      await database.end()
      await inbox.stop()
      await stopService(service)
    },
  }
}

export async function startService(
  { env, base }: WebhookBench,
  workers: number,
  said: string[],
): Promise<ChildProcess> {
  const root = resolve(import.meta.dirname, '../..')
  const own = { ...env, WORKERS: String(workers), LOG_LEVEL: 'warn' }
  const service = spawnService(root, own, 'pipe')
  createInterface(service.stdout!).on('line', line => line.startsWith('{') && said.push(line))
  await until('the service answers', () => isReady(base), 120)
  return service
}

const isReady = (base: string): Promise<boolean> =>
  fetch(`${base}/readyz`).then(
    reply => reply.ok,
    () => false,
  )

export async function stopService(service: ChildProcess): Promise<void> {
  const ended = new Promise(done => service.once('exit', done))
  service.kill('SIGTERM')
  await ended
}

/** A connection of the bench to the database of the service. */
export function openOwn(dataDir: string): Database {
  const connection = { host: join(dataDir, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  return openDatabase(connection, { poolSize: 3, statementTimeout: 120_000 })
}

export const cpuApart = (service: number, server: number, receiver: number): Cpu => ({
  service: cpuOf(service, server),
  postgres: cpuOf(server),
  receiver: cpuOf(receiver),
})

/** What was used between two moments, for each of so many. */
export const cpuEach = (before: Cpu, after: Cpu, many: number): Cpu => ({
  service: (after.service - before.service) / many,
  postgres: (after.postgres - before.postgres) / many,
  receiver: (after.receiver - before.receiver) / many,
})

/**
 * Leaves the outbox and the queue as a quiet minute does: empty, vacuumed while they were, and looked into since. A plan that is kept
 * from then meets the backlog that follows.
 */
export async function quiet(database: Database): Promise<void> {
  await settled(database)
  for (const table of ['event_outbox', 'webhook_delivery', 'audit_pending'])
    await database.query({ text: `vacuum ${table}`, values: [] })
  await wait(1500)
}

/** Keeps what is written in the outbox, by a lock of the table that it goes to. @returns what lets it go */
export async function holdBack(database: Database): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: hold } = Promise.withResolvers<void>()
  const holding = database.transaction(async on => {
    await on.query({ text: 'lock table event in share mode', values: [] })
    hold()
    await released
  })
  await locked
  return () => {
    release()
    return holding
  }
}

/** Resolves when nothing is in the outbox and nothing in the queue. */
export async function settled(database: Database, seconds = 300): Promise<void> {
  for (const table of ['event_outbox', 'webhook_delivery'])
    await until(`${table} is empty`, () => isEmpty(database, table), seconds)
}

async function isEmpty(database: Database, table: string): Promise<boolean> {
  const [row] = await database.query<{ some: boolean }>({
    text: `select exists(select from ${table}) as some`,
    values: [],
  })
  return !row!.some
}

/** Resolves when so many have come. */
export async function arrived(inbox: Inbox, many: number, seconds = 300): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await wait(50))
    if (sum((await inbox.heard()).counts) >= many) return
  throw new Error(`fewer than ${many} deliveries came within ${seconds} s`)
}

export const sum = (values: readonly number[]): number => values.reduce((total, each) => total + (each ?? 0), 0)

export const now = (): number => performance.timeOrigin + performance.now()
