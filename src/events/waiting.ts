// Rows that wait in the outbox, read by the fan-out to subscribers.
import { valuePlans } from '../db/database.ts'
import type { Queryable, Statement } from '../db/statement.ts'

/** An entry of the outbox. */
export interface Waiting {
  readonly key: number
  readonly id: string
  /** Empty for a change that concerns FHIR subscriptions only. */
  readonly event: string
  readonly type: number
  readonly resource_id: string
  readonly version: number
  readonly happened_at: Date
  readonly patient: string
  readonly patients: string
  readonly data: string
  readonly audience: string
  readonly organization_id: string
  readonly facility_id: string
  readonly request_id: string
}

/** Events of the catalogue, or the changes that FHIR subscriptions follow. */
export type Kind = 'events' | 'changes'

/** The entries of a kind that still wait for dispatch: the condition of its index. */
const kinds = { events: `event <> '' and problem is null`, changes: `event = '' and problem is null` } as const

/** Returns for each kind whether entries wait: a look costs less than to take nothing. */
export async function kindsWaiting(on: Queryable): Promise<Record<Kind, boolean>> {
  const waits = (kind: Kind) => `exists (select from event_outbox where ${kinds[kind]} order by key limit 1) as ${kind}`
  const [found] = await on.query<Record<Kind, boolean>>({
    name: 'event-waiting',
    text: `select ${waits('events')}, ${waits('changes')}`,
    values: [],
  })
  return found!
}

/** What follows is planned as the connection began. */
const usualPlans: Statement = { text: 'set local plan_cache_mode = default', values: [] }

/**
 * Takes the oldest entries out, within a transaction. Planned each time: a plan kept from when the outbox was empty scans all of
 * it, again for each row. With any plan, an array is built once, so that there are never more than the limit.
 */
export async function takeWaiting(on: Queryable, kind: Kind, limit: number): Promise<Waiting[]> {
  await on.run(valuePlans)
  const taken = await on.query<Waiting>({
    name: `event-take-${kind}`,
    text: `delete from event_outbox where ${kinds[kind]} and key = any(array(
        select key from event_outbox where ${kinds[kind]} order by key limit $1 for update skip locked))
      returning key, id, event, type, resource_id, version, happened_at, patient, patients, data, audience, organization_id, facility_id, request_id`,
    values: [limit],
  })
  await on.run(usualPlans)
  return taken
}

/** Puts back an entry that was taken and could not be dispatched. @param problem the reason, for operators */
export async function putBack(on: Queryable, waiting: Waiting, problem: string): Promise<void> {
  const columns = [...Object.keys(waiting), 'problem']
  await on.query({
    text: `insert into event_outbox (${columns.join(', ')}) overriding system value
      values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    values: [...Object.values(waiting), problem],
  })
}

/** Marks entries that could not be dispatched for another attempt, by a process that has just started and may have a fix. */
export async function retryStuck(on: Queryable): Promise<void> {
  await on.query({ text: 'update event_outbox set problem = null where problem is not null', values: [] })
}
