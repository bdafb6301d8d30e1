// How soon a receiver is told: encounters are created one by one at a steady rate, whether or not earlier ones have been answered.
import { setTimeout as wait } from 'node:timers/promises'
import { line, quantile, table } from './figures.ts'
import { type Api, encounterOf } from './webhooks-api.ts'
import { arrived, type Field, now, openField, settled, type WebhookBench } from './webhooks-field.ts'

/** When the creation of an encounter was asked for, and when it was answered. */
export interface Moment {
  readonly asked: number
  readonly answered: number
}

const rate = 100

/** Prints a table: from the reply to a creation until the first byte of its delivery, and from the request. */
export async function benchLatency(bench: WebhookBench): Promise<void> {
  process.stdout.write(`\nFrom a creation to the first byte at one receiver, ${rate} creations a second\n\n`)
  process.stdout.write(table(['workers', 'from', 'p50 ms', 'p90 ms', 'p99 ms', 'most ms', 'events']))
  for (const workers of [2, 1]) {
    const field = await openField(bench, workers)
    await field.api.ensurePatients()
    await field.api.subscribe(field.inbox.urls.slice(0, 1))
    await told(field, 2)
    const rounds: Record<'reply' | 'request', number>[][] = []
    for (let round = 0; round < bench.rounds; round++) rounds.push(await told(field, bench.seconds))
    for (const from of ['reply', 'request'] as const) {
      const waits = rounds.flat().map(each => each[from])
      const shares = [0.5, 0.9, 0.99, 1].map(share => quantile(waits, share).toFixed(1))
      process.stdout.write(line([workers, `the ${from}`, ...shares, waits.length]))
    }
    await field.stop()
  }
}

async function told({ api, inbox, database }: Field, seconds: number) {
  await inbox.behave({ keeps: 'arrivals' })
  const moments = await create(api, rate, seconds)
  await arrived(inbox, moments.size)
  const { arrivals } = await inbox.heard('everything')
  await settled(database)
  return arrivals.map(({ subject, at }) => {
    const { asked, answered } = moments.get(subject)!
    return { reply: at - answered, request: at - asked }
  })
}

/** Creates encounters at a steady rate. @returns when, by their ids */
export async function create(api: Api, perSecond: number, seconds: number): Promise<Map<string, Moment>> {
  const moments = new Map<string, Moment>()
  const began = now()
  const pending: Promise<unknown>[] = []
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = began + (index * 1000) / perSecond
    if (due > now()) await wait(due - now())
    pending.push(createOne(api, index, moments))
  }
  await Promise.all(pending)
  return moments
}

async function createOne(api: Api, index: number, moments: Map<string, Moment>): Promise<void> {
  const asked = now()
  const { id } = await api.call('POST', '/api/fhir/R4/Encounter', encounterOf(index))
  moments.set(String(id), { asked, answered: now() })
}
