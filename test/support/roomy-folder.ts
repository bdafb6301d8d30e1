// Folders of a run, in memory where there is room, since nothing of them outlives it.
import { mkdtemp, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder in memory where there is more room than so many bytes, else one on disk; the next run clears what this one leaves. */
export async function roomyFolder(bytes: number): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  const isRoomy = memory !== undefined && memory.bavail * memory.bsize > bytes && freemem() > bytes
  return mkdtemp(join(isRoomy ? '/dev/shm' : tmpdir(), `health-interop-test-${process.pid}-`))
}
