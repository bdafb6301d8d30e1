// The request log of one process: it writes behind the replies, and deletes what is too old.
import type { Database } from '../db/database.ts'
import type { Log } from '../lib/log.ts'
import type { LoggedRequest } from './entry.ts'
import { pruneRequests } from './prune.ts'
import { createRequestLogWriter, type RequestLogWriterParts } from './writer.ts'

export interface RequestLog {
  note(request: LoggedRequest): void
  /** Resolves when everything that this process has taken is written or dropped. */
  flush(): Promise<void>
  /** Deletes what is too old, every hour from now on. */
  start(): void
  close(): Promise<void>
}

export interface RequestLogParts extends RequestLogWriterParts {
  readonly database: Database
  readonly log: Log
  /** Days for which requests are kept; 0: none is written. */
  readonly days: number
  readonly now: () => Date
}

const pruneEvery = 3_600_000
const day = 86_400_000

export function createRequestLog({ days, now, ...parts }: RequestLogParts): RequestLog {
  const writer = createRequestLogWriter(parts)
  const tidy = (): void => {
    pruneRequests(parts.database, new Date(now().getTime() - days * day)).catch(err =>
      parts.log.warn({ err }, 'request log: could not delete old requests'),
    )
  }
  let timer: NodeJS.Timeout | undefined
  return {
    note: days === 0 ? () => {} : writer.note,
    flush: writer.flush,
    start() {
      timer = setInterval(tidy, pruneEvery).unref()
    },
    close() {
      clearInterval(timer)
      return writer.close()
    },
  }
}
