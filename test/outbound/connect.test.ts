import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type LookupFunction } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { generateCACertificate, getLocal, type Mockttp } from 'mockttp'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { networks } from '../../src/lib/networks.ts'
import type { Reach } from '../../src/outbound/address.ts'
import { createSender, type Sender, type SenderOptions } from '../../src/outbound/send.ts'
import { onCleanup } from '../support/cleanup.ts'
import { freePort } from '../support/process.ts'

const production: Reach = { allowed: networks(''), isLocal: false }
/** Stands for the internet: the one address that a test can listen on. */
const permitted: Reach = { allowed: networks('127.0.0.1'), isLocal: false }
const local: Reach = { allowed: networks(''), isLocal: true }

const senders: Sender[] = []
let authority: { key: string; cert: string }
let https: Mockttp

beforeAll(async () => {
  authority = await generateCACertificate({ bits: 2048 })
  https = getLocal({ https: { ...authority, keyLength: 2048, defaultDomain: 'other.example' } })
  await https.start(await freePort())
  onCleanup(() => https.stop())
})

beforeEach(() => https.forAnyRequest().thenReply(200, 'ok'))

afterEach(async () => {
  for (const each of senders.splice(0)) await each.close()
  await https.reset()
})

function send(url: string, options: Partial<SenderOptions> = {}) {
  const sender = createSender({ reach: permitted, timeout: 5000, ca: authority.cert, ...options })
  senders.push(sender)
  return sender.send({ method: 'POST', url, headers: {}, body: '{}' })
}

/** Resolves every name to these addresses; each time to the next, if there are several lists. */
function resolver(...answers: readonly (readonly string[])[]): { lookup: LookupFunction; asked: () => number } {
  let asked = 0
  const lookup: LookupFunction = (_, __, done) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)]!
    process.nextTick(
      done,
      null,
      addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { lookup, asked: () => asked }
}

const failing =
  (code: string): LookupFunction =>
  (_, __, done) =>
    process.nextTick(done, Object.assign(new Error('no'), { code }), [])

const here = resolver(['127.0.0.1']).lookup
const receiver = (): string => `https://receiver.example:${https.port}/`

describe('an address', () => {
  test('is reached under the name it was asked for', async () => {
    expect(await send(receiver(), { lookup: here })).toMatchObject({ status: 200, error: undefined, excerpt: 'ok' })
  })

  test.for([
    ['private', ['10.0.0.1']],
    ['that of a cloud for its machines', ['169.254.169.254']],
    ['this machine', ['127.0.0.1']],
    ['this machine in another spelling', ['::ffff:127.0.0.1']],
    ['one of several', ['8.8.8.8', '2606:4700:4700::1111', '192.168.1.1']],
    ['scoped', ['fe80::1%eth0']],
  ] as const)('that a name leads to is not called if it is private: %s', async ([, addresses]) => {
    const { lookup, asked } = resolver(addresses)
    const answer = await send(receiver(), { reach: production, lookup })
    expect(answer).toMatchObject({ status: undefined, error: 'the address is private' })
    expect(asked()).toBe(1)
  })

  test('is looked up once for each connection: what is vetted is what is connected to', async () => {
    const { lookup, asked } = resolver(['127.0.0.1'], ['127.0.0.2'])
    expect(await send(receiver(), { lookup })).toMatchObject({ status: 200 })
    expect(asked()).toBe(1)
    expect(await send(receiver(), { lookup })).toMatchObject({ error: 'the address is private' })
    expect(asked()).toBe(2)
  })

  test.for([
    'https://127.0.0.1:PORT/',
    'https://127.1:PORT/',
    'https://2130706433:PORT/',
    'https://[::1]:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://10.0.0.1:PORT/',
    'https://[fd00::1]:PORT/',
  ])('that is given itself is vetted, too: %s', async url => {
    let connections = 0
    const server = createServer(socket => {
      connections++
      socket.destroy()
    })
    await new Promise<void>(done => server.listen(0, done))
    onCleanup(async () => void server.close())
    const { port } = server.address() as { port: number }
    const answer = await send(url.replace('PORT', String(port)), { reach: production })
    expect(answer).toMatchObject({ status: undefined, error: 'the address is private' })
    expect(connections).toBe(0)
  })

  test('is called without TLS only on this machine, and only in the local environment', async () => {
    const url = `http://127.0.0.1:${https.port}/`
    expect(await send(url)).toMatchObject({ error: 'the URL must use https' })
    expect(await send('http://8.8.8.8/', { reach: local })).toMatchObject({ error: 'the URL must use https' })
    const name = `http://receiver.example:${https.port}/`
    expect(await send(name, { lookup: here })).toMatchObject({ error: 'the URL must use https' })
    expect(await send(url, { reach: local })).toMatchObject({ status: 200, error: undefined })
  })

  test('that may not be called after all is hung up on', async () => {
    let hungUp = (): void => {}
    const isClosed = new Promise<void>(done => (hungUp = done))
    const server = createServer(socket => socket.resume().on('error', hungUp).once('close', hungUp))
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    onCleanup(async () => void server.close())
    const { port } = server.address() as { port: number }
    const answer = await send(`http://receiver.example:${port}/`, { lookup: here })
    expect(answer).toMatchObject({ error: 'the URL must use https' })
    await isClosed
  }, 5000)

  test.for([
    ['ENOTFOUND', 'the host name is unknown'],
    ['EAI_AGAIN', 'the host name could not be looked up'],
  ] as const)('that is not found is told: %s', async ([code, error]) => {
    expect(await send(receiver(), { lookup: failing(code) })).toMatchObject({ status: undefined, error })
  })

  test('that is not there is told: a name without any', async () => {
    const { lookup } = resolver([])
    expect(await send(receiver(), { lookup })).toMatchObject({ error: 'the host name is unknown' })
  })

  test('that is found too late is not sent to any more', async () => {
    let answerLate = (): void => {}
    const lookup: LookupFunction = (_, __, done) => {
      answerLate = () => done(null, [{ address: '127.0.0.1', family: 4 }])
    }
    await https.reset()
    const seen = await https.forAnyRequest().thenReply(200)
    const sender = createSender({ reach: local, timeout: 50, lookup })
    senders.push(sender)
    const answer = await sender.send({
      method: 'POST',
      url: `http://receiver.example:${https.port}/`,
      headers: {},
      body: '',
    })
    expect(answer).toMatchObject({ status: undefined, error: 'no response within 0.05 seconds' })
    answerLate()
    const { port } = https
    expect(await send(`https://other.example:${port}/`, { lookup: here })).toMatchObject({ status: 200 })
    expect((await seen.getSeenRequests()).map(each => each.url)).toEqual([`https://other.example:${port}/`])
  })
})

describe('a certificate', () => {
  test('that nobody known has issued is not accepted', async () => {
    const answer = await send(receiver(), { lookup: here, ca: undefined })
    expect(answer).toMatchObject({
      status: undefined,
      error: 'the certificate is invalid: its issuer is not trusted',
    })
  })

  test('for another host is not accepted', async () => {
    const answer = await send(`https://127.0.0.1:${https.port}/`)
    expect(answer).toMatchObject({
      status: undefined,
      error: 'the certificate is invalid: it is for another host',
    })
  })

  test('that has expired is not accepted', async () => {
    const pem = readFileSync(new URL('expired.pem', import.meta.url), 'utf8')
    const server = createTlsServer({ key: pem, cert: pem }, (_, reply) => reply.end('ok'))
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    onCleanup(async () => void server.close())
    const { port } = server.address() as { port: number }
    const answer = await send(`https://receiver.example:${port}/`, { lookup: here, ca: pem })
    expect(answer).toMatchObject({ status: undefined, error: 'the certificate is invalid: it has expired' })
  })

  test('is asked for in order to speak HTTP/1.1, and nothing newer', async () => {
    const pem = readFileSync(new URL('expired.pem', import.meta.url), 'utf8')
    const offered: string[][] = []
    const server = createSecureServer({
      ...{ key: pem, cert: pem },
      ALPNCallback: ({ protocols }) => void offered.push(protocols),
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    onCleanup(async () => void server.close())
    await send(`https://receiver.example:${(server.address() as { port: number }).port}/`, { lookup: here })
    expect(offered).toEqual([['http/1.1']])
  })

  test('is checked whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const warning = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const answer = await send(receiver(), { lookup: here, ca: undefined })
    vi.unstubAllEnvs()
    warning.mockRestore()
    expect(answer.error).toBe('the certificate is invalid: its issuer is not trusted')
  })

  test('is missed where no TLS is spoken', async () => {
    const server = createServer(socket => socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\n\r\n'))
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    onCleanup(async () => void server.close())
    const { port } = server.address() as { port: number }
    const answer = await send(`https://receiver.example:${port}/`, { lookup: here })
    expect(answer).toMatchObject({ status: undefined, error: 'the TLS handshake failed' })
  })
})
