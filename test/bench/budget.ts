// npm run bench -- budget NAME: what one client's costly requests leave to another client.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { promisify } from 'node:util'
import { demoToken } from '../support/process.ts'
import { benchBodies } from './budget-bodies.ts'
import { benchSearches } from './budget-searches.ts'
import { spawnService } from './service.ts'

/** A running service, and access tokens of two clients of it. */
export interface BudgetBench {
  readonly base: string
  readonly tokens: { readonly greedy: string; readonly other: string }
  readonly seconds: number
  /** The process of the service; with `bodies` the only one. */
  readonly pid: number
}

const benches: Readonly<Record<string, (bench: BudgetBench) => Promise<void>>> = {
  bodies: benchBodies,
  searches: benchSearches,
}

interface Options {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly base: string
  readonly seconds: number
  readonly answering: () => Promise<void>
}

/** Starts the service and measures what is named. @throws Error for a name that is not known. */
export async function benchBudget(
  { root, env, base, seconds, answering }: Options,
  name: string | undefined,
): Promise<void> {
  const bench = name === undefined ? undefined : benches[name]
  if (!bench) throw new Error(`bench -- budget takes one of: ${Object.keys(benches).join(', ')}`)
  const service = spawnService(root, name === 'bodies' ? { ...env, WORKERS: '1' } : env)
  try {
    await answering()
    const tokens = { greedy: await tokenOfAnother(root, env, base), other: await demoToken(base) }
    process.stdout.write(`load average ${loadavg()[0]!.toFixed(1)}\n`)
    await bench({ base, tokens, seconds, pid: service.pid! })
  } finally {
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
}

async function tokenOfAnother(root: string, env: NodeJS.ProcessEnv, base: string): Promise<string> {
  const client = ['--name', 'Bench', '--organization', 'bench', '--scopes', 'system/*.cruds', '--consent-exempt']
  const args = ['src/commands/admin.ts', 'client', 'create', ...client, '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  const { client_id, client_secret } = JSON.parse(stdout) as Record<'client_id' | 'client_secret', string>
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const reply = await fetch(`${base}/api/v1/connect/auth/token`, { method: 'POST', body })
  return ((await reply.json()) as { access_token: string }).access_token
}
