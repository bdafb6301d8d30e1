// Folders of databases for services that are started as processes, without the time that it takes to make them.
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

/** Puts an empty cluster into a data folder, as the first start would make it. */
export async function emptyDatabase(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  await promisify(execFile)('cp', ['-a', inject('server').cluster, join(dataDir, 'postgres')])
}
