// How a reply arrives: its headers, its body, and the bytes that the request log counts.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createLimits, sameQuotas } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import { open, type Reply, route } from '../../src/http/route.ts'
import { createApp, type ServerParts } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import type { LoggedRequest } from '../../src/requests/entry.ts'
import { onCleanup } from '../support/cleanup.ts'
import { freePort } from '../support/process.ts'

let address: string
let logged: LoggedRequest[]

const long = 'é'.repeat(600_000)
const entries = Array.from({ length: 5000 }, (_, index) => `${index} ${index % 7 === 0 ? '患者' : 'Zoë'} `.repeat(100))
/** Called when the handler of the longest text runs. */
let begun = (): void => {}

/** Of the reply to come. */
let number = 0
const textOf = (nth: number, times: number): string => `${nth} é `.repeat(times)
/** Times that the texts of replies repeat: one fits into what the operating system holds of a connection, the other does not. */
const [few, many] = [120_000, 1_500_000]

const replies: Record<string, () => Reply> = {
  text: () => ({ status: 200, body: 'Grüezi' }),
  json: () => ({ status: 201, body: { name: 'Zoë' }, headers: { location: '/x', 'cache-control': 'max-age=5' } }),
  bytes: () => ({
    status: 200,
    body: Buffer.from([0, 1, 255]),
    headers: { 'content-type': 'application/octet-stream' },
  }),
  long: () => ({ status: 200, body: long, headers: { 'content-type': 'text/plain; charset=utf-8' } }),
  longest: () => {
    begun()
    return { status: 200, body: entries.join('') }
  },
  few: () => ({ status: 200, body: textOf(number++, few) }),
  many: () => ({ status: 200, body: textOf(number++, many) }),
  none: () => ({ status: 204, headers: { etag: 'W/"1"' } }),
  unchanged: () => ({ status: 304, body: 'ignored', headers: { etag: 'W/"1"' } }),
  nothing: () => ({ status: 202, headers: { 'content-location': '/status' } }),
  cookie: () => ({ status: 200, body: {}, headers: { 'set-cookie': 'a=b' } }),
  stream: () => ({ status: 200, body: Readable.from(['one ', 'two']), headers: { 'content-type': 'text/plain' } }),
  file: () => ({ status: 200, body: Readable.from([Buffer.from('seven')]), headers: { 'content-length': '5' } }),
}

beforeAll(async () => {
  const described = { method: 'GET', tag: 'API', summary: 'Answers', replies: { 200: null }, access: open } as const
  const parts: Partial<ServerParts> = {
    routes: Object.entries(replies).map(([name, handle]) =>
      route({ ...described, path: `/${name}`, operationId: name, handle: async () => handle() }),
    ),
    limits: createLimits(sameQuotas(1_000_000)),
    audit: { write: async () => {} },
    log: createLog('silent'),
    observer: { begun: () => {}, answered: () => {} },
    note: request => void logged.push(request),
    baseUrl: undefined,
    trustedProxies: networks(''),
    maxBodyBytes: 1000,
  }
  const port = await freePort()
  const listening = await listen(createApp(parts as ServerParts), port, '127.0.0.1')
  onCleanup(() => listening.close())
  address = `http://127.0.0.1:${port}`
})

beforeEach(() => {
  logged = []
  begun = () => {}
})

async function answer(name: string, init: RequestInit = {}) {
  const response = await fetch(`${address}/${name}`, init)
  const body = Buffer.from(await response.arrayBuffer())
  await expect.poll(() => logged.length).toBe(1)
  const headers = Object.fromEntries(response.headers)
  return { status: response.status, headers, body, bytesOut: logged[0]!.bytesOut }
}

const common = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'x-request-id': expect.stringMatching(/./),
}

test('a text is JSON unless its type is given, and has its length in bytes', async () => {
  const { status, headers, body, bytesOut } = await answer('text')
  expect([status, String(body), bytesOut]).toEqual([200, 'Grüezi', 7])
  expect(headers).toMatchObject({ ...common, 'content-type': 'application/json; charset=utf-8', 'content-length': '7' })
  expect(headers['ratelimit']).toMatch(/r=\d+/)
})

test('an object is JSON that ends with a line, and headers of the handler count', async () => {
  const { status, headers, body, bytesOut } = await answer('json')
  expect([status, String(body), bytesOut]).toEqual([201, '{"name":"Zoë"}\n', 16])
  expect(headers).toMatchObject({ location: '/x', 'cache-control': 'max-age=5', 'content-length': '16' })
})

test('bytes stay as they are', async () => {
  const { headers, body, bytesOut } = await answer('bytes')
  expect([[...body], bytesOut]).toEqual([[0, 1, 255], 3])
  expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'content-length': '3' })
})

test('a long text arrives whole', async () => {
  const { headers, body, bytesOut } = await answer('long')
  expect(String(body) === long).toBe(true)
  expect([headers['content-length'], bytesOut]).toEqual(['1200000', 1_200_000])
})

test('so does one of megabytes, and its head has its length', async () => {
  const { headers, body, bytesOut } = await answer('longest')
  expect(String(body) === entries.join('')).toBe(true)
  expect([headers['content-length'], bytesOut]).toEqual([String(body.length), body.length])
  logged = []
  const head = await answer('longest', { method: 'HEAD' })
  expect([head.headers['content-length'], head.body.length, head.bytesOut]).toEqual([String(body.length), 0, 0])
})

test('another request is answered while a long text is encoded', async () => {
  const other = connect(Number(new URL(address).port), '127.0.0.1')
  await once(other, 'connect')
  begun = () => other.write('GET /text HTTP/1.1\r\nhost: x\r\n\r\n')
  await (await fetch(`${address}/longest`)).arrayBuffer()
  await expect.poll(() => logged.length).toBe(2)
  expect(logged.map(({ route }) => route)).toEqual(['/text', '/longest'])
  other.destroy()
})

test('a client that leaves while a long text is encoded harms nobody', async () => {
  const leaving = connect(Number(new URL(address).port), '127.0.0.1')
  begun = () => leaving.destroy()
  leaving.write('GET /longest HTTP/1.1\r\nhost: x\r\n\r\n')
  await expect.poll(() => logged.length).toBe(1)
  logged = []
  expect((await answer('text')).status).toBe(200)
})

test('long replies do not mix, whether their clients read slowly, at once, or leave', async () => {
  number = 0
  const { port, host } = new URL(address)
  const ask = async (path: string, times: number, pause: number, leaves: boolean): Promise<void> => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`GET /${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    await setTimeout(pause)
    const parts: Buffer[] = []
    for await (const part of socket) {
      if (leaves) return void socket.destroy()
      parts.push(part as Buffer)
    }
    const body = Buffer.concat(parts).toString().split('\r\n\r\n')[1]!
    expect(body === textOf(Number.parseInt(body, 10), times)).toBe(true)
  }
  const slow = Array.from({ length: 4 }, () => ask('many', many, 500, false))
  const leaving = Array.from({ length: 4 }, () => ask('many', many, 100, true))
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 8 }, () => ask('few', few, 0, false)))
  await Promise.all([...slow, ...leaving])
  expect(number).toBe(88)
})

test.each([
  ['none', 204, undefined],
  ['unchanged', 304, undefined],
  ['nothing', 202, '0'],
])('a reply without a body has no type: %s', async (name, expected, length) => {
  const { status, headers, body, bytesOut } = await answer(name)
  expect([status, body.length, bytesOut]).toEqual([expected, 0, 0])
  expect(headers).toMatchObject(common)
  expect([headers['content-type'], headers['content-length']]).toEqual([undefined, length])
})

test.each(['json', 'stream', 'file'])('the head of a reply is that of the reply, without its body: %s', async name => {
  const whole = await answer(name)
  logged = []
  const head = await answer(name, { method: 'HEAD' })
  expect([head.status, head.body.length, head.bytesOut]).toEqual([whole.status, 0, 0])
  expect([head.headers['content-type'], head.headers['content-length']]).toEqual([
    whole.headers['content-type'],
    whole.headers['content-length'],
  ])
})

test('the bytes of a stream are counted if its length is known', async () => {
  const chunked = await answer('stream')
  expect([String(chunked.body), chunked.bytesOut]).toEqual(['one two', undefined])
  logged = []
  const file = await answer('file')
  expect([String(file.body), file.bytesOut]).toEqual(['seven', 5])
})

test('pages of other origins may read a reply, unless it gives a cookie', async () => {
  const headers = { origin: 'https://app.example' }
  const open = await answer('text', { headers })
  expect(open.headers).toMatchObject({ 'access-control-allow-origin': '*' })
  expect(open.headers['access-control-expose-headers']).toContain('etag')
  logged = []
  const cookie = await answer('cookie', { headers })
  expect(cookie.headers).toMatchObject({ 'set-cookie': 'a=b' })
  expect(cookie.headers['access-control-allow-origin']).toBeUndefined()
})

test('a refusal has its length, too', async () => {
  const { status, headers, body, bytesOut } = await answer('text', { method: 'POST' })
  expect([status, bytesOut]).toEqual([405, body.length])
  expect(headers['content-length']).toBe(String(body.length))
})
