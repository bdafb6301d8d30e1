// The access token of a client: fetched once, renewed in time, by one request however many wait for it.
import { TransportError } from './errors.ts'
import type { Settings } from './options.ts'
import { orAborted } from './world.ts'

/** The token of a client. */
export interface Tokens {
  /** A token that is good now; a signal ends the wait for it. @throws ServiceError */
  current(signal?: AbortSignal): Promise<string>
  /** Forgets a token that the service did not accept, unless it was replaced already. */
  discard(token: string): void
}

const early = 60_000

interface Held {
  readonly token: string
  /** Milliseconds of the clock that never goes back, so that a wrong system clock changes nothing. */
  readonly renewAt: number
}

/** @param request sends the body of a token request, and gives the reply. */
export function createTokens(
  { clientId, clientSecret, scopes }: Settings,
  now: () => number,
  request: (body: object) => Promise<unknown>,
): Tokens {
  let held: Held | undefined
  let pending: Promise<string> | undefined

  async function fetchToken(): Promise<string> {
    const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const reply = await request(scopes.length === 0 ? credentials : { ...credentials, scope: scopes.join(' ') })
    const { access_token: token, expires_in: seconds } = reply as Record<string, unknown>
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token) || typeof seconds !== 'number')
      throw new TransportError('invalid_response', 'The reply to the token request holds no token.', { attempts: 1 })
    const lifetime = seconds * 1000
    held = { token, renewAt: now() + Math.max(lifetime / 2, lifetime - early) }
    return token
  }

  return {
    current(signal) {
      if (held !== undefined && now() < held.renewAt) return Promise.resolve(held.token)
      pending ??= fetchToken().finally(() => {
        pending = undefined
      })
      return orAborted(pending, signal)
    },
    discard(token) {
      if (held?.token === token) held = undefined
    },
  }
}
