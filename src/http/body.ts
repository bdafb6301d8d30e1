// Reads a request's body: bounded in bytes before and after decompression, and only in a media type that the route takes.
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Failure } from '../lib/failure.ts'
import { parseJson } from '../lib/json.ts'
import type { Route } from './route.ts'

const unzip = promisify(gunzip)

/** Milliseconds in which a body must have arrived; then the connection is cut. */
const mostTime = 300_000

/** The media type of a header value: lower-case, without parameters. */
export function mediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase() || undefined
}

/**
 * The whole body as bytes, decompressed if it came gzipped.
 * @throws Failure PAYLOAD_TOO_LARGE beyond `limit` bytes, UNSUPPORTED_MEDIA_TYPE for other encodings.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new Failure('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`, { headers: { connection: 'close' } })
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  const late = setTimeout(() => request.destroy(), mostTime)
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
  } finally {
    clearTimeout(late)
  }
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase()
  if (!encoding || encoding === 'identity') return bytes
  if (encoding !== 'gzip')
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding ${encoding} is not supported; send gzip or nothing.`)
  return unzip(bytes, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : new Failure('MALFORMED_REQUEST', 'The body is not valid gzip.')
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Bytes as text. @throws Failure MALFORMED_REQUEST if they are not UTF-8. */
export function decodeText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Failure('MALFORMED_REQUEST', 'The body is not valid UTF-8.')
  }
}

/**
 * Checks percent escapes before a lenient reader turns broken ones into other text.
 * @throws Failure MALFORMED_REQUEST naming the part that holds the escape.
 */
export function mustBeEscaped(text: string, part: 'path' | 'query' | 'form'): void {
  if (!text.includes('%')) return
  let decoded: string
  try {
    decoded = decodeURIComponent(text)
  } catch {
    throw new Failure('MALFORMED_REQUEST', `The ${part} holds a percent sign that starts no valid UTF-8 escape.`)
  }
  if (decoded.includes('\0')) throw new Failure('MALFORMED_REQUEST', `The ${part} holds a NUL character (%00).`)
}

/** The body's value: a form's fields as an object of strings, anything else as JSON. */
export function parseBody(bytes: Buffer, type: string | undefined): unknown {
  const text = decodeText(bytes)
  if (type === 'application/x-www-form-urlencoded') {
    mustBeEscaped(text, 'form')
    return new URLSearchParams(text)
  }
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof RangeError)
      throw new Failure('MALFORMED_REQUEST', 'The body is nested too deeply.', { issue: 'too-costly' })
    throw new Failure('MALFORMED_REQUEST', `The body is not valid JSON: ${withoutContent((error as Error).message)}.`)
  }
}

// V8 quotes a piece of the text in its message, which may be patient data; the position is enough to find it.
function withoutContent(message: string): string {
  const position = /position (\d+)(?: \(line (\d+) column (\d+)\))?/.exec(message)
  if (position?.[2]) return `it stops making sense at line ${position[2]}, column ${position[3]}`
  if (position) return `it stops making sense at character ${position[1]}`
  return /end of JSON/.test(message) ? 'it ends too early' : 'it cannot be read'
}

const json = ['application/json']
const empty = Buffer.alloc(0)

/** A body, and the bytes that it was read from, unless the handler reads them itself. */
export interface Body {
  readonly body: unknown
  readonly bytes?: Buffer
}

/**
 * The body that a route takes.
 * @param mostBytes of any route.
 * @throws Failure MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE.
 */
export async function bodyOf(
  route: Route,
  request: IncomingMessage,
  type: string | undefined,
  mostBytes: number,
): Promise<Body> {
  if (route.body === undefined) return { body: undefined, bytes: empty }
  if (type !== undefined && route.streams?.includes(type)) return { body: request }
  const bytes = await readBody(request, Math.min(route.maxBodyBytes ?? Infinity, mostBytes))
  if (bytes.length === 0) {
    if (route.bodyOptional) return { body: undefined, bytes }
    throw new Failure('MALFORMED_REQUEST', 'The body is empty.')
  }
  const taken = route.consumes ?? json
  if (type !== undefined && !taken.includes(type)) {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', `The body is ${type}; this address takes ${taken.join(', ')}.`, {
      headers: { accept: taken.join(', ') },
    })
  }
  return { body: parseBody(bytes, type), bytes }
}
