// npm run bench -- mixed: reads, searches and writes of many clients at a fixed rate, far below what the machine can do, with webhooks and
// the audit trail; finds the moments in which an answer takes long, and what PostgreSQL did then.
import type { ChildProcess } from 'node:child_process'
import { Agent, request } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type autocannon from 'autocannon'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { transactionBundle } from '../load/bundles.ts'
import { demoToken } from '../support/process.ts'
import { spawnService } from './service.ts'
import { createApi, encounterOf } from './webhooks-api.ts'
import { openInbox } from './webhooks-inbox.ts'
import { type Samples, sample, workloads } from './workloads.ts'

export interface MixedOptions {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly base: string
  readonly dataDir: string
  readonly answering: () => Promise<void>
  /** Starts the bare server on the same database. */
  readonly startProbe: (connection: Connection) => Promise<ChildProcess>
  readonly probe: string
  readonly seconds: number
  /** Requests a second. */
  readonly rate: number
}

interface Connection {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

type Asked = autocannon.Request

/** A kind of request, and how many of a hundred are of it. */
interface Kind {
  readonly name: string
  readonly share: number
  readonly next: () => Asked
}

interface Told {
  readonly kind: string
  /** Milliseconds since the beginning. */
  readonly at: number
  readonly took: number
  readonly status: number
}

/** Seconds before the measurement in which the service warms up, at the same rate. */
const warming = 20

/** Milliseconds from which on an answer counts as a stall. */
const long = 250

/** Prints latencies by kind, and the stalls with what ran in PostgreSQL at the time. */
export async function benchMixed(options: MixedOptions): Promise<void> {
  const { root, env, dataDir, base } = options
  const service = spawnService(root, env)
  const connection = { host: `${dataDir}/socket`, port: 5432, user: 'postgres', database: 'health_interop' }
  let probe: ChildProcess | undefined
  const inbox = await openInbox()
  try {
    await options.answering()
    probe = await options.startProbe(connection)
    const token = await demoToken(base)
    const api = await createApi(base, token)
    await api.subscribe(inbox.urls.slice(0, 1))
    const samples = await sample(connection)
    const database = openDatabase(connection, { poolSize: 1, statementTimeout: 5000 })
    const kinds = kindsOf(samples, base, options.probe)
    await run(kinds, token, { ...options, seconds: warming })
    const watched = watch(database)
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const told = await run(kinds, token, options)
    const activity = await watched.stop()
    await database.end()
    report(told, activity, options)
    process.stdout.write(
      `\nthe clients' own process was late by ${(delay.max / 1e6).toFixed(0)} ms at most; webhooks received ${(await inbox.heard()).counts.join(' ')}\n`,
    )
  } finally {
    probe?.kill()
    await inbox.stop()
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

/** Four fifths read and search, one fifth writes; the bare server is asked beside. */
function kindsOf(samples: Samples, service: string, probe: string): Kind[] {
  const all = new Map(workloads(samples, { service, probe }).map(each => [each.name, each.requests(0)]))
  const turning = (name: string): (() => Asked) => {
    const requests = all.get(name)!
    let at = 0
    return () => requests[at++ % requests.length]!
  }
  const path = '/api/fhir/R4'
  const subject = (value: number) => ({ reference: `Patient/${samples.patients[value % samples.patients.length]}` })
  const observation = (id: string, value: number): string =>
    JSON.stringify({
      ...{ resourceType: 'Observation', id, status: 'final', meta: { tag: [{ code: 'bench-mixed' }] } },
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      subject: subject(value),
      effectiveDateTime: new Date().toISOString(),
      valueQuantity: { value: 60 + (value % 60), unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
    })
  const encounter = (): string => JSON.stringify({ ...encounterOf(count), subject: subject(count++) })
  const made: string[] = []
  let count = 0
  const put = (id: string): Asked => ({
    method: 'PUT',
    path: `${path}/Observation/${id}`,
    body: observation(id, count++),
  })
  const create = (): Asked => {
    made.push(uuidv7())
    return put(made.at(-1)!)
  }
  return [
    { name: 'probe', share: 5, next: turning('probe: body by primary key') },
    { name: 'read', share: 40, next: turning('read by id') },
    { name: 'patient + code', share: 25, next: turning('patient + code, newest 20') },
    { name: 'code of all', share: 8, next: turning('code, newest 20, all patients') },
    { name: 'patient by name', share: 4, next: turning('patient by name') },
    { name: 'everything', share: 1, next: turning('everything about a patient') },
    { name: 'create', share: 5, next: create },
    {
      name: 'create with an event',
      share: 4,
      next: () => ({ method: 'POST', path: `${path}/Encounter`, body: encounter() }),
    },
    { name: 'update', share: 6, next: () => (made.length < 50 ? create() : put(made[Math.floor(made.length / 2)]!)) },
    {
      name: 'delete',
      share: 1,
      next: () => (made.length < 50 ? create() : { method: 'DELETE', path: `${path}/Observation/${made.shift()}` }),
    },
    {
      name: 'transaction of 20',
      share: 1,
      next: () => ({ method: 'POST', path, body: JSON.stringify(transactionBundle(`bench-mixed-${count++}`, 20)) }),
    },
  ]
}

/** Sends requests at a fixed rate, whether earlier ones are answered or not. */
async function run(
  kinds: readonly Kind[],
  token: string,
  { base, probe, seconds, rate }: MixedOptions,
): Promise<Told[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const total = kinds.reduce((sum, { share }) => sum + share, 0)
  const told: Told[] = []
  const under: Promise<void>[] = []
  const begun = performance.now()
  for (let number = 0; number < seconds * rate; number++) {
    const due = begun + (number * 1000) / rate
    if (due > performance.now() + 2) await wait(due - performance.now())
    // Spread evenly over the kinds, in an order that repeats.
    let place = (number * 61) % total
    const kind = kinds.find(({ share }) => (place -= share) < 0)!
    const origin = kind.name === 'probe' ? probe : base
    const sent = send(agent, origin, kind.next(), token).then(status => {
      const now = performance.now()
      told.push({ kind: kind.name, at: due - begun, took: now - due, status })
    })
    under.push(sent)
    if (under.length > 1000) under.splice(0, 500)
  }
  await Promise.all(under)
  agent.destroy()
  return told
}

function send(agent: Agent, origin: string, { method, path, body }: Asked, token: string): Promise<number> {
  return new Promise(done => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
    const sent = request(`${origin}${path}`, { agent, method: method as string, headers }, reply => {
      reply.resume().once('end', () => done(reply.statusCode!))
    })
    sent.once('error', () => done(0))
    sent.end(body as string | undefined)
  })
}

interface Activity {
  readonly at: number
  readonly what: string
}

/** Looks five times a second for what PostgreSQL does beside answering. */
function watch(database: Database): { stop(): Promise<Activity[]> } {
  const begun = performance.now()
  const found: Activity[] = []
  let isOver = false
  const looking = (async () => {
    let checkpoints = ''
    while (!isOver) {
      const rows = await database
        .query<{ what: string; checkpoints: string }>({
          text: `select (select coalesce(string_agg(left(query, 60), '; '), '') from pg_stat_activity where backend_type = 'autovacuum worker') as what,
            (select num_timed + num_requested || ' checkpoints' from pg_stat_checkpointer) as checkpoints`,
          values: [],
        })
        .catch(() => [])
      for (const row of rows) {
        const at = performance.now() - begun
        if (row.what !== '') found.push({ at, what: row.what })
        if (checkpoints !== '' && row.checkpoints !== checkpoints)
          found.push({ at, what: `checkpoint begins (${row.checkpoints})` })
        checkpoints = row.checkpoints
      }
      await wait(200)
    }
  })()
  return {
    async stop() {
      isOver = true
      await looking
      return found
    },
  }
}

function report(told: readonly Told[], activity: readonly Activity[], { rate, seconds }: MixedOptions): void {
  process.stdout.write(`${rate} requests a second for ${seconds} s\n\n`)
  process.stdout.write(
    '| kind | requests | errors | p50 ms | p99 ms | p99.9 ms | most ms | over 250 ms |\n|---|--:|--:|--:|--:|--:|--:|--:|\n',
  )
  for (const [kind, all] of [...Map.groupBy(told, each => each.kind), ['all', told] as const]) {
    const took = all.map(each => each.took).sort((a, b) => a - b)
    const at = (share: number): string => took[Math.min(took.length - 1, Math.floor(took.length * share))]!.toFixed(0)
    const errors = all.filter(({ status }) => status < 200 || status >= 300).length
    const stalls = took.filter(each => each > long).length
    process.stdout.write(`| ${[kind, all.length, errors, at(0.5), at(0.99), at(0.999), at(1), stalls].join(' | ')} |\n`)
  }
  const slow = told.filter(({ took }) => took > long).sort((a, b) => a.at - b.at)
  const seen = Map.groupBy(slow, ({ at }) => Math.floor(at / 1000))
  process.stdout.write(
    '\nSeconds with answers over 250 ms: how many, the longest, the bare server in that second, PostgreSQL\n',
  )
  for (const [second, all] of seen) {
    const near = (at: number): boolean => at >= second * 1000 - 1000 && at < second * 1000 + 2000
    const bare = Math.max(0, ...told.filter(each => each.kind === 'probe' && near(each.at)).map(each => each.took))
    const beside = [...new Set(activity.filter(each => near(each.at)).map(each => each.what))]
    const longest = Math.max(...all.map(each => each.took))
    const kinds = [...new Set(all.map(each => each.kind))]
    process.stdout.write(
      `${second}: ${all.length} (${kinds.join(', ')}), ${longest.toFixed(0)} ms, bare ${bare.toFixed(0)} ms, ${beside.join(' / ') || 'nothing'}\n`,
    )
  }
}
