// What one receiver that hangs costs the others: their latency under a steady load, and how fast a backlog reaches them.

import { setTimeout as wait } from 'node:timers/promises'
import { line, median, quantile, table } from './figures.ts'
import { type Field, holdBack, now, openField, quiet, sum, type WebhookBench } from './webhooks-field.ts'
import type { Heard } from './webhooks-inbox.ts'
import { create } from './webhooks-latency.ts'

const receivers = 50
const hanging = [0]
/** Events a second of the steady load, each for all receivers; and of the backlog. */
const perSecond = 20
const backlog = 600

interface Round {
  readonly p50: number
  readonly p99: number
  /** Deliveries a second to the others, under the steady load and of the backlog. */
  readonly steady: number
  readonly drained: number
}

/** Prints a table: the others while all answer, and while one of them takes ten seconds for each request. */
export async function benchIsolation(bench: WebhookBench): Promise<void> {
  process.stdout.write(
    `\nThe other ${receivers - 1} receivers while one hangs: ${perSecond} creations a second, then a backlog of ${backlog} events, 2 workers\n\n`,
  )
  const field = await openField(bench, 2)
  await field.api.ensurePatients()
  const rounds: Record<'none' | 'one', Round[]> = { none: [], one: [] }
  await field.api.subscribe(field.inbox.urls)
  await measure(field, [], 2)
  for (let round = 0; round < bench.rounds; round++)
    for (const who of ['none', 'one'] as const)
      rounds[who].push(await measure(field, who === 'none' ? [] : hanging, bench.seconds))
  await field.stop()
  print(rounds)
}

function print(rounds: Record<'none' | 'one', Round[]>): void {
  process.stdout.write(table(['hanging', 'p50 ms', 'p99 ms', 'steady deliveries/s', 'backlog deliveries/s']))
  const figure = (who: 'none' | 'one', what: keyof Round): number => median(rounds[who].map(each => each[what]))
  const figures = ['p50', 'p99', 'steady', 'drained'] as const
  for (const who of ['none', 'one'] as const)
    process.stdout.write(line([who, ...figures.map(what => figure(who, what).toFixed(what[0] === 'p' ? 1 : 0))]))
  process.stdout.write(
    line(['one / none', ...figures.map(what => (figure('one', what) / figure('none', what)).toFixed(2))]),
  )
}

async function measure(field: Field, hangs: readonly number[], seconds: number): Promise<Round> {
  const { api, inbox } = field
  await inbox.behave({ keeps: 'arrivals', hanging: hangs })
  const began = now()
  const moments = await create(api, perSecond, seconds)
  const heard = await others(field, hangs, moments.size)
  const arrivals = heard.arrivals.filter(({ place }) => !hangs.includes(place))
  const waits = arrivals.map(({ subject, at }) => at - moments.get(subject)!.answered)
  const last = Math.max(...arrivals.map(({ at }) => at))
  const steady = (moments.size * (receivers - 1)) / ((last - began) / 1000)
  const drained = await drain(field, hangs)
  await cleared(field)
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), steady, drained }
}

/** Sees to it that every round begins alike: nothing hangs or waits, and nothing is left of rows that are gone. */
async function cleared({ inbox, database }: Field): Promise<void> {
  await inbox.behave({})
  await wait(11_000)
  await database.query({
    text: 'update webhook_delivery set due_at = clock_timestamp() where lease is null',
    values: [],
  })
  await quiet(database)
}

/** Waits until each of those that do not hang has got so many. */
async function others({ inbox }: Field, hangs: readonly number[], many: number): Promise<Heard> {
  for (let tries = 0; tries < 3000; tries++) {
    const { counts } = await inbox.heard()
    if (lacking(counts, hangs, many) === 0) return inbox.heard('everything')
    await wait(20)
  }
  throw new Error('the others have not got everything within a minute')
}

const lacking = (counts: readonly number[], hangs: readonly number[], many: number): number =>
  sum(Array.from({ length: receivers }, (_, place) => (hangs.includes(place) ? 0 : many - (counts[place] ?? 0))))

async function drain(field: Field, hangs: readonly number[]): Promise<number> {
  const { api, inbox, database } = field
  await inbox.behave({ hanging: hangs })
  const letGo = await holdBack(database)
  await api.writeEncounters(backlog)
  const began = now()
  await letGo()
  await others(field, hangs, backlog)
  return (backlog * (receivers - 1)) / ((now() - began) / 1000)
}
