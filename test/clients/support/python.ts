// Python on this machine, for the tests of clients/python.
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

export const pythonLibrary = resolve(import.meta.dirname, '../../../clients/python')

const candidates = [join(pythonLibrary, '.venv/bin/python'), 'python3', 'python']

/** Returns the first Python that is new enough; that of clients/python/.venv comes first. */
export async function findPython(): Promise<string | undefined> {
  for (const python of candidates) {
    const version = promisify(execFile)(python, ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])
    if (await version.then(() => true).catch(() => false)) return python
  }
  return undefined
}
