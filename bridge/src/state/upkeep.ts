// The upkeep of every minute: forget old fingerprints, give space back to the disk, and warn of limits that come near.
import type { Clock } from '../clock.ts'
import type { Limits } from '../config-shape.ts'
import type { Log } from '../log.ts'
import { forgetSeen } from './items.ts'
import { read, write } from './meta.ts'
import { keepReserve } from './reserve.ts'
import { giveBackSpace, type State } from './state.ts'

export interface Upkeep {
  /** Returns the milliseconds until the next time. */
  step(): Promise<number>
}

interface Parts {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
  readonly limits: () => Limits
  readonly warnings: () => readonly string[]
}

const every = 60_000
const day = 86_400_000

/** Milliseconds that a clock may go back without a word. */
const tolerated = 300_000

export function createUpkeep({ state, clock, log, limits, warnings }: Parts): Upkeep {
  let told = ''
  let forgottenAt = 0
  return {
    async step() {
      const now = clock.now()
      const latest = read(state, 'latest_time') ?? 0
      if (now < latest - tolerated)
        log.warn('the clock of this machine went back', { seconds: Math.round((latest - now) / 1000) })
      write(state, 'latest_time', Math.max(now, latest))
      if (now - forgottenAt >= day / 24) {
        forgetSeen(state, now - limits().remember_days * day)
        forgottenAt = now
      }
      giveBackSpace(state)
      keepReserve(state.folder)
      // Log a warning when it changes, not every minute.
      const found = warnings()
      const text = found.map(each => each.split(':')[0]).join()
      if (text !== told) for (const warning of found) log.warn(warning)
      told = text
      return every
    },
  }
}
