// The queue of deliveries: which are due, which process works on them, and their outcomes. All of it is statements over
// many rows at a time, planned each time: a plan that is kept from when the queue was empty scans all of it, and takes
// minutes with a backlog.
import { int2Array, int4Array, int8Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { currentVersions, formerVersions } from '../store/relations.ts'
import { audienceOf, mayKnowPatient, mayReceive, readers } from './audience.ts'

/** A delivery that this process works on until its lease ends. */
export interface Task {
  readonly endpoint: number
  /** Of the endpoint, as it was when the task was taken. */
  readonly revision: number
  readonly event: string
  readonly delivery: string
  readonly attempt: number
  readonly isReplay: boolean
  readonly lease: bigint
  /** False if the client no longer has the right to the event. */
  readonly isDue: boolean
  /** False if the client may not know the Health ID of the patient. */
  readonly knowsPatient: boolean
  /** The kept bytes; empty for a change that FHIR subscriptions receive. */
  readonly body: string
  /** True if it is for all clients that may see the resource behind it, not for organisations that it names. */
  readonly isOfReaders: boolean
  /** False while it is unknown whether the criteria of a FHIR subscription find the resource. */
  readonly isChecked: boolean
  /** The resource behind it. */
  readonly source: { readonly type: number; readonly id: string; readonly version: number }
  /** Ids of the patients that it is about, with spaces between them, or empty. */
  readonly patients: string
  /** Of the request that made the change. */
  readonly requestId: string
}

interface TaskRow {
  readonly endpoint: number
  readonly revision: number
  readonly event: string
  readonly delivery: string
  readonly attempt: number
  readonly is_replay: boolean
  readonly is_due: boolean
  readonly knows_patient: boolean
  readonly body: string
  readonly type: number
  readonly resource_id: string
  readonly version: number
  readonly patients: string
  readonly request_id: string
  readonly is_of_readers: boolean
  readonly is_checked: boolean
}

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
  const rows = await on.query<TaskRow>({
    name: 'webhook-claim',
    text: claimText,
    values: [lease, seconds, most, usual, safeInt8Array([...rooms.keys()]), int4Array([...rooms.values()])],
  })
  return rows.map(row => ({
    ...{ endpoint: row.endpoint, revision: row.revision, event: row.event, delivery: row.delivery, lease },
    ...{ attempt: row.attempt, isReplay: row.is_replay, isDue: row.is_due, body: row.body },
    knowsPatient: row.knows_patient,
    isOfReaders: row.is_of_readers,
    isChecked: row.is_checked,
    source: { type: row.type, id: row.resource_id, version: row.version },
    patients: row.patients,
    requestId: row.request_id,
  }))
}

// The queue is empty most of the time, and planning the statement that takes from it costs many times what this one
// does.
const waitingText = 'select endpoint from webhook_delivery order by endpoint limit 1'

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
  select d.endpoint, p.revision, d.event, d.id as delivery, d.attempt, d.is_replay, d.is_checked, ${mayReceive} as is_due, ${mayKnowPatient} as knows_patient,
    e.body, e.type, e.resource_id, e.version, e.patients, e.request_id, e.audience = '${readers}' as is_of_readers
  from taken d join webhook_endpoint p on p.key = d.endpoint join event e on e.id = d.event ${audienceOf}`

/** What of the resource is sent along: its version at the time of the event, or the current one. */
export type PayloadKind = 'nothing' | 'version' | 'current'

/** The state of a task immediately before it is sent. */
export interface Look extends Pick<Task, 'isDue' | 'knowsPatient'> {
  /** Of the client. */
  readonly scopes: readonly string[]
  /** The wanted version of the resource; null: it does not exist. */
  readonly resource: string | null
}

/**
 * Checks a task again, by keys alone: one plan is kept for it. Returns undefined if the endpoint no longer exists, or
 * has changed since the task was taken.
 */
export async function lookAgain(on: Queryable, task: Task, wanted: PayloadKind): Promise<Look | undefined> {
  const [row] = await on.query<{ is_due: boolean; knows_patient: boolean; scopes: string[]; resource: string | null }>({
    name: 'webhook-look',
    isFixed: true,
    text: lookText,
    values: [task.endpoint, task.event, task.revision, wanted],
  })
  return row && { isDue: row.is_due, knowsPatient: row.knows_patient, scopes: row.scopes, resource: row.resource }
}

const lookText = `
  select ${mayReceive} as is_due, ${mayKnowPatient} as knows_patient, c.scopes, case $4::text
      when 'current' then (select r.body from ${currentVersions} r where r.type = e.type and r.id = e.resource_id)
      when 'version' then coalesce(
        (select r.body from ${currentVersions} r where r.type = e.type and r.id = e.resource_id and r.version = e.version),
        (select h.body from ${formerVersions} h where h.type = e.type and h.id = e.resource_id and h.version = e.version)) end as resource
  from webhook_endpoint p join event e on e.id = $2::text ${audienceOf}
  where p.key = $1::bigint and p.is_active and p.revision = $3::integer`

/** The outcome of a task. */
export interface Result {
  readonly task: Task
  readonly outcome: 'delivered' | 'failed' | 'exhausted' | 'withheld'
  readonly startedAt: Date
  readonly milliseconds: number
  readonly status: number | undefined
  readonly error: string | undefined
  readonly excerpt: string | undefined
  /** Seconds until the next attempt; undefined: there is none. */
  readonly again: number | undefined
}

/**
 * Records the outcomes of tasks: the attempts, and what is next. A task that another process has taken meanwhile stays
 * with that process.
 */
export async function settle(on: Queryable, results: readonly Result[]): Promise<void> {
  const texts = (pick: (result: Result) => string) => textArray(results.map(pick))
  const numbers = (pick: (result: Result) => number) => int4Array(results.map(pick))
  await on.query({
    name: 'webhook-settle',
    text: settleText,
    values: [
      safeInt8Array(results.map(({ task }) => task.endpoint)),
      texts(({ task }) => task.event),
      int8Array(results.map(({ task }) => task.lease)),
      texts(({ task }) => task.delivery),
      int2Array(results.map(({ task }) => task.attempt)),
      texts(({ outcome }) => outcome),
      safeInt8Array(results.map(({ startedAt }) => startedAt.getTime())),
      numbers(({ milliseconds }) => Math.round(milliseconds)),
      int2Array(results.map(({ status }) => status ?? 0)),
      texts(({ error }) => error ?? ''),
      texts(({ excerpt }) => excerpt ?? ''),
      numbers(({ again }) => Math.round((again ?? 0) * 1000)),
    ],
  })
}

const settleText = `
  with result as (
    select *, case when wait > 0 then clock_timestamp() + make_interval(secs => wait / 1000.0) end as next_at
    from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::smallint[], $6::text[], $7::bigint[], $8::integer[], $9::smallint[],
      $10::text[], $11::text[], $12::integer[])
      as t(endpoint, event, lease, delivery, attempt, outcome, started, milliseconds, status, error, excerpt, wait)
  ), done as (
    delete from webhook_delivery d using result
    where d.endpoint = result.endpoint and d.event = result.event and d.lease = result.lease and result.next_at is null
  ), again as (
    update webhook_delivery d set attempt = d.attempt + 1, due_at = result.next_at, lease = null from result
    where d.endpoint = result.endpoint and d.event = result.event and d.lease = result.lease and result.next_at is not null
  )
  insert into webhook_attempt (endpoint, event, delivery, attempt, outcome, started_at, milliseconds, status, error, excerpt, next_at)
  select endpoint, event, delivery::uuid, attempt, outcome, to_timestamp(started / 1000.0), milliseconds, nullif(status, 0), nullif(error, ''),
    nullif(excerpt, ''), next_at from result on conflict do nothing`

/** The rows `d` of tasks that are still this process's own. */
const held = `unnest($1::bigint[], $2::text[], $3::bigint[]) as given(endpoint, event, lease)
      where d.endpoint = given.endpoint and d.event = given.event and d.lease = given.lease`

/** Returns tasks that were not begun to the queue. */
export async function release(on: Queryable, tasks: readonly Task[]): Promise<void> {
  await on.query({
    name: 'webhook-release',
    text: `update webhook_delivery d set due_at = clock_timestamp(), lease = null
      from ${held}`,
    values: keysOf(tasks),
  })
}

/** Deletes tasks that turn out to be no deliveries. */
export async function drop(on: Queryable, tasks: readonly Task[]): Promise<void> {
  await on.query({
    name: 'webhook-drop',
    text: `delete from webhook_delivery d using ${held}`,
    values: keysOf(tasks),
  })
}

const keysOf = (tasks: readonly Task[]) => [
  safeInt8Array(tasks.map(({ endpoint }) => endpoint)),
  textArray(tasks.map(({ event }) => event)),
  int8Array(tasks.map(({ lease }) => lease)),
]
