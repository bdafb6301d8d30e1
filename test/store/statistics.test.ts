// PostgreSQL knows how much each table holds while an empty database fills up.
import { expect, inject, test, vi } from 'vitest'
import { system } from '../../src/access/caller.ts'
import { openStorage } from '../../src/app/storage.ts'
import { createLog } from '../../src/lib/log.ts'
import type { TransactionEntry } from '../../src/store/transaction.ts'
import { dataSetAt } from '../support/base.ts'
import { onCleanup } from '../support/cleanup.ts'
import { configOfRun, createTestDatabase } from '../support/database.ts'

test('the tables are analysed once a thousand changes have filled them, and not again before they have grown by several times', async () => {
  const connection = { ...inject('server'), ...(await createTestDatabase()) }
  const storage = openStorage(
    configOfRun(),
    connection,
    dataSetAt('http://localhost'),
    createLog('silent'),
    Buffer.alloc(32),
  )
  onCleanup(() => storage.database.end())
  const fill = (count: number) =>
    storage.storeFor(system).transaction(
      Array.from({ length: count }, () => creation),
      () => expect.fail(),
    )
  const analyses = async () => {
    const [row] = await storage.database.query<{ times: number; rows: number }>({
      text: `select t.analyze_count as times, c.reltuples as rows from pg_stat_user_tables t join pg_class c on c.oid = t.relid where t.relname = 'directory'`,
      values: [],
    })
    return row
  }
  await fill(900)
  expect(await analyses()).toMatchObject({ times: 0 })
  await fill(200)
  await vi.waitFor(async () => expect(await analyses()).toEqual({ times: 1, rows: 1100 }), 10_000)
  await fill(1000)
  expect(await analyses()).toMatchObject({ times: 1 })
})

const creation: TransactionEntry = {
  ...{ method: 'POST', type: 'Basic', fullUrl: undefined, id: undefined, query: undefined },
  resource: { resourceType: 'Basic', code: { text: 'filling' } },
}
