// The agent as tests run it: in this process with a clock of their own, or as a process that can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startAgent } from '../../../bridge/src/agent.ts'
import { type Clock, systemClock } from '../../../bridge/src/clock.ts'
import { agentTool } from '../../../bridge/src/commands/tool.ts'
import { readConfig } from '../../../bridge/src/config.ts'
import { readDataKey } from '../../../bridge/src/data-key.ts'
import { createLog } from '../../../bridge/src/log.ts'
import { payloadOf } from '../../../bridge/src/state/items.ts'
import { openState, type State } from '../../../bridge/src/state/state.ts'
import { runTool } from '../../../src/lib/command.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { until } from '../../support/process.ts'
import { agentKey } from './stand-in.ts'

const root = resolve(import.meta.dirname, '../../..')

const dataKey = Buffer.alloc(32, 'data')

export const localToken = 'token-of-this-machine'

/** A folder of its own for an agent; it goes after the file's last test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'health-interop-agent-'))
  onCleanup(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a config file with the data key beside it, and returns its path. */
export function writeAgent(folder: string, url: string, more: Record<string, unknown> = {}): string {
  const file = join(folder, 'agent.json')
  const server = { url, agent_id: 'agent-1', agent_key: agentKey, facility_id: 'facility-1' }
  const local = { port: 0, token: localToken }
  const { limits, ...rest } = more
  const values = { server, local, limits: { min_free_bytes: 0, ...(limits as object) }, ...rest }
  writeFileSync(file, JSON.stringify(values), { mode: 0o600 })
  writeFileSync(join(folder, 'data.key'), dataKey.toString('base64'), { mode: 0o600 })
  return file
}

/** A clock that stands still until a test moves it; who waits is woken when its time has come. */
export interface TestClock extends Clock {
  advance(ms: number): void
}

export function testClock(from = Date.parse('2026-03-01T08:00:00Z')): TestClock {
  let now = from
  let waiting: { readonly at: number; readonly wake: () => void }[] = []
  return {
    now: () => now,
    random: () => 1,
    wait(ms, signal) {
      const { promise, resolve: wake } = Promise.withResolvers<void>()
      waiting.push({ at: now + ms, wake })
      signal?.addEventListener('abort', () => wake())
      return promise
    },
    advance(ms) {
      now += ms
      const due = waiting.filter(each => each.at <= now)
      waiting = waiting.filter(each => each.at > now)
      for (const { wake } of due) wake()
    },
  }
}

export interface InProcess {
  readonly port: number
  readonly lines: string[]
  readonly status: () => Promise<Status>
  stop(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into what they get freely
type Status = any

/** Runs an agent in this process until the file's last test, or until it is stopped. */
export async function runAgent(file: string, clock: Clock = systemClock): Promise<InProcess> {
  const lines: string[] = []
  const log = createLog('debug', line => void lines.push(line))
  const config = readConfig(file)
  const agent = await startAgent({ file, config, key: readDataKey(config.data_key_file), clock, log })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= agent.stop())
  onCleanup(stop)
  const { port } = agent.local
  return {
    port,
    lines,
    stop,
    status: async () => (await fetch(`http://127.0.0.1:${port}/status.json`)).json(),
  }
}

/** The port on which a source of a running agent listens. */
export const portOf = async (agent: Pick<InProcess, 'status'>, source = 'lab'): Promise<number> =>
  (await agent.status()).inputs[source].port

/** The messages that an agent has stored, in order, read beside the running agent. */
export function storedMessages(folder: string): string[] {
  const state = openState(join(folder, 'state'), dataKey)
  const rows = state.sql('select item_id, payload from item order by id').all() as {
    item_id: string
    payload: Uint8Array
  }[]
  const texts = rows.map(row => JSON.parse(state.unseal(row.payload, payloadOf(row.item_id))).message)
  state.close()
  return texts
}

/** A state of its own, without an agent. */
export function freshState(folder = freshFolder()): State {
  const state = openState(folder, dataKey)
  onCleanup(async () => {
    if (state.db.isOpen) state.close()
  })
  return state
}

interface Printed {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command of the agent in this process: `agent('status', '--config', file)`. */
export async function agent(...args: string[]): Promise<Printed> {
  const [out, err]: [string[], string[]] = [[], []]
  const stdout = { write: (text: string) => out.push(text) }
  const stderr = { write: (text: string) => err.push(text) }
  const code = await runTool(agentTool, args, { stdout, stderr })
  return { code, out: out.join(''), err: err.join('') }
}

interface Process {
  readonly child: ChildProcess
  readonly output: () => string
  /** The signal or the code that ended it. */
  readonly ended: Promise<string | number>
  /** Ports of the inputs by name, and of the status page. */
  ports(): Promise<Record<string, number>>
}

const modules = join(tmpdir(), 'health-interop-compiled')

/** Starts `agent run` as a process; @param dieAt where it kills itself (die-at.ts) */
export function startProcess(file: string, dieAt?: string): Process {
  const trap = dieAt ? ['--import', join(import.meta.dirname, 'die-at.ts')] : []
  const child = spawn(process.execPath, [...trap, 'bridge/src/main.ts', 'run', '--config', file], {
    cwd: root,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: modules, ...(dieAt ? { DIE_AT: dieAt } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  child.stdout.on('data', chunk => (text += chunk))
  child.stderr.on('data', chunk => (text += chunk))
  let isOver = false
  const ended = new Promise<string | number>(done =>
    child.once('exit', (code, signal) => {
      isOver = true
      done(signal ?? code ?? 'gone')
    }),
  )
  onCleanup(async () => {
    if (!isOver) child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    output: () => text,
    ended,
    async ports() {
      await until(`the agent runs: ${text}`, () => text.includes('"msg":"running"') || isOver)
      const lines = text
        .split('\n')
        .filter(line => line.startsWith('{'))
        .map(line => JSON.parse(line))
      const listening = lines.filter(line => line.msg === 'listening for HL7 v2').map(line => [line.source, line.port])
      const page = lines.find(line => line.msg === 'status page')
      return { ...Object.fromEntries(listening), page: Number(new URL(page?.url ?? 'http://localhost:0').port) }
    },
  }
}
