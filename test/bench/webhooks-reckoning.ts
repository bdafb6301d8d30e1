// What was to be delivered and what was: the encounters and events of the database beside what the receivers counted.
import type { Database } from '../../src/db/database.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import type { Tally } from './webhooks-inbox.ts'

/** What the database says. */
export interface Expected {
  /** Ids of encounters that are stored. */
  readonly encounters: readonly string[]
  readonly events: readonly { readonly id: string; readonly encounter: string }[]
  /** Names (`place event`) of deliveries by how they ended, endpoints numbered in the order in which they were made. */
  readonly delivered: ReadonlySet<string>
  readonly exhausted: ReadonlySet<string>
  readonly left: number
}

export type Reckoning = Readonly<Record<string, { readonly number: number; readonly isLoss: boolean }>>

/** @param first key of the last resource that was there before the run */
export async function expected(database: Database, first: number): Promise<Expected> {
  const encounters = await database.query<{ id: string }>({
    text: 'select id from resource where type = $1 and key > $2',
    values: [typeNumber('Encounter'), first],
  })
  const events = await database.query<{ id: string; encounter: string }>({
    text: `select e.id, e.resource_id as encounter from event e join directory d on d.type = e.type and d.id = e.resource_id
      where e.event = 'encounter.created' and e.type = $1 and d.key > $2`,
    values: [typeNumber('Encounter'), first],
  })
  const [row] = await database.query<{ left: number }>({
    text: 'select ((select count(*) from event_outbox) + (select count(*) from webhook_delivery))::integer as left',
    values: [],
  })
  const ended = async (outcome: string) => new Set(await endedAs(database, outcome))
  return {
    encounters: encounters.map(({ id }) => id),
    events,
    delivered: await ended('delivered'),
    exhausted: await ended('exhausted'),
    left: row!.left,
  }
}

async function endedAs(database: Database, outcome: string): Promise<string[]> {
  const rows = await database.query<{ name: string }>({
    text: `select p.place || ' ' || a.event as name from webhook_attempt a
      join (select key, row_number() over (order by key) - 1 as place from webhook_endpoint) p on p.key = a.endpoint
      where a.outcome = $1`,
    values: [outcome],
  })
  return rows.map(({ name }) => name)
}

/** What is to be printed, and which of it would be a loss. */
export function reckon(
  { encounters, events, delivered, exhausted, left }: Expected,
  acknowledged: readonly string[],
  tallies: readonly Tally[],
  receivers: number,
): Reckoning {
  const stored = new Set(encounters)
  const byEncounter = Map.groupBy(events, ({ encounter }) => encounter)
  const accepted = new Map(tallies.map(({ place, event, accepted: times }) => [`${place} ${event}`, times]))
  const names = events.flatMap(({ id }) => Array.from({ length: receivers }, (_, place) => `${place} ${id}`))
  const got = (name: string): number => accepted.get(name) ?? 0
  const count = <T>(all: readonly T[], is: (each: T) => boolean) => all.filter(is).length
  const fact = (number: number) => ({ number, isLoss: false })
  const loss = (number: number) => ({ number, isLoss: true })
  return {
    'encounters whose writing was acknowledged': fact(acknowledged.length),
    'encounters stored': fact(encounters.length),
    'acknowledged, but not stored': loss(count(acknowledged, id => !stored.has(id))),
    'stored, but not exactly one event': loss(count(encounters, id => byEncounter.get(id)?.length !== 1)),
    'deliveries that had to be made': fact(names.length),
    'accepted by the receiver': fact(count(names, name => got(name) > 0)),
    'exhausted after seven attempts': fact(count(names, name => got(name) === 0 && exhausted.has(name))),
    'neither: lost': loss(count(names, name => got(name) === 0 && !exhausted.has(name))),
    'accepted, but not on record as delivered': loss(count(names, name => got(name) > 0 && !delivered.has(name))),
    'on record as delivered, but never accepted': loss(count(names, name => got(name) === 0 && delivered.has(name))),
    'accepted more than once': fact(count(names, name => got(name) > 1)),
    'left in the outbox or the queue': loss(left),
  }
}
