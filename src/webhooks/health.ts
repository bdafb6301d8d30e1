// The health of endpoints: how long all attempts have failed, and when to give one up.
import { int4Array, safeInt8Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import type { Result } from './queue.ts'

/** Days of failures alone after which nothing is sent to an endpoint any more. */
const patienceDays = 5

const reasons = {
  gone: 'the receiver responded with 410 Gone',
  failing: `all delivery attempts failed for ${patienceDays} days`,
} as const

/** The results of an endpoint in one batch. */
interface Fare {
  succeeded: boolean
  /** Failures since the last success among them. */
  failures: number
  isGone: boolean
}

/** An endpoint that is given up. */
export interface GivenUp {
  readonly key: number
  readonly id: string
  readonly reason: string
}

export interface Health {
  /** Notes the results. @returns the endpoints that are given up because of them. */
  note(results: readonly (Result & { readonly isGone?: boolean })[]): Promise<GivenUp[]>
}

/** Milliseconds for which a success may be known to this process alone. */
const successDelay = 1000

export function createHealth(database: Database): Health {
  // When this process last wrote a success; absent for endpoints that may be failing.
  const well = new Map<number, number>()
  const mostKnown = 10_000
  return {
    async note(results) {
      const fares = [...faresOf(results)].filter(([key, fare]) => fare.failures > 0 || isNews(well.get(key)))
      if (fares.length === 0) return []
      fares.sort(([left], [right]) => left - right)
      const givenUp = await database.query<GivenUp>(noting(fares))
      for (const [key, { failures }] of fares) {
        if (failures > 0) well.delete(key)
        else well.set(key, performance.now())
      }
      if (well.size > mostKnown) well.clear()
      return givenUp
    },
  }
}

const isNews = (last: number | undefined): boolean => last === undefined || performance.now() - last > successDelay

function faresOf(results: Parameters<Health['note']>[0]): Map<number, Fare> {
  const fares = new Map<number, Fare>()
  for (const { task, outcome, isGone = false } of results) {
    if (outcome === 'withheld') continue
    const fare = fares.get(task.endpoint) ?? { succeeded: false, failures: 0, isGone: false }
    fares.set(task.endpoint, fare)
    if (outcome === 'delivered') Object.assign(fare, { succeeded: true, failures: 0 })
    else fare.failures++
    fare.isGone ||= isGone
  }
  return fares
}

// A statement that changes both rows of an endpoint locks that of its health first.
const noting = (fares: readonly (readonly [number, Fare])[]) => ({
  name: 'webhook-health',
  isFixed: true,
  text: `with fare as (
      select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[]) as t(endpoint, failures, succeeded, gone)
      where exists (select from webhook_endpoint p where p.key = endpoint)
    ), noted as (
      insert into webhook_health as h (endpoint, failures, failing_since, last_delivery_at)
      select endpoint, failures, case when failures > 0 then clock_timestamp() end, case when succeeded = 1 then clock_timestamp() end
      from fare
      on conflict (endpoint) do update set
        failures = excluded.failures + case when excluded.last_delivery_at is null then h.failures else 0 end,
        failing_since = case when excluded.last_delivery_at is null then coalesce(h.failing_since, excluded.failing_since)
          else excluded.failing_since end,
        last_delivery_at = coalesce(excluded.last_delivery_at, h.last_delivery_at)
      returning endpoint, failing_since
    )
    update webhook_endpoint p set is_active = false, updated_at = now(), revision = revision + 1,
      disabled_because = case when gone = 1 then '${reasons.gone}' else '${reasons.failing}' end
    from fare join noted using (endpoint)
    where p.key = fare.endpoint and p.is_active
      and (gone = 1 or noted.failing_since < clock_timestamp() - interval '${patienceDays} days')
    returning p.key, p.id, p.disabled_because as reason`,
  values: [
    safeInt8Array(fares.map(([key]) => key)),
    int4Array(fares.map(([, { failures }]) => failures)),
    int4Array(fares.map(([, { succeeded }]) => (succeeded ? 1 : 0))),
    int4Array(fares.map(([, { isGone }]) => (isGone ? 1 : 0))),
  ],
})
