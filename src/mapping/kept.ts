// The last valid set of maps, kept in a file: a process that starts while the folder holds a broken set serves it.

import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isObject } from '../lib/json.ts'
import type { SourceFile } from './files.ts'

/** Files as they were when they were valid. */
export interface Kept {
  /** When they were, in ISO 8601. */
  readonly since: string
  readonly files: readonly SourceFile[]
}

/** Returns what a file keeps; undefined if there is none, or if it cannot be read. */
export async function readKept(path: string): Promise<Kept | undefined> {
  try {
    const { since, files } = JSON.parse(await readFile(path, 'utf8')) as Partial<Kept>
    return typeof since === 'string' && Array.isArray(files) && files.every(isSourceFile) ? { since, files } : undefined
  } catch {
    return undefined
  }
}

/**
 * Keeps files, unless the same are kept already: every process calls it. Returns since when they are kept. The file is never
 * partially written.
 */
export async function keep(path: string, kept: Kept): Promise<string> {
  const known = await readKept(path)
  if (known && JSON.stringify(known.files) === JSON.stringify(kept.files)) return known.since
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, JSON.stringify(kept), { mode: 0o600 })
  await rename(draft, path)
  return kept.since
}

function isSourceFile(value: unknown): value is SourceFile {
  return isObject(value) && ['path', 'name', 'text'].every(key => typeof value[key] === 'string')
}
