// Recovers a data folder that was taken from a backup: PostgreSQL replays the log up to a moment, or to its end.
// https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-PITR-RECOVERY
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '../../lib/draft.ts'
import { type Account, EmbeddedError } from '../embedded-account.ts'
import { findBinaries, serverSettings } from '../embedded-process.ts'
import { answers, client, endNow, launch, port, shutDown, socketFolder } from '../embedded-server.ts'
import { BackupError } from './manifest.ts'

export interface Recovery {
  /** The folder of the archived log; undefined: what the data folder holds itself is all. */
  readonly log: string | undefined
  /** With time zone; changes that were committed later are left out. Undefined: as far as the log goes. */
  readonly until: string | undefined
  /** The segment that must be reached if nothing is left out. */
  readonly last: string
}

/**
 * Recovers the data folder, and shuts its server down. From then on it is a database of its own: another timeline.
 * @returns when the last change was committed that it has; undefined: none was after the copy began.
 * @throws BackupError if the moment, or the end of the log, is not reached.
 */
export async function recover(
  data: string,
  recovery: Recovery,
  account: Account | undefined,
): Promise<Date | undefined> {
  const signal = join(data, 'recovery.signal')
  await writeFile(signal, '', { mode: 0o600 })
  const { postgres } = await findBinaries()
  const socket = await socketFolder(data, account)
  const settings = { ...(await serverSettings(data, 10, socket, port)), ...recoverySettings(recovery) }
  const isReady = async (socket: string): Promise<boolean> => !(await exists(signal)) && answers(socket)
  const interrupt = (): void => void endNow(data)
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  try {
    const server = await launch(postgres, data, socket, settings, account, Infinity, isReady)
    return await reached(server.socket, recovery).finally(() => shutDown(server.pid, 600_000))
  } catch (error) {
    if (!(error instanceof EmbeddedError)) throw error
    throw new BackupError(await reasonIn(`${data}.log`, recovery), { cause: error })
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    await rm(`${data}.log`, { force: true })
  }
}

const recoverySettings = ({ log, until }: Recovery): Record<string, string> => ({
  // Until the end nobody needs to read.
  hot_standby: 'off',
  restore_command: log === undefined ? 'false' : `cp ${shellWord(join(log, '%f'))} "%p"`,
  recovery_target_timeline: 'current',
  recovery_target_action: 'promote',
  // PostgreSQL does not know Z yet when it reads this.
  ...(until === undefined ? {} : { recovery_target_time: until.replace('Z', '+00') }),
})

/** In PostgreSQL's commands a percent sign begins a parameter; `%f` at the end is meant as one. */
const shellWord = (path: string): string =>
  `'${path.slice(0, -2).replaceAll('%', '%%').replaceAll("'", String.raw`'\''`)}'${path.slice(-2)}`

/** What PostgreSQL cannot read it takes for the end of the log: that must not pass for success. */
async function reached(socket: string, { last, until }: Recovery): Promise<Date | undefined> {
  const session = client(socket, 'health-interop restore')
  await session.connect()
  const { rows } = await session
    .query(`select pg_last_xact_replay_timestamp() as at, pg_walfile_name(pg_last_wal_replay_lsn() - 1) as segment`)
    .finally(() => session.end())
  const { at, segment } = rows[0] as { at: Date | null; segment: string }
  if (until === undefined && segment.slice(8) < last.slice(8))
    throw new BackupError(
      `The log ends in segment ${segment} instead of ${last}, which is damaged or cannot be read${lastChange(at?.toISOString())}. Restore to a --time before, or use another backup.`,
    )
  return at ?? undefined
}

async function reasonIn(file: string, { until }: Recovery): Promise<string> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const [, at] = /last completed transaction was at log time (\S+ \S+)/.exec(lines.join('\n')) ?? []
  if (lines.some(line => line.includes('recovery ended before configured recovery target was reached')))
    return `The archived log holds no change after ${until}${lastChange(at)}. If later ones are still to be archived, stop the service first; if this is the state that you want, leave --time out.`
  const reason = lines.findLast(line => / (?:FATAL|PANIC): /.test(line))?.replace(/^.*? (?:FATAL|PANIC): +/, '')
  return `The backup could not be recovered: ${reason ?? 'the recovery was ended.'}`
}

const lastChange = (at: string | undefined): string => (at === undefined ? '' : ` (the last change is of ${at})`)
