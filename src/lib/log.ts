// Structured logs: one JSON object a line, never a body, a name or a secret.
import { type Logger, pino } from 'pino'

export type Log = Logger

/** The process's logger; `level` silent writes nothing. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    redact: ['headers.authorization', 'headers.cookie', 'headers["x-client-secret"]', 'headers["x-bridge-agent-key"]'],
  })
}
