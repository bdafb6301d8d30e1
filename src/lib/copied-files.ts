// Copies files to disk, and keeps of each what tells later whether it is still the same.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A file as it was copied. */
export interface CopiedFile {
  /** Within the folder, with slashes. */
  readonly path: string
  readonly bytes: number
  /** SHA-256, in hexadecimal digits. */
  readonly sha256: string
}

const pieceBytes = 2 ** 20

/**
 * Copies a file, readable by its owner only; when it resolves, the content is on disk. The file may change meanwhile.
 * @param to undefined: the file is read only.
 * @returns undefined if there is no such file.
 */
export async function copyFile(from: string, to: string | undefined): Promise<Omit<CopiedFile, 'path'> | undefined> {
  const source = await openIfThere(from)
  if (!source) return undefined
  const hash = createHash('sha256')
  let bytes = 0
  await pipeline(
    source.createReadStream({ highWaterMark: pieceBytes }),
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        hash.update(piece)
        bytes += piece.length
        yield piece
      }
    },
    to === undefined
      ? new Writable({ write: (_piece, _encoding, done) => done() })
      : createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true, highWaterMark: pieceBytes }),
  )
  return { bytes, sha256: hash.digest('hex') }
}

/** Copying is mostly waiting for the disk to have it: so many files at a time. */
const lanes = 8

/** Does the work for each file, for some at a time. @throws the first error, once nothing is worked on any more. */
export async function forEachFile<T>(files: readonly T[], work: (file: T) => Promise<void>): Promise<void> {
  const rest = files.values()
  let isBroken = false
  const lane = async (): Promise<void> => {
    for (const file of rest) {
      if (isBroken) return
      await work(file).catch(error => {
        isBroken = true
        throw error
      })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
}

/** What `copyFile` would tell of a file with this content. */
export const digestOf = (content: Buffer): Omit<CopiedFile, 'path'> => ({
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch(error => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
}
