// What a command of `npm run admin` works with: its arguments, the settings, and the open database.

import type { Database } from '../../db/database.ts'
import { type Command as AnyCommand, type Arguments, UsageError } from '../../lib/command.ts'
import type { Config } from '../../lib/config.ts'

/** A command as it was called. */
export interface AdminCall extends FilesCall {
  readonly database: Database
}

/** A command that works on the files of the database, and opens it itself, if at all. */
export interface FilesCall extends Arguments {
  readonly config: Config
}

export type AdminCommand = AnyCommand<AdminCall>

/** The value of an option that cannot be left out. @throws UsageError */
export function needed({ text }: Arguments, option: string): string {
  const value = text(option)?.trim()
  if (value) return value
  throw new UsageError(`--${option} is required`)
}

/** The one argument of a command. @throws UsageError */
export function theOne({ positionals }: Arguments, what: string): string {
  const [value, ...more] = positionals
  if (value !== undefined && more.length === 0) return value
  throw new UsageError(`specify one ${what}`)
}

/** For commands that take options only. @throws UsageError */
export function mustBeNone({ positionals }: Arguments): void {
  if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`)
}

/** Names and values below each other, for people. */
export function listing(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
}
