// Takes deliveries that are due from the queue for this process: first from the queue alone, then what they are about.
import { int4Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { audienceOf, mayKnowPatient, mayReceive, readers, storedAbout } from './audience.ts'
import type { Task } from './queue.ts'

export interface Claim {
  readonly lease: bigint
  /** Seconds for which no other process takes them. */
  readonly seconds: number
  readonly most: number
  /** How many of an endpoint: `usual`, one if it has failed lately, but this many of these others. */
  readonly usual: number
  readonly rooms: ReadonlyMap<number, number>
}

/** Takes deliveries that are due, of each endpoint the oldest first, and of none more than there is room for. */
export async function claim(on: Queryable, { lease, seconds, most, usual, rooms }: Claim): Promise<Task[]> {
  const [waiting] = await on.query({ name: 'webhook-waiting', text: waitingText, values: [] })
  if (!waiting) return []
  const taken = await on.query<TakenRow>({
    name: 'webhook-claim',
    text: claimText,
    values: [lease, seconds, most, usual, safeInt8Array([...rooms.keys()]), int4Array([...rooms.values()])],
  })
  return taken.length === 0 ? [] : tasksOf(on, lease, taken)
}

// The queue is empty most of the time, and planning the statement that takes from it costs many times what this one
// does.
const waitingText = 'select endpoint from webhook_delivery order by endpoint limit 1'

/** A row of the queue that was taken. */
interface TakenRow {
  readonly endpoint: number
  readonly event: string
  readonly delivery: string
  readonly attempt: number
  readonly is_replay: boolean
  readonly is_checked: boolean
}

// `busy` goes from endpoint to endpoint along the index: the backlog of one endpoint costs the others nothing.
const claimText = `
  with recursive busy(endpoint) as (
    (select endpoint from webhook_delivery order by endpoint limit 1)
    union all
    select (select d.endpoint from webhook_delivery d where d.endpoint > busy.endpoint order by d.endpoint limit 1)
    from busy where busy.endpoint is not null
  ), due as materialized (
    select d.endpoint, d.event from busy join webhook_endpoint p on p.key = busy.endpoint and p.is_active
    left join webhook_health h on h.endpoint = busy.endpoint
    left join unnest($5::bigint[], $6::integer[]) as room(endpoint, places) on room.endpoint = busy.endpoint
    cross join lateral (
      select w.endpoint, w.event from webhook_delivery w where w.endpoint = busy.endpoint and w.due_at <= statement_timestamp()
      order by w.due_at limit coalesce(room.places, case when h.failures > 0 then 1 else $4::integer end) for update skip locked
    ) d limit $3::integer
  ), taken as (
    update webhook_delivery d set lease = $1::bigint, due_at = clock_timestamp() + make_interval(secs => $2::integer)
    from due where d.endpoint = due.endpoint and d.event = due.event
    returning d.*
  )
  select endpoint, event, id as delivery, attempt, is_replay, is_checked from taken`

/** What a task is about, with its place among those that were taken, from 1. */
interface AboutRow {
  readonly place: number
  readonly revision: number
  readonly is_due: boolean
  readonly knows_patient: boolean
  readonly body: string
  readonly type: number
  readonly resource_id: string
  readonly version: number
  readonly patients: string
  readonly request_id: string
  readonly is_of_readers: boolean
}

/** The tasks whose endpoint and event still exist. If they cannot be read, other processes take them when the lease has ended. */
async function tasksOf(on: Queryable, lease: bigint, taken: readonly TakenRow[]): Promise<Task[]> {
  const rows = await on.query<AboutRow>({
    name: 'webhook-taken',
    text: takenText,
    values: [safeInt8Array(taken.map(({ endpoint }) => endpoint)), textArray(taken.map(({ event }) => event))],
  })
  return rows.map(row => taskOf(lease, taken[row.place - 1]!, row))
}

// Apart from the walk along the queue, and with rows that are known when it is planned
// (docs/decisions/0092-portable-statements.md).
const takenText = `
  with ${storedAbout('(select * from event where id = any($2::text[]))')}
  select d.place::integer, p.revision, ${mayReceive} as is_due, ${mayKnowPatient} as knows_patient, e.body, e.type, e.resource_id, e.version,
    e.patients, e.request_id, e.audience = '${readers}' as is_of_readers
  from unnest($1::bigint[], $2::text[]) with ordinality as d(endpoint, event, place)
    join webhook_endpoint p on p.key = d.endpoint join event e on e.id = d.event ${audienceOf}`

const taskOf = (lease: bigint, taken: TakenRow, about: AboutRow): Task => ({
  ...{ endpoint: taken.endpoint, revision: about.revision, event: taken.event, delivery: taken.delivery, lease },
  ...{ attempt: taken.attempt, isReplay: taken.is_replay, isDue: about.is_due, body: about.body },
  knowsPatient: about.knows_patient,
  isOfReaders: about.is_of_readers,
  isChecked: taken.is_checked,
  source: { type: about.type, id: about.resource_id, version: about.version },
  patients: about.patients,
  requestId: about.request_id,
})
