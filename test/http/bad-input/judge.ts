// What must be true of the answer to any request, right or wrong.
import { failureCodes } from '../../../src/lib/failure.ts'
import type { Operation } from './description.ts'
import type { Received } from './wire.ts'
import { mayCall, type Sent } from './world.ts'

/** `answer`: not one of the interface's; `door`: let in, or told wrongly, by credentials; `description`: not what is published. */
export type FaultKind = 'answer' | 'door' | 'description' | 'remains'

export interface Fault {
  readonly kind: FaultKind
  readonly words: string
}

/** Everything that is wrong with an answer. */
export function faultsOf(operation: Operation, sent: Sent, received: Received): Fault[] {
  const body = bodyOf(received)
  const faults: Fault[] = []
  const say = (kind: FaultKind, words: string): void => void faults.push({ kind, words })
  for (const words of [
    ...headerFaults(sent, received),
    ...(received.status >= 400 ? errorFaults(sent, received, body) : []),
  ])
    say('answer', words)
  if (sent.isStray) return faults
  for (const words of doorFaults(operation, sent, received)) say('door', words)
  const isMinimal = sent.headers['prefer']?.includes('return=minimal') && received.text === ''
  const words = isMinimal ? undefined : unlikeDescription(operation, received, body)
  if (words) say('description', words)
  return faults
}

function bodyOf({ text, headers }: Received): unknown {
  if (
    text === '' ||
    !String(headers['content-type']).includes('json') ||
    String(headers['content-type']).includes('ndjson')
  )
    return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function* headerFaults({ headers: asked }: Sent, { status, headers }: Received): Generator<string> {
  const id = String(headers['x-request-id'] ?? '')
  const wanted = asked['x-request-id'] ?? ''
  if (!/^[A-Za-z0-9._-]{8,128}$/.test(id)) yield `X-Request-Id is ${id}`
  else if (/^[A-Za-z0-9._-]{8,128}$/.test(wanted) && id !== wanted) yield 'X-Request-Id is not the one that was sent'
  if (headers['x-content-type-options'] !== 'nosniff') yield 'X-Content-Type-Options is missing'
  // What cannot be read as HTTP never reaches the limits.
  if (status !== 400 && headers['ratelimit'] === undefined) yield 'RateLimit is missing'
  if (status === 401 && headers['www-authenticate'] === undefined) yield 'WWW-Authenticate is missing'
  if ((status === 429 || status === 503) && headers['retry-after'] === undefined) yield 'Retry-After is missing'
  if (status === 405 && headers['allow'] === undefined) yield 'Allow is missing'
}

interface ErrorBody {
  readonly status?: unknown
  readonly error_code?: unknown
  readonly message?: unknown
  readonly request_id?: unknown
  readonly details?: unknown
  readonly resourceType?: unknown
  readonly issue?: readonly { readonly severity?: unknown; readonly code?: unknown; readonly diagnostics?: unknown }[]
}

function* errorFaults({ target }: Sent, { status, headers, text }: Received, body: unknown): Generator<string> {
  if (status >= 500) yield `answered ${status}`
  if (text === '') return yield 'an error without a body'
  if (text.length > 500_000) yield `an error of ${text.length} bytes`
  if (typeof body !== 'object' || body === null) return yield 'an error that is not JSON'
  const told = body as ErrorBody
  if (!/^\/api\/fhir\/R4([/?]|$)/.test(target)) {
    yield* ownFaults(told, status, headers)
    if (!String(headers['content-type']).startsWith('application/json')) yield `an error as ${headers['content-type']}`
    return
  }
  if (!String(headers['content-type']).startsWith('application/fhir+json'))
    yield `an error as ${headers['content-type']}`
  if (told.resourceType !== 'OperationOutcome' || !Array.isArray(told.issue) || told.issue.length === 0)
    return yield 'an error that is no OperationOutcome'
  for (const { severity, code, diagnostics } of told.issue)
    if (
      typeof code !== 'string' ||
      !isSentence(diagnostics) ||
      !['error', 'fatal', 'warning', 'information'].includes(String(severity))
    )
      yield `an issue without severity, code or words: ${JSON.stringify({ severity, code, diagnostics })}`
  if (told.status !== undefined) yield* ownFaults(told, status, headers)
}

const isSentence = (text: unknown): boolean => typeof text === 'string' && text.trim().length > 3 && text.length <= 1000

function* ownFaults(told: ErrorBody, status: number, headers: Received['headers']): Generator<string> {
  const known = (failureCodes as Record<string, { status: number }>)[String(told.error_code)]
  if (told.status !== 'error') yield `status is ${told.status}`
  if (!known) yield `error_code is ${told.error_code}`
  else if (known.status !== status) yield `${told.error_code} with ${status}`
  if (!isSentence(told.message)) yield `message is no sentence: ${told.message}`
  if (told.request_id !== headers['x-request-id']) yield 'request_id is not X-Request-Id'
  if (!Array.isArray(told.details)) yield 'details are missing'
  else if (told.error_code === 'VALIDATION_FAILED' && told.details.length === 0)
    yield 'details do not say what is wrong'
}

function* doorFaults(operation: Operation, { caller, headers, body }: Sent, { status }: Received): Generator<string> {
  if (mayCall(operation).includes(caller) || headers['x-client-id'] !== undefined) return
  if (operation.schemes.includes('ClientBasic')) {
    // The examples of the description are the credentials of the demo client.
    if (status < 400 && !body?.includes('client_secret')) yield `let ${caller} in with ${status}`
    return
  }
  const wanted = caller === 'scopeless' && operation.schemes.includes('BearerAuth') ? [403] : [401, 403]
  if (![...wanted, 429].includes(status) && !(status === 400)) yield `answered ${status} to ${caller}`
}

function unlikeDescription(
  { replies }: Operation,
  { status, headers, text }: Received,
  body: unknown,
): string | undefined {
  const reply = replies.get(status)
  if (!reply) return `${status} is not described`
  if (reply.types.length === 0)
    return text === '' || status === 200 ? undefined : `${status} has a body that is not described`
  const type = String(headers['content-type']).split(';')[0]!
  if (!reply.types.includes(type) && !reply.types.includes('*/*'))
    return `${status} is ${type}, described as ${reply.types.join(', ')}`
  return body === undefined ? undefined : reply.fits?.(body)
}
