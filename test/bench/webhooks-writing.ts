// What telling of changes costs whoever writes them: the same writes to the same process without events, with events that nobody has
// subscribed to, and with events that are delivered; turn by turn. The time that it takes to send them out is counted with the writes.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type autocannon from 'autocannon'
import type { Database } from '../../src/db/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { demoToken, postmaster } from '../support/process.ts'
import { line, median, table } from './figures.ts'
import { shoot } from './shoot.ts'
import { type Api, createApi, encounterOf, patientId } from './webhooks-api.ts'
import { type Cpu, cpuApart, openOwn, settled, type WebhookBench } from './webhooks-field.ts'
import { openInbox } from './webhooks-inbox.ts'
import type { Workload } from './workloads.ts'

const sides = ['without', 'told', 'delivered'] as const
type Side = (typeof sides)[number]

interface Round {
  readonly rate: number
  readonly p50: number
  /** Of service and PostgreSQL, for each request. */
  readonly cpu: number
  readonly errors: number
}

interface Ground {
  readonly api: Api
  readonly database: Database
  readonly token: string
  readonly url: string
  /** The service that tells, and the one that does not. */
  readonly origins: readonly [string, string]
  cpu(): Cpu
}

/** Prints a table: rate, latency and CPU of each way, and what they are of the first. */
export async function benchWriting(bench: WebhookBench): Promise<void> {
  process.stdout.write(
    '\nWriting, 16 clients: without events, with events that nobody is told of, with one subscription to all\n\n',
  )
  const rates = ['req/s without', 'told', 'delivered', 'p50 ms without', 'told', 'delivered']
  const costs = ['CPU-ms without', 'told', 'delivered', 'told / without', 'delivered / without', 'errors']
  process.stdout.write(table(['write', ...rates, ...costs]))
  const server = fork(join(import.meta.dirname, 'webhooks-server.ts'), { env: bench.env })
  await new Promise(done => server.once('message', done))
  const inbox = await openInbox()
  const ground = await groundOf(bench, server, inbox.pid, inbox.urls[0]!)
  await ground.api.ensurePatients()
  for (const [name, requests] of Object.entries(writes)) process.stdout.write(await row(name, requests, ground, bench))
  await ground.database.end()
  await inbox.stop()
  server.send('stop')
  await new Promise(done => server.once('exit', done))
}

async function groundOf(
  { port, dataDir }: WebhookBench,
  server: ChildProcess,
  receiver: number,
  url: string,
): Promise<Ground> {
  const origins = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`] as const
  const token = await demoToken(origins[0])
  const main = await postmaster(dataDir)
  const cpu = (): Cpu => cpuApart(server.pid!, main, receiver)
  return { api: createApi(origins[0], token), database: openOwn(dataDir), token, url, origins, cpu }
}

type Requests = Workload['requests']
const fhir = '/api/fhir/R4'
const post = (path: string, body: object): autocannon.Request => ({ method: 'POST', path, body: JSON.stringify(body) })
const put = (path: string, body: object): autocannon.Request => ({ method: 'PUT', path, body: JSON.stringify(body) })

const observation = (index: number): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  subject: { reference: `Patient/${patientId(index)}` },
  effectiveDateTime: '2026-03-14T09:30:00Z',
  valueQuantity: { value: 60 + (index % 40), unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
})

/** Versions of a resource that differ, one after the other. */
function versions(type: string, make: (id: string, version: number) => object): autocannon.Request[] {
  const id = uuidv7()
  return Array.from({ length: 20 }, (_, version) => put(`${fhir}/${type}/${id}`, make(id, version)))
}

const birthDate = (version: number): string => `19${60 + version}-01-01`

const writes: Readonly<Record<string, Requests>> = {
  'create Encounter (1 event)': client => [post(`${fhir}/Encounter`, encounterOf(client))],
  'update Encounter (no event)': client =>
    versions('Encounter', (id, version) => ({
      ...encounterOf(client),
      id,
      period: { start: `2026-03-${10 + version}` },
    })),
  'update Patient (1 event)': () =>
    versions('Patient', (id, version) => ({ resourceType: 'Patient', id, birthDate: birthDate(version) })),
  'transaction of 20, 4 of them Encounters (4 events)': client => [post(fhir, visit(client))],
  'create Observation (no event)': client => [post(`${fhir}/Observation`, observation(client))],
}

const visit = (client: number): object => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry: Array.from({ length: 20 }, (_, index) => {
    const resource = index < 4 ? encounterOf(client) : observation(client + index)
    return { resource, request: { method: 'POST', url: index < 4 ? 'Encounter' : 'Observation' } }
  }),
})

const events = ['encounter.created', 'encounter.closed', 'patient.created', 'patient.updated']

async function row(
  name: string,
  requests: Requests,
  ground: Ground,
  { rounds, seconds }: WebhookBench,
): Promise<string> {
  const results: Record<Side, Round[]> = { without: [], told: [], delivered: [] }
  for (const side of sides) await measure(side, { name, requests }, ground, 1)
  for (let round = 0; round < rounds; round++)
    for (const side of sides) results[side].push(await measure(side, { name, requests }, ground, seconds))
  const of = (side: Side, what: keyof Round): number => median(results[side].map(each => each[what]))
  const ratio = (side: Side): string =>
    median(results[side].map(({ cpu }, round) => cpu / results.without[round]!.cpu)).toFixed(2)
  return line([
    name,
    ...sides.map(side => of(side, 'rate').toFixed(0)),
    ...sides.map(side => of(side, 'p50').toFixed(0)),
    ...sides.map(side => of(side, 'cpu').toFixed(2)),
    ...[ratio('told'), ratio('delivered')],
    Object.values(results)
      .flat()
      .reduce((total, { errors }) => total + errors, 0),
  ])
}

async function measure(
  side: Side,
  { name, requests }: Pick<Workload, 'name' | 'requests'>,
  { api, url, origins, token, database, cpu }: Ground,
  seconds: number,
): Promise<Round> {
  await api.subscribe(side === 'delivered' ? [url] : [], events)
  const before = cpu()
  const origin = origins[side === 'without' ? 1 : 0]
  const {
    requests: sent,
    latency,
    duration,
    errors,
    non2xx,
  } = await shoot({ name, origin, connections: 16, requests }, token, seconds)
  await settled(database)
  const after = cpu()
  const used = after.service + after.postgres - before.service - before.postgres
  return { rate: sent.total / duration, p50: latency.p50, cpu: used / (sent.total || 1), errors: errors + non2xx }
}
