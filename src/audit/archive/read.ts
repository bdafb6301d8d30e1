// Reads an archive and checks it: every row against its hash and the row before, every chain against its beginning and its head as the
// database holds them.
import type { KeyObject } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import { copyFile } from '../../lib/copied-files.ts'
import type { SeenHead } from '../anchored.ts'
import type { ChainRow } from '../chain.ts'
import type { Break } from '../walk.ts'
import type { FileFacts } from './archive.ts'
import { checkLines } from './check-lines.ts'
import { type Line, readLine } from './lines.ts'

/** What a file holds, and what is wrong with it. */
export interface ArchiveReading extends FileFacts {
  /** When its oldest and newest rows were recorded; null: it has none. */
  readonly firstAt: Date | null
  readonly lastAt: Date | null
  /** The first broken row of every chain that has one. */
  readonly broken: readonly Break[]
  /** What is wrong with the file itself, in words. */
  readonly problem: string | undefined
}

export interface ArchiveToRead {
  readonly period: number
  /** Those of the period, in order. */
  readonly chains: readonly ChainRow[]
  readonly key: KeyObject
  /** Heads that were seen before; absent: none. */
  readonly known?: readonly SeenHead[]
  /** Ends the work. */
  readonly signal?: AbortSignal | undefined
}

/** Reads a file and checks it; undefined: there is no such file. @throws the error of the file system */
export async function readArchive(path: string, { signal, ...of }: ArchiveToRead): Promise<ArchiveReading | undefined> {
  const digest = await copyFile(path, undefined)
  if (!digest) return undefined
  const check = checkLines(of)
  const unread = await eachLine(path, check.take, signal).then(
    () => undefined,
    (error: Error) => `it cannot be read: ${error.message}`,
  )
  signal?.throwIfAborted()
  return { ...digest, ...check.result(unread) }
}

/** Calls `take` with each line; others have their turn between the pieces of the file. */
async function eachLine(path: string, take: (line: Line) => void, signal: AbortSignal | undefined): Promise<void> {
  const takeAll = async (pieces: AsyncIterable<Buffer>): Promise<void> => {
    const decoder = new StringDecoder()
    let rest = ''
    for await (const piece of pieces) {
      const lines = (rest + decoder.write(piece)).split('\n')
      rest = lines.pop()!
      for (const line of lines) take(readLine(line))
    }
    if (rest !== '') throw new Error('its last line is cut off')
  }
  await pipeline(createReadStream(path), createGunzip(), takeAll, { signal })
}
