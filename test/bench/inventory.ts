// npm run bench -- inventory: stock, blood and payments beside the FHIR search of the same resources, turn by turn.
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type autocannon from 'autocannon'
import { demoInventory } from '../../src/demo/inventory.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { demoToken } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'
import { shoot } from './shoot.ts'

export interface InventoryBench {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly base: string
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  readonly load: (path: string) => Promise<void>
  readonly answering: () => Promise<void>
}

const sizes = { stock: 10_000, blood: 50_000, payments: 5_000 }
const facilities = 50
const day = '2026-03-14'

/** What is asked of Connect, and the FHIR search of what it is made from. */
const pairs: readonly (readonly [name: string, search: string, paths: readonly string[]])[] = [
  ['stock: all, first 20', 'Basic?code=InventoryItem&_count=20', ['pharmacy/stock']],
  ['stock: a facility', 'Basic?subject=Organization/place-7&_count=20', ['pharmacy/stock?facility_id=place-7']],
  ['stock: a code', 'Basic?code=InventoryItem&_count=20', ['pharmacy/stock?medication_code=M77']],
  ['stock: out of stock', 'Basic?code=InventoryItem&_count=20', ['pharmacy/stock?stock_status=out_of_stock']],
  ['stock: letters of the name', 'Basic?code=InventoryItem&_count=20', ['pharmacy/stock?q=cine%20177']],
  ['stock: letters that are nowhere', 'Basic?code=InventoryItem&_count=20', ['pharmacy/stock?q=zebra']],
  ['stock: expiring soon', 'Basic?code=InventoryItem&_count=20', ['pharmacy/stock?expiring_before=2030-01-20']],
  ['blood: all units, first 20 rows', 'BiologicallyDerivedProduct?_count=20', ['blood-bank/inventory']],
  ['blood: a facility', 'BiologicallyDerivedProduct?_count=20', ['blood-bank/inventory?facility_id=place-7']],
  [
    'payments: a day, first 20',
    'PaymentReconciliation?requestor=Organization/demo-organization&_count=20',
    [`payments/reconciliation?date=${day}`],
  ],
]

/** Prints a table: wall and CPU of each, and their ratio. */
export async function benchInventory(options: InventoryBench): Promise<void> {
  const { root, env, dataDir, base } = options
  await options.load(await writeResources(dataDir))
  const service = spawnService(root, env)
  try {
    await options.answering()
    const token = await demoToken(base)
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const cpu = (): number => cpuOf(service.pid!, postmaster) + cpuOf(postmaster)
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s\n\n`,
    )
    const head = [
      'asked',
      'FHIR req/s',
      'req/s',
      'FHIR p50 ms',
      'p50 ms',
      'FHIR CPU-ms',
      'CPU-ms',
      'CPU ratio',
      'errors',
    ]
    process.stdout.write(`| ${head.join(' | ')} |\n|${head.map((_, index) => (index ? '--:' : '---')).join('|')}|\n`)
    for (const pair of pairs) process.stdout.write(await row(pair, token, { ...options, cpu }))
  } finally {
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

async function row(
  [name, search, paths]: (typeof pairs)[number],
  token: string,
  { base, connections, seconds, rounds, cpu }: InventoryBench & { cpu(): number },
): Promise<string> {
  const asked = [[`/api/fhir/R4/${search}`], paths.map(path => `/api/v1/connect/${path}`)].map(all => ({
    name,
    origin: base,
    connections,
    requests: () => all.map((path): autocannon.Request => ({ method: 'GET', path })),
  }))
  const results: { rate: number; wait: number; cost: number; errors: number }[][] = [[], []]
  for (const each of asked) await shoot(each, token, 1)
  for (let round = 0; round < rounds; round++)
    for (const [index, each] of asked.entries()) {
      const before = cpu()
      const { requests, duration, latency, errors, non2xx } = await shoot(each, token, seconds)
      const cost = (cpu() - before) / (requests.total || 1)
      results[index]!.push({ rate: requests.total / duration, wait: latency.p50, cost, errors: errors + non2xx })
    }
  const [fhir, own] = results.map(list => [...list].sort((a, b) => a.cost - b.cost)[Math.floor(list.length / 2)]!)
  const cells = [
    name,
    ...[fhir!.rate.toFixed(0), own!.rate.toFixed(0), fhir!.wait, own!.wait],
    ...[fhir!.cost.toFixed(2), own!.cost.toFixed(2), (own!.cost / fhir!.cost).toFixed(2)],
    results.flat().reduce((sum, each) => sum + each.errors, 0),
  ]
  return `| ${cells.join(' | ')} |\n`
}

/** Writes what is measured as NDJSON, made after the demo set. @returns the file. */
async function writeResources(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  const path = join(dataDir, 'inventory.ndjson')
  const file = createWriteStream(path)
  const models = (index: number): JsonObject[] => {
    const owners = { hospital: `place-${index % facilities}`, organization: 'demo-organization' }
    // Units and batches that expire in a few years, so that the same are counted whenever this is run.
    return demoInventory('http://example.org/fhir/NamingSystem', owners, new Date(Date.UTC(2030, 0, 1)))
  }
  const made = Array.from({ length: facilities }, (_, index) => models(index))
  const write = (type: string, index: number, change: (text: string) => string): void => {
    const all = made[index % facilities]!.filter(each => each['resourceType'] === type)
    const { id: _id, ...model } = all[Math.floor(index / facilities) % all.length]!
    file.write(`${change(JSON.stringify({ ...model, id: `bench-${type.toLowerCase().slice(0, 5)}-${index}` }))}\n`)
  }
  for (let index = 0; index < sizes.stock; index++) {
    const code = `M${Math.floor(index / facilities)}`
    write('Basic', index, text =>
      text.replaceAll(/[A-Z]\d\d[A-Z]{2}\d\d/g, code).replace(/"text":"/, `"text":"Medicine ${code.slice(1)} `),
    )
  }
  for (let index = 0; index < sizes.blood; index++) write('BiologicallyDerivedProduct', index, text => text)
  for (let index = 0; index < sizes.payments; index++)
    write('PaymentReconciliation', index, text => text.replaceAll('2026-02-10', day))
  file.end()
  await finished(file)
  return path
}
