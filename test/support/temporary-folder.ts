// A folder that a test file writes to.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCleanup } from './cleanup.ts'

/**
 * Makes an empty folder, which is removed after the file's last test.
 * @param name what it is for, part of its name
 */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `health-interop-${name}-`))
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  return folder
}
