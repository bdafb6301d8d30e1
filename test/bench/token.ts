// npm run bench -- token: how many access tokens the service gives out, to clients whose secret it has just checked.
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import autocannon from 'autocannon'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { paths } from '../../src/identity/paths.ts'
import { until } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'

export interface TokenBench {
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly base: string
  readonly seconds: number
  readonly connections: readonly number[]
  readonly rounds: number
}

const { id, secret } = demoClient
const ways: Readonly<Record<string, { headers: Record<string, string>; body: string }>> = {
  'secret in a JSON body': {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
  },
  'HTTP Basic and a form': {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    },
    body: 'grant_type=client_credentials&scope=patients:read',
  },
}

/** Prints a table: the rate for each way to send the secret, by the number of clients. */
export async function benchToken(options: TokenBench): Promise<void> {
  const { env, dataDir, base, connections, rounds, seconds } = options
  const root = resolve(import.meta.dirname, '../..')
  const service = spawnService(root, env)
  try {
    await until('the service answers', () =>
      fetch(`${base}/readyz`).then(
        reply => reply.ok,
        () => false,
      ),
    )
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const cpu = (): number => cpuOf(service.pid!, postmaster) + cpuOf(postmaster)
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${rounds} rounds of ${seconds} s\n\n| token for | clients | req/s | p50 ms | p99 ms | CPU-ms | errors |\n|---|--:|--:|--:|--:|--:|--:|\n`,
    )
    for (const way of Object.keys(ways))
      for (const clients of connections) process.stdout.write(await row(way, clients, { ...options, cpu }))
  } finally {
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

async function row(
  way: string,
  connections: number,
  { base, seconds, rounds, cpu }: TokenBench & { cpu(): number },
): Promise<string> {
  const fire = (duration: number): Promise<autocannon.Result> =>
    autocannon({ url: base + paths.token, method: 'POST', connections, duration, ...ways[way] })
  await fire(2)
  const results: { rate: number; p50: number; p99: number; cpu: number; errors: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const before = cpu()
    const { requests, duration, latency, errors, non2xx } = await fire(seconds)
    results.push({
      rate: requests.total / duration,
      p50: latency.p50,
      p99: latency.p99,
      cpu: (cpu() - before) / (requests.total || 1),
      errors: errors + non2xx,
    })
  }
  const median = results.sort((one, other) => one.rate - other.rate)[Math.floor(rounds / 2)]!
  const cells = [way, connections, median.rate.toFixed(0), median.p50, median.p99, median.cpu.toFixed(3), median.errors]
  return `| ${cells.join(' | ')} |\n`
}
