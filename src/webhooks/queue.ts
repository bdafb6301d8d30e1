// The queue of deliveries: what each one is, whether it is still to be sent, and its outcome. All of it is statements over
// many rows at a time, planned each time: a plan that is kept from when the queue was empty scans all of it, and takes
// minutes with a backlog.
import { int2Array, int4Array, int8Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { versionsNow, versionsOf } from '../store/relations.ts'
import { audienceOf, mayKnowPatient, mayReceive, storedAbout } from './audience.ts'

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

const lookedAt = '(select type, resource_id, version from event where id = $2::text)'

const lookText = `
  with ${storedAbout(lookedAt)}, wanted as materialized (
    select v.body from ${versionsNow(`(select type, resource_id as id, version as wanted from ${lookedAt} e)`)} v
    where $4::text = 'current' or ($4::text = 'version' and v.version = v.wanted)
    union all
    select v.body from ${versionsOf(`(select type, resource_id as id, version from ${lookedAt} e)`)} v where $4::text = 'version'
  )
  select ${mayReceive} as is_due, ${mayKnowPatient} as knows_patient, c.scopes, (select body from wanted) as resource
  from webhook_endpoint p join event e on e.id = $2::text ${audienceOf}
  where p.key = $1::bigint and p.is_active and p.revision = $3::integer`

/** Whether the endpoint of a task is as it was when the task was taken. */
export async function isUnchanged(on: Queryable, { endpoint, revision }: Task): Promise<boolean> {
  const found = await on.query({
    name: 'webhook-unchanged',
    isFixed: true,
    text: 'select from webhook_endpoint where key = $1::bigint and revision = $2::integer',
    values: [endpoint, revision],
  })
  return found.length > 0
}

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
