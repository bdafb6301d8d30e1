// One server of PostgreSQL as a process: started, found by its lock file, asked whether it answers, shut down.
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Account, EmbeddedError } from './embedded-account.ts'
import { lastLines, start, withLog } from './embedded-process.ts'

export interface Running {
  readonly pid: number
  readonly socket: string
}

/** Names the socket; nothing listens on it. */
export const port = 5432
/** The database of the service. */
export const database = 'health_interop'

/**
 * Starts a server on a data folder, and resolves when it is ready.
 * @param seconds how long that may take.
 * @throws EmbeddedError with the last lines of its log, if it ends.
 */
export async function launch(
  postgres: string,
  data: string,
  socket: string,
  settings: Readonly<Record<string, string>>,
  account: Account | undefined,
  seconds = 60,
  isReady: (socket: string) => Promise<boolean> = answers,
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
    for (let tries = 0; tries < 20 * seconds && !ended; tries++) {
      if (await isReady(socket)) return { pid: (await readLock(serverLock(data)))?.pid ?? child.pid!, socket }
      await sleep(50)
    }
    throw new EmbeddedError(`The database server did not start: ${await lastLines(logFile)}`)
  })
}

/** A folder for the server's socket that only its owner can enter; socket paths are limited to 107 bytes. */
export async function socketFolder(data: string, account: Account | undefined): Promise<string> {
  const near = join(dirname(data), 'socket')
  const folder = Buffer.byteLength(near) < 85 ? near : await mkdtemp(join(tmpdir(), 'health-interop-'))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  if (account) await chown(folder, account.uid, account.gid)
  return folder
}

/** The server that runs on the folder although we did not start it, if there is one. */
export async function runningServer(data: string): Promise<Running | undefined> {
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

/** A connection as superuser. */
export function client(host: string, name: string, databaseName = 'postgres'): pg.Client {
  return new pg.Client({
    host,
    port,
    user: 'postgres',
    database: databaseName,
    application_name: name,
    connectionTimeoutMillis: 5000,
  })
}

/** True if a server responds at the socket. */
export async function answers(socket: string): Promise<boolean> {
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

/** Ends the server of a data folder at once, if it has one; the next start recovers what was committed. */
export async function endNow(data: string): Promise<void> {
  const lock = await readLock(serverLock(data))
  if (lock && alive(lock.pid)) process.kill(lock.pid, 'SIGQUIT')
}

/** SIGINT has PostgreSQL end all sessions and write a checkpoint, SIGQUIT only end. https://www.postgresql.org/docs/18/server-shutdown.html */
export async function shutDown(pid: number, most: number): Promise<void> {
  if (!alive(pid)) return
  process.kill(pid, 'SIGINT')
  const until = performance.now() + most
  while (alive(pid) && performance.now() < until) await sleep(25)
  if (!alive(pid)) return
  process.kill(pid, 'SIGQUIT')
  for (let tries = 0; tries < 12 && alive(pid); tries++) await sleep(25)
}
