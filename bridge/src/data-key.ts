// The key for payloads at rest. It is kept apart from the database, so that a copy of one is useless without the other.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from './problem.ts'

/** Where the key comes from: the environment, a credential of systemd, or a file; the first that is there. */
export interface KeySource {
  readonly kind: 'environment' | 'credential' | 'file'
  readonly where: string
}

type Environment = Readonly<Record<string, string | undefined>>

export function keySourceOf(file: string, env: Environment = process.env): KeySource {
  if (env['AGENT_DATA_KEY']) return { kind: 'environment', where: 'AGENT_DATA_KEY' }
  const credential = env['CREDENTIALS_DIRECTORY'] && join(env['CREDENTIALS_DIRECTORY'], 'agent-data-key')
  if (credential && existsSync(credential)) return { kind: 'credential', where: credential }
  return { kind: 'file', where: file }
}

/** @throws Problem if there is no key, or it is none. */
export function readDataKey(file: string, env: Environment = process.env): Buffer {
  const { kind, where } = keySourceOf(file, env)
  const text = kind === 'environment' ? env[where]! : readText(where)
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32) throw new Problem(`The data key in ${where} must be 32 bytes in base64.`)
  return key
}

function readText(where: string): string {
  try {
    return readFileSync(where, 'utf8')
  } catch (error) {
    throw new Problem(
      `The data key ${where} cannot be read (${(error as NodeJS.ErrnoException).code}): restore it, or run \`agent enrol\` for a new agent.`,
    )
  }
}

/** Creates the key file, readable by its owner only, unless there is a key already. */
export function ensureDataKey(file: string, env: Environment = process.env): void {
  const { kind } = keySourceOf(file, env)
  if (kind === 'file' && !existsSync(file))
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
}
