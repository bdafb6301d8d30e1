// Signatures of deliveries: X-Service-Signature (interface §6.3), and beside it Standard Webhooks 1.0
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'

/** A new secret for one subscription: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** What a secret signs with, made ready once for all deliveries. */
export interface SigningKey {
  readonly whole: KeyObject
  readonly decoded: KeyObject
}

export const signingKey = (secret: string): SigningKey => ({
  whole: createSecretKey(Buffer.from(secret)),
  decoded: createSecretKey(Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64')),
})

/**
 * The headers that prove where a delivery comes from.
 * @param keys of its secrets, newest first; two while one replaces the other.
 * @param id of the event.
 * @param seconds of the present time, since 1970.
 * @param body exactly as it is sent.
 */
export function signatureHeaders(
  keys: readonly SigningKey[],
  id: string,
  seconds: number,
  body: string,
): Record<string, string> {
  const ours = keys.map(({ whole }) => `,v1=${hmac(whole, `${seconds}.`, body).toString('hex')}`)
  const standard = keys.map(({ decoded }) => `v1,${hmac(decoded, `${id}.${seconds}.`, body).toString('base64')}`)
  return {
    'X-Service-Signature': `t=${seconds}${ours.join('')}`,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
  }
}

/** What is wrong with a signature. */
export type SignatureProblem = 'missing' | 'malformed' | 'too-old' | 'in-the-future' | 'wrong'

/** A delivery that cannot be trusted; its message says what to look at. */
export class SignatureError extends Error {
  readonly problem: SignatureProblem

  constructor(problem: SignatureProblem, message: string) {
    super(message)
    this.name = 'SignatureError'
    this.problem = problem
  }
}

export interface Signed {
  /** The value of X-Service-Signature. */
  readonly header: string | undefined
  /** Exactly the bytes that came. */
  readonly body: string | Uint8Array
  readonly secret: string
  /** The present time in milliseconds. */
  readonly now?: number
  /** Seconds that the delivery's clock may differ from ours. */
  readonly tolerance?: number
}

/** Checks a delivery as its receiver does. @throws SignatureError unless it was signed with the secret just now. */
export function verifySignature({ header, body, secret, now = Date.now(), tolerance = 300 }: Signed): void {
  if (!header) throw new SignatureError('missing', 'The X-Service-Signature header is missing.')
  const { time, signatures } = parse(header)
  const age = Math.floor(now / 1000) - Number(time)
  if (age > tolerance)
    throw new SignatureError(
      'too-old',
      `The signature is ${age} seconds old, more than ${tolerance}: the request is a replay, or a clock is wrong.`,
    )
  if (age < -tolerance)
    throw new SignatureError('in-the-future', `The signature is ${-age} seconds in the future: a clock is wrong.`)
  const expected = hmac(signingKey(secret).whole, `${time}.`, body)
  if (signatures.some(each => timingSafeEqual(Buffer.from(each, 'hex'), expected))) return
  throw new SignatureError(
    'wrong',
    'The signature does not match the body and the secret: verify the raw bytes as received, not re-serialised JSON, with the webhook_secret of this subscription.',
  )
}

const prefix = 'whsec_'

const hmac = (key: KeyObject, start: string, body: string | Uint8Array): Buffer =>
  createHmac('sha256', key).update(start).update(body).digest()

function parse(header: string): { readonly time: string; readonly signatures: readonly string[] } {
  const parts = header.split(',').map(part => part.trim())
  const [time] = parts.flatMap(part => /^t=(\d{1,12})$/.exec(part)?.[1] ?? [])
  const signatures = parts.flatMap(part => /^v1=([0-9a-f]{64})$/.exec(part)?.[1] ?? [])
  if (time !== undefined && signatures.length > 0) return { time, signatures }
  throw new SignatureError(
    'malformed',
    'X-Service-Signature must have the form t=<seconds>,v1=<64 hexadecimal digits>.',
  )
}
