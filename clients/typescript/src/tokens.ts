// The access token of a client: fetched once, renewed in time, by one request however many wait for it.
import { TransportError } from './errors.ts'
import type { Settings } from './options.ts'
import { early, isToken, type TokenStore } from './token-cache.ts'
import { orAborted } from './world.ts'

/** The token of a client. */
export interface Tokens {
  /** A token that is good now; a signal ends the wait for it. @throws ServiceError */
  current(signal?: AbortSignal): Promise<string>
  /** Forgets a token that the service did not accept, unless it was replaced already. */
  discard(token: string): void
}

interface Held {
  readonly token: string
  /** Milliseconds of the clock that never goes back, so that a wrong system clock changes nothing. */
  readonly renewAt: number
}

/**
 * @param store where a token outlives the process.
 * @param request sends the body of a token request, and gives the reply.
 */
export function createTokens(
  { clientId, clientSecret, scopes }: Settings,
  now: () => number,
  store: TokenStore,
  request: (body: object) => Promise<unknown>,
): Tokens {
  let held: Held | undefined
  let pending: Promise<string> | undefined
  /** The token that is kept may be the one that was refused. */
  let isRefused = false

  async function renewed(): Promise<string> {
    const kept = isRefused ? undefined : await store.read()
    if (kept === undefined) return fetchToken()
    held = { token: kept.token, renewAt: now() + kept.usable * 1000 }
    return kept.token
  }

  async function fetchToken(): Promise<string> {
    const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const reply = await request(scopes.length === 0 ? credentials : { ...credentials, scope: scopes.join(' ') })
    const { access_token: token, expires_in: seconds } = reply as Record<string, unknown>
    if (!isToken(token) || typeof seconds !== 'number')
      throw new TransportError('invalid_response', 'The reply to the token request holds no token.', { attempts: 1 })
    const renewAt = now() + Math.max(seconds / 2, seconds - early) * 1000
    await store.write(token, seconds)
    held = { token, renewAt }
    isRefused = false
    return token
  }

  return {
    current(signal) {
      if (held !== undefined && now() < held.renewAt) return Promise.resolve(held.token)
      pending ??= renewed().finally(() => {
        pending = undefined
      })
      return orAborted(pending, signal)
    },
    discard(token) {
      if (held?.token !== token) return
      held = undefined
      isRefused = true
    },
  }
}
