// PostgreSQL knows how much each table holds while an empty database fills up.
import { expect, test, vi } from 'vitest'
import { system } from '../../src/access/caller.ts'
import type { TransactionEntry } from '../../src/store/transaction/entries.ts'
import { openTestStorage } from '../support/storage.ts'

test('the tables are analysed once a thousand changes have filled them, and not again before they have grown by several times', async () => {
  const storage = await openTestStorage()
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
