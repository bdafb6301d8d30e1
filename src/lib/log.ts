// Structured logs: one JSON object a line, never a body, a name or a secret.
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** The process's logger; `level` silent writes nothing. @param destination of the lines; absent: standard output. */
export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: error => serialized(error) },
      redact: [
        'headers.authorization',
        'headers.cookie',
        'headers["x-client-secret"]',
        'headers["x-bridge-agent-key"]',
      ],
    },
    destination,
  )
}

/** Depth of nested causes that are logged. */
const depth = 3

/**
 * Returns what the log keeps of an error: its kind, its message, where it was raised and what caused it. Other properties may quote
 * stored data: PostgreSQL's `detail` holds whole rows (test/http/logs.test.ts).
 */
function serialized(error: unknown, left = depth): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const { message, stack = '', cause, code } = error as Error & { code?: unknown }
  const words = quotes(error) ? message.replace(/".*"/s, '"…"') : message
  return {
    type: error.constructor.name,
    message: words,
    stack: stack.replace(message, () => words),
    ...(typeof code === 'string' ? { code } : {}),
    ...(cause !== undefined && left > 0 ? { cause: serialized(cause, left - 1) } : {}),
  }
}

/** Whether the words of an error quote a value: of JSON that cannot be read, or that PostgreSQL cannot take (class 22). */
const quotes = (error: Error & { code?: unknown }): boolean =>
  error instanceof SyntaxError || (typeof error.code === 'string' && /^22\w{3}$/.test(error.code))
