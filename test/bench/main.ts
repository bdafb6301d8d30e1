// npm run bench: reads and searches of the running service beside a bare probe, wall and CPU, in one run.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { demoToken } from '../support/process.ts'
import { writeCopies } from './copies.ts'
import { measureGeneral } from './general.ts'
import { spawnService } from './service.ts'
import { sample, workloads } from './workloads.ts'

const help = `Usage: npm run bench -- compare BASE [--only WORDS] [--data DIR] [--load PATH] [--seconds N] [--rounds N]
       npm run bench -- peers --url URL --name NAME --pids SERVER,POSTGRES [--token T] [--data DIR] [--load PATH] [--seconds N] [--rounds N]
       npm run bench -- mixed [--rate N] [--seconds N] [--data DIR] [--load PATH]
       npm run bench -- calls [--data DIR] [--load PATH] [--seconds N]
       npm run bench -- explain 'TYPE?QUERY' [--data DIR] [--organization ID]
       npm run bench -- maps
       npm run bench -- budget search-parameters [--data DIR] [--seconds N]
       npm run bench -- matching [--rounds N]
       npm run bench -- messages
       npm run bench -- statements [--data DIR] [--rounds N]
       npm run bench -- token [--data DIR] [--seconds N] [--rounds N]
       npm run bench -- resolve [--data DIR] [--people N] [--seconds N] [--rounds N]
       npm run bench -- audit [--data DIR] [--load PATH] [--scale N] [--seconds N] [--rounds N]
       npm run bench -- inventory [--data DIR] [--seconds N] [--connections N] [--rounds N]
       npm run bench -- consent [--only WORDS] [--data DIR] [--load PATH] [--scale N] [--crowd N] [--seconds N] [--rounds N]
       npm run bench -- records [--data DIR] [--load PATH] [--seconds N] [--connections N] [--rounds N]
       npm run bench -- sdk [--data DIR] [--load PATH] [--seconds N] [--connections N] [--rounds N]
       npm run bench -- request-log [--data DIR] [--rounds N]
       npm run bench -- bridge [--data DIR] [--agents N] [--days D] [--seed S]
       npm run bench -- bridge-sync [--data DIR] [--seconds N]
       npm run bench -- webhooks [throughput] [latency] [writing] [isolation] [stall] [--data DIR] [--seconds N] [--rounds N]
       npm run bench -- webhook-crash [--data DIR]
       npm run bench -- budget bodies [--data DIR] [--seconds N]
       npm run bench -- budget searches [--data DIR] [--load PATH] [--seconds N]
       npm run bench -- scale --resources N [--only WORDS] [--data DIR] [--load PATH] [--seconds N] [--connections N] [--rounds N]
       npm run bench -- [--only WORDS] [--data DIR] [--load PATH] [--scale N] [--seconds N] [--connections N] [--rounds N]

Loads PATH (default ../shared/data/synthea-2019-r4) into the service on DIR (default ./data/bench), which changes
nothing if it is there already, and measures each workload (with --only, those with these words in their names); the median round counts.
  compare     measures each workload on this work tree and on the commit BASE, both services at once and turn by turn, on
              DIR-base and DIR-head: short turns (--seconds 1 --rounds 15) compare best
  peers       measures this service and another FHIR server, which runs already at URL, turn by turn with the same requests: both
              get the bundles of PATH by HTTP first; --pids names the other's process and its PostgreSQL's, for their CPU
  mixed       sends instead reads, searches and writes at a fixed rate (default 200 a second), with a webhook, and names the
              moments in which an answer took long
  calls       counts instead the system calls of a request, with strace
  explain     prints instead how a search is answered: the steps of its strategy in the order in which they are tried, when each
              gives up, and their SQL; with --data, also what PostgreSQL does on DIR (explain analyze); with --organization,
              as for a client of that organisation, which sees by consent
  maps        measures the maps of the service instead, beside @medplum/core
  budget      measures instead what one client's costly search parameters or searches are to others, on DIR-budget
  matching    measures instead how many people are found again, and how many strangers are taken for them
  messages    prints instead what becomes of published HL7 v2 messages, and how many are translated a second
  statements  measures instead what a statement costs this process, beside pg's own pool, with answers of several lengths
  token       measures instead how many access tokens are given out, to 16 clients and to 64
  resolve     measures instead how fast people are found and registered, with 16 clients and with 32, among
              N people who are invented (default 20000)
  audit       measures instead what the audit trail costs, with 16 clients and with 64
  inventory   measures instead stock, blood and payments, beside the FHIR search of the same resources, on DIR-inventory
  consent     measures instead what the consent filter costs, for organisations that few, some and all patients have
              granted; the grants are written straight into the table consent_grant, not by way of Consents
  records     measures instead a patient's records, beside the FHIR searches of the same under the same consent, on DIR-records
  sdk         measures instead the patient summary and FHIR searches by Health ID, beside the FHIR searches under them, on
              DIR-records
  request-log measures instead what the request log costs for each request, on DIR-requests
  bridge      lets N agents (default 20) live for D days (default 2) while networks, power, clocks, disks, answers and the
              service fail, and looks for what was lost or stored twice, on DIR-bridge
  bridge-sync measures instead how many items of Bridge agents are stored, on DIR-bridge
  webhooks    measures instead how fast events are delivered, how soon, what they cost whoever writes, and what
              receivers that hang cost the others, on DIR-webhooks; only what is named, if something is
  webhook-crash
              tells 20 receivers of 10000 events while processes are killed, and looks for what was lost, on DIR-webhooks
  scale       grows the data of DIR-scale to N resources, the bundles of PATH and copies of them as other people, and measures
              storage by table and index, the log while loading, the indexing of a search parameter, memory, and each workload.
              Further runs with larger N continue the folder, and tell each figure beside the first one's
  --scale N   repeats the bundles of PATH as those of other people until there are N resources
  --crowd N   with consent: adds N people with 19 resources each at most (100000: 2 million), copied by SQL within the database
`

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    organization: { type: 'string' },
    only: { type: 'string', default: '' },
    url: { type: 'string', default: '' },
    name: { type: 'string', default: 'peer' },
    pids: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
    load: { type: 'string', default: '../shared/data/synthea-2019-r4' },
    scale: { type: 'string', default: '0' },
    resources: { type: 'string', default: '0' },
    crowd: { type: 'string', default: '0' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    people: { type: 'string', default: '20000' },
    agents: { type: 'string', default: '20' },
    days: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    port: { type: 'string', default: '8191' },
    help: { type: 'boolean', default: false },
  },
})

const root = resolve(import.meta.dirname, '../..')
/** Benches that have a folder of their own. */
const folders: Readonly<Record<string, string>> = {
  budget: '-budget',
  inventory: '-inventory',
  records: '-records',
  sdk: '-records',
  bridge: '-bridge',
  'bridge-sync': '-bridge',
  'request-log': '-requests',
  webhooks: '-webhooks',
  'webhook-crash': '-webhooks',
  peers: '-peers',
  scale: '-scale',
}
const dataDir = resolve(options.data ?? './data/bench') + (folders[positionals[0] ?? ''] ?? '')
const port = Number(options.port)
const base = `http://127.0.0.1:${port}`

async function main(): Promise<void> {
  if (options.help) {
    process.stdout.write(help)
    return
  }
  if (positionals[0] === 'explain') {
    const { explain } = await import('./explain.ts')
    return explain({ search: positionals[1] ?? '', organization: options.organization, dataDir: options.data })
  }
  if (positionals[0] === 'compare') {
    const { compare } = await import('./compare.ts')
    const [connections, rounds, seconds] = [options.connections, options.rounds, options.seconds].map(Number) as [
      number,
      number,
      number,
    ]
    return compare({
      ...{ root, dataDir, port, env: environment(), load: resolve(options.load), only: options.only },
      ...{ base: positionals[1] ?? 'main', connections, rounds, seconds },
    })
  }
  if (positionals[0] === 'peers') {
    const { benchPeers } = await import('./peers.ts')
    const { url, name, pids, token, only } = options
    const [seconds, rounds, connections] = [options.seconds, options.rounds, options.connections].map(Number)
    return benchPeers({
      ...{ root, dataDir, base, env: { ...environment(), WORKERS: '1' }, answering, load: resolve(options.load), only },
      peer: { url, name, token, pids: pids.split(',').filter(Boolean).map(Number) },
      ...{ seconds: seconds!, rounds: rounds!, connections: connections! },
    })
  }
  if (positionals[0] === 'maps') {
    const { benchMaps } = await import('./maps.ts')
    return benchMaps()
  }
  if (positionals[0] === 'messages') {
    const { measureMessages } = await import('./messages.ts')
    return measureMessages()
  }
  if (positionals[0] === 'matching') {
    const { benchMatching } = await import('./matching.ts')
    return benchMatching(Number(options.rounds))
  }
  if (positionals[0] === 'budget' && positionals[1] === 'search-parameters') {
    const { benchBudget } = await import('./budget-search-parameters.ts')
    const env = { ...environment(), WORKERS: '1' }
    return benchBudget({ root, env, base, token: () => demoToken(base), answering, seconds: Number(options.seconds) })
  }
  if (positionals[0] === 'statements') {
    const { benchStatements } = await import('./statements.ts')
    return benchStatements(dataDir, Number(options.rounds))
  }
  if (positionals[0] === 'token') {
    const { benchToken } = await import('./token.ts')
    const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]
    return benchToken({ env: environment(), dataDir, base, seconds, rounds, connections: [16, 64] })
  }
  if (positionals[0] === 'webhooks' || positionals[0] === 'webhook-crash') return webhooks()
  if (positionals[0] === 'inventory') {
    const { benchInventory } = await import('./inventory.ts')
    const [connections, seconds, rounds] = [options.connections, options.seconds, options.rounds].map(Number)
    const load = (path: string) =>
      run(process.execPath, ['src/commands/load.ts', path], 'loading (nothing changes if it is there)')
    const env = environment()
    return benchInventory({
      ...{ root, env, dataDir, base, load, answering },
      ...{ connections: connections!, seconds: seconds!, rounds: rounds! },
    })
  }
  if (positionals[0] === 'bridge') {
    const { benchBridgeWorld } = await import('./bridge-world.ts')
    const [agents, days, seed] = [options.agents, options.days, options.seed].map(Number) as [number, number, number]
    return benchBridgeWorld({ ...{ root, env: environment(), dataDir, base, answering }, agents, days, seed })
  }
  if (positionals[0] === 'bridge-sync') {
    const { benchBridgeSync } = await import('./bridge-sync.ts')
    return benchBridgeSync({ root, env: environment(), dataDir, base, seconds: Number(options.seconds), answering })
  }
  if (positionals[0] === 'request-log') {
    const { benchRequestLog } = await import('./request-log.ts')
    return benchRequestLog(dataDir, Number(options.rounds))
  }
  if (positionals[0] === 'resolve') {
    const { benchResolve } = await import('./resolve.ts')
    const [people, seconds, rounds] = [options.people, options.seconds, options.rounds].map(Number) as [
      number,
      number,
      number,
    ]
    return benchResolve({ env: environment(), dataDir, port, people, seconds, rounds, connections: [16, 32] })
  }
  if (positionals[0] === 'scale') {
    const resources = Number(options.resources)
    if (!(resources > 0)) throw new Error('bench -- scale takes --resources N, a number above 0')
    const { benchScale } = await import('./scale.ts')
    const probe = `http://127.0.0.1:${port + 1}`
    const data = { root, env: environment(), dataDir, load: options.load, resources }
    return benchScale({ ...data, base, probe, turns: turns(), answering, startProbe })
  }
  await run(
    process.execPath,
    ['src/commands/load.ts', options.load],
    'loading (nothing changes if it is there already)',
  )
  if (Number(options.scale) > 0) {
    const copies = await writeCopies(options.load, join(dataDir, 'copies'), Number(options.scale))
    await run(process.execPath, ['src/commands/load.ts', copies], 'loading the copies')
  }
  if (positionals[0] === 'budget') {
    const { benchBudget } = await import('./budget.ts')
    return benchBudget({ root, env: environment(), base, seconds: Number(options.seconds), answering }, positionals[1])
  }
  if (positionals[0] === 'audit') {
    const { benchAudit } = await import('./audit.ts')
    const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]
    return benchAudit({ env: environment(), dataDir, port, seconds, rounds, connections: [16, 64] })
  }
  if (positionals[0] === 'consent') {
    const { benchConsent } = await import('./consent.ts')
    const [seconds, rounds, crowd] = [Number(options.seconds), Number(options.rounds), Number(options.crowd)]
    const connections = Number(options.connections)
    return benchConsent({ env: environment(), dataDir, port, seconds, rounds, connections, crowd, only: options.only })
  }
  if (positionals[0] === 'records' || positionals[0] === 'sdk') {
    const { benchRecords } = await import('./records.ts')
    const [connections, seconds, rounds] = [options.connections, options.seconds, options.rounds].map(Number)
    const figures = { connections: connections!, seconds: seconds!, rounds: rounds! }
    return benchRecords(positionals[0], { root, env: environment(), dataDir, base, answering, ...figures })
  }
  if (positionals[0] === 'mixed') {
    const { benchMixed } = await import('./mixed.ts')
    const [seconds, rate] = [Number(options.seconds), Number(options.rate)]
    const probe = `http://127.0.0.1:${port + 1}`
    return benchMixed({ root, env: environment(), base, dataDir, answering, startProbe, probe, seconds, rate })
  }
  const service = spawnService(root, {
    ...environment(),
    // Calls are counted in one process.
    ...(positionals[0] === 'calls' && { WORKERS: '1' }),
  })
  let probe: ChildProcess | undefined
  try {
    await answering()
    const connection = { host: join(dataDir, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
    probe = await startProbe(connection)
    const token = await demoToken(base)
    const samples = await sample(connection)
    if (positionals[0] === 'calls') {
      const { changes, countCalls } = await import('./calls.ts')
      const all = workloads(samples, { service: base, probe: '' }).filter(({ origin }) => origin === base)
      const named = ['read by id', 'patient + code, newest 20', 'patient + code with _include']
      return await countCalls({
        ...{ service: service.pid!, postmaster: postmasterPid(), token },
        workloads: [...all.filter(({ name }) => named.includes(name)), ...changes(base)],
        ...{ connections: Number(options.connections), seconds: Number(options.seconds) },
      })
    }
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s\n\n`,
    )
    const head = ['workload', 'req/s', 'p50 ms', 'p99 ms', 'server CPU-ms', 'PG CPU-ms', 'CPU / probe', 'errors']
    process.stdout.write(`| ${head.join(' | ')} |\n|${head.map((_, index) => (index ? '--:' : '---')).join('|')}|\n`)
    const rows = measureGeneral({
      workloads: workloads(samples, { service: base, probe: `http://127.0.0.1:${port + 1}` }),
      ...{ token, service: service.pid!, probe: probe.pid!, postmaster: postmasterPid(), ...turns() },
    })
    for await (const { workload, rate, p50, p99, server, postgres, multiple, errors } of rows) {
      const cells = [
        workload,
        rate.toFixed(0),
        p50,
        p99,
        server.toFixed(3),
        postgres.toFixed(3),
        multiple.toFixed(2),
        errors,
      ]
      process.stdout.write(`| ${cells.join(' | ')} |\n`)
    }
  } finally {
    probe?.kill()
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

/** Which workloads run, with how many clients, how often and how long. */
const turns = () => ({
  only: options.only,
  connections: Number(options.connections),
  rounds: Number(options.rounds),
  seconds: Number(options.seconds),
})

async function webhooks(): Promise<void> {
  const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)]
  const bench = { env: environment(), dataDir, base, port, seconds, rounds }
  if (positionals[0] === 'webhooks') {
    const { benchWebhooks } = await import('./webhooks.ts')
    return benchWebhooks(bench, positionals.slice(1))
  }
  const { crashWebhooks } = await import('./webhooks-crash.ts')
  return crashWebhooks(bench)
}

function environment(): NodeJS.ProcessEnv {
  const unlimited = { RATE_LIMIT: '100000000', RATE_LIMIT_LOOKUP: '100000000', RATE_LIMIT_TOKEN: '100000000' }
  return { ...process.env, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn', ...unlimited }
}

function run(command: string, args: string[], what: string): Promise<void> {
  process.stdout.write(`${what}\n`)
  const child = spawn(command, args, { cwd: root, env: environment(), stdio: 'inherit' })
  return new Promise((done, fail) =>
    child.once('exit', code => (code === 2 ? fail(new Error(`${what} failed`)) : done())),
  )
}

async function answering(): Promise<void> {
  for (let tries = 0; tries < 6000; tries++) {
    if (
      await fetch(`${base}/readyz`).then(
        reply => reply.ok,
        () => false,
      )
    )
      return
    await new Promise(done => setTimeout(done, 100))
  }
  throw new Error('the service does not answer')
}

async function startProbe(connection: object): Promise<ChildProcess> {
  const probe = fork(join(import.meta.dirname, 'probe.ts'), {
    env: { ...process.env, PROBE_CONNECTION: JSON.stringify(connection), PORT: String(port + 1) },
  })
  await new Promise(done => probe.once('message', done))
  return probe
}

const postmasterPid = (): number =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])

await main()
