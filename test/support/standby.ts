// PostgreSQL servers that replicate each other, made of the npm binaries: a primary, standbys that stream from it, and what
// happens to them (https://www.postgresql.org/docs/18/warm-standby.html).
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { copyRunning } from '../../src/db/base-backup.ts'
import { giveFolder, serverAccount } from '../../src/db/embedded-account.ts'
import { findBinaries, serverSettings } from '../../src/db/embedded-process.ts'
import { launch } from '../../src/db/embedded-server.ts'
import { onCleanup } from './cleanup.ts'
import { emptyDatabase } from './cluster.ts'
import { freePort, isAlive, until } from './process.ts'
import { roomyFolder } from './roomy-folder.ts'

/** A server with a data folder of its own, on a port of the loopback address. It ends after the file's last test. */
export interface PostgresServer {
  /** Its name in `synchronous_standby_names`, and that of its replication slot. */
  readonly name: string
  /** Of a superuser, to the database of the service. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** The rows of a statement, by a connection of its own. */
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Sets what a reload takes over, as `synchronous_standby_names`. */
  set(setting: string, value: string): Promise<void>
  /** Ends all its processes with SIGKILL, as a machine that loses power, and resolves when they are gone. */
  kill(): Promise<void>
  /** Stops all its processes with SIGSTOP: it accepts connections, and answers nothing. */
  freeze(): Promise<void>
  /** Continues what was frozen. */
  thaw(): void
  /** Starts it again as what it was before. */
  restart(): Promise<void>
  /** Makes a standby the primary, and resolves when it accepts writes. */
  promote(): Promise<void>
  /** Makes this server, which may be dead or have been a primary, a standby of the other, and resolves when it streams. */
  follow(primary: PostgresServer): Promise<void>
  /** Resolves when this standby has replayed all that the other has written by now. */
  catchUp(primary: PostgresServer): Promise<void>
  /** While it is paused, a standby receives what is written, and does not show it. */
  pauseReplay(): Promise<void>
  resumeReplay(): Promise<void>
}

/** A folder for several servers, removed after the file's last test. */
async function serversFolder(): Promise<string> {
  const folder = await roomyFolder(2 * 2 ** 30)
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a primary with the empty database of a service. */
export async function startPrimary(
  name = 'one',
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const folder = await serversFolder()
  await emptyDatabase(folder)
  const server = await createServer(folder, name, settings)
  await server.restart()
  const { database, ...address } = server.connection
  await ask({ ...address, database: 'postgres' }, `create database ${database}`)
  return server
}

/** Starts a standby that streams from the primary. */
export async function startStandby(
  primary: PostgresServer,
  name = 'two',
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const server = await createServer(await serversFolder(), name, settings)
  await server.follow(primary)
  return server
}

/** Returns the address of several servers as libpq writes it. */
export const addressOf = (servers: readonly PostgresServer[], query = ''): string => {
  const hosts = servers.map(({ connection: { host, port } }) => `${host}:${port}`).join(',')
  return `postgresql://postgres:secret@${hosts}/${servers[0]!.connection.database}${query}`
}

/** Settings with which a crash and its consequences take no time. Power is never lost, so nothing is flushed. */
const quick = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_wal_size: '256MB',
  autovacuum: 'off',
  wal_keep_size: '256MB',
  wal_retrieve_retry_interval: '100ms',
  wal_receiver_status_interval: '1s',
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
}

async function createServer(
  folder: string,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const data = join(folder, 'postgres')
  const port = await freePort()
  const connection = { host: '127.0.0.1', port, user: 'postgres', database: 'health_interop' }
  const [account, { postgres }] = [await serverAccount(folder), await findBinaries()]
  let pid: number | undefined
  let frozen: readonly number[] = []

  const start = async (): Promise<void> => {
    const all = { ...(await serverSettings(data, 90, '', port)), ...quick, ...settings }
    pid = (await launch(postgres, data, folder, all, account, 60, () => answers(connection))).pid
  }
  const kill = async (): Promise<void> => {
    if (pid === undefined) return
    const all = await signal(pid, 'SIGKILL')
    await until(`${name} is gone`, async () => (await processes()).every(({ pid: each }) => !all.includes(each)))
    ;[pid, frozen] = [undefined, []]
  }
  onCleanup(kill)

  const follow = async (primary: PostgresServer): Promise<void> => {
    await kill()
    await rm(data, { recursive: true, force: true })
    await primary.query(
      `select pg_create_physical_replication_slot($1, true)
        where not exists (select from pg_replication_slots where slot_name = $1)`,
      [name],
    )
    await copyRunning(primary.connection, data)
    const { host, port: primaryPort, user } = primary.connection
    const conninfo = `host=${host} port=${primaryPort} user=${user} application_name=${name}`
    // In the place of what was set for the other server.
    const lines = [`primary_conninfo = '${conninfo}'`, `primary_slot_name = '${name}'`]
    await writeFile(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`)
    await writeFile(join(data, 'standby.signal'), '')
    if (account) await giveFolder(data, account)
    await start()
    await until(`${name} streams`, async () => {
      const [found] = await primary.query(
        `select from pg_stat_replication where application_name = $1 and state = 'streaming'`,
        [name],
      )
      return found !== undefined
    })
  }

  return {
    name,
    connection,
    query: (text, values = []) => ask(connection, text, values),
    async set(setting, value) {
      await ask(connection, `alter system set ${setting} = '${value}'`)
      await ask(connection, 'select pg_reload_conf()')
      await until(`${setting} is set`, async () => {
        const [row] = await ask(connection, 'select current_setting($1) as value', [setting])
        return row!['value'] === value
      })
      // Commits wait for standbys once the checkpointer has reloaded, too, which it does before it makes a checkpoint.
      await ask(connection, 'checkpoint')
    },
    kill,
    async freeze() {
      frozen = await signal(pid!, 'SIGSTOP')
    },
    thaw() {
      for (const each of frozen) if (isAlive(each)) process.kill(each, 'SIGCONT')
      frozen = []
    },
    restart: start,
    promote: async () => void (await ask(connection, 'select pg_promote(true, 60)')),
    follow,
    async catchUp(primary) {
      const [written] = await primary.query('select pg_current_wal_lsn()::text as place')
      await until(`${name} has caught up`, async () => {
        const [row] = await ask(connection, 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as is_there', [
          written!['place'],
        ])
        return row!['is_there'] === true
      })
    },
    pauseReplay: async () => void (await ask(connection, 'select pg_wal_replay_pause()')),
    resumeReplay: async () => void (await ask(connection, 'select pg_wal_replay_resume()')),
  }
}

async function ask(
  connection: pg.ClientConfig,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text, [...values])).rows
  } finally {
    await client.end()
  }
}

const answers = ({ host, port, user }: pg.ClientConfig): Promise<boolean> =>
  ask({ host, port, user, database: 'postgres' }, 'select 1').then(
    () => true,
    () => false,
  )

/**
 * Sends a signal to a server and to the processes that it has made, each of which is a group of its own.
 * @returns all that received it.
 */
async function signal(server: number, name: 'SIGKILL' | 'SIGSTOP'): Promise<number[]> {
  // Once it is stopped it makes no others, and those that it has made are still its children.
  process.kill(server, 'SIGSTOP')
  const children = (await processes()).filter(({ parent }) => parent === server).map(({ pid }) => pid)
  const all = [server, ...children]
  for (const each of all) if (isAlive(each)) process.kill(each, name)
  return all
}

/** All processes that have not ended. */
async function processes(): Promise<{ pid: number; parent: number }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='])
  const lines = stdout.split('\n').map(line => line.trim().split(/\s+/))
  return lines
    .filter(([, , state]) => state && !state.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }))
}
