// Webhooks for a receiver, which needs no client and no credentials: `health-interop/webhooks` (interface §6.3).
import type { WebhookEvent } from './generated/types.ts'
import { parseAt, type RawBody, type SignatureHeader, sign, type TestPayload, verifyAt } from './signature.ts'

export { ServiceError, type SignatureReason, WebhookSignatureError } from './errors.ts'
export type { WebhookEvent } from './generated/types.ts'
export type { RawBody, SignatureHeader, TestPayload } from './signature.ts'

/**
 * Verifies that a webhook comes from the service and is recent. Resolves with nothing, or rejects.
 * @param rawBody the body as it came, before any parser changed it.
 * @param header the value of the `X-Service-Signature` header.
 * @param secret the `webhook_secret` of the subscription; during a rotation the list of both.
 * @param tolerance seconds that the signature's time may differ from now.
 * @throws WebhookSignatureError whose `reason` says what is wrong: answer 400.
 */
export async function verifySignature(
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  tolerance = 300,
): Promise<void> {
  return verifyAt(Date.now() / 1000, rawBody, header, secret, tolerance)
}

/**
 * Verifies a webhook as `verifySignature` does, then returns its event. Compare `event.type` to learn what `event.data` holds.
 * @throws WebhookSignatureError whose `reason` says what is wrong: answer 400.
 */
export async function parseEvent(
  rawBody: RawBody,
  header: SignatureHeader,
  secret: string | readonly string[],
  tolerance = 300,
): Promise<WebhookEvent> {
  return parseAt(Date.now() / 1000, rawBody, header, secret, tolerance)
}

/**
 * Signs a payload as the service does, for tests of your receiver.
 * @param payload text, which is signed as it is, or an object, which is written as JSON.
 * @param secret any text that begins with `whsec_`.
 * @param timestamp seconds since 1970; now unless given.
 */
export async function signTestPayload(
  payload: string | object,
  secret: string,
  timestamp: number = Math.floor(Date.now() / 1000),
): Promise<TestPayload> {
  return sign(payload, secret, timestamp)
}
