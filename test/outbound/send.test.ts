import { createServer, type Server, type Socket } from 'node:net'
import { getLocal } from 'mockttp'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { networks } from '../../src/lib/networks.ts'
import { createSender, type Outgoing, type Sender, type SenderOptions } from '../../src/outbound/send.ts'
import { onCleanup } from '../support/cleanup.ts'
import { freePort } from '../support/process.ts'

const local = { allowed: networks(''), isLocal: true }
const http = getLocal()
const senders: Sender[] = []

beforeAll(async () => {
  await http.start(await freePort())
  onCleanup(() => http.stop())
})

afterEach(async () => {
  for (const each of senders.splice(0)) await each.close()
  await http.reset()
})

function sender(options: Partial<SenderOptions> = {}): Sender {
  const made = createSender({ reach: local, timeout: 5000, ...options })
  senders.push(made)
  return made
}

const event = (url: string): Outgoing => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', 'X-Service-Signature': 't=1,v1=00' },
  body: '{"type":"patient.created"}',
})

const send = (url: string, options?: Partial<SenderOptions>) => sender(options).send(event(url))

/** A receiver that speaks bytes; `take` gets each connection when its first bytes have come. */
async function raw(take: (socket: Socket) => void): Promise<{ url: string; connections: () => number }> {
  let connections = 0
  const open = new Set<Socket>()
  const server: Server = createServer(socket => {
    connections++
    open.add(socket)
    socket.on('error', () => {}).once('data', () => take(socket))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onCleanup(async () => {
    for (const each of open) each.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`, connections: () => connections }
}

describe('a receiver that answers', () => {
  test('gets exactly what is sent', async () => {
    const seen = await http.forAnyRequest().thenReply(200, '{"received":true}')
    const answer = await sender().send({
      ...event(http.urlFor('/hook?a=b%20c')),
      method: 'PUT',
      body: '{"name":"Ñandú"}',
    })
    expect(answer).toMatchObject({ status: 200, error: undefined, excerpt: '{"received":true}', retryAfter: undefined })
    expect(answer.milliseconds).toBeGreaterThanOrEqual(0)
    const [request] = await seen.getSeenRequests()
    expect(request).toMatchObject({ method: 'PUT', url: http.urlFor('/hook?a=b%20c') })
    expect(request!.headers).toMatchObject({
      host: `localhost:${http.port}`,
      'content-type': 'application/json',
      'content-length': '18',
      'x-service-signature': 't=1,v1=00',
    })
    expect(await request!.body.getText()).toBe('{"name":"Ñandú"}')
  })

  test.for([200, 201, 202, 204])('has received with a status %i', async status => {
    await http.forPost('/').thenReply(status)
    expect(await send(http.url)).toMatchObject({ status, error: undefined, excerpt: undefined })
  })

  test.for([300, 400, 404, 410, 429, 500])('has not with a status %i', async status => {
    await http.forPost('/').thenReply(status, 'no')
    expect(await send(http.url)).toMatchObject({ status, error: `responded with ${status}`, excerpt: 'no' })
  })

  test.for([301, 302, 303, 307, 308])('is not followed elsewhere with a status %i', async status => {
    const elsewhere = await http.forUnmatchedRequest().thenReply(200)
    await http.forPost('/').thenReply(status, '', { location: http.urlFor('/elsewhere') })
    expect(await send(http.url)).toMatchObject({ status, error: 'redirects are not followed' })
    expect(await elsewhere.getSeenRequests()).toEqual([])
  })

  test.for([
    ['120', 120],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:30 GMT', 90],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
  ] as const)('may ask for time: Retry-After: %s', async ([header, seconds]) => {
    await http.forPost('/').thenReply(503, 'busy', { 'retry-after': header })
    const answer = await send(http.url, { now: () => Date.parse('2026-01-01T00:00:00Z') })
    expect(answer).toMatchObject({ status: 503, error: 'responded with 503', retryAfter: seconds })
  })

  test('has the beginning of its reply kept, with nothing in it that does harm', async () => {
    await http.forPost('/').thenReply(200, `\u0000\u001b[31m\u202ered\u2028${'é'.repeat(2000)}`)
    const { excerpt } = await send(http.url)
    expect(excerpt).toBe(`  [31m red ${'é'.repeat(989)}`)
  })

  test('is called over the same connections again and again', async () => {
    const { url, connections } = await raw(socket => {
      const reply = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      socket.on('data', reply)
      reply()
    })
    const one = sender()
    for (let i = 0; i < 10; i++) expect(await one.send(event(url))).toMatchObject({ status: 200, excerpt: 'ok' })
    // One rests for a turn of the event loop while the other is in use.
    expect(connections()).toBeLessThanOrEqual(2)
  })

  test('and closes an idle connection just as it is used again is called once more, on a new one', async () => {
    const { url, connections } = await raw(socket => {
      socket.once('data', () => socket.destroy())
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const one = sender()
    for (let i = 0; i < 3; i++) expect(await one.send(event(url))).toMatchObject({ status: 200, error: undefined })
    expect(connections()).toBe(3)
  })
})

describe('a receiver that answered on a connection before', () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

  test('and breaks off its next answer there is not called once more', async () => {
    let requests = 0
    const { url, connections } = await raw(socket => {
      const reply = () => {
        if (++requests === 1) socket.write(ok)
        else socket.end('HTTP/1.1 500 No\r\nContent-Length: 1000\r\n\r\nsorry')
      }
      socket.on('data', reply)
      reply()
    })
    const one = sender()
    await one.send(event(url))
    // It rests for a turn of the event loop.
    for (let turns = 0; turns < 3; turns++) await new Promise<void>(done => setImmediate(done))
    expect(await one.send(event(url))).toMatchObject({ status: 500, excerpt: 'sorry' })
    expect([requests, connections()]).toEqual([2, 1])
  })

  test('and has been given up leaves no timer behind', async () => {
    const { url } = await raw(socket => {
      socket.on('data', () => socket.write(ok))
      socket.write(ok)
    })
    const timers = () => process.getActiveResourcesInfo().filter(each => each === 'Timeout').length
    const one = sender()
    const before = timers()
    for (let count = 0; count < 50; count++) await one.send(event(url))
    expect(timers() - before).toBeLessThan(25)
  })
})

test('the time of an answer is what has passed since it was asked for', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(60_000)
  const { url } = await raw(socket => {
    vi.advanceTimersByTime(70)
    socket.end('HTTP/1.1 204 No Content\r\n\r\n')
  })
  const { milliseconds } = await send(url)
  vi.useRealTimers()
  expect(milliseconds).toBe(70)
})

test('a name that cannot be looked up is asked for once', async () => {
  const asked: string[] = []
  const lookup: SenderOptions['lookup'] = (name, _options, done) => {
    asked.push(name)
    process.nextTick(done, Object.assign(new Error('no'), { code: 'ECONNRESET' }), [])
  }
  expect(await send('http://receiver.example/', { lookup })).toMatchObject({ error: 'the connection was reset' })
  expect(asked).toHaveLength(1)
})

describe('a receiver that misbehaves', () => {
  test('by not answering is waited for as long as it may take, and no longer', async () => {
    await http.forPost('/').thenTimeout()
    const answer = await send(http.url, { timeout: 150 })
    expect(answer).toMatchObject({ status: undefined, error: 'no response within 0.15 seconds', excerpt: undefined })
    expect(answer.milliseconds).toBeGreaterThan(140)
  })

  test('by closing the connection is called once', async () => {
    const { url, connections } = await raw(socket => socket.end())
    expect(await send(url)).toMatchObject({ status: undefined, error: 'the connection was closed without a response' })
    expect(connections()).toBe(1)
  })

  test('by resetting the connection', async () => {
    await http.forPost('/').thenResetConnection()
    expect(await send(http.url)).toMatchObject({ status: undefined, error: 'the connection was reset' })
  })

  test('by not being there', async () => {
    const answer = await send(`http://127.0.0.1:${await freePort()}/`)
    expect(answer).toMatchObject({ status: undefined, error: 'the connection was refused' })
  })

  test('by a slow body has received nevertheless', async () => {
    const { url } = await raw(socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"received":'))
    const answer = await send(url, { timeout: 150 })
    expect(answer).toMatchObject({ status: 200, error: undefined, excerpt: '{"received":' })
  })

  test('by a body that breaks off has received nevertheless', async () => {
    const { url } = await raw(socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"rec'))
    expect(await send(url)).toMatchObject({ status: 200, error: undefined, excerpt: '{"rec' })
  })

  test('by an endless body has received nevertheless, and is hung up on', async () => {
    let isClosed: Promise<unknown> | undefined
    const { url } = await raw(socket => {
      isClosed = new Promise(done => socket.once('close', done))
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const more = () => {
        while (socket.writable && socket.write(`400\r\n${'a'.repeat(1024)}\r\n`));
      }
      socket.on('drain', more)
      more()
    })
    expect(await send(url)).toMatchObject({ status: 200, error: undefined, excerpt: 'a'.repeat(1000) })
    await isClosed
  })

  test.for([
    ['garbage', 'SSH-2.0-OpenSSH_9.9\r\n', 'the response is not HTTP'],
    [
      'a protocol nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'the response is not HTTP',
    ],
    ['endless headers', `HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(100_000)}`, 'the response headers are too long'],
    ['half an answer', 'HTTP/1.1 200 OK\r\nContent-', 'the connection was closed without a response'],
  ] as const)('by %s', async ([, bytes, error]) => {
    const { url, connections } = await raw(socket => socket.end(bytes))
    expect(await send(url)).toMatchObject({ status: undefined, error })
    expect(connections()).toBe(1)
  })

  test('by hints and nothing else has not answered', async () => {
    const { url } = await raw(socket => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'))
    expect(await send(url)).toMatchObject({
      status: undefined,
      error: 'the connection was closed without a response',
    })
  })

  test('by hints before its answer is understood', async () => {
    const { url } = await raw(socket =>
      socket.end('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    )
    expect(await send(url)).toMatchObject({ status: 204, error: undefined })
  })
})

describe('what cannot be sent', () => {
  test.for([
    ['no URL', { url: 'nowhere' }, 'the URL is invalid'],
    ['a header that would be two', { headers: { a: 'b\r\nc: d' } }, 'the request could not be written'],
  ] as const)('%s', async ([, change, error]) => {
    expect(await sender().send({ ...event(http.url), ...change })).toMatchObject({ status: undefined, error })
  })

  test('anything while the service stops', async () => {
    await http.forPost('/').thenTimeout()
    const one = sender()
    const underWay = one.send(event(http.url))
    await one.close()
    expect(await underWay).toMatchObject({ error: 'the service was shutting down' })
    expect(await one.send(event(http.url))).toMatchObject({ error: 'the service was shutting down' })
  })
})
