// npm run bench -- resolve: how fast people are found and registered, and whether a race registers anybody twice.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import autocannon from 'autocannon'
import { mint } from '../../src/lib/health-id.ts'
import { demoToken } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'
import { type Dice, diceOf, two } from './slips.ts'

export interface ResolveBench {
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly port: number
  /** How many are registered before. */
  readonly people: number
  readonly seconds: number
  readonly rounds: number
  readonly connections: readonly number[]
}

interface Known {
  readonly healthId: string
  readonly body: Record<string, string>
}

const root = resolve(import.meta.dirname, '../..')
const path = '/api/v1/connect/patients/resolve'

/** Prints a table: rate, waiting and CPU of each kind of resolve; then what a race of 100 people at 10 desks came to. */
export async function benchResolve(options: ResolveBench): Promise<void> {
  const base = `http://127.0.0.1:${options.port}`
  const env = { ...options.env, BASE_URL: base }
  const known = peopleOf(options.people, diceOf(7))
  await load(known, base, options.dataDir, env)
  const service = spawnService(root, env)
  try {
    await answering(base)
    const token = await demoToken(base)
    const postmaster = Number(readFileSync(join(options.dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const cpu = { server: () => cpuOf(service.pid!, postmaster), postgres: () => cpuOf(postmaster) }
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${options.people} people, ${options.rounds} rounds of ${options.seconds} s\n\n` +
        '| resolve | clients | req/s | p50 ms | p99 ms | server CPU-ms | PG CPU-ms | errors |\n|---|--:|--:|--:|--:|--:|--:|--:|\n',
    )
    for (const [name, bodies] of workloads(known))
      for (const connections of options.connections)
        process.stdout.write(await row(name, bodies, connections, { ...options, base, token, cpu }))
    await race(base, token)
  } finally {
    await ended(service)
  }
}

/** Bodies for each client: a list that is gone through again and again. */
type Bodies = () => string[]

function workloads(known: readonly Known[]): [string, Bodies][] {
  const dice = diceOf(11)
  const pick = (): Known => known[dice.below(known.length)]!
  const many = (make: () => object): string[] => Array.from({ length: 2000 }, () => JSON.stringify(make()))
  let strangers = 0
  return [
    ['known, by Health ID', () => many(() => ({ health_id: pick().healthId }))],
    ['known, by demographics', () => many(() => pick().body)],
    ['unknown Health ID', () => many(() => ({ health_id: mint('CM') }))],
    [
      'new: registered',
      () => peopleOf(2000, diceOf(1000 + strangers++ + Date.now())).map(({ body }) => JSON.stringify(body)),
    ],
  ]
}

interface Measured extends ResolveBench {
  readonly base: string
  readonly token: string
  readonly cpu: { server(): number; postgres(): number }
}

async function row(name: string, bodies: Bodies, connections: number, options: Measured): Promise<string> {
  const rounds: { result: autocannon.Result; server: number; postgres: number }[] = []
  const { cpu, rounds: count, seconds } = options
  await shoot(bodies, connections, 1, options)
  for (let round = 0; round < count; round++) {
    const before = [cpu.server(), cpu.postgres()] as const
    const result = await shoot(bodies, connections, seconds, options)
    const done = result.requests.total || 1
    rounds.push({ result, server: (cpu.server() - before[0]) / done, postgres: (cpu.postgres() - before[1]) / done })
  }
  const rate = ({ requests, duration }: autocannon.Result): number => requests.total / duration
  const median = rounds.sort((a, b) => rate(a.result) - rate(b.result))[rounds.length >> 1]!
  const { latency, errors, non2xx } = median.result
  const cells = [name, connections, rate(median.result).toFixed(0), latency.p50, latency.p99]
  return `| ${[...cells, median.server.toFixed(3), median.postgres.toFixed(3), errors + non2xx].join(' | ')} |\n`
}

function shoot(bodies: Bodies, connections: number, seconds: number, { base, token }: Measured) {
  return autocannon({
    url: base,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    setupClient: client => client.setRequests(bodies().map(body => ({ method: 'POST', path, body }))),
  })
}

/** 100 people come to 10 desks at once, written in ten ways. */
async function race(base: string, token: string): Promise<void> {
  const people = peopleOf(100, diceOf(Date.now()))
  const desks = people.flatMap(({ body }) => Array.from({ length: 10 }, (_, desk) => writtenAt(desk, body)))
  const order = desks.map(body => ({ body, place: Math.random() })).sort((a, b) => a.place - b.place)
  const started = performance.now()
  const statuses = await Promise.all(order.map(({ body }) => statusOf(base, token, body)))
  const created = statuses.filter(status => status === 201).length
  const failed = statuses.filter(status => status >= 400).length
  const rate = (1000 * order.length) / (performance.now() - started)
  process.stdout.write(
    `\n100 people at 10 desks at once: ${created} registered, ${failed} errors, ${rate.toFixed(0)} resolves/s\n`,
  )
}

async function statusOf(base: string, token: string, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  await answer.text()
  return answer.status
}

function writtenAt(desk: number, body: Record<string, string>): Record<string, string> {
  const { first_name: first = '', last_name: last = '' } = body
  if (desk === 1) return { ...body, first_name: first.toUpperCase(), last_name: last.toUpperCase() }
  if (desk === 2) return { ...body, first_name: last, last_name: first }
  if (desk === 3) return { ...body, first_name: ` ${first.toLowerCase()} ` }
  return body
}

/** People who are invented, with names as frequent as names are: some are borne by many, most by few. */
function peopleOf(count: number, dice: Dice): Known[] {
  const random = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, () => dice.below(256))
  const name = (most: number): string => spelled(Math.floor(most ** (dice.below(1e6) / 1e6)))
  return Array.from({ length: count }, () => ({
    healthId: mint('CM', random),
    body: {
      first_name: `${name(3000)} ${name(3000)}`,
      // Unlike any given name: somebody called Gada Dada Gada cannot be told from the same with names exchanged.
      last_name: `${name(20_000)}eng`,
      date_of_birth: `${1930 + dice.below(90)}-${two(1 + dice.below(12))}-${two(1 + dice.below(28))}`,
      sex: dice.pick(['male', 'female']),
      phone_number: `+2376${String(dice.below(1e8)).padStart(8, '0')}`,
    },
  }))
}

const ONSETS = ['b', 'd', 'f', 'g', 'm', 'n', 'mb', 'nd', 'ng', 't', 'k', 'l', 'r', 's', 'z', 'j', 'p', 'v', 'w', 'tch']
const VOWELS = ['a', 'e', 'i', 'o', 'ou']

/** A number as a name that can be spoken. */
function spelled(number: number): string {
  let text = ''
  for (let rest = number + 100; rest > 0; rest = Math.floor(rest / 100))
    text += ONSETS[rest % 20]! + VOWELS[Math.floor(rest / 20) % 5]!
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

async function load(people: readonly Known[], base: string, dataDir: string, env: NodeJS.ProcessEnv): Promise<void> {
  const file = join(dataDir, 'resolve', 'patients.ndjson')
  mkdirSync(join(dataDir, 'resolve'), { recursive: true })
  const system = `${base}/fhir/NamingSystem/health-id`
  writeFileSync(file, `${people.map((each, index) => JSON.stringify(patientOf(each, index, system))).join('\n')}\n`)
  process.stdout.write('loading (nothing changes if it is there already)\n')
  const child = spawn(process.execPath, ['src/commands/load.ts', file], { cwd: root, env, stdio: 'inherit' })
  await new Promise(done => child.once('exit', done))
}

function patientOf({ healthId, body }: Known, index: number, system: string): object {
  return {
    resourceType: 'Patient',
    id: `bench-${index}`,
    identifier: [{ use: 'official', system, value: healthId }],
    name: [{ use: 'official', family: body['last_name'], given: body['first_name']!.split(' ') }],
    gender: body['sex'],
    birthDate: body['date_of_birth'],
    telecom: [{ system: 'phone', value: body['phone_number'] }],
  }
}

async function answering(base: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const isReady = await fetch(`${base}/readyz`).then(
      reply => reply.ok,
      () => false,
    )
    if (isReady) return
    await new Promise(done => setTimeout(done, 100))
  }
  throw new Error('the service does not answer')
}

async function ended(service: ChildProcess): Promise<void> {
  service.kill('SIGTERM')
  await new Promise(done => service.once('exit', done))
}
