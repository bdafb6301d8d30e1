// Files of jobs on disk: one folder a job under DATA_DIR/bulk, for the service's own eyes (0700, files 0600).
import { mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { encoded, type Piece } from '../../lib/pieces.ts'

export interface Folder {
  /** Where a file of a job lies; both parts come from the database or are made here, never from a request. */
  path(job: string, name: string): string
  make(job: string): Promise<void>
  remove(job: string): Promise<void>
  /** The jobs that have a folder which was not touched since then. */
  olderThan(time: Date): Promise<string[]>
}

export function createFolder(dataDir: string): Folder {
  const root = join(dataDir, 'bulk')
  return {
    path: (job, name) => join(root, job, name),
    async make(job) {
      await mkdir(join(root, job), { recursive: true, mode: 0o700 })
    },
    remove: job => rm(join(root, job), { recursive: true, force: true }),
    async olderThan(time) {
      const names = await readdir(root).catch(() => [])
      const old = await Promise.all(
        names.map(async name => (await stat(join(root, name)).catch(() => undefined))?.mtime ?? time),
      )
      return names.filter((_name, index) => old[index]! < time)
    },
  }
}

/** A file that grows by lines. What is written counts once it is noted, after `flush`. */
export interface Growing {
  readonly name: string
  count: number
  bytes: number
  /** Appends lines, without line feeds in them. */
  add(lines: readonly Piece[]): Promise<void>
  /** Resolves when all of it is on the disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Creates an empty file. */
export async function createGrowing(path: string, name: string): Promise<Growing> {
  const handle = await open(path, 'w', 0o600)
  const file: Growing = {
    name,
    count: 0,
    bytes: 0,
    async add(lines) {
      const text = await encoded(lines.flatMap(line => [line, '\n']))
      let end = file.bytes
      for (const part of text.parts) {
        await writeAll(part, end)
        end += part.length
      }
      file.count += lines.length
      file.bytes = end
      text.giveBack()
    },
    flush: () => handle.datasync(),
    close: () => handle.close(),
  }
  const writeAll = async (text: Buffer, position: number): Promise<void> => {
    for (let at = 0; at < text.length; )
      at += (await handle.write(text, at, text.length - at, position + at)).bytesWritten
  }
  return file
}

/** Cuts off what was written after the last note; a file that is not there is left so. */
export async function cutTo(path: string, bytes: number): Promise<void> {
  await truncate(path, bytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
