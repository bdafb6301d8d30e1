// How the service stops: the first signal ends it in an orderly way, and it ends in any case, whatever it is doing.
import cluster from 'node:cluster'

/**
 * Milliseconds after the signal: when requests still in hand are cut off, when a process that answers requests ends in any case, when the
 * first process ends those that have not, and when it ends itself.
 */
const stopTimes = { requests: 6000, worker: 7000, workers: 7500, database: 9000, all: 9800 } as const

export interface Stop {
  /** Resolves at the first SIGTERM or SIGINT. Further ones change nothing. */
  readonly asked: Promise<void>
  isAsked(): boolean
  /** Milliseconds that are left until one of the times; all of it before the signal. */
  left(time: keyof typeof stopTimes): number
}

/** Heeds SIGTERM, and Ctrl-C, which a terminal sends to every process: only the first process heeds it. */
export function heedSignals(): Stop {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  let askedAt: number | undefined
  const ask = (): void => {
    if (askedAt !== undefined) return
    askedAt = performance.now()
    setTimeout(() => process.exit(1), cluster.isPrimary ? stopTimes.all : stopTimes.worker).unref()
    resolve()
  }
  // They stay for good: without a listener a second signal would end the process on the spot.
  process.on('SIGTERM', ask)
  process.on('SIGINT', cluster.isPrimary ? ask : () => {})
  if (!cluster.isPrimary) process.on('disconnect', ask)
  return {
    asked,
    isAsked: () => askedAt !== undefined,
    left: time =>
      askedAt === undefined ? stopTimes[time] : Math.max(0, stopTimes[time] - (performance.now() - askedAt)),
  }
}
