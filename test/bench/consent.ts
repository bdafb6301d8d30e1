// npm run bench -- consent: what the consent filter costs, one service asked by clients that see everything and by clients of
// organisations to which few, some or all patients have opened their records, turn by turn.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import type autocannon from 'autocannon'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { borrowEmbedded } from '../../src/db/embedded.ts'
import { createClient } from '../../src/identity/clients.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { createLog } from '../../src/lib/log.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { until } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { writeCrowd } from './crowd.ts'
import { median } from './figures.ts'
import { spawnService } from './service.ts'
import { shoot } from './shoot.ts'
import type { Workload } from './workloads.ts'

export interface ConsentBench {
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly port: number
  readonly seconds: number
  readonly connections: number
  readonly rounds: number
  /** How many people to add by set-based SQL before. */
  readonly crowd: number
  /** Words of the workloads to measure; empty: all. */
  readonly only: string
}

interface Asking {
  readonly name: string
  readonly token: string
}

interface Round {
  readonly rate: number
  readonly result: autocannon.Result
  readonly server: number
  readonly postgres: number
}

const few = 20
const scopes = ['system/*.rs', 'patients:read']

/** Prints a table: for each workload the client that is not filtered, then those that are, and what each costs beside the first. */
export async function benchConsent(options: ConsentBench): Promise<void> {
  const { dataDir, env, port } = options
  const embedded = await borrowEmbedded(dataDir, 4, createLog('warn'))
  const database = openDatabase(embedded.connection, { poolSize: 2, statementTimeout: 3_600_000 })
  const root = resolve(import.meta.dirname, '../..')
  let service: ChildProcess | undefined
  let paths: [string, string[]][]
  const secrets: { name: string; id: string; secret: string }[] = []
  try {
    if (options.crowd > 0) await writeCrowd(database, options.crowd)
    const organizations = await writeGrants(database)
    for (const [name, organizationId] of [['not filtered', 'bench-exempt'], ...organizations] as [string, string][]) {
      const consentExempt = organizationId === 'bench-exempt'
      const made = await createClient(database, 'local', { name, organizationId, scopes, consentExempt })
      secrets.push({ name, id: made.client.id, secret: made.secret! })
    }
    paths = await workloadPaths(database)
  } finally {
    await database.end()
    await embedded.stop()
  }
  const origin = `http://127.0.0.1:${port}`
  try {
    service = spawnService(root, env)
    const isReady = () =>
      fetch(`${origin}/readyz`).then(
        reply => reply.ok,
        () => false,
      )
    await until('the service answers', isReady, 120)
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const asking: Asking[] = []
    for (const { name, id, secret } of secrets) asking.push({ name, token: await tokenOf(origin, id, secret) })
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s\n\n${head}`,
    )
    for (const [name, list] of paths) {
      if (!name.includes(options.only)) continue
      // Anew for each client: the gun writes the headers into them, and they say who asks.
      const requests = () => list.map(path => ({ method: 'GET' as const, path: `/api/fhir/R4/${path}` }))
      const workload = { name, origin, connections: options.connections, requests }
      process.stdout.write(await rowsOf(workload, asking, options, { service: service.pid!, postmaster }))
    }
    process.stdout.write(`\nload average ${loadavg()[0]!.toFixed(1)}\n`)
  } finally {
    service?.kill('SIGTERM')
    if (service && service.exitCode === null) await new Promise(done => service!.once('exit', done))
  }
}

/** Straight into the table that consents are worked out to; other organisations have grants of several rows on everybody. */
async function writeGrants(database: Database): Promise<[name: string, organization: string][]> {
  const [{ count }] = (await database.query<{ count: number }>({
    text: 'select count(*) as count from resource where type = $1',
    values: [typeNumber('Patient')],
  })) as [{ count: number }]
  const middle = count >= 50_000 ? 5000 : Math.ceil(count / 20)
  const organizations = [
    [`${few} of ${count}`, 'bench-few', few],
    [`${middle} of ${count}`, 'bench-some', middle],
    [`all ${count}`, 'bench-all', count],
  ] as const
  await database.query({ text: `delete from consent_grant where consent like 'bench%'`, values: [] })
  const insert = (organization: string, limit: number, types: string) =>
    database.query({
      text: `insert into consent_grant (patient, organization, starts_at, ends_at, types, consent)
        select s.self, $1::bigint, '-infinity', 'infinity', ${types}, 'bench-' || r.id
        from resource r join search s using (shard, key) where r.type = $2 order by md5(r.id) limit $3`,
      values: [hash64(`Organization/${organization}`), typeNumber('Patient'), limit],
    })
  for (const [, organization, limit] of organizations) await insert(organization, limit, 'null')
  for (const other of ['a', 'b', 'c', 'd'])
    for (const type of ['Patient', 'Observation'])
      await insert(`bench-other-${other}`, count, `array[${typeNumber(type)}]::smallint[]`)
  await database.query({ text: 'vacuum analyze consent_grant', values: [] })
  return organizations.map(([name, organization]) => [name, organization])
}

const vitals = ['8302-2', '29463-7', '39156-5', '85354-9', '8867-4']

/** What names a patient names one of the few whom all see. */
async function workloadPaths(database: Database): Promise<[string, string[]][]> {
  const found = await database.query<{ id: string; family: string }>({
    text: `select r.id, r.body::jsonb #>> '{name,0,family}' as family from resource r where type = $1 order by md5(id) limit ${few}`,
    values: [typeNumber('Patient')],
  })
  const ids = found.map(({ id }) => id)
  const observations = await database.query<{ id: string }>({
    text: `select r.id from search s join resource r using (shard, key)
      where s.type = $1 and s.patient = any($2::bigint[]) order by md5(r.id) limit 1000`,
    values: [typeNumber('Observation'), ids.map(id => hash64(`Patient/${id}`).toString())],
  })
  const newest = '_sort=-date&_count=20'
  return [
    ['read by id', observations.map(({ id }) => `Observation/${id}`)],
    [
      'patient + code, newest 20',
      ids.flatMap(id => vitals.map(code => `Observation?patient=${id}&code=http://loinc.org|${code}&${newest}`)),
    ],
    ['code, newest 20, all patients', vitals.map(code => `Observation?code=http://loinc.org|${code}&${newest}`)],
    ['conditions, newest 20', ['Condition?_count=20']],
    ['patient by name', found.map(({ family }) => `Patient?name=${encodeURIComponent(family)}`)],
    ['everything about a patient', ids.map(id => `Patient/${id}/$everything`)],
    ['count of all conditions', ['Condition?_summary=count']],
  ]
}

async function tokenOf(origin: string, id: string, secret: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  const answer = await fetch(`${origin}/api/v1/connect/auth/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}

const columns = [
  'workload',
  'granted',
  'req/s',
  'p50 ms',
  'p99 ms',
  'server CPU-ms',
  'PG CPU-ms',
  'throughput',
  'CPU',
  'errors',
]
const head = `| ${columns.join(' | ')} |\n|${columns.map((_, index) => (index > 1 ? '--:' : '---')).join('|')}|\n`

async function rowsOf(
  workload: Workload,
  asking: readonly Asking[],
  { rounds, seconds }: ConsentBench,
  pids: { service: number; postmaster: number },
): Promise<string> {
  for (const { token } of asking) await shoot(workload, token, 1)
  const measured: Round[][] = asking.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, { token }] of asking.entries())
      measured[index]!.push(await measure(workload, token, seconds, pids))
  return asking.map(({ name }, index) => rowOf(workload.name, name, measured[index]!, measured[0]!)).join('')
}

function rowOf(workload: string, name: string, own: readonly Round[], bare: readonly Round[]): string {
  const of = (rounds: readonly Round[], value: (round: Round) => number): number => median(rounds.map(value))
  const cost = (rounds: readonly Round[]): number => of(rounds, each => each.server + each.postgres)
  const cells = [
    workload,
    name,
    of(own, each => each.rate).toFixed(0),
    of(own, each => each.result.latency.p50),
    of(own, each => each.result.latency.p99),
    of(own, each => each.server).toFixed(3),
    of(own, each => each.postgres).toFixed(3),
    (of(own, each => each.rate) / of(bare, each => each.rate)).toFixed(2),
    (cost(own) / cost(bare)).toFixed(2),
    own.reduce((sum, { result }) => sum + result.errors + result.non2xx, 0),
  ]
  return `| ${cells.join(' | ')} |\n`
}

async function measure(
  workload: Workload,
  token: string,
  seconds: number,
  { service, postmaster }: { service: number; postmaster: number },
): Promise<Round> {
  const before = [cpuOf(service, postmaster), cpuOf(postmaster)] as const
  const result = await shoot(workload, token, seconds)
  const done = result.requests.total || 1
  return {
    rate: result.requests.total / result.duration,
    result,
    server: (cpuOf(service, postmaster) - before[0]) / done,
    postgres: (cpuOf(postmaster) - before[1]) / done,
  }
}
