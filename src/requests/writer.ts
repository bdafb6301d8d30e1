// Writes the request log in groups behind the replies. What cannot be written in time is dropped and counted: a log never slows a request.
import { float8Array, int4Array, textArray } from '../db/arrays.ts'
import type { Queryable, Statement } from '../db/statement.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { LoggedRequest } from './entry.ts'
import { insertion } from './insertion.ts'

export interface RequestLogWriter {
  /** Takes a request; never fails, and never waits. */
  note(request: LoggedRequest): void
  /** Resolves when everything that was taken is written or dropped. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface RequestLogWriterParts {
  readonly database: Queryable
  readonly log: Log
  /** Called with the number of requests that were dropped. */
  readonly dropped: (count: number) => void
}

/** Milliseconds for which requests are collected. */
const every = 1000
/** Rows of one statement. */
const atOnce = 1000
/** Requests that wait to be written; further ones are dropped. */
export const mostWaiting = 5000

/** Requests of an organisation that were dropped. */
interface Gap {
  readonly from: number
  to: number
  requests: number
}

export function createRequestLogWriter({ database, log, dropped }: RequestLogWriterParts): RequestLogWriter {
  let waiting: LoggedRequest[] = []
  let gaps = new Map<string, Gap>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  function drop(requests: readonly LoggedRequest[]): void {
    for (const { at, organizationId } of requests) {
      const gap = gaps.get(organizationId)
      if (!gap) gaps.set(organizationId, { from: at, to: at, requests: 1 })
      else {
        gap.to = at
        gap.requests++
      }
    }
    dropped(requests.length)
  }

  /** Writes what waits now: what comes meanwhile is collected for the next time. */
  async function writeAll(): Promise<void> {
    for (let left = waiting.length; left > 0; ) {
      const group = waiting.slice(0, Math.min(left, atOnce))
      try {
        await database.run(insertion(group))
        waiting = waiting.slice(group.length)
        left -= group.length
      } catch (err) {
        log.warn({ err, requests: waiting.length }, 'request log: could not write')
        // A database that does not answer now is left alone until there is more to write.
        drop(waiting.splice(0))
        left = 0
      }
    }
    const known = gaps
    if (known.size === 0) return
    gaps = new Map()
    await database.run(gapInsertion(known)).catch(() => {
      gaps = joined(known, gaps)
    })
  }

  const write = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    return (writing ??= writeAll().finally(() => {
      writing = undefined
      if (waiting.length > 0) timer ??= setTimeout(write, every).unref()
    }))
  }

  const flush = async (): Promise<void> => {
    await writing
    await write()
  }

  return {
    note(request) {
      if (waiting.length >= mostWaiting) return drop([request])
      waiting.push(request)
      timer ??= setTimeout(write, every).unref()
    },
    flush,
    close: flush,
  }
}

/** The gaps of both, by organisation. */
function joined(before: Map<string, Gap>, after: ReadonlyMap<string, Gap>): Map<string, Gap> {
  for (const [organization, gap] of after) {
    const { from, requests } = before.get(organization) ?? { from: gap.from, requests: 0 }
    before.set(organization, { from, to: gap.to, requests: requests + gap.requests })
  }
  return before
}

const gapInsertion = (gaps: ReadonlyMap<string, Gap>): Statement => {
  const all = [...gaps]
  return {
    name: 'request-gap',
    text: `insert into request_gap (id, ended_at, organization_id, requests)
      select id::uuid, to_timestamp(ended_at), organization_id, requests
      from unnest($1::text[], $2::float8[], $3::text[], $4::int[]) as each (id, ended_at, organization_id, requests)`,
    values: [
      textArray(all.map(([, { from }]) => uuidv7(Math.floor(from)))),
      float8Array(all.map(([, { to }]) => to / 1000)),
      textArray(all.map(([organization]) => organization)),
      int4Array(all.map(([, { requests }]) => requests)),
    ],
  }
}
