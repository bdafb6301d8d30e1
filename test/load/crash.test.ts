import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { createLog } from '../../src/lib/log.ts'
import { paramKey, systemCodePosting } from '../../src/store/index/postings.ts'
import { emptyDatabase } from '../support/cluster.ts'
import { isAlive, postmaster, run, until } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { tagSystem, transactionBundle } from './bundles.ts'

const bundles = 120
const size = 40
let folder: string

beforeAll(async () => {
  folder = await temporaryFolder('crash')
  const lines = Array.from({ length: bundles }, (_, index) => JSON.stringify(transactionBundle(`b${index}`, size)))
  await writeFile(join(folder, 'bundles.ndjson'), lines.join('\n'))
  await emptyDatabase(join(folder, 'data'))
})

interface Census {
  /** Resources stored of each bundle. */
  readonly stored: Map<string, number>
  /** Resources that the index knows of each bundle. */
  readonly indexed: Map<string, number>
}

async function census(): Promise<Census> {
  const server = await startEmbedded(join(folder, 'data'), 20, createLog('silent'))
  const database = openDatabase(server.connection, { poolSize: 2, statementTimeout: 30_000 })
  const count = async (text: string): Promise<Map<string, number>> =>
    new Map(
      (await database.query<{ name: string; count: number }>({ text, values: [] })).map(row => [row.name, row.count]),
    )
  const stored = await count(
    `select body::jsonb #>> '{meta,tag,0,code}' as name, count(*) as count from resource group by 1`,
  )
  const indexed = new Map<string, number>()
  for (const name of stored.keys()) {
    const hashes = ['Patient', 'Observation'].map(type =>
      String(systemCodePosting(paramKey(type, '_tag'), tagSystem, name)),
    )
    const [row] = await database.query<{ count: number }>({
      text: 'select count(*) as count from search where tokens && $1::bigint[]',
      values: [hashes],
    })
    indexed.set(name, row!.count)
  }
  await database.end()
  await server.stop()
  return { stored, indexed }
}

/** Starts a load and kills it, once it has stored some of the bundles but not all; gives how many were stored before. */
async function interruptedLoad(alsoServer: boolean): Promise<void> {
  const loading = run('src/commands/load.ts', [join(folder, 'bundles.ndjson'), '--parallel', '4'], {
    DATA_DIR: join(folder, 'data'),
  })
  await until('the database server runs', async () => (await postmaster(join(folder, 'data')).catch(() => 0)) > 0)
  const server = { host: join(folder, 'data/socket'), port: 5432, user: 'postgres', database: 'health_interop' }
  const watch = openDatabase(server, { poolSize: 1, statementTimeout: 5000 })
  await until('some bundles are stored', async () => {
    const rows = await watch
      .query<{ count: number }>({ text: 'select count(*) as count from resource', values: [] })
      .catch(() => [{ count: 0 }])
    return rows[0]!.count >= size * 20
  })
  loading.child.kill('SIGKILL')
  const pid = await postmaster(join(folder, 'data'))
  if (alsoServer) process.kill(pid, 'SIGKILL')
  await loading.ended
  await watch.end()
  if (alsoServer) await until('the server is gone', () => !isAlive(pid))
}

test('a load that is killed leaves whole bundles only, each with its index, and the next start takes the database over', async () => {
  await interruptedLoad(false)
  const { stored, indexed } = await census()
  expect(stored.size).toBeGreaterThanOrEqual(20)
  expect([...stored.values()].filter(count => count !== size)).toEqual([])
  expect(indexed).toEqual(stored)
})

test('when the database server is killed as well, nothing that was stored is lost, and the load can be finished', async () => {
  const before = (await census()).stored
  await interruptedLoad(true)
  const { stored, indexed } = await census()
  expect([...stored.values()].filter(count => count !== size)).toEqual([])
  expect([...before.keys()].filter(name => !stored.has(name))).toEqual([])
  expect(indexed).toEqual(stored)
  const again = run('src/commands/load.ts', [join(folder, 'bundles.ndjson'), '--json'], {
    DATA_DIR: join(folder, 'data'),
  })
  expect(await again.ended).toBe(0)
  const { created, unchanged } = JSON.parse(again.output().trim().split('\n').at(-1)!)
  expect({ all: created + unchanged, created }).toEqual({
    all: bundles * size,
    created: (bundles - stored.size) * size,
  })
})
