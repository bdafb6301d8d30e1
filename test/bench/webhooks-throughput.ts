// How many deliveries a second: a backlog is written with sending held back, and the clock runs from when it is let go until everything
// has been received and nothing is left in the outbox or the queue.
import { line, median, quantile, table } from './figures.ts'
import {
  arrived,
  type Cpu,
  cpuEach,
  type Field,
  holdBack,
  now,
  openField,
  quiet,
  settled,
  sum,
  type WebhookBench,
} from './webhooks-field.ts'

/** One receiver gets many events, many receivers get some each. */
const loads = [
  { receivers: 1, events: 20_000 },
  { receivers: 50, events: 600 },
]

interface Round {
  readonly rate: number
  readonly cpu: Cpu
}

/** Prints a table: deliveries a second by the number of workers and receivers, and what each costs. */
export async function benchThroughput(bench: WebhookBench): Promise<void> {
  process.stdout.write(
    '\nDeliveries, of a backlog that is written in transactions while sending is held back, until all is settled,\nafter a moment in which the outbox and the queue were empty and vacuumed\n\n',
  )
  const cpu = ['service CPU-ms', 'PG CPU-ms', 'receiver CPU-ms']
  process.stdout.write(table(['workers', 'receivers', 'events', 'deliveries/s', 'lowest', 'highest', ...cpu]))
  for (const workers of [2, 1]) {
    const field = await openField(bench, workers)
    await field.api.ensurePatients()
    for (const load of loads) process.stdout.write(await row(field, workers, load, bench.rounds))
    await field.stop()
  }
}

async function row(field: Field, workers: number, load: (typeof loads)[number], many: number): Promise<string> {
  const rounds: Round[] = []
  await drain(field, { ...load, events: load.events / 10 })
  for (let round = 0; round < many; round++) rounds.push(await drain(field, load))
  const rates = rounds.map(({ rate }) => rate)
  const cost = (who: keyof Cpu): string => median(rounds.map(({ cpu }) => cpu[who])).toFixed(3)
  return line([
    ...[workers, load.receivers, load.events],
    ...[median(rates), quantile(rates, 0), quantile(rates, 1)].map(rate => rate.toFixed(0)),
    ...[cost('service'), cost('postgres'), cost('receiver')],
  ])
}

async function drain(field: Field, { receivers, events }: { receivers: number; events: number }): Promise<Round> {
  const { api, inbox, database } = field
  const deliveries = receivers * events
  await api.subscribe(inbox.urls.slice(0, receivers))
  await inbox.behave({})
  await quiet(database)
  const letGo = await holdBack(database)
  await api.writeEncounters(events)
  if (sum((await inbox.heard()).counts) > 0) throw new Error('something was sent that should have been held back')
  const [before, began] = [await field.cpu(), now()]
  await letGo()
  await arrived(inbox, deliveries)
  await settled(database)
  const seconds = (now() - began) / 1000
  return { rate: deliveries / seconds, cpu: cpuEach(before, await field.cpu(), deliveries) }
}
