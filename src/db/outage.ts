// Tells when the database cannot be reached, and for how long it could not.
import type { Log } from '../lib/log.ts'

/** Times without a database, as this process saw them. */
export interface Outages {
  readonly count: number
  /** Seconds of all of them, the one that goes on included. */
  readonly seconds: number
}

export interface Outage {
  /** No connection could be made, or those that were made are of no use. */
  begin(reason: unknown): void
  /** One was made to this server. */
  end(server: string): void
  outages(): Outages
}

/** @param log undefined: nothing is logged */
export function createOutage(log: Log | undefined): Outage {
  let since: number | undefined
  let [count, milliseconds] = [0, 0]
  return {
    begin(reason) {
      if (since !== undefined) return
      since = performance.now()
      count++
      log?.error({ err: reason }, 'the database is out of reach: requests get 503 until a server accepts changes')
    },
    end(server) {
      if (since === undefined) return
      const lasted = performance.now() - since
      since = undefined
      milliseconds += lasted
      log?.warn({ server, seconds: Math.round(lasted / 100) / 10 }, 'the database is back')
    },
    outages: () => ({ count, seconds: (milliseconds + (since === undefined ? 0 : performance.now() - since)) / 1000 }),
  }
}
