// A watched folder: a file is read when it is complete, stored as a whole, and only then moved to done/, or to failed/ with its reason.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import type { FolderSource } from '../config-shape.ts'
import type { Input, InputParts } from '../inputs.ts'
import type { Outcome } from '../intake.ts'
import { kindOf } from '../log.ts'
import { keepDoing } from '../loop.ts'
import { Problem } from '../problem.ts'
import { type FileContent, FileFault, readFile } from './read.ts'

export interface FolderParts extends InputParts {
  readonly name: string
  readonly source: FolderSource
  readonly longest: number
}

/** A file as it was last seen; once it stays the same for long enough it is complete. */
interface Seen {
  readonly size: number
  readonly changedAt: number
  readonly since: number
}

interface Watch {
  /** Takes what is complete; returns the milliseconds until the next look. */
  step(): Promise<number>
  readonly counts: { taken: number; failed: number }
  /** What the last look could not do; undefined: nothing. */
  problem(): string | undefined
}

/** Names of files that are still being written, by the conventions of copying programs. */
const isUnfinished = (name: string): boolean =>
  /^[.~]|(?:\.(?:tmp|temp|part|partial|filepart|crdownload|writing)|~)$/i.test(name)

export async function startFolder(parts: FolderParts): Promise<Input> {
  const { source, name, clock, log } = parts
  const watch = createWatch(parts)
  const loop = keepDoing(`folder ${name}`, watch.step, clock, log)
  log.info('watching a folder', { source: name })
  return {
    status: () => ({ state: 'watching', kind: 'folder', path: source.path, ...watch.counts }),
    problem: watch.problem,
    close: () => loop.stop(),
  }
}

export function createWatch(parts: FolderParts): Watch {
  const { source, name, clock, log } = parts
  const counts = { taken: 0, failed: 0 }
  try {
    for (const folder of ['.', 'done', 'failed']) mkdirSync(join(source.path, folder), { recursive: true })
  } catch (error) {
    throw new Problem(`Source ${name} cannot use ${source.path} (${(error as NodeJS.ErrnoException).code}).`)
  }
  let seen = new Map<string, Seen>()
  let problem: string | undefined
  const trouble = (text: string, error?: unknown): void => {
    problem = `folder of source ${name}: ${text}`
    log.warn(text, { source: name, ...(error === undefined ? {} : { error: kindOf(error) }) })
  }
  const takeAll = async (found: ReadonlyMap<string, Seen>, now: number): Promise<void> => {
    for (const [file, { since }] of found) {
      if (now - since < source.settle_seconds * 1000) continue
      // A file that cannot be read or moved keeps no other waiting.
      const result = await take(parts, file).catch(error => trouble('a file cannot be read or moved', error))
      if (result === 'full') return
      if (result === 'later') trouble('a file waits: it cannot be read or stored now')
      else if (result) counts[result]++
    }
  }
  return {
    counts,
    problem: () => problem,
    async step() {
      const now = clock.now()
      problem = undefined
      try {
        seen = look(source, seen, now)
        await takeAll(seen, now)
      } catch (error) {
        trouble('it cannot be read', error)
      }
      return source.poll_seconds * 1000
    },
  }
}

/** The files of the folder by name, each with the time since which it is as it is. */
function look({ path }: FolderSource, before: ReadonlyMap<string, Seen>, now: number): Map<string, Seen> {
  const names = readdirSync(path, { withFileTypes: true }).filter(each => each.isFile() && !isUnfinished(each.name))
  const found = new Map<string, Seen>()
  for (const { name } of names.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const stat = statSync(join(path, name), { throwIfNoEntry: false })
    if (!stat) continue
    const { size, mtimeMs: changedAt } = stat
    const known = before.get(name)
    const isSame = known?.size === size && known.changedAt === changedAt
    found.set(name, isSame ? known : { size, changedAt, since: now })
  }
  return found
}

type Taken = 'taken' | 'failed' | 'full' | 'later'

async function take(parts: FolderParts, file: string): Promise<Taken> {
  const { source, state, name, log } = parts
  const path = join(source.path, file)
  let bytes: Buffer
  try {
    if (statSync(path).size > source.max_file_bytes)
      return fail(parts, file, `The file is longer than ${source.max_file_bytes} bytes.`)
    bytes = readFileSync(path)
  } catch {
    return 'later'
  }
  const digest = createHash('sha256').update(bytes).digest()
  const known = state.sql('select digest from file where source = ? and name = ?').get(name, file) as Digest | undefined
  if (known && digest.equals(known.digest)) return moveDone(parts, file)
  let content: FileContent
  try {
    content = readFile(parts, file, bytes)
  } catch (error) {
    if (error instanceof FileFault) return fail(parts, file, error.message)
    throw error
  }
  const outcome = await store(parts, file, content, digest)
  if (outcome.kind === 'full') return 'full'
  if (outcome.kind === 'failed') return 'later'
  log.info('file taken', {
    source: name,
    items: content.items.length,
    duplicates: outcome.duplicates,
    refused: content.refused,
  })
  return moveDone(parts, file)
}

interface Digest {
  readonly digest: Uint8Array
}

/** Stores the items, and with them that this file is done: a crash before it is moved makes no second item. */
function store(
  { intake, state, name }: FolderParts,
  file: string,
  content: FileContent,
  digest: Buffer,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const also = (): void => {
    content.also()
    state.sql('insert or replace into file values (?, ?, ?)').run(name, file, digest)
  }
  intake.put({ items: content.items, also, done: resolve })
  return promise
}

function moveDone(parts: FolderParts, file: string): Taken {
  move(parts, file, 'done')
  parts.state.sql('delete from file where source = ? and name = ?').run(parts.name, file)
  return 'taken'
}

/** Moves a file that cannot be taken, with a text beside it that says why. */
function fail(parts: FolderParts, file: string, reason: string): Taken {
  parts.log.warn('file refused', { source: parts.name })
  const target = freeName(join(parts.source.path, 'failed'), file)
  writeFileSync(`${target}.reason`, `${reason}\n`, { flush: true })
  renameSync(join(parts.source.path, file), target)
  return 'failed'
}

function move({ source }: FolderParts, file: string, folder: string): void {
  renameSync(join(source.path, file), freeName(join(source.path, folder), file))
}

/** A path that nothing stands at: what is there is never overwritten. */
function freeName(folder: string, file: string): string {
  const { name, ext } = parse(file)
  for (let number = 1; ; number++) {
    const path = join(folder, number === 1 ? file : `${name}-${number}${ext}`)
    if (!existsSync(path)) return path
  }
}
