// Keeps samples for the pages of administrators: figures by the minute for two days, sizes by the day for a year, and the times of searches
// by their shapes for a week. They are in the database, so that they outlive a restart and several processes make one picture.
import cluster from 'node:cluster'
import { hostname } from 'node:os'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import type { Log } from '../lib/log.ts'
import { resourcesByType } from '../store/estimates.ts'
import type { SearchShapes } from '../store/search/shapes.ts'
import { sampleOf } from './sample.ts'

export interface SamplerParts {
  readonly database: Database
  readonly log: Log
  /** The figures of all processes. */
  readonly text: () => Promise<string>
  readonly searches: Pick<SearchShapes, 'take'>
  readonly now: () => Date
}

export interface Sampler {
  /** Takes a sample every minute from now on. */
  start(): void
  /** Takes one now: the figures if no other process has taken those of this minute, and the sizes if nobody has taken those of the day. */
  take(): Promise<void>
  close(): Promise<void>
}

const minute = 60_000

/** How long samples are kept, as PostgreSQL writes it. */
const kept = { figures: '48 hours', sizes: '400 days', searches: '7 days' } as const

/** Shapes of one day that are kept: those that took most. */
const mostShapes = 500

/** One name for all processes of a service. */
const instance = `${hostname()} ${cluster.isWorker ? process.ppid : process.pid}`

export function createSampler(parts: SamplerParts): Sampler {
  const { log, now } = parts
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  const take = async (): Promise<void> => {
    const at = new Date(Math.floor(now().getTime() / minute) * minute)
    for (const work of [takeFigures, takeSizes, takeSearches])
      await work(parts, at).catch(err => log.warn({ err }, 'operations: could not take a sample'))
  }
  return {
    take,
    start() {
      timer = setInterval(() => {
        running ??= take().finally(() => {
          running = undefined
        })
      }, minute).unref()
    },
    async close() {
      clearInterval(timer)
      await running
    },
  }
}

async function takeFigures({ database, text }: SamplerParts, at: Date): Promise<void> {
  const claimed = await database.query({
    text: 'insert into metric_sample (at, instance) values ($1, $2) on conflict do nothing returning at',
    values: [at, instance],
  })
  if (claimed.length === 0) return
  const figures = sampleOf(await text())
  await database.run({
    text: 'update metric_sample set figures = $3::jsonb where at = $1 and instance = $2',
    values: [at, instance, JSON.stringify(figures)],
  })
  await database.run({
    text: `delete from metric_sample where at < $1::timestamptz - interval '${kept.figures}'`,
    values: [at],
  })
}

async function takeSizes({ database }: SamplerParts, at: Date): Promise<void> {
  const day = at.toISOString().slice(0, 10)
  const claimed = await database.query({
    text: 'insert into size_sample (day) values ($1::date) on conflict do nothing returning day',
    values: [day],
  })
  if (claimed.length === 0) return
  const { bytes, types } = await currentSizes(database)
  await database.run({
    text: 'update size_sample set bytes = $2::bigint, types = $3::jsonb where day = $1::date',
    values: [day, bytes, JSON.stringify(types)],
  })
  await database.run({
    text: `delete from size_sample where day < $1::date - interval '${kept.sizes}'`,
    values: [day],
  })
}

export interface Sizes {
  readonly bytes: number
  readonly types: Readonly<Record<string, number>>
}

/** Returns how large the database is now. */
export async function currentSizes(on: Queryable): Promise<Sizes> {
  const [size] = await on.query<{ bytes: number }>({
    text: 'select pg_database_size(current_database())::double precision as bytes',
    values: [],
  })
  const types = await resourcesByType(on)
  return { bytes: size!.bytes, types: Object.fromEntries(types.map(({ type, count }) => [type, count])) }
}

async function takeSearches({ database, searches }: SamplerParts, at: Date): Promise<void> {
  const day = at.toISOString().slice(0, 10)
  const taken = searches.take()
  if (taken.length > 0)
    await database.run({
      text: `insert into search_shape (day, shape, count, total_ms, max_ms)
        select $1::date, s.shape, s.count, s.total, s.longest
        from jsonb_to_recordset($2::jsonb) as s(shape text, count bigint, total double precision, longest double precision)
        on conflict (day, shape) do update set count = search_shape.count + excluded.count,
          total_ms = search_shape.total_ms + excluded.total_ms, max_ms = greatest(search_shape.max_ms, excluded.max_ms)`,
      values: [day, JSON.stringify(taken)],
    })
  await database.run({
    text: `delete from search_shape where day < $1::date - interval '${kept.searches}' or (day = $1::date and shape in
      (select s.shape from search_shape s where s.day = $1::date order by s.total_ms desc, s.shape offset ${mostShapes}))`,
    values: [day],
  })
}
