// npm run admin -- distribute: what it refuses, what it shows, and that it distributes once. The second part needs a cluster (CITUS_URL).
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../../src/db/database.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { applicationName } from '../../../src/db/schema.ts'
import { adminOn } from '../../support/admin.ts'
import { createOn, dropNamed, type Node } from '../../support/citus.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { createTestDatabase } from '../../support/database.ts'

const { nodes, prefix } = inject('server')

describe.skipIf(nodes.length > 1)('on a server without the extension', () => {
  test('nothing is distributed, and the reason is named', async () => {
    const { database } = await createTestDatabase()
    const { admin } = adminOn(() => database)
    for (const args of [['distribute'], ['distribute', '--yes', '--with-rows']]) {
      const { code, output } = await admin(args)
      expect(code).toBe(1)
      expect(output).toContain('The database does not have the extension citus: create it on every node.')
      expect(output).toContain('Nothing was changed.')
    }
  })

  test('a number of parts that cannot be is refused', async () => {
    const { database } = await createTestDatabase()
    const { code, output } = await adminOn(() => database).admin(['distribute', '--shards', '2000'])
    expect([code, output]).toEqual([2, expect.stringContaining('--shards must be a whole number from 1 to 1024')])
  })
})

describe.skipIf(nodes.length === 1)('on a cluster', () => {
  let name: string
  let client: pg.Client
  const { admin, told } = adminOn(() => name)

  beforeAll(async () => {
    const [coordinator, ...workers] = nodes as [Node, ...Node[]]
    name = `${prefix}${randomBytes(6).toString('hex')}`
    await createOn([coordinator, ...workers], name)
    client = new pg.Client({ ...coordinator, database: name })
    await client.connect()
    const database = openDatabase({ ...coordinator, database: name }, { poolSize: 1, statementTimeout: 60_000 })
    await migrate(database)
    await database.end()
    onCleanup(async () => {
      await client.end()
      for (const node of nodes) {
        const on = new pg.Client({ ...node, database: 'postgres' })
        await on.connect()
        await dropNamed(on, name)
        await on.end()
      }
    })
  })

  const distributed = async (): Promise<string[]> =>
    (await client.query('select logicalrelid::text as name from pg_dist_partition order by 1')).rows.map(
      row => row.name,
    )

  test('the plan is shown, and nothing changed', async () => {
    const plan = await told(['distribute', '--shards', '6'])
    expect(plan).toMatchObject({ workers: nodes.length - 1, shards: 6, problems: [], distributed: false })
    expect(plan.tables.map((each: { name: string; way: string }) => `${each.name} ${each.way}`)).toEqual([
      ...['resource', 'history', 'search', 'coded', 'span', 'word'].map(each => `${each} shard`),
      'consent_grant copy',
    ])
    expect(await distributed()).toEqual([])
  })

  test('a running service is refused', async () => {
    const service = new pg.Client({ ...nodes[0]!, database: name, application_name: applicationName })
    await service.connect()
    const { code, output } = await admin(['distribute', '--yes'])
    await service.end()
    expect([code, output]).toEqual([1, expect.stringContaining('The service is running (1 connections)')])
    expect(await distributed()).toEqual([])
  })

  test('rows are moved only when that is asked for; then all of them are there, by bucket, and a second time changes nothing', async () => {
    await client.query(`insert into resource (key, updated_at, version, type, method, shard, id, body)
      select n * 1024 + n % 1024, now(), 1, 2, 2, n % 1024, 'r' || n, '{}' from generate_series(1, 500) n`)
    const refused = await admin(['distribute', '--yes'])
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('Tables have rows: resource.')])
    expect(await distributed()).toEqual([])
    expect(await told(['distribute', '--yes', '--with-rows', '--shards', '6'])).toMatchObject({ distributed: true })
    expect(await distributed()).toEqual(['coded', 'consent_grant', 'history', 'resource', 'search', 'span', 'word'])
    const counted = async (text: string): Promise<number> => Number((await client.query(text)).rows[0].count)
    expect(await counted('select count(*) from resource')).toBe(500)
    const used = `select count(distinct nodeport) from citus_shards where table_name = 'resource'::regclass`
    expect(await counted(used)).toBe(nodes.length - 1)
    const again = await admin(['distribute', '--yes', '--with-rows'])
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('nothing to do')])
  })
})
