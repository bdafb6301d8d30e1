// What a logger receives: enough to find a request again, and nothing about a patient.
import { normalizeHealthId } from './health-id.ts'

/** One attempt of one request. It holds no header, query, body, token or secret. */
export interface LogRecord {
  readonly method: string
  /** Without its query; a Health ID is `{health_id}` in it, another id `{id}` or the name of its parameter. */
  readonly path: string
  /** Null if no response came. */
  readonly status: number | null
  readonly requestId: string | null
  /** From 1. */
  readonly attempt: number
  readonly durationMs: number
  /** The class of the error, or null. */
  readonly error: string | null
}

/** Receives one record per attempt. What it throws is ignored. */
export type Logger = (record: LogRecord) => void

/** Tells a logger; one that fails does not break the call. */
export function tell(logger: Logger, record: LogRecord): void {
  try {
    logger(record)
  } catch {}
}

/** A path as logs may hold it: whatever might be an id is replaced. */
export function redacted(path: string): string {
  const [bare = ''] = path.split(/[?#]/)
  const segments = bare.split('/')
  return segments
    .map((segment, index) => (isName(segment) && segments[index - 2] !== 'R4' ? segment : placeholder(segment)))
    .join('/')
}

const isName = (segment: string): boolean => /^(?:[$_]?[A-Za-z-]*|\.well-known|v\d|R4)$/.test(segment)

function placeholder(segment: string): string {
  try {
    normalizeHealthId(decodeURIComponent(segment))
    return '{health_id}'
  } catch {
    return '{id}'
  }
}
