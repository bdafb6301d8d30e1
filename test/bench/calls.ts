// npm run bench -- calls: system calls of a request, in the service and in PostgreSQL, counted by strace (Linux).
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { uuidv7 } from '../../src/lib/ids.ts'
import { shoot } from './shoot.ts'
import type { Workload } from './workloads.ts'

/** What is counted, and the system calls that count. */
const columns: readonly (readonly [what: string, calls: readonly string[]])[] = [
  ['writes', ['write', 'writev', 'sendto', 'sendmsg']],
  ['reads', ['read', 'readv', 'recvfrom', 'recvmsg']],
  ['waits', ['epoll_wait', 'epoll_pwait', 'poll', 'ppoll']],
  ['futexes', ['futex']],
  ['commits', ['fdatasync', 'fsync']],
]

export interface CallsOptions {
  /** Process of the service, which has no others but PostgreSQL. */
  readonly service: number
  readonly postmaster: number
  readonly workloads: readonly Workload[]
  readonly token: string
  readonly connections: number
  readonly seconds: number
}

/** Prints how often each process calls the kernel for a request. Under strace everything is slower, so that more requests meet. */
export async function countCalls({
  service,
  postmaster,
  workloads,
  token,
  connections,
  seconds,
}: CallsOptions): Promise<void> {
  const head = [
    'workload',
    'requests',
    ...['service', 'PostgreSQL'].flatMap(side => columns.map(([what]) => `${side} ${what}`)),
  ]
  process.stdout.write(`| ${head.join(' | ')} |\n|${head.map((_, at) => (at ? '--:' : '---')).join('|')}|\n`)
  for (const workload of workloads) {
    const bound = { ...workload, connections: workload.connections ?? connections }
    await shoot(bound, token, 1)
    const tracers = [trace([service]), trace([postmaster, ...childrenOf(postmaster)])]
    await new Promise(done => setTimeout(done, 1000))
    const result = await shoot(bound, token, seconds)
    const counts = await Promise.all(tracers.map(counted))
    const cells = counts.flatMap(calls =>
      columns.map(([, names]) =>
        (names.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0) / result.requests.total).toFixed(2),
      ),
    )
    process.stdout.write(`| ${[workload.name, result.requests.total, ...cells].join(' | ')} |\n`)
  }
}

/** One resource is created, and another one changed, over and over. */
export function changes(origin: string): Workload[] {
  const observation = (id: string): string =>
    JSON.stringify({ resourceType: 'Observation', id, status: 'final', code: { text: 'bench-calls' } })
  const path = '/api/fhir/R4/Observation'
  return [
    { name: 'create', origin, requests: () => [{ method: 'POST', path, body: observation('new') }] },
    {
      name: 'update',
      origin,
      requests: () => {
        const id = uuidv7()
        return [0, 1].map(number => ({
          method: 'PUT' as const,
          path: `${path}/${id}`,
          body: observation(id).replace('bench-calls', `bench-calls ${number}`),
        }))
      },
    },
  ]
}

const trace = (pids: readonly number[]): ChildProcess =>
  spawn('strace', ['-f', '-c', '-q', ...pids.flatMap(pid => ['-p', String(pid)])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })

/** Ends the tracer. @returns how often each call was made: lines of `strace -c` are time, seconds, usecs/call, calls, errors, name */
async function counted(tracer: ChildProcess): Promise<Map<string, number>> {
  let text = ''
  tracer.stderr!.setEncoding('utf8').on('data', piece => (text += piece))
  tracer.kill('SIGINT')
  await new Promise(done => tracer.once('close', done))
  const lines = [...text.matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/gm)]
  if (lines.length === 0) throw new Error(`strace counted nothing: ${text.slice(0, 500)}`)
  return new Map(lines.map(([, calls, name]) => [name!, Number(calls)]))
}

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(pid => {
      try {
        return pid > 0 && Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]) === parent
      } catch {
        return false
      }
    })
