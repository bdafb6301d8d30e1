// How the keys that a client publishes are fetched: from where, what of them is kept, and what the log says where they are none.
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createKeySets, type KeySetOptions } from '../../src/identity/key-sets.ts'
import { networks } from '../../src/lib/networks.ts'
import { onCleanup } from '../support/cleanup.ts'

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' })
const named = (kid: string) => ({ ...jwk, kid })

/** A server that answers alike, with what it was asked. */
async function publisher(answer: unknown, status = 200) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, reply) => {
    asked.push(request)
    reply.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onCleanup(() => new Promise<void>(done => server.close(() => done())))
  const { port } = server.address() as AddressInfo
  return { asked, url: `http://127.0.0.1:${port}/jwks.json` }
}

function keySets(change: Partial<KeySetOptions> = {}) {
  const warned: unknown[] = []
  const log = { warn: (...told: unknown[]) => void warned.push(told) } as unknown as KeySetOptions['log']
  const sets = createKeySets({ reach: { allowed: networks(''), isLocal: true }, log, now: () => 0, ...change })
  onCleanup(() => sets.close())
  return { sets, warned }
}

const unfetched = {
  ...{ code: 'INVALID_CLIENT' },
  message: 'The keys of the client cannot be fetched from its JWKS URL: try again.',
}

test('keys are asked for as JSON', async () => {
  const { asked, url } = await publisher({ keys: [named('one')] })
  expect(await keySets().sets.at(url, 'one')).toEqual({ keys: [named('one')] })
  expect(asked.map(({ headers }) => headers.accept)).toEqual(['application/json'])
})

test('keys are not fetched from an address that may not be reached', async () => {
  const { asked, url } = await publisher({ keys: [named('one')] })
  const { sets } = keySets({ reach: { allowed: networks(''), isLocal: false } })
  await expect(sets.at(url, 'one')).rejects.toMatchObject(unfetched)
  expect(asked).toEqual([])
})

test('of a set the first twenty keys count', async () => {
  const all = Array.from({ length: 21 }, (_, at) => named(`${at}`))
  const { url } = await publisher({ keys: all })
  expect(await keySets().sets.at(url, '0')).toEqual({ keys: all.slice(0, 20) })
})

test.each<[string, unknown, number, string]>([
  ['another status', { keys: [jwk] }, 404, 'responded with 404'],
  ['no JSON', 'hello', 200, 'the key set is not JSON'],
  ['too much', 'x'.repeat(65_537), 200, 'the key set has more than 65536 bytes'],
  ['no key', { keys: [] }, 200, 'the key set contains no public key for RS384, ES384 or RS256'],
])('an operator reads why keys could not be fetched: %s', async (_what, answer, status, reason) => {
  const { url } = await publisher(answer, status)
  const { sets, warned } = keySets()
  await expect(sets.at(url, 'one')).rejects.toMatchObject(unfetched)
  expect(warned).toEqual([[{ url, reason }, 'could not fetch the keys of a client']])
})

test('what is closed fetches no more', async () => {
  const { asked, url } = await publisher({ keys: [named('one')] })
  const { sets } = keySets()
  await sets.close()
  await expect(sets.at(url, 'one')).rejects.toMatchObject(unfetched)
  expect(asked).toEqual([])
})
