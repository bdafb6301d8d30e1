// The signatures of webhooks (interface §6.3), by Web Crypto: Node, Deno, Bun and workers have it.
import { WebhookSignatureError } from './errors.ts'
import type { WebhookEvent } from './generated/types.ts'

/** The body exactly as it came: its text, or its bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** The value of X-Service-Signature, as frameworks give it. */
export type SignatureHeader = string | readonly string[] | null | undefined

/** A signed webhook, for the test of a receiver. */
export interface TestPayload {
  readonly body: string
  /** The value of X-Service-Signature. */
  readonly header: string
}

/** `verifySignature` at a time, in seconds since 1970. */
export async function verifyAt(
  now: number,
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  tolerance: number,
): Promise<void> {
  const secrets = secretsOf(secret)
  const body = bytesOf(rawBody)
  const { time, signatures } = partsOf(header)
  const signed = signedBytes(time, body)
  let matches = false
  for (const each of secrets) {
    const key = await keyOf(each)
    for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) matches = true
  }
  if (!matches)
    throw new WebhookSignatureError(
      'no_match',
      'The signature does not match the body and the secret: pass the body as it came, not JSON written anew, and the webhook_secret of this subscription.',
    )
  if (Math.abs(Math.floor(now) - Number(time)) > tolerance)
    throw new WebhookSignatureError(
      'timestamp_out_of_range',
      `The signature is more than ${tolerance} seconds away from this machine's time: the request is a replay, or a clock is wrong.`,
    )
}

/** `parseEvent` at a time, in seconds since 1970. */
export async function parseAt(
  now: number,
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  tolerance: number,
): Promise<WebhookEvent> {
  await verifyAt(now, rawBody, header, secret, tolerance)
  const event = parsed(rawBody)
  if (typeof event?.['id'] === 'string' && typeof event['type'] === 'string') return event as unknown as WebhookEvent
  throw new WebhookSignatureError(
    'invalid_event',
    'The signed body is no event: it is not a JSON object with id and type.',
  )
}

/** Signs as the service does. */
export async function sign(payload: string | object, secret: string, timestamp: number): Promise<TestPayload> {
  const [text] = secretsOf(secret)
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const signature = await crypto.subtle.sign('HMAC', await keyOf(text!), signedBytes(String(timestamp), encode(body)))
  return { body, header: `t=${timestamp},v1=${hexOf(new Uint8Array(signature))}` }
}

function parsed(rawBody: RawBody): Record<string, unknown> | null {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(rawBody))) as Record<
      string,
      unknown
    > | null
  } catch {
    return null
  }
}

function secretsOf(secret: unknown): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (secrets.length > 0 && secrets.every(each => typeof each === 'string' && each.startsWith('whsec_')))
    return secrets as readonly string[]
  throw new WebhookSignatureError(
    'wrong_secret_type',
    'The secret must be the webhook_secret of the subscription, which begins with whsec_: not the client secret, and without spaces.',
  )
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>
  throw new WebhookSignatureError(
    'parsed_body_suspected',
    'The body is neither text nor bytes: a framework has parsed it. Read the raw body before any JSON parser does.',
  )
}

function partsOf(header: unknown): { time: string; signatures: readonly Uint8Array<ArrayBuffer>[] } {
  const values: readonly unknown[] = Array.isArray(header) ? header : [header]
  const [value] = values
  if (values.length === 0 || value === undefined || value === null || value === '')
    throw new WebhookSignatureError('missing_header', 'The X-Service-Signature header is missing.')
  const parts = values.length === 1 && typeof value === 'string' ? value.split(',').map(part => part.trim()) : []
  const valuesOf = (name: string) => parts.filter(part => part.startsWith(name)).map(part => part.slice(name.length))
  const [times, signatures] = [valuesOf('t='), valuesOf('v1=')]
  if (times.length !== 1 || !/^[0-9]+$/.test(times[0]!) || signatures.length === 0)
    throw new WebhookSignatureError(
      'malformed_header',
      'X-Service-Signature must have the form t=<seconds>,v1=<64 hexadecimal digits>.',
    )
  const readable = signatures.filter(each => /^[0-9a-f]{64}$/.test(each))
  return { time: times[0]!, signatures: readable.map(fromHex) }
}

const keyOf = (secret: string) =>
  crypto.subtle.importKey('raw', encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])

function signedBytes(time: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = encode(`${time}.`)
  const whole = new Uint8Array(start.length + body.length)
  whole.set(start)
  whole.set(body, start.length)
  return whole
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const hexOf = (bytes: Uint8Array): string => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g)!, pair => Number.parseInt(pair, 16))
