// npm run bench -- audit: what the audit trail costs, measured against the same process without it, turn by turn.
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import type autocannon from 'autocannon'
import { demoToken } from '../support/process.ts'
import { cpuOf } from './cpu.ts'
import { median } from './figures.ts'
import { shoot } from './shoot.ts'
import { sample, type Workload, workloads } from './workloads.ts'

export interface AuditBench {
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly port: number
  readonly seconds: number
  readonly connections: readonly number[]
  readonly rounds: number
}

const measured = [
  'read by id',
  'patient + code, newest 20',
  'patient by name',
  'everything about a patient',
  'create, read, update, delete of 9 types, 64 clients',
  'transaction of 100 resources',
]

/** Prints a table: the rate without the trail, with it, and the ratio of the two. */
export async function benchAudit(options: AuditBench): Promise<void> {
  const server = fork(join(import.meta.dirname, 'audit-server.ts'), { env: options.env })
  try {
    const connection = await once<Parameters<typeof sample>[0]>(server)
    const postmaster = Number(readFileSync(join(options.dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const cpu = (): number => cpuOf(server.pid!, postmaster) + cpuOf(postmaster)
    const samples = await sample(connection)
    const [audited, bare] = [options.port, options.port + 1].map(port => `http://127.0.0.1:${port}`) as [string, string]
    const token = await demoToken(audited)
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${options.rounds} rounds of ${options.seconds} s\n\n`,
    )
    process.stdout.write(
      '| workload | clients | req/s without | req/s with | ratio | p50 ms without | with | CPU-ms without | with | errors |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n',
    )
    for (const workload of workloads(samples, { service: audited, probe: bare }))
      if (measured.includes(workload.name))
        for (const clients of workload.connections ? [workload.connections] : options.connections)
          process.stdout.write(
            await row({ ...workload, connections: clients }, [bare, audited], token, { ...options, cpu }),
          )
  } finally {
    server.send('stop')
    await new Promise(done => server.once('exit', done))
  }
}

const once = <T>(child: ChildProcess): Promise<T> => new Promise(done => child.once('message', told => done(told as T)))

async function row(
  workload: Workload,
  origins: readonly [string, string],
  token: string,
  { rounds, seconds, cpu }: AuditBench & { cpu(): number },
): Promise<string> {
  const results: autocannon.Result[][] = [[], []]
  const costs: number[][] = [[], []]
  for (const origin of origins) await shoot({ ...workload, origin }, token, 1)
  for (let round = 0; round < rounds; round++)
    for (const [index, origin] of origins.entries()) {
      const before = cpu()
      const result = await shoot({ ...workload, origin }, token, seconds)
      results[index]!.push(result)
      costs[index]!.push((cpu() - before) / (result.requests.total || 1))
    }
  const rates = results.map(list => median(list.map(each => each.requests.total / each.duration)))
  const waits = results.map(list => median(list.map(each => each.latency.p50)))
  const ratios = results[0]!.map((each, index) => results[1]![index]!.requests.total / each.requests.total)
  const errors = results.flat().reduce((sum, each) => sum + each.errors + each.non2xx, 0)
  const cells = [
    workload.name,
    workload.connections,
    ...rates.map(rate => rate.toFixed(0)),
    `${(median(ratios) * 100).toFixed(0)} %`,
    ...waits,
    ...costs.map(list => median(list).toFixed(2)),
    errors,
  ]
  return `| ${cells.join(' | ')} |\n`
}
