// The general bench: each workload with its median round, beside a bare probe.
import { cpuOf } from './cpu.ts'
import { shoot } from './shoot.ts'
import { warmUp } from './warm.ts'
import type { Workload } from './workloads.ts'

/** What is measured, and how. */
export interface General {
  readonly workloads: readonly Workload[]
  readonly token: string
  /** Ids of processes: of the service, of the probe, and of PostgreSQL. */
  readonly service: number
  readonly probe: number
  readonly postmaster: number
  /** Part of the names of the workloads to run; empty: all. */
  readonly only: string
  /** Clients at a time, where a workload needs no number of its own. */
  readonly connections: number
  readonly rounds: number
  /** Length of a round. */
  readonly seconds: number
}

interface Figures {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  /** Milliseconds of CPU a request. */
  readonly server: number
  readonly postgres: number
}

/** The median round of a workload, and its CPU as a multiple of that of the probe. */
export interface Row extends Figures {
  readonly workload: string
  readonly multiple: number
}

/** Measures the workloads one after the other, the bare probe first. */
export async function* measureGeneral(general: General): AsyncGenerator<Row> {
  const { workloads, probe, service, only, seconds, rounds } = general
  const bare = workloads[0]!
  await warmUp(async () => totalOf(await measure(general, bare, probe, seconds)))
  for (const workload of workloads.filter(({ name }) => name.includes(only))) {
    const turn = (): Promise<Figures> => measure(general, workload, workload === bare ? probe : service, seconds)
    await warmUp(async () => totalOf(await turn()))
    const [found, multiples]: [Figures[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      // The machine gets slower and faster: the probe runs beside each round.
      const reference = totalOf(await measure(general, bare, probe, 1))
      const figures = await turn()
      found.push(figures)
      multiples.push(totalOf(figures) / reference)
    }
    const median = found.sort((a, b) => a.rate - b.rate)[Math.floor(found.length / 2)]!
    const multiple = multiples.sort((a, b) => a - b)[Math.floor(multiples.length / 2)]!
    yield { workload: workload.name, ...median, multiple }
  }
}

const totalOf = ({ server, postgres }: Figures): number => server + postgres

async function measure(
  { token, postmaster, connections }: General,
  workload: Workload,
  server: number,
  seconds: number,
): Promise<Figures> {
  const before = { server: cpuOf(server, postmaster), postgres: cpuOf(postmaster) }
  const result = await shoot({ ...workload, connections: workload.connections ?? connections }, token, seconds)
  const done = result.requests.total || 1
  return {
    rate: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    errors: result.errors + result.non2xx,
    server: (cpuOf(server, postmaster) - before.server) / done,
    postgres: (cpuOf(postmaster) - before.postgres) / done,
  }
}
