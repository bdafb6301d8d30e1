// The agent's log: one JSON object a line, never a payload, a name or a key.

export const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type Level = (typeof levels)[number]

type Fields = Readonly<Record<string, string | number | boolean | undefined>>

/** Writes a line; fields hold counts, codes and names of sources, never what was received. */
export type Log = Readonly<Record<Exclude<Level, 'silent'>, (text: string, fields?: Fields) => void>>

/** @param write of the lines; absent: standard output. */
export function createLog(level: Level, write: (line: string) => void = line => process.stdout.write(line)): Log {
  const from = levels.indexOf(level)
  const writer =
    (name: Level) =>
    (msg: string, fields: Fields = {}): void => {
      if (levels.indexOf(name) < from) return
      write(`${JSON.stringify({ level: name, time: new Date().toISOString(), msg, ...fields })}\n`)
    }
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
}

/** What the log keeps of an error: its code and kind. Messages of parsers and of SQLite may quote what was received. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return [error.name, code, errcode].filter(each => typeof each === 'string' || typeof each === 'number').join(' ')
}
