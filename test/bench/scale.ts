// npm run bench -- scale: what grows with the number of resources: storage, log, indexing, memory, and what a request costs.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/db/database.ts'
import { demoToken } from '../support/process.ts'
import { processesOf } from './cpu.ts'
import { type General, measureGeneral } from './general.ts'
import { forget, grow, lastKey, type ScaleData } from './scale-data.ts'
import { type Heading, type Rows, tell } from './scale-figures.ts'
import { spawnService } from './service.ts'
import { sample, type Workload, workloads } from './workloads.ts'

export interface Scale extends ScaleData {
  /** Of the service and of the probe. */
  readonly base: string
  readonly probe: string
  readonly turns: Pick<General, 'only' | 'connections' | 'rounds' | 'seconds'>
  readonly answering: () => Promise<void>
  readonly startProbe: (connection: object) => Promise<ChildProcess>
}

const headings: readonly Heading[] = [
  { title: 'Storage', of: 'table without indexes, – index', columns: { MB: 1, 'bytes a resource': 0 } },
  { title: 'Log while loading', of: 'portion', columns: { 'bytes a resource': 0 } },
  { title: 'Indexing of a new search parameter', of: 'parameter', columns: { s: 1, 'µs a resource of the type': 0 } },
  { title: 'Memory', of: 'processes', columns: { 'MB at rest': 0, 'MB after the workloads': 0 } },
  { title: 'Requests', of: 'workload', columns: { 'req/s': 0, 'p50 ms': 1, 'p99 ms': 1, 'CPU-ms': 3, errors: 0 } },
]

/** Grows the data folder to so many resources, measures, prints each figure beside that of the first run, and keeps them. */
export async function benchScale(scale: Scale): Promise<void> {
  const { count, log, storage } = await grow(scale)
  const { root, env, dataDir } = scale
  const service = spawnService(root, env)
  try {
    await scale.answering()
    const running = await measureRunning(scale, service.pid!)
    const tables = { Storage: storage, 'Log while loading': log, ...running }
    tell(dataDir, { resources: count, tables }, headings)
  } finally {
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

/** Memory, requests and indexing of the running service. What the requests create is taken out again. */
async function measureRunning(scale: Scale, service: number): Promise<Record<string, Rows>> {
  const { dataDir, base, probe } = scale
  const connection = { host: join(dataDir, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const database = openDatabase(connection, { poolSize: 1, statementTimeout: 0 })
  const bare = await scale.startProbe(connection)
  try {
    await sleep(8000)
    const rest = memoryOf(service, postmaster)
    const [key, since] = [await lastKey(database), new Date()]
    const all = workloads(await sample(connection), { service: base, probe })
    const general = { ...scale.turns, token: await demoToken(base), service, probe: bare.pid!, postmaster }
    const requests = await requestsOf(general, all)
    const after = memoryOf(service, postmaster)
    const indexing = await indexingOf(base, await observations(database))
    await forget(database, key, since)
    const memory = Object.fromEntries(Object.entries(rest).map(([name, mb]) => [name, [mb, after[name]!]]))
    return { 'Indexing of a new search parameter': indexing, Memory: memory, Requests: requests }
  } finally {
    bare.kill()
    await database.end()
  }
}

async function requestsOf(general: Omit<General, 'workloads'>, all: readonly Workload[]): Promise<Rows> {
  // What transactions create is taken out again afterwards: short rounds leave less of it.
  const [transactions, others] = [all.slice(-1), all.slice(0, -1)]
  const rows: Record<string, readonly number[]> = {}
  for (const part of [
    { ...general, workloads: others },
    { ...general, workloads: [all[0]!, ...transactions], seconds: 1 },
  ])
    for await (const { workload, rate, p50, p99, server, postgres, errors } of measureGeneral(part)) {
      process.stdout.write(`${workload}: ${rate.toFixed(0)} a second, ${(server + postgres).toFixed(3)} CPU-ms each\n`)
      rows[workload] ??= [rate, p50, p99, server + postgres, errors]
    }
  return rows
}

/** Megabytes: resident memory of the service, and of PostgreSQL with what its processes share counted once. */
function memoryOf(service: number, postmaster: number): Record<string, number> {
  const kilobytes = (pid: number, file: string, name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? 0)
  const sum = (pids: readonly number[], file: string, name: string): number =>
    pids.reduce((total, pid) => {
      try {
        return total + kilobytes(pid, file, name) / 1000
      } catch {
        // The process ended between listing and reading.
        return total
      }
    }, 0)
  return {
    'service (RSS)': sum(processesOf(service, postmaster), 'status', 'VmRSS'),
    'PostgreSQL (PSS)': sum(processesOf(postmaster), 'smaps_rollup', 'Pss'),
  }
}

async function observations(database: Parameters<typeof lastKey>[0]): Promise<number> {
  const text = `select count(*) from search where type = (
    select type from resource where body like '{"resourceType":"Observation"%' limit 1)`
  return (await database.query<{ count: number }>({ text, values: [] }))[0]!.count
}

/** Defines a search parameter as a client does, waits until it can be used, and removes it. */
async function indexingOf(base: string, count: number): Promise<Rows> {
  const ask = callerOf(`${base}/api/fhir/R4`, await demoToken(base))
  const begun = performance.now()
  const put = await ask('PUT', 'SearchParameter/bench-issued', {
    ...{ resourceType: 'SearchParameter', id: 'bench-issued', status: 'active', name: 'Bench', code: 'bench-issued' },
    ...{ url: 'http://example.org/bench-issued', description: 'When a result was issued.' },
    ...{ base: ['Observation'], type: 'date', expression: 'Observation.issued' },
  })
  if (!put.ok) throw new Error(`The search parameter was answered ${put.status}.`)
  for (let token = ''; ; await sleep(200)) {
    const answer = await ask('GET', 'Observation?bench-issued=gt2010&_count=1', undefined, token)
    if (answer.ok) break
    if (answer.status === 401) token = await demoToken(base)
    else if ((await answer.text()).includes('suspended')) throw new Error('The search parameter is suspended.')
  }
  const seconds = (performance.now() - begun) / 1000
  await ask('DELETE', 'SearchParameter/bench-issued', undefined, await demoToken(base))
  return { 'Observation.issued': [seconds, (seconds * 1e6) / count] }
}

/** Calls with a token; with another one if it is given. */
const callerOf =
  (fhir: string, usual: string) =>
  (method: string, path: string, body?: object, token = ''): Promise<Response> =>
    fetch(`${fhir}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token || usual}`, 'content-type': 'application/fhir+json' },
      ...(body && { body: JSON.stringify(body) }),
    })
