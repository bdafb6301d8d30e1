// What receivers that hang in the middle of a backlog cost the others, when they were fast before and so had much on its way to them.
import { setTimeout as wait } from 'node:timers/promises'
import { line, quantile, table } from './figures.ts'
import { type Field, holdBack, openField, settled, sum, type WebhookBench } from './webhooks-field.ts'
import { create } from './webhooks-latency.ts'

const receivers = 3
const backlog = 6000
const perSecond = 20
const hanging = [0, 1]

/** Prints a table: how long the third receiver waits for what is created once the others hang. */
export async function benchStall(bench: WebhookBench): Promise<void> {
  process.stdout.write(
    `\nThe third of ${receivers} receivers, when the others hang in the middle of a backlog of ${backlog} events: ${perSecond} creations a second for 12 s, 2 workers\n\n`,
  )
  process.stdout.write(table(['round', 'p50 ms', 'p90 ms', 'p99 ms', 'most ms']))
  const field = await openField(bench, 2)
  await field.api.ensurePatients()
  await field.api.subscribe(field.inbox.urls.slice(0, receivers))
  for (let round = 1; round <= bench.rounds; round++) {
    const waits = await stalled(field)
    process.stdout.write(line([round, ...[0.5, 0.9, 0.99, 1].map(share => quantile(waits, share).toFixed(0))]))
    await freed(field)
  }
  await field.stop()
}

/** @returns milliseconds from the reply to a creation until the third receiver is told */
async function stalled({ api, inbox, database }: Field): Promise<number[]> {
  await inbox.behave({})
  const letGo = await holdBack(database)
  await api.writeEncounters(backlog)
  await letGo()
  while (sum((await inbox.heard()).counts) < (backlog * receivers) / 2) await wait(5)
  await inbox.behave({ hanging, keeps: 'arrivals' })
  const moments = await create(api, perSecond, 12)
  const others = async () => (await inbox.heard('everything')).arrivals.filter(({ place }) => !hanging.includes(place))
  for (let tries = 0; tries < 60; tries++) {
    const found = (await others()).filter(({ subject }) => moments.has(subject))
    if (found.length >= moments.size) return found.map(({ subject, at }) => at - moments.get(subject)!.answered)
    await wait(1000)
  }
  throw new Error('the third receiver has not got everything within a minute')
}

/** Lets those that hung have the rest. */
async function freed({ inbox, database }: Field): Promise<void> {
  await inbox.behave({})
  await wait(11_000)
  await database.query({
    text: 'update webhook_delivery set due_at = clock_timestamp() where lease is null',
    values: [],
  })
  await settled(database)
}
