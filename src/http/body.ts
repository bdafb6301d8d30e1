// Reads a request's body: bounded in bytes before and after decompression, in memory and in time, and only in a media type that the
// route takes.
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Failure } from '../lib/failure.ts'
import { parseJson } from '../lib/json.ts'
import { bodyBounds, createJsonMeter } from '../lib/json-meter.ts'
import { syntaxProblem } from '../lib/json-tokens.ts'
import { byHeaders } from './identify.ts'
import type { Hold, Intake } from './intake.ts'
import { arrived, paced } from './pace.ts'
import type { Route } from './route.ts'

/** Largest body of a route that identifies its sender by the body alone, or not at all. */
const mostUnproved = 65_536

/** Bytes that one compressed byte may become: FHIR in JSON shrinks to a tenth, seldom to a fiftieth. */
const mostInflated = 200

/** The media type of a header value: lower-case, without parameters. */
export function mediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase() || undefined
}

interface Reading {
  readonly request: IncomingMessage
  /** Bytes, after decompression. */
  readonly limit: number
  /** Whether its depth and values are counted too. */
  readonly isJson: boolean
  readonly hold: Hold
  /** Values, if it is JSON. */
  readonly maxValues?: number
}

/** A body that has arrived in full. */
interface Taken {
  readonly bytes: Buffer
  /** Of its JSON. */
  readonly values: number
  /** `JSON.parse` keeps the digits of all numbers. */
  readonly keepsDigits: boolean
}

/**
 * The whole body as bytes, decompressed if it came gzipped.
 * @throws Failure PAYLOAD_TOO_LARGE beyond its bounds, REQUEST_TIMEOUT if it comes too slowly, UNSUPPORTED_MEDIA_TYPE for other
 * encodings, MALFORMED_REQUEST for gzip that is none and JSON that is too deep.
 */
async function readBody({ request, limit, isJson, hold, maxValues = bodyBounds.values }: Reading): Promise<Taken> {
  const encoding = encodingOf(request)
  const meter = isJson ? createJsonMeter({ ...bodyBounds, values: maxValues }) : undefined
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer): Promise<void> | undefined => {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    meter?.add(chunk)
    chunks.push(chunk)
    return hold.cover(size, meter?.values() ?? 0)
  }
  const ready = encoding === 'gzip' ? undefined : arrived(request)
  if (ready) await take(ready)
  else for await (const chunk of encoding === 'gzip' ? inflated(request) : paced(request)) await take(chunk)
  return {
    bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
    values: meter?.values() ?? 0,
    keepsDigits: meter?.keepsDigits() ?? false,
  }
}

/**
 * Returns the declared length of a body in bytes, or 0 if it declares none. @throws Failure PAYLOAD_TOO_LARGE beyond
 * the limit.
 */
function declaredBytes({ headers }: IncomingMessage, limit: number): number {
  const bytes = Number(headers['content-length'] ?? 0)
  if (bytes > limit) throw tooLarge(limit)
  return bytes
}

const tooLarge = (limit: number): Failure => new Failure('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes.`)

function encodingOf({ headers }: IncomingMessage): 'gzip' | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase()
  if (!encoding || encoding === 'identity') return undefined
  if (encoding === 'gzip') return 'gzip'
  throw new Failure(
    'UNSUPPORTED_MEDIA_TYPE',
    `Content-Encoding ${encoding} is not supported: use gzip or omit the header.`,
  )
}

/** The bytes of a gzipped body, unpacked as they come. */
async function* inflated(request: IncomingMessage): AsyncGenerator<Buffer> {
  let [packed, plain] = [0, 0]
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of paced(request)) {
      packed += chunk.length
      yield chunk
    }
  }
  const unpacked = pipeline(Readable.from(counted(), { objectMode: false }), createGunzip(), () => {})
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      plain += chunk.length
      if (plain > mostInflated * Math.max(packed, 5000))
        throw new Failure('PAYLOAD_TOO_LARGE', `The gzip body expands to more than ${mostInflated} times its size.`)
      yield chunk
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('MALFORMED_REQUEST', 'The body is not valid gzip.')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Bytes as text. @throws Failure MALFORMED_REQUEST if they are not UTF-8. */
function decodeText(bytes: Buffer): string {
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
    throw new Failure(
      'MALFORMED_REQUEST',
      `The ${part} contains a percent sign that does not start a valid UTF-8 escape.`,
    )
  }
  if (decoded.includes('\0')) throw new Failure('MALFORMED_REQUEST', `The ${part} contains a NUL character (%00).`)
}

const form = 'application/x-www-form-urlencoded'

/**
 * The body's value: a form's fields as an object of strings, anything else as JSON.
 * @param keepsDigits a meter has found that `JSON.parse` keeps the digits of all numbers
 */
export function parseBody(bytes: Buffer, type: string | undefined, keepsDigits = false): unknown {
  const text = decodeText(bytes)
  if (type === form) {
    mustBeEscaped(text, 'form')
    return new URLSearchParams(text)
  }
  try {
    return keepsDigits ? JSON.parse(text) : parseJson(text)
  } catch (error) {
    const problem = syntaxProblem(text, (error as Error).message)
    throw new Failure('MALFORMED_REQUEST', `The body is not valid JSON: ${problem}.`)
  }
}

const json = ['application/json']
const empty = Buffer.alloc(0)

/** A body, and the bytes that it was read from, unless the handler reads them itself. */
export interface Body {
  readonly body: unknown
  readonly bytes?: Buffer
}

export interface BodyParts {
  readonly intake: Intake
  /** Bytes of a body of any route. */
  readonly maxBodyBytes: number
}

/** A request as its body is read. */
export interface Sending {
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly request: IncomingMessage
  readonly type: string | undefined
  /** Ends the wait for memory. */
  readonly signal: AbortSignal
  /** True if the route takes the body as it is sent. */
  readonly isBytes: boolean
  /** The client or address that the memory is counted against. */
  readonly who: string
  /** Called with the hold on the memory of the body. */
  readonly holding: (hold: Hold) => void
  /** Sends `100 Continue` to a sender that waits for it (`Expect: 100-continue`). */
  readonly proceed: () => void
}

/**
 * The body that a route takes.
 * @throws Failure MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, RATE_LIMITED, UNAVAILABLE.
 */
export async function bodyOf(
  route: Route,
  { params, request, type, signal, isBytes, who, holding, proceed }: Sending,
  { intake, maxBodyBytes }: BodyParts,
): Promise<Body> {
  if (route.body === undefined) return { body: undefined, bytes: empty }
  const isExpecting = request.headers.expect?.toLowerCase() === '100-continue'
  if (type !== undefined && route.streams?.includes(type)) {
    if (isExpecting) proceed()
    return { body: request }
  }
  const isProved = byHeaders.has(route.access.scheme) && route.access.scheme !== 'open'
  const limit = Math.min(route.maxBodyBytes ?? Infinity, maxBodyBytes, isProved ? Infinity : mostUnproved)
  const hold = await intake.begin(who, declaredBytes(request, limit), signal)
  holding(hold)
  if (isExpecting) proceed()
  const { bytes, values, keepsDigits } = await readBody({
    request,
    limit,
    isJson: isBytes ? type?.includes('json') === true : type !== form,
    hold,
    maxValues: route.maxValues?.(params),
  })
  if (bytes.length === 0) {
    if (route.bodyOptional) return { body: undefined, bytes }
    throw new Failure('MALFORMED_REQUEST', 'The body is empty.')
  }
  if (isBytes) return { body: bytes, bytes }
  const taken = route.consumes ?? json
  if (type !== undefined && !taken.includes(type)) {
    throw new Failure(
      'UNSUPPORTED_MEDIA_TYPE',
      `The media type ${type} of the body is not supported: send ${taken.join(', ')}.`,
      {
        headers: { accept: taken.join(', ') },
      },
    )
  }
  await hold.turn(bytes.length, values)
  return { body: parseBody(bytes, type, keepsDigits), bytes }
}
