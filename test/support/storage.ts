// The storage of a service without the service: for tests of what the store does itself.
import { openStorage, type Storage } from '../../src/app/storage.ts'
import { createLog } from '../../src/lib/log.ts'
import type { DataSet } from '../../src/store/data-set.ts'
import { dataSetAt } from './base.ts'
import { onCleanup } from './cleanup.ts'
import { configOfRun, createTestDatabase, type TestDatabase } from './database.ts'

/** Opens it on a test database, by default a new one; it is closed after the file's last test. */
export async function openTestStorage(
  dataSet: DataSet = dataSetAt('http://localhost'),
  connection?: TestDatabase,
): Promise<Storage> {
  connection ??= await createTestDatabase()
  const storage = openStorage(configOfRun(), connection, dataSet, createLog('silent'), Buffer.alloc(32))
  onCleanup(() => storage.database.end())
  return storage
}
