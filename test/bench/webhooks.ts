// npm run bench -- webhooks: how many events a second reach their receivers, how soon, and what telling them costs.
import { loadavg } from 'node:os'
import type { WebhookBench } from './webhooks-field.ts'
import { benchIsolation } from './webhooks-isolation.ts'
import { benchLatency } from './webhooks-latency.ts'
import { benchStall } from './webhooks-stall.ts'
import { benchThroughput } from './webhooks-throughput.ts'
import { benchWriting } from './webhooks-writing.ts'

const figures = {
  throughput: benchThroughput,
  latency: benchLatency,
  writing: benchWriting,
  isolation: benchIsolation,
  stall: benchStall,
} as const

/** Prints the tables; only those that are named, if some are. */
export async function benchWebhooks(bench: WebhookBench, named: readonly string[]): Promise<void> {
  process.stdout.write(
    `load average ${loadavg()[0]!.toFixed(1)}, ${bench.rounds} rounds of ${bench.seconds} s; the receivers are processes of this machine\n`,
  )
  for (const [name, run] of Object.entries(figures)) if (named.length === 0 || named.includes(name)) await run(bench)
}
