// The schema of an earlier version: its migrations, for tests of those that come after them.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { migrations, migrationsIn, numberOf } from '../../src/db/schema.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A folder with the migrations before one of this number; it is deleted after the file's last test. */
export async function migrationsBefore(number: number): Promise<string> {
  const folder = await temporaryFolder('migrations')
  for (const name of migrationsIn(migrations).filter(each => numberOf(each) < number))
    await cp(join(migrations, name), join(folder, name))
  return folder
}
