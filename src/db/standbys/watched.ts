// Watches one standby: it is used while it shows what the primary acknowledges within milliseconds, left out as soon as it does not,
// and used again once it does.
import type { Log } from '../../lib/log.ts'
import { nameOfHost } from '../../lib/postgres-url.ts'
import type { Identity, Position } from './position.ts'
import { openStandby, type Place, type Standby, type StandbyOptions, Unfit } from './standby.ts'

/** What the primary says of itself. */
export interface Primary {
  identity(): Promise<Identity>
  /** Writes a row for a standby to show. */
  probe(): Promise<string>
  /** The place up to which it has acknowledged all that it has acknowledged before the call. */
  acknowledged(): Promise<Position>
}

export interface Watched {
  /** Host and port. */
  readonly name: string
  /** The standby, while it is used. */
  used(): Standby | undefined
  /** Leaves the standby out until it is seen to be fit. */
  leaveOut(standby: Standby, reason: string): void
  end(): Promise<void>
}

/** Milliseconds between two looks at a standby. */
const pause = 250

/** Looks in a row at which a standby that was left out has to be fit. */
const goodLooks = 2

/** Times in a row that a standby has to be behind for the log to tell. */
const badLooks = 4

export const isBehind = 'it does not show in time what the primary acknowledges'

export interface WatchOptions extends StandbyOptions {
  /** Receives each change; undefined: nothing is logged. */
  readonly log: Log | undefined
}

/** Begins to watch the standby. */
export function watchStandby(place: Place, { log, ...options }: WatchOptions, primary: Primary): Watched {
  const name = nameOfHost(place.host)
  let open: Standby | undefined
  /** The standby that was seen to follow the primary. */
  let proven: Standby | undefined
  let [good, bad] = [0, 0]
  let reason: string | undefined = 'it was not asked yet'
  let told: string | undefined = reason
  let isEnded = false
  let next: NodeJS.Timeout | undefined

  const judge = (found: string | undefined): void => {
    ;[good, bad] = found === undefined ? [good + 1, 0] : [0, bad + 1]
    reason = found ?? (good >= goodLooks ? undefined : reason)
    // One that is behind for a moment, as any may be under load, is left out for a moment, without a line in the log.
    if (reason === told || isEnded || (reason === isBehind && bad < badLooks)) return
    told = reason
    if (reason === undefined) log?.info({ standby: name }, 'reads run on the standby')
    else log?.warn({ standby: name, reason }, 'reads do not run on the standby')
  }
  const close = (): void => {
    open?.end()
    open = undefined
  }
  const look = async (): Promise<void> => {
    // While the primary does not answer, nothing can be said of its standbys.
    const said = await Promise.all([open ? undefined : primary.identity(), primary.acknowledged()]).catch(
      () => undefined,
    )
    if (!said || isEnded) return
    const [identity, position] = said
    try {
      open ??= await openStandby(place, options, identity!)
      judge((await unfitness(open, position)) ?? (proven === open ? undefined : await unproven(open, primary)))
      if (good > 0) proven = open
    } catch (error) {
      close()
      judge(error instanceof Unfit ? error.message : 'it cannot be reached')
    }
    if (isEnded) close()
  }
  const watch = async (): Promise<void> => {
    await look()
    if (!isEnded) next = setTimeout(() => (looking = watch()), pause).unref()
  }
  let looking = watch()
  return {
    name,
    used: () => (reason === undefined ? open : undefined),
    leaveOut(standby, found) {
      if (standby === open && reason === undefined) judge(found)
    },
    async end() {
      isEnded = true
      clearTimeout(next)
      close()
      await looking
    },
  }
}

/** Why the standby is not fit for reads; undefined: it is. */
async function unfitness(standby: Standby, position: Position): Promise<string | undefined> {
  const { isStandby, isVisible, timeline } = await standby.where()
  if (!isStandby) return 'it is not a standby'
  if (!isVisible) return 'its role may not see pg_stat_wal_receiver: grant it pg_monitor'
  if (timeline === null) return 'it receives nothing from its primary'
  if (timeline !== position.timeline) return 'it follows another timeline than the primary'
  return (await standby.reaches(position)) ? undefined : isBehind
}

/** Why the standby may not follow this primary, as a copy of its cluster does not; undefined: it does. */
async function unproven(standby: Standby, primary: Primary): Promise<string | undefined> {
  const probe = await primary.probe()
  if (!(await standby.reaches(await primary.acknowledged()))) return isBehind
  return (await standby.shows(probe)) ? undefined : 'it does not follow the primary'
}
