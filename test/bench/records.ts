// npm run bench -- records, sdk: operations on a patient's record beside the FHIR searches under them, both under a consent, turn by turn.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import type autocannon from 'autocannon'
import { openDatabase } from '../../src/db/database.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { mint } from '../../src/lib/health-id.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { consentOf } from '../support/consents.ts'
import { demoToken } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'
import { shoot } from './shoot.ts'
import { warmUp } from './warm.ts'

export interface RecordsBench {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly base: string
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  readonly answering: () => Promise<void>
}

/** Patients whose records are asked for again and again, and so many in turn that what was made of them is no longer kept. */
const [few, many] = [50, 400]

/** An operation, and the FHIR requests that it stands for. */
interface Comparison {
  readonly name: string
  /** How many patients are asked for in turn; absent: few. */
  readonly patients?: number
  readonly path: (healthId: string) => string
  readonly fhir: (id: string) => readonly string[]
}

const records = (type: string, searches: readonly string[]): Comparison => ({
  name: type,
  path: healthId => `connect/patient/${healthId}/records?type=${type}&limit=20`,
  fhir: id => searches.map(search => `${search}patient=${id}&_count=20`),
})

const laboratory = 'Observation?category=laboratory&'
const yearAgo = new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 10)

const comparisons = {
  records: [
    records('all', ['Condition?', 'MedicationRequest?', laboratory, 'Observation?category=vital-signs&']),
    records('lab_results', [laboratory]),
    { ...records('lab_results', [laboratory]), name: `lab_results of ${many} patients`, patients: many },
  ],
  sdk: [
    {
      name: 'summary',
      path: healthId => `sdk/patients/${healthId}/summary`,
      fhir: id => [
        `Patient/${id}`,
        `MedicationRequest?patient=${id}&status=active&_sort=-authoredon&_count=100`,
        `AllergyIntolerance?patient=${id}&clinical-status:not=inactive,resolved&_sort=-date&_count=100`,
        `${laboratory}patient=${id}&date=ge${yearAgo}&_sort=-date&_count=10`,
        `Encounter?patient=${id}&date=ge${yearAgo}&_sort=-date&_count=10`,
        `Observation?patient=${id}&code=${['882-1', '883-9', '10331-7'].map(each => `http://loinc.org|${each}`)}&_sort=-date&_count=20`,
      ],
    },
    ...['Condition', 'Observation', 'MedicationRequest'].map(
      (type): Comparison => ({
        name: `fhir/${type}`,
        path: healthId => `sdk/patients/${healthId}/fhir/${type}?_count=20`,
        fhir: id => [`${type}?patient=${id}&_count=20`],
      }),
    ),
    {
      name: 'fhir/$everything',
      path: healthId => `sdk/patients/${healthId}/fhir/$everything?_count=100`,
      fhir: id => [`Patient/${id}/$everything?_count=100`],
    },
  ],
} satisfies Record<string, readonly Comparison[]>

interface Subject {
  readonly id: string
  readonly healthId: string
}

/** Prints a table: wall and CPU of each, and their ratio; several searches count together. */
export async function benchRecords(which: keyof typeof comparisons, options: RecordsBench): Promise<void> {
  const { root, env, dataDir, base } = options
  const service = spawnService(root, env)
  try {
    await options.answering()
    const token = await demoToken(base)
    const most = Math.max(...comparisons[which].map(({ patients = few }: Comparison) => patients))
    const subjects = await consenting(base, token, await busiest(dataDir, most))
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s\n\n`,
    )
    const head = ['operation', 'FHIR searches', 'FHIR p50 ms', 'p50 ms', 'FHIR CPU-ms', 'CPU-ms', 'CPU ratio', 'errors']
    process.stdout.write(`| ${head.join(' | ')} |\n|${head.map((_, index) => (index ? '--:' : '---')).join('|')}|\n`)
    for (const each of comparisons[which]) process.stdout.write(await row(each, token, subjects, service, options))
  } finally {
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

/** The patients of whom there is most to tell. */
async function busiest(dataDir: string, patients: number): Promise<string[]> {
  const connection = { host: join(dataDir, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  const database = openDatabase(connection, { poolSize: 1, statementTimeout: 60_000 })
  const rows = await database.query<{ id: string }>({
    text: `select id from resource where type = $1 order by
        (select count(*) from search s where s.patient = (select p.self from search p where p.shard = resource.shard and p.key = resource.key)) desc, id
      limit ${patients}`,
    values: [typeNumber('Patient')],
  })
  await database.end()
  return rows.map(row => row.id)
}

/** Gives each of them a Health ID, and the demo client's organisation the consent to see the record. */
async function consenting(base: string, token: string, ids: readonly string[]): Promise<Subject[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const init = { method, headers, body: body && JSON.stringify(body) }
    const reply = await fetch(`${base}/api/fhir/R4/${path}`, init)
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return (await reply.json()) as Record<string, unknown>
  }
  const { system } = ((await call('GET', 'Patient/amina-bello'))['identifier'] as { system: string }[])[0]!
  const subjects: Subject[] = []
  for (const id of ids) {
    const consent = `bench-consent-${id}`.slice(0, 64)
    await call('PUT', `Consent/${consent}`, consentOf(consent, id, demoClient.organizationId))
    const patient = await call('GET', `Patient/${id}`)
    const identifiers = (patient['identifier'] ?? []) as { system?: string; value: string }[]
    const known = identifiers.find(each => each.system === system)?.value
    const healthId = known ?? mint('CM')
    const identifier = [...identifiers, { system, value: healthId }]
    if (!known) await call('PUT', `Patient/${id}`, { ...patient, identifier })
    subjects.push({ id, healthId })
  }
  return subjects
}

interface Round {
  readonly wait: number
  readonly cost: number
  readonly errors: number
}

async function row(
  { name, path, fhir: searches, patients = few }: Comparison,
  token: string,
  people: readonly Subject[],
  service: ChildProcess,
  { base, dataDir, connections, seconds, rounds }: RecordsBench,
): Promise<string> {
  const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const cpu = (): number => cpuOf(service.pid!, postmaster) + cpuOf(postmaster)
  const get = (path: string): autocannon.Request => ({ method: 'GET', path })
  const subjects = people.slice(0, patients)
  const fhir = subjects.flatMap(({ id }) => searches(id).map(each => get(`/api/fhir/R4/${each}`)))
  const own = subjects.map(({ healthId }) => get(`/api/v1/${path(healthId)}`))
  const searched = fhir.length / own.length
  // Each connection begins elsewhere, or all would ask for the same patient at the same time.
  const sides = [fhir, own].map(list => ({
    ...{ name, origin: base, connections },
    requests: (client: number) => rotated(list, Math.floor((client * list.length) / connections)),
  }))
  const results: Round[][] = [[], []]
  const shot = async (index: number): Promise<Round> => {
    const times = index === 0 ? searched : 1
    const before = cpu()
    const { requests, latency, errors, non2xx } = await shoot(sides[index]!, token, seconds)
    const cost = ((cpu() - before) / (requests.total || 1)) * times
    return { wait: latency.p50 * times, cost, errors: errors + non2xx }
  }
  for (const index of sides.keys()) await warmUp(async () => (await shot(index)).cost)
  for (let round = 0; round < rounds; round++) for (const index of sides.keys()) results[index]!.push(await shot(index))
  const [theirs, ours] = results.map(list => list.toSorted((a, b) => a.cost - b.cost)[Math.floor(list.length / 2)]!)
  const cells = [
    ...[name, searched, theirs!.wait.toFixed(1), ours!.wait.toFixed(1)],
    ...[theirs!.cost.toFixed(2), ours!.cost.toFixed(2), (ours!.cost / theirs!.cost).toFixed(2)],
    results.flat().reduce((sum, each) => sum + each.errors, 0),
  ]
  return `| ${cells.join(' | ')} |\n`
}

const rotated = <Item>(list: readonly Item[], by: number): Item[] => [...list.slice(by), ...list.slice(0, by)]
