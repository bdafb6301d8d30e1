// The credentials of a client, in any of the ways it may send them (RFC 6749 §2.3.1, RFC 7523 §2.2, interface §5).

import type { Credentials } from '../access/scheme.ts'
import { Failure } from '../lib/failure.ts'
import { isObject } from '../lib/json.ts'

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Every authentication method, by its name in RFC 8414; X-Client-ID with X-Client-Secret is the fourth. */
export const authMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const

export interface BySecret {
  readonly clientId: string
  readonly secret: string
}

export interface ByAssertion {
  /** As the body names it; the assertion must be the same client's. */
  readonly clientId: string | undefined
  readonly assertion: string
}

/**
 * Returns the one proof that the request carries.
 * @throws Failure INVALID_CLIENT without any, MALFORMED_REQUEST if there are several or they contradict each other.
 */
export function presented({ headers, body }: Pick<Credentials, 'headers' | 'body'>): BySecret | ByAssertion {
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined)
  const clientId = parameter(body, 'client_id')
  const assertion = assertionIn(body)
  const found = [basic(header('authorization')), byHeaders(header), byBody(body, clientId)].filter(
    each => each !== undefined,
  )
  if (found.length + (assertion === undefined ? 0 : 1) > 1)
    throw new Failure('MALFORMED_REQUEST', 'Send the client credentials with one method only (RFC 6749 §2.3).')
  if (assertion !== undefined) return { clientId, assertion }
  const [proof] = found
  if (!proof)
    throw invalidClient(
      'Send the client id and secret in the body, with HTTP Basic, or in X-Client-ID and X-Client-Secret; or send a client_assertion.',
    )
  if (clientId !== undefined && clientId !== proof.clientId)
    throw new Failure('MALFORMED_REQUEST', 'client_id in the body differs from the client in the header.')
  return proof
}

/** The one answer to every wrong proof: it does not say which part was wrong. */
export function invalidClient(message = 'The client is unknown or its credentials are invalid.'): Failure {
  return new Failure('INVALID_CLIENT', message)
}

function basic(header: string | undefined): BySecret | undefined {
  if (!header) return undefined
  if (!/^basic( |$)/i.test(header)) throw invalidClient('Authorization must use HTTP Basic for this operation.')
  // Spaces have no meaning in base64.
  const text = Buffer.from(header.slice(5), 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw invalidClient('Authorization must contain a client id and a secret.')
  return { clientId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) }
}

// Both parts are form-encoded before they are joined (RFC 6749 §2.3.1). Many clients omit the encoding, and then it
// changes nothing.
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function byHeaders(header: (name: string) => string | undefined): BySecret | undefined {
  const [clientId, secret] = [header('x-client-id'), header('x-client-secret')]
  return clientId !== undefined && secret !== undefined ? { clientId, secret } : undefined
}

function byBody(body: unknown, clientId: string | undefined): BySecret | undefined {
  const secret = parameter(body, 'client_secret')
  if (secret === undefined) return undefined
  if (clientId === undefined) throw invalidClient('client_secret requires client_id.')
  return { clientId, secret }
}

function assertionIn(body: unknown): string | undefined {
  const [type, assertion] = [parameter(body, 'client_assertion_type'), parameter(body, 'client_assertion')]
  if (type === undefined && assertion === undefined) return undefined
  if (type !== assertionType) throw new Failure('MALFORMED_REQUEST', `client_assertion_type must be ${assertionType}.`)
  if (assertion === undefined) throw new Failure('MALFORMED_REQUEST', 'client_assertion is missing.')
  return assertion
}

/** Returns one parameter of a form or JSON body; an empty one counts as left out (RFC 6749 §3.2). */
function parameter(body: unknown, name: string): string | undefined {
  const values =
    body instanceof URLSearchParams ? body.getAll(name) : isObject(body) && name in body ? [body[name]] : []
  if (values.length > 1) throw new Failure('MALFORMED_REQUEST', `${name} must not be repeated.`)
  const [value] = values
  if (value !== undefined && typeof value !== 'string')
    throw new Failure('MALFORMED_REQUEST', `${name} must be a string.`)
  return value || undefined
}
