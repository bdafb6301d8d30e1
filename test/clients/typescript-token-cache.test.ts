// The TypeScript client library with a token cache: one token for the processes that start one after the other.
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ClientOptions } from '../../clients/typescript/src/options.ts'
import type { TokenCache } from '../../clients/typescript/src/token-cache.ts'
import { onCleanup } from '../support/cleanup.ts'
import { startScriptedServer } from './support/scripted-server.ts'
import { clientOf, testWorld, vectors } from './support/typescript.ts'

const server = await startScriptedServer()
onCleanup(() => server.close())
afterEach(() => vi.useRealTimers())

const { keys, values, writes } = vectors('token-cache')
const now = 1_800_000_000
const kept = JSON.stringify({ access_token: 'kept-1', expires_at: now + 3600 })

/** A cache that remembers what was set, under whatever key is asked for if `first` is given. */
function cacheOf(first?: string) {
  const entries = new Map<string, string>()
  const sets: { key: string; value: string; seconds: number }[] = []
  const cache: TokenCache = {
    get: key => entries.get(key) ?? first,
    set: (key, value, seconds) => {
      entries.set(key, value)
      sets.push({ key, value, seconds })
    },
  }
  return { cache, sets }
}

/** A scripted server, and the tokens of what it received: null for a request for a token. */
async function open(script: object = { replies: [{ status: 200, body: { active: true } }] }) {
  const reply = await fetch(`${server.url}/scripts`, { method: 'POST', body: JSON.stringify(script) })
  const { url, received } = (await reply.json()) as { url: string; received: string }
  const tokens = async () => {
    const requests = (await (await fetch(received)).json()) as { headers: Record<string, string> }[]
    return requests.map(({ headers }) => headers['authorization']?.replace('Bearer ', '') ?? null)
  }
  return { url, tokens }
}

/** A world at this time. */
const worldAt = (time: number) => {
  const { world, ...others } = testWorld()
  return { ...others, world: { ...world, unixTime: () => time } }
}

/** Makes a client at this time and calls the service once. */
async function use(url: string, tokenCache: TokenCache, options: Partial<ClientOptions> = {}, time = now) {
  const client = await clientOf(url, { tokenCache, ...options }, worldAt(time))
  await client.tokens.introspect()
  return client
}

test('two clients one after the other make one token request', async () => {
  const { url, tokens } = await open()
  const { cache } = cacheOf()
  await use(url, cache)
  await use(url, cache)
  expect(await tokens()).toEqual([null, 'token-1', 'token-1'])
})

test('methods that are promises do as well', async () => {
  const { url, tokens } = await open()
  const { cache } = cacheOf()
  const later: TokenCache = {
    get: async key => cache.get(key),
    set: async (key, value, seconds) => cache.set(key, value, seconds),
  }
  await use(url, later)
  await use(url, later)
  expect(await tokens()).toEqual([null, 'token-1', 'token-1'])
})

test.for([{ clientSecret: 'rotated' }, { clientId: 'client-2' }, { scopes: ['patients:read'] }])(
  'a client with %o does not use the token of another',
  async options => {
    const { url, tokens } = await open()
    const { cache } = cacheOf()
    await use(url, cache)
    await use(url, cache, options)
    expect(await tokens()).toEqual([null, 'token-1', null, 'token-2'])
  },
)

test.for(keys as { name: string; options: Partial<ClientOptions>; key: string }[])(
  'the key of $name is that of the vectors',
  async ({ options, key }) => {
    const { cache, sets } = cacheOf()
    const transport = async () => Response.json({ access_token: 'token-1', expires_in: 3600 })
    await clientOf('', { ...options, tokenCache: cache, transport })
    expect(sets.map(each => each.key)).toEqual([key])
  },
)

test.for(values as { name: string; value: string | null; token: string | null }[])(
  'a cache that holds $name gives the token $token',
  async ({ value, token }) => {
    const { url, tokens } = await open()
    await use(url, cacheOf(value ?? undefined).cache)
    expect(await tokens()).toEqual(token === null ? [null, 'token-1'] : [token])
  },
)

test.for(writes as { name: string; now: number; expiresIn: number; value: object | null; seconds: number | null }[])(
  'what is kept of $name',
  async ({ now: time, expiresIn, value, seconds }) => {
    const { cache, sets } = cacheOf()
    const transport = async () => Response.json({ access_token: 'token-1', expires_in: expiresIn })
    await use('https://hie.example.org', cache, { transport }, time)
    expect(sets.map(each => [JSON.parse(each.value), each.seconds])).toEqual(value === null ? [] : [[value, seconds]])
  },
)

describe('a token of the cache that the service refuses', () => {
  test('is replaced, and the next client has the new one', async () => {
    const byToken = { 'kept-1': { status: 401, body: { error_code: 'TOKEN_EXPIRED', message: 'No.' } } }
    const { url, tokens } = await open({ byToken, replies: [{ status: 200, body: {} }] })
    const { cache } = cacheOf(kept)
    await use(url, cache)
    await use(url, cache)
    expect(await tokens()).toEqual(['kept-1', null, 'token-1', 'token-1'])
  })

  test('is not read back while the service gives no other', async () => {
    const refused = { status: 401, body: { error_code: 'TOKEN_INVALID', message: 'No.' } }
    const failed = { status: 400, body: { error_code: 'INVALID_SCOPE', message: 'No.' } }
    const { url, tokens } = await open({
      tokenReplies: [failed, null],
      byToken: { 'kept-1': refused },
      replies: [{ body: {} }],
    })
    const client = await clientOf(url, { tokenCache: cacheOf(kept).cache }, worldAt(now))
    await expect(client.tokens.introspect()).rejects.toMatchObject({ name: 'ValidationError' })
    await client.tokens.introspect()
    expect(await tokens()).toEqual(['kept-1', null, null, 'token-1'])
  })
})

test('a token is renewed 60 seconds before it expires, with the one that another process has kept', async () => {
  const { url, tokens } = await open()
  const { cache } = cacheOf(kept)
  const { world, advance, ...others } = testWorld()
  let time = now
  const client = await clientOf(
    url,
    { tokenCache: cache },
    { ...others, advance, world: { ...world, unixTime: () => time } },
  )
  const pass = async (seconds: number) => {
    advance(seconds)
    time += seconds
    await client.tokens.introspect()
  }
  await pass(3539)
  const { cache: theirs } = cacheOf()
  await use(url, { get: theirs.get, set: cache.set }, {}, time)
  await pass(1)
  expect(await tokens()).toEqual(['kept-1', null, 'token-1', 'token-1'])
})

test('calls that wait for a token read the cache once', async () => {
  const { url, tokens } = await open()
  const { cache } = cacheOf()
  const { advance, ...others } = testWorld()
  const get = vi.fn(cache.get)
  const client = await clientOf(url, { tokenCache: { get, set: () => {} } }, { advance, ...others })
  advance(3600)
  await Promise.all(Array.from({ length: 20 }, () => client.tokens.introspect()))
  expect(get).toHaveBeenCalledTimes(2)
  expect((await tokens()).filter(token => token === null)).toHaveLength(2)
})

describe('a cache out of order does not break a call:', () => {
  const fail = (): never => {
    throw new Error('The cache is away.')
  }
  const never = () => new Promise<never>(() => {})
  const broken: [string, Partial<TokenCache>][] = [
    ['get throws', { get: fail }],
    ['set throws', { set: fail }],
    ['get rejects', { get: () => Promise.reject(new Error('No.')) }],
    ['set rejects', { set: () => Promise.reject(new Error('No.')) }],
    ['get gives a number', { get: () => 1 as unknown as string }],
  ]
  test.for(broken)('%s', async ([, methods]) => {
    const { url, tokens } = await open()
    await use(url, { ...cacheOf().cache, ...methods })
    expect(await tokens()).toEqual([null, 'token-1'])
  })

  test.for(['get', 'set'])('%s never ends', async name => {
    vi.useFakeTimers()
    const sent: string[] = []
    const transport = async (url: string) => {
      sent.push(url)
      return Response.json({ access_token: 'token-1', expires_in: 3600 })
    }
    const { promise: called, resolve } = Promise.withResolvers<void>()
    const stuck = () => {
      resolve()
      return never()
    }
    const used = use('https://hie.example.org', { ...cacheOf().cache, [name]: stuck }, { transport })
    await called
    await vi.advanceTimersByTimeAsync(0)
    await vi.advanceTimersByTimeAsync(1000)
    await used
    expect(sent).toHaveLength(2)
  })
})

test.for<unknown>([{}, { get: () => null }, 'redis', null])('%o is no token cache', async tokenCache => {
  const made = clientOf('https://hie.example.org', { tokenCache: tokenCache as TokenCache })
  await expect(made).rejects.toMatchObject({ name: 'ValidationError', errorCode: 'INVALID_OPTION' })
})
