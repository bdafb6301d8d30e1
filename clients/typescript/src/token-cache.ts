// Keeps the token of a client in the cache of the caller, for the processes that start after this one.
import type { Settings } from './options.ts'

/**
 * Keeps access tokens between processes. A token is a secret: keep the cache as private as the client secret.
 * What a method throws is ignored, and an answer that takes more than a second is not waited for.
 */
export interface TokenCache {
  /** The text that was set for this key; null or undefined if there is none. */
  get(key: string): string | null | undefined | Promise<string | null | undefined>
  /** Keeps a text for so many seconds. */
  set(key: string, value: string, seconds: number): unknown
}

/** A token of the cache. */
interface Kept {
  readonly token: string
  /** Seconds in which it need not be renewed. */
  readonly usable: number
}

/** The place of one client in a token cache. */
export interface TokenStore {
  /** The token that is kept; undefined if there is none of use. Never rejects. */
  read(): Promise<Kept | undefined>
  /** Keeps a token that expires in so many seconds. Never rejects. */
  write(token: string, lifetime: number): Promise<void>
}

/** Seconds before its expiry at which a token is renewed. */
export const early = 60

/** Milliseconds that a call waits for the cache. */
const patience = 1000

/** @param unixTime seconds since 1970: the one clock that processes share. */
export function createTokenStore(settings: Settings, unixTime: () => number): TokenStore {
  const { tokenCache: cache } = settings
  if (cache === undefined) return { read: async () => undefined, write: async () => {} }
  let made: Promise<string> | undefined
  const key = () => (made ??= keyOf(settings))
  return {
    read: () =>
      answerOf(async () => {
        const text = await cache.get(await key())
        return typeof text === 'string' ? keptIn(text, unixTime()) : undefined
      }),
    write: async (token, lifetime) => {
      const seconds = Math.floor(lifetime - early)
      if (seconds < 1) return
      const value = JSON.stringify({ access_token: token, expires_at: Math.floor(unixTime() + lifetime) })
      await answerOf(async () => cache.set(await key(), value, seconds))
    },
  }
}

/** Whether a header can hold this token. */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

function keptIn(text: string, now: number): Kept | undefined {
  const { access_token: token, expires_at: expiresAt } = JSON.parse(text) as Record<string, unknown>
  if (!isToken(token) || typeof expiresAt !== 'number' || !Number.isFinite(expiresAt)) return undefined
  const usable = expiresAt - early - now
  return usable > 0 ? { token, usable } : undefined
}

/** A key that another client, secret, set of scopes or service does not have. */
async function keyOf({ origin, clientId, clientSecret, scopes }: Settings): Promise<string> {
  const text = JSON.stringify([origin, clientId, clientSecret, scopes.join(' ')])
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return `health-interop.token.${[...digest].map(byte => byte.toString(16).padStart(2, '0')).join('')}`
}

/** The answer of a cache; undefined if it throws or takes too long. */
async function answerOf<T>(ask: () => Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>(done => {
    timer = setTimeout(() => done(undefined), patience)
  })
  try {
    return await Promise.race([ask(), late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
