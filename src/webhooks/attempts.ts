// The attempts to deliver something to an endpoint, the newest first.
import type { Queryable } from '../db/statement.ts'

export interface AttemptRow {
  readonly delivery: string
  readonly event: string
  readonly event_type: string | null
  readonly attempt: number
  readonly outcome: string
  readonly started_at: Date
  /** The same in microseconds since 1970, as text: a place in the list. */
  readonly at: string
  readonly milliseconds: number
  readonly status: number | null
  readonly error: string | null
  readonly excerpt: string | null
  readonly next_at: Date | null
}

/**
 * @param event only those of this event; undefined: of all
 * @param after `at`, delivery and number of the last attempt that is known
 */
export async function attemptsOf(
  on: Queryable,
  endpoint: number,
  event: string | undefined,
  after: readonly string[] | undefined,
  limit: number,
): Promise<AttemptRow[]> {
  const [at, delivery, attempt] = after ?? []
  return on.query<AttemptRow>({
    text: `select a.*, e.event as event_type, (extract(epoch from a.started_at) * 1000000)::bigint::text as at
      from webhook_attempt a left join event e on e.id = a.event
      where a.endpoint = $1 and ($2::text is null or a.event = $2)
        and ($3::text is null or (a.started_at, a.delivery, a.attempt)
          < (to_timestamp($3::bigint / 1000000) + ($3::bigint % 1000000) * interval '1 microsecond', $4::uuid, $5::smallint))
      order by a.started_at desc, a.delivery desc, a.attempt desc limit $6`,
    values: [endpoint, event ?? null, at ?? null, delivery ?? null, attempt ?? null, limit],
  })
}
