// Keeps the trail in periods, without a request: makes room for the next one, and archives those that have been online long enough.
import type { Log } from '../../lib/log.ts'
import { singleFlight } from '../../lib/single-flight.ts'
import { makeRoomAhead } from '../period.ts'
import { type ArchiveParts, archiveDue, type NewArchive } from './make.ts'

export interface Keeper {
  /** Looks now and every hour. */
  start(): void
  /** Ends what is under way. A period that is not archived then is archived anew. */
  close(): Promise<void>
}

export interface KeeperParts extends Omit<ArchiveParts, 'signal'> {
  readonly log: Log
  /** Days for which the rows of a period stay in the database after its end; 0: for ever. */
  readonly days: number
  /** A period was archived, or could not be. */
  readonly counted: (outcome: 'written' | 'failed') => void
}

/** Milliseconds between two looks. */
const lookEvery = 3_600_000

export function createKeeper({ log, days, counted, ...parts }: KeeperParts): Keeper {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined

  function made({ period, file, rows, bytes }: NewArchive): void {
    counted('written')
    log.info({ period, file, rows, bytes }, 'audit: archived a period')
  }

  async function look(): Promise<void> {
    await makeRoomAhead(parts.database)
    if (days > 0) await archiveDue({ ...parts, signal: ending.signal }, days, made)
  }

  const looks = singleFlight(() =>
    look().catch(err => {
      if (ending.signal.aborted) return
      counted('failed')
      log.error({ err }, 'audit: could not archive a period, or make room for the next one')
    }),
  )

  return {
    start() {
      void looks.run()
      timer = setInterval(looks.run, lookEvery).unref()
    },
    async close() {
      clearInterval(timer)
      ending.abort()
      await looks.ended()
    },
  }
}
