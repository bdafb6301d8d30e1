// npm run bench -- compare BASE: this work tree beside another commit, both services at once, turn by turn.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoToken } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'
import { shoot } from './shoot.ts'
import { warmUp } from './warm.ts'
import { sample, type Workload, workloads } from './workloads.ts'

export interface CompareOptions {
  readonly root: string
  /** The commit to compare with. */
  readonly base: string
  /** Prefix of the data folders of both sides. */
  readonly dataDir: string
  readonly load: string
  readonly env: NodeJS.ProcessEnv
  readonly port: number
  /** Part of the names of the workloads to run; empty: all. */
  readonly only: string
  readonly connections: number
  /** Turns of each side, once it is warm. */
  readonly rounds: number
  /** Length of a turn. */
  readonly seconds: number
}

interface Side {
  readonly name: 'base' | 'head'
  readonly service: ChildProcess
  readonly postmaster: number
  readonly token: string
  readonly workloads: readonly Workload[]
}

/** One turn of one side. */
interface Turn {
  /** Milliseconds of service and PostgreSQL for a request. */
  readonly cpu: number
  readonly rate: number
}

/**
 * Prints CPU a request of both sides, and what this work tree takes of what BASE takes: the median of the ratios of turns that ran
 * next to each other, with the quartiles. Machines get slower and faster for minutes, so only neighbours are compared.
 */
export async function compare(options: CompareOptions): Promise<void> {
  const { root, base } = options
  const tree = await mkdtemp(join(tmpdir(), 'bench-base-'))
  execFileSync('git', ['worktree', 'add', '--detach', '--force', tree, base], { cwd: root, stdio: 'ignore' })
  const sides: Side[] = []
  try {
    provideModules(root, tree)
    sides.push(await begin('base', tree, options, 0))
    sides.push(await begin('head', root, options, 1))
    await compareAll(sides as [Side, Side], options)
  } finally {
    await Promise.all(sides.map(({ service }) => ended(service)))
    execFileSync('git', ['worktree', 'remove', '--force', tree], { cwd: root })
    await rm(tree, { recursive: true, force: true })
  }
}

/** Installs the packages of the other commit, or shares those of this tree if both name the same. */
function provideModules(root: string, tree: string): void {
  const lock = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8')
  if (lock(root) === lock(tree)) symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  else execFileSync('npm', ['ci'], { cwd: tree, stdio: 'inherit' })
}

/** Loads the data by the code of this side, and starts its service. */
async function begin(name: Side['name'], cwd: string, options: CompareOptions, index: number): Promise<Side> {
  const dataDir = `${options.dataDir}-${name}`
  const port = options.port + index
  const env = { ...options.env, DATA_DIR: dataDir, PORT: String(port) }
  process.stdout.write(`${name}: loading (nothing changes if it is there already)\n`)
  const load = spawn(process.execPath, ['src/commands/load.ts', options.load], { cwd, env, stdio: 'ignore' })
  await new Promise(done => load.once('exit', done))
  const service = spawnService(cwd, env)
  const origin = `http://127.0.0.1:${port}`
  await ready(origin, service)
  const connection = { host: join(dataDir, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  const all = workloads(await sample(connection), { service: origin, probe: '' })
  const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  return {
    ...{ name, service, postmaster, token: await demoToken(origin) },
    workloads: all.filter(each => each.origin === origin && each.name.includes(options.only)),
  }
}

/** Waits until the service answers. @throws Error if it ended, or does not answer within a minute. */
async function ready(origin: string, service: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600 && service.exitCode === null; tries++) {
    const reply = await fetch(`${origin}/readyz`).catch(() => undefined)
    if (reply?.ok) return
    await new Promise(done => setTimeout(done, 100))
  }
  throw new Error(`the service at ${origin} does not answer`)
}

async function ended(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null) return
  service.kill('SIGTERM')
  await new Promise(done => service.once('exit', done))
}

async function compareAll([base, head]: readonly [Side, Side], options: CompareOptions): Promise<void> {
  const columns = ['workload', 'base CPU-ms', 'head CPU-ms', 'CPU head / base', 'quartiles', 'req/s head / base']
  process.stdout.write(`\n| ${columns.join(' | ')} |\n|${columns.map((_, at) => (at ? '--:' : '---')).join('|')}|\n`)
  for (const [index, { name }] of base.workloads.entries()) {
    const pairs: { base: Turn; head: Turn }[] = []
    const turnOf = (side: Side): Promise<Turn> => turn(side, side.workloads[index]!, options)
    for (const side of [base, head]) await warmUp(async () => (await turnOf(side)).cpu)
    for (let round = 0; round < options.rounds; round++) {
      const pair: Partial<Record<Side['name'], Turn>> = {}
      for (const side of round % 2 ? [base, head] : [head, base]) pair[side.name] = await turnOf(side)
      pairs.push(pair as { base: Turn; head: Turn })
    }
    const cpu = sorted(pairs.map(pair => pair.head.cpu / pair.base.cpu))
    const rate = sorted(pairs.map(pair => pair.head.rate / pair.base.rate))
    const cells = [
      name,
      at(sorted(pairs.map(pair => pair.base.cpu)), 0.5).toFixed(3),
      at(sorted(pairs.map(pair => pair.head.cpu)), 0.5).toFixed(3),
      at(cpu, 0.5).toFixed(2),
      `${at(cpu, 0.25).toFixed(2)}–${at(cpu, 0.75).toFixed(2)}`,
      at(rate, 0.5).toFixed(2),
    ]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
}

async function turn(side: Side, workload: Workload, { connections, seconds }: CompareOptions): Promise<Turn> {
  const used = (): number => cpuOf(side.service.pid!, side.postmaster) + cpuOf(side.postmaster)
  const before = used()
  const result = await shoot({ ...workload, connections: workload.connections ?? connections }, side.token, seconds)
  // What follows the reply, such as the request log, belongs to it.
  await new Promise(done => setTimeout(done, 50))
  if (result.errors + result.non2xx > 0)
    throw new Error(`${side.name}: ${result.errors + result.non2xx} of "${workload.name}" failed`)
  return { cpu: (used() - before) / result.requests.total, rate: result.requests.total / result.duration }
}

const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)
const at = (values: readonly number[], share: number): number => values[Math.floor(values.length * share)]!
