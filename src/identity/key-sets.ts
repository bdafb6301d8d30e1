// The public keys of clients that publish them at a URL (SMART Backend Services): fetched under the rules of every outbound request,
// kept for minutes, and fetched again for a key that is not known, but never often.
// https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html
import type { JSONWebKeySet } from 'jose'
import { isObject, objectsIn } from '../lib/json.ts'
import type { Log } from '../lib/log.ts'
import type { Reach } from '../outbound/address.ts'
import { connections, undici } from '../outbound/connect.ts'
import { reasonOf } from '../outbound/reasons.ts'
import { publicKeysAmong } from './assertion.ts'
import { invalidClient } from './credentials.ts'

export interface KeySets {
  /**
   * Returns the keys at the URL, and fetches them again if they are old, or if the key id is not among them.
   * @throws Failure INVALID_CLIENT if they cannot be fetched and none are kept
   */
  at(url: string, kid: string | undefined): Promise<JSONWebKeySet>
  close(): Promise<void>
}

export interface KeySetOptions {
  readonly reach: Reach
  readonly log: Log
  /** Milliseconds. */
  readonly now: () => number
}

/**
 * Milliseconds for which keys are used without a new fetch, and for which they are used at most while their server does
 * not answer.
 */
const fresh = 300_000
const longest = 3_600_000
/** Milliseconds between two attempts to fetch one set, whatever they are for. */
const rest = 10_000
/** Sets that are kept, bytes of one, keys in it, and milliseconds to fetch it. */
const mostSets = 500
const mostBytes = 65_536
const mostKeys = 20
const timeout = 5000

interface Kept {
  readonly keys: JSONWebKeySet
  readonly fetchedAt: number
}

interface Source {
  kept: Kept | undefined
  triedAt: number
  fetching: Promise<void> | undefined
}

export function createKeySets({ reach, log, now }: KeySetOptions): KeySets {
  const { agent, close } = connections({ reach, timeout })
  const sources = new Map<string, Source>()
  const sourceOf = (url: string): Source => {
    const source = sources.get(url) ?? { kept: undefined, triedAt: -rest, fetching: undefined }
    sources.delete(url)
    sources.set(url, source)
    // The map is in the order of use.
    if (sources.size > mostSets) sources.delete(sources.keys().next().value!)
    return source
  }
  const refresh = async (url: string, source: Source): Promise<void> => {
    source.triedAt = now()
    try {
      const text = await fetched(url)
      source.kept = { keys: keysIn(text), fetchedAt: now() }
    } catch (error) {
      const reason = error instanceof UnusableKeys ? error.message : reasonOf(error, timeout)
      log.warn({ url, reason }, 'could not fetch the keys of a client')
    }
  }
  const fetched = async (url: string): Promise<string> => {
    const { statusCode, body } = await undici().request(url, {
      dispatcher: agent(),
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeout),
    })
    // A body that is not read to its end fails once more when it is dropped.
    body.on('error', () => {})
    if (statusCode !== 200) {
      body.destroy()
      throw new UnusableKeys(`responded with ${statusCode}`)
    }
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.length
      if (length > mostBytes) throw new UnusableKeys(`the key set has more than ${mostBytes} bytes`)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
  return {
    async at(url, kid) {
      const source = sourceOf(url)
      const { kept } = source
      const isCurrent = kept !== undefined && now() - kept.fetchedAt < fresh && has(kept.keys, kid)
      if (!isCurrent && (source.fetching || now() - source.triedAt >= rest)) {
        source.fetching ??= refresh(url, source).finally(() => (source.fetching = undefined))
        await source.fetching
      }
      if (source.kept && now() - source.kept.fetchedAt < longest) return source.kept.keys
      throw invalidClient('The keys of the client cannot be fetched from its JWKS URL: try again.')
    },
    close,
  }
}

class UnusableKeys extends Error {}

const has = ({ keys }: JSONWebKeySet, kid: string | undefined): boolean =>
  kid === undefined || keys.some(each => each.kid === kid)

/** Returns the keys of a set that can verify an assertion. */
function keysIn(text: string): JSONWebKeySet {
  const set = parsed(text)
  const keys = publicKeysAmong(objectsIn(isObject(set) && set['keys']).slice(0, mostKeys))
  if (keys.length === 0) throw new UnusableKeys('the key set contains no public key for RS384, ES384 or RS256')
  return { keys }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnusableKeys('the key set is not JSON')
  }
}
