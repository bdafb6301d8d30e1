// Verdicts on maps in files, beside Node's compile cache (../lib/compile-cache.js), so that a start compiles no map that has not
// changed. As the service runs that cache as code, both belong to the account that installs the service. What a file holds is
// believed only as a whole: it begins with a hash of its name and the rest.

import { hash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { codeVersion } from './code-version.ts'
import type { MapVerdict, Verdicts } from './verdict.ts'

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/health-interop/verdicts')

/** Most files; a verdict takes some 2 kB. */
const MOST = 500
/** Most bytes of one file: the next start checks a map again that has more to say. */
const LARGEST = 200_000
const DIGEST = 32

export interface VerdictFilesOptions {
  readonly folder?: string
  /** Returns the version of the code of this process, as long as its files are what they were when the process began. */
  readonly version?: () => string | undefined
}

/** Opens the verdicts of this version of the code. Where the folder cannot be written, maps are checked by each process. */
export function verdictFiles({ folder = FOLDER, version = codeVersion }: VerdictFilesOptions = {}): Verdicts {
  const code = version()
  const nameOf = (key: string) => hash('sha256', `${code} ${key}`)
  return {
    find: key => (code === undefined ? undefined : readVerdict(folder, nameOf(key))),
    keep(fresh) {
      if (fresh.size === 0 || code === undefined || version() !== code) return
      try {
        mkdirSync(folder, { recursive: true })
        for (const [key, verdict] of fresh) writeVerdict(folder, nameOf(key), verdict)
        removeOldest(folder)
      } catch {
        // The next start takes longer.
      }
    },
  }
}

function readVerdict(folder: string, name: string): MapVerdict | undefined {
  try {
    const bytes = readFileSync(join(folder, name))
    const body = bytes.subarray(DIGEST)
    return digestOf(name, body).equals(bytes.subarray(0, DIGEST)) ? deserialize(body) : undefined
  } catch {
    return undefined
  }
}

/** Written under another name first: another process reads the whole file, or none. */
function writeVerdict(folder: string, name: string, verdict: MapVerdict): void {
  const body = serialize(verdict)
  if (body.length > LARGEST) return
  const draft = join(folder, `${randomUUID()}.draft`)
  writeFileSync(draft, Buffer.concat([digestOf(name, body), body]))
  renameSync(draft, join(folder, name))
}

function digestOf(name: string, body: Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(name), body]), 'buffer')
}

/** Removes the files that were written first, drafts of processes that ended among them. */
function removeOldest(folder: string): void {
  const names = readdirSync(folder)
  if (names.length <= MOST) return
  const ages = names.map(name => ({
    name,
    written: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }))
  const oldest = ages.toSorted((a, b) => a.written - b.written).slice(0, names.length - MOST)
  for (const { name } of oldest) rmSync(join(folder, name), { force: true })
}
