// npm run bench -- peers: this service and another FHIR server, turn by turn, with the same data, the same client and the same requests.
// Their answers are compared first: a fast answer that lacks something is no answer.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { demoResources } from '../../src/demo/resources.ts'
import { isObject, type JsonObject, objectsIn } from '../../src/lib/json.ts'
import { filesOf, itemsOf } from '../../src/load/read.ts'
import { demoToken } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'
import { shoot } from './shoot.ts'
import { warmUp } from './warm.ts'
import { type Samples, type Workload, workloads } from './workloads.ts'

/** A server that runs already. */
interface Peer {
  /** Base of its FHIR API. */
  readonly url: string
  readonly name: string
  /** Bearer token; empty: none. */
  readonly token: string
  /** Its own process and that of its database, for their CPU; empty: unknown. */
  readonly pids: readonly number[]
}

export interface PeersOptions {
  readonly root: string
  readonly dataDir: string
  readonly base: string
  readonly env: NodeJS.ProcessEnv
  readonly answering: () => Promise<void>
  readonly load: string
  /** Part of the names of the workloads to run; empty: all. */
  readonly only: string
  readonly peer: Peer
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
}

/** A server under measurement. */
interface Side extends Peer {
  readonly cpu: () => number
}

/** The workloads that every server is asked for. */
const asked = [
  'read by id',
  'patient + code, newest 20',
  'patient, newest 20',
  'code, newest 20, all patients',
  'rare code, newest 20, all patients',
  'patient by name',
  'patient + code with _include',
  'everything about a patient',
  'create, read, update, delete of 9 types, 64 clients',
  'transaction of 100 resources',
]

/** Prints a table of both servers. */
export async function benchPeers(options: PeersOptions): Promise<void> {
  const { root, env, base, dataDir, peer } = options
  const service = spawnService(root, env)
  try {
    await options.answering()
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const own: Side = {
      ...{ url: `${base}/api/fhir/R4`, name: 'health-interop', token: await demoToken(base), pids: [] },
      cpu: () => cpuOf(service.pid!),
    }
    const sides = [own, { ...peer, cpu: () => peer.pids.reduce((sum, pid) => sum + cpuOf(pid), 0) }]
    process.stdout.write(`service ${service.pid}, its PostgreSQL ${postmaster}\n`)
    const bundles = await bundlesOf(options.load)
    await withoutDemo(own)
    for (const side of sides) await load(side, bundles)
    const all = await workloadsOf(sides, bundles)
    await compareAll(sides, all, options)
  } finally {
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

/** Deletes the demo data, which the other server lacks. */
async function withoutDemo(own: Side): Promise<void> {
  const models = demoResources({ healthId: 'http://example.org/health-id', below: 'http://example.org' }, new Date())
  for (const { resourceType, id } of models) await ask(own, `/${resourceType}/${id}`, { method: 'DELETE' })
}

async function bundlesOf(path: string): Promise<JsonObject[]> {
  const bundles: JsonObject[] = []
  for (const file of await filesOf([path]))
    for await (const item of itemsOf(file.path)) if ('resource' in item) bundles.push(item.resource)
  return bundles
}

const resourcesOf = (bundle: JsonObject, type: string): JsonObject[] =>
  objectsIn(bundle['entry']).flatMap(({ resource }) =>
    isObject(resource) && resource['resourceType'] === type ? [resource] : [],
  )

async function ask(side: Side, path: string, init: RequestInit = {}): Promise<{ status: number; body: JsonObject }> {
  const headers = {
    ...{ 'content-type': 'application/fhir+json', accept: 'application/fhir+json' },
    ...(side.token && { authorization: `Bearer ${side.token}` }),
  }
  const reply = await fetch(`${side.url}${path}`, { ...init, headers })
  const text = await reply.text()
  return { status: reply.status, body: text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {} }
}

/** The query that finds a patient of the bundles on any server. */
function identifierOf(patient: JsonObject): string {
  const [{ system, value } = {}] = objectsIn(patient['identifier'])
  return encodeURIComponent(`${system}|${value}`)
}

async function idOf(side: Side, patient: JsonObject): Promise<string | undefined> {
  const { body } = await ask(side, `/Patient?identifier=${identifierOf(patient)}`)
  return (objectsIn(body['entry'])[0]?.['resource'] as { id: string } | undefined)?.id
}

/** Most attempts to send a bundle: some servers refuse what meets another one at the same time. */
const mostAttempts = 5

/**
 * Sends the bundles, four at a time, unless they are there; prints how fast. Those refused again and again are sent one at a time
 * after that, and left out if they are refused still.
 */
async function load(side: Side, bundles: readonly JsonObject[]): Promise<void> {
  const last = resourcesOf(bundles.at(-1)!, 'Patient')[0]
  if (last && (await idOf(side, last)) !== undefined) return
  const [begun, cpu] = [performance.now(), side.cpu()]
  const waiting = bundles.map(bundle => ({ bundle, attempts: 0 }))
  const alone: JsonObject[] = []
  let [resources, refused, lost] = [0, 0, 0]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { status } = await ask(side, '', { method: 'POST', body: JSON.stringify(next.bundle) })
      if (status === 200) resources += objectsIn(next.bundle['entry']).length
      else if (++next.attempts < mostAttempts) {
        waiting.push(next)
        refused++
      } else alone.push(next.bundle)
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  const seconds = (performance.now() - begun) / 1000
  const together = resources
  for (const bundle of alone) {
    const { status } = await ask(side, '', { method: 'POST', body: JSON.stringify(bundle) })
    if (status === 200) resources += objectsIn(bundle['entry']).length
    else lost++
  }
  process.stdout.write(
    `${side.name}: ${together} resources in ${seconds.toFixed(0)} s by HTTP, ${(together / seconds).toFixed(0)} a second, ${((side.cpu() - cpu) / resources).toFixed(3)} CPU-ms each; ${refused} bundles refused and sent again, ${alone.length} sent one at a time in the end, ${lost} of them not taken\n`,
  )
}

/** The workloads of each server, with the ids that it gave; the nth ids of all servers are those of the same resources. */
async function workloadsOf(sides: readonly Side[], bundles: readonly JsonObject[]): Promise<Workload[][]> {
  const people = bundles.flatMap(bundle => resourcesOf(bundle, 'Patient')).slice(0, 250)
  const families = people.map(person => String(objectsIn(person['name'])[0]?.['family']))
  const samples = sides.map((): Samples => ({ observations: [], patients: [], families }))
  for (const person of people) {
    const known = (await Promise.all(sides.map(side => observationsOf(side, person)))).flatMap(each => each ?? [])
    if (known.length < sides.length) continue
    for (const [at, { patient, observations }] of known.entries()) {
      const shared = [...observations].filter(([content]) => known.every(each => each.observations.has(content)))
      samples[at]!.patients.push(patient)
      samples[at]!.observations.push(
        ...shared
          .sort()
          .slice(0, 10)
          .map(([, id]) => id),
      )
    }
  }
  return sides.map(({ url }, at) => {
    const { origin, pathname } = new URL(url)
    const all = workloads(samples[at]!, { service: origin, probe: '', path: pathname.replace(/\/$/, '') })
    return all.filter(({ name, origin: of }) => of === origin && asked.includes(name))
  })
}

/** The id of a patient, and the newest observations by their content, as far as that is theirs alone; undefined: the server lacks the patient. */
async function observationsOf(
  side: Side,
  person: JsonObject,
): Promise<{ readonly patient: string; readonly observations: ReadonlyMap<string, string> } | undefined> {
  const patient = await idOf(side, person)
  if (patient === undefined) return undefined
  const { body } = await ask(side, `/Observation?patient=${patient}&_sort=-date&_count=50`)
  const found = objectsIn(body['entry']).map(each => each['resource'] as JsonObject & { readonly id: string })
  const contents = Map.groupBy(found, contentOf)
  return {
    patient,
    observations: new Map(
      [...contents].flatMap(([content, [only, more]]) => (only && !more ? [[content, only.id]] : [])),
    ),
  }
}

async function compareAll(
  sides: readonly Side[],
  all: readonly (readonly Workload[])[],
  { only, rounds, seconds, connections }: PeersOptions,
): Promise<void> {
  const columns = sides.flatMap(({ name }) => [`${name} req/s`, 'p99 ms', 'CPU-ms', 'errors'])
  process.stdout.write(
    `\n| ${['workload', 'same answers', ...columns].join(' | ')} |\n|---|---|${columns.map(() => '--:|').join('')}\n`,
  )
  for (const [index, { name }] of all[0]!.entries()) {
    if (!name.includes(only)) continue
    const same = await sameAnswers(
      sides,
      all.map(each => each[index]!),
    )
    const turns: Turn[][] = sides.map(() => [])
    for (const [at, side] of sides.entries())
      await warmUp(async () => (await turnOf(side, { connections, ...all[at]![index]! }, seconds)).cpu)
    for (let round = 0; round < rounds; round++)
      for (const [at, side] of sides.entries()) {
        const turn = await turnOf(side, { connections, ...all[at]![index]! }, seconds)
        turns[at]!.push(turn)
        await atRest(side)
      }
    const cells = turns.flatMap(each => {
      const { rate, p99, cpu, errors } = each.sort((a, b) => a.rate - b.rate)[Math.floor(each.length / 2)]!
      return [rate.toFixed(0), p99, cpu.toFixed(2), errors]
    })
    process.stdout.write(`| ${[name, same, ...cells].join(' | ')} |\n`)
  }
}

/** Waits until a server has ended what its clients wait for no longer, half a minute at most: the next turn is the other's. */
async function atRest(side: Side): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const before = side.cpu()
    await wait(500)
    if (side.cpu() - before < 50) return
  }
}

interface Turn {
  readonly rate: number
  readonly p99: number
  /** Milliseconds of server and PostgreSQL for a request. */
  readonly cpu: number
  readonly errors: number
}

async function turnOf(side: Side, workload: Workload, seconds: number): Promise<Turn> {
  const before = side.cpu()
  const result = await shoot(workload, side.token, seconds)
  const done = result.requests.total || 1
  return {
    rate: result.requests.total / result.duration,
    p99: result.latency.p99,
    cpu: (side.cpu() - before) / done,
    errors: result.errors + result.non2xx,
  }
}

/** How many of some answers of the servers hold the same; changes are not compared. */
async function sameAnswers(sides: readonly Side[], workload: readonly Workload[]): Promise<string> {
  const requests = workload.map(each => each.requests(0).filter(({ method }) => method === 'GET'))
  if (workload[0]!.requests(0).some(({ method }) => method !== 'GET')) return 'not compared'
  const places = Array.from({ length: 20 }, (_, n) => Math.floor((n * requests[0]!.length) / 20))
  let same = 0
  for (const place of places) {
    const told = await Promise.all(
      sides.map(async (side, at) => {
        const path = requests[at]![place]!.path!.slice(new URL(side.url).pathname.replace(/\/$/, '').length)
        return contentOf((await ask(side, path)).body)
      }),
    )
    if (told.every(each => each === told[0])) same++
  }
  return `${same} of ${places.length}`
}

/** What an answer says, without ids; of several resources their types and dates alone, since those of one moment have no order. */
function contentOf(body: JsonObject): string {
  if (body['resourceType'] !== 'Bundle') {
    const { code, valueQuantity } = body as { code?: JsonObject; valueQuantity?: JsonObject }
    const [coding] = objectsIn(code?.['coding'])
    return [datesOf(body), coding?.['code'], Number(valueQuantity?.['value']).toFixed(2)].join('|')
  }
  const found = objectsIn(body['entry']).map(each => each['resource'] as JsonObject)
  return found
    .filter(each => each['resourceType'] !== 'OperationOutcome')
    .map(datesOf)
    .sort()
    .join('\n')
}

const datesOf = (resource: JsonObject): string =>
  [
    ...[resource['resourceType'], resource['effectiveDateTime'], resource['birthDate']],
    (resource as { period?: JsonObject }).period?.['start'],
  ].join('|')
