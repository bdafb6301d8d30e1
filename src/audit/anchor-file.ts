// The file of an anchor, to which lines are only added. A full one is set aside, and the next one begins with what it held.
import type { KeyObject } from 'node:crypto'
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { lineText, readLine, type SealedLine } from './anchor-line.ts'
import { type Anchored, type AnchorText, furthest, readAnchor } from './anchored.ts'
import type { Head } from './chain.ts'

/** The file that was full, or could not be continued, before this one. */
export const formerOf = (file: string): string => `${file}.1`

/** Returns the file and the one before it, as far as they exist. */
export async function anchorTexts(file: string): Promise<AnchorText[]> {
  const texts = await Promise.all(
    [formerOf(file), file].map(async name => ({ name, text: await readFile(name, 'utf8').catch(absent) })),
  )
  return texts.filter((each): each is AnchorText => each.text !== undefined)
}

export interface AnchorFile {
  /** Reads the file and the one before it. */
  read(): Promise<Anchored>
  /**
   * Adds a line with these heads. No other process may add one meanwhile.
   * @returns the line as it was written, with its end. @throws the error that kept it from being written; then nothing
   * of it is left.
   */
  add(heads: Iterable<Head>, now: Date): Promise<string>
}

/** @param most bytes of a file beside its first line. */
export function anchorFile(file: string, key: KeyObject, most: number): AnchorFile {
  const read = async (): Promise<Anchored> => readAnchor(key, await anchorTexts(file))

  /** Returns the line to follow, or undefined if a new file is to be begun. */
  async function lastLine(): Promise<SealedLine | undefined> {
    const end = await endOf(file)
    if (end === undefined) return undefined
    const last = readLine(key, end)
    if (last && !(await isFull(file, most))) return last
    await rename(file, formerOf(file))
    return undefined
  }

  return {
    read,
    async add(heads, now) {
      const last = await lastLine()
      const before: Pick<Anchored, 'last' | 'heads'> = last ? { last, heads: new Map() } : await read()
      const line = {
        line: (before.last?.line ?? 0) + 1,
        time: now.toISOString(),
        begins: last === undefined,
        heads: [...furthest([...before.heads.values(), ...heads]).values()],
        previous: before.last?.seal ?? '',
      }
      const text = `${lineText(key, line)}\n`
      await append(file, text)
      return text
    },
  }
}

/** Bytes of the end of a file that are read to find its last line. */
const endBytes = 65_536

/** Returns the last line, without its end, or what stands there instead; undefined if there is none. */
async function endOf(file: string): Promise<string | undefined> {
  const size = await sizeOf(file)
  if (size === 0) return undefined
  await using handle = await open(file, 'r')
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(endBytes), 0, endBytes, Math.max(0, size - endBytes))
  const text = buffer.toString('latin1', 0, bytesRead)
  const start = text.lastIndexOf('\n', text.length - 2)
  const whole = start >= 0 || size <= endBytes ? text : await readFile(file, 'latin1')
  // A line without its end is not a whole line.
  return whole.endsWith('\n') ? whole.slice(whole.lastIndexOf('\n', whole.length - 2) + 1, -1) : ''
}

/** The first line holds a head of every chain, so it grows with the trail and is not counted. */
async function isFull(file: string, most: number): Promise<boolean> {
  if ((await sizeOf(file)) <= most) return false
  const bytes = await readFile(file)
  return bytes.length - bytes.indexOf('\n') > most
}

/** Appends a text, all of it or nothing, and waits until it is on disk. */
async function append(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const size = await sizeOf(file)
  await using handle = await open(file, 'a', 0o640)
  try {
    await handle.appendFile(text)
    await handle.datasync()
  } catch (error) {
    await handle.truncate(size)
    throw error
  }
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(absent))?.size ?? 0

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
