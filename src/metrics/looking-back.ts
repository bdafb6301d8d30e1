// Reads the samples for the pages of administrators.
import type { Queryable } from '../db/statement.ts'
import type { Sample, TimedSample } from './sample.ts'
import type { Sizes } from './sampler.ts'

/** Returns the samples since a moment, in the order of time. */
export async function samplesSince(on: Queryable, since: Date): Promise<TimedSample[]> {
  const rows = await on.query<{ at: Date; instance: string; figures: Sample }>({
    name: 'metric-samples',
    text: 'select at, instance, figures from metric_sample where at >= $1 and figures is not null order by at, instance',
    values: [since],
  })
  return [...rows]
}

export interface DaySizes extends Sizes {
  /** YYYY-MM-DD */
  readonly day: string
}

/** Returns the sizes of each of the last days, the newest first. */
export async function sizesOf(on: Queryable, days: number): Promise<DaySizes[]> {
  const rows = await on.query<{ day: string; bytes: number; types: Record<string, number> }>({
    name: 'size-samples',
    text: `select to_char(day, 'YYYY-MM-DD') as day, bytes::double precision as bytes, types from size_sample
      where bytes is not null order by day desc limit $1::integer`,
    values: [days],
  })
  return [...rows]
}

export interface SlowSearch {
  readonly shape: string
  readonly count: number
  /** In milliseconds, as the longest. */
  readonly mean: number
  readonly longest: number
}

/** Returns the searches on which the last week's time went, those that took most together first. */
export async function slowSearches(on: Queryable, most: number): Promise<SlowSearch[]> {
  const rows = await on.query<SlowSearch>({
    name: 'slow-searches',
    text: `select shape, sum(count)::double precision as count, sum(total_ms) / sum(count) as mean, max(max_ms) as longest
      from search_shape group by shape order by sum(total_ms) desc, shape limit $1::integer`,
    values: [most],
  })
  return [...rows]
}
