// What bodies take up while they come: nothing before the sender is known, little where the body itself tells that, and of the
// memory that all share no client takes more than its part.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { paced } from '../../src/http/pace.ts'
import type { Failure } from '../../src/lib/failure.ts'
import { onCleanup } from '../support/cleanup.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { operationsOf } from './bad-input/description.ts'

let service: Service
const tokens: Record<string, string> = {}
const megabyte = 1_048_576

beforeAll(async () => {
  // One client holds half of it, which a body of 175 kB takes up whole.
  service = await startService({ BODY_MEMORY: String(megabyte) })
  for (const clientId of ['a', 'b', 'c'])
    tokens[clientId] = await service.application.identity.tokens.mint(
      { clientId, organizationId: 'demo-organization', consentExempt: true },
      ['system/*.cruds'],
    )
})

interface Upload {
  readonly socket: Socket
  /** The whole reply, once its head is there. */
  readonly reply: Promise<{ status: number; body: Record<string, unknown> }>
}

/** Sends the head of a request that declares so many bytes, and some of them. */
function begin(line: string, bytes: number, headers: Record<string, string>, sent = '{'): Upload {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const fields = { host: 'x', 'content-type': 'application/json', 'content-length': String(bytes), ...headers }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${line} HTTP/1.1\r\n${head.join('')}\r\n${sent}`)
  socket.on('error', () => {})
  onCleanup(async () => void socket.destroy())
  const reply = new Promise<{ status: number; body: Record<string, unknown> }>(done => {
    let text = ''
    socket.on('data', chunk => {
      text = `${text}${chunk}`.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
      const [headText, body] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (body !== undefined && Buffer.byteLength(body) >= length)
        done({ status: Number(headText!.split(' ')[1]), body: JSON.parse(body) })
    })
  })
  return { socket, reply }
}

/** Requests that the service has in hand, beside the one that asks. */
async function inFlight(): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(/^http_requests_in_flight (\d+)/m.exec(text)?.[1]) - 1
}

const as = (clientId: string) => ({ authorization: `Bearer ${tokens[clientId]}` })
const put = (clientId: string, bytes: number, sent?: string): Upload =>
  begin(
    'PUT /api/fhir/R4/Basic/large',
    bytes,
    { ...as(clientId), 'content-type': 'application/fhir+json', accept: 'application/json' },
    sent,
  )

/** Stores a resource of about so many bytes. */
const store = (clientId: string, bytes: number) =>
  fetch(`${service.url}/api/fhir/R4/Basic/of-${clientId}`, {
    method: 'PUT',
    headers: { ...as(clientId), 'content-type': 'application/fhir+json' },
    body: basic(`of-${clientId}`, bytes),
  })

const basic = (id: string, bytes: number): string =>
  JSON.stringify({ resourceType: 'Basic', id, code: { text: 'x'.repeat(bytes) } })

describe('before a body is read', () => {
  test.each([
    ['nobody', {}, 401],
    ['a token that is none', { authorization: 'Bearer x.y.z' }, 401],
  ])('%s is refused, whatever it declares', async (_name, headers, status) => {
    const { reply } = begin('POST /api/fhir/R4', 45_000_000, headers)
    expect((await reply).status).toBe(status)
  })

  test('its reply reaches a sender who goes on sending, and says that the connection closes', async () => {
    const { socket } = begin('POST /api/fhir/R4', 45_000_000, {}, '{')
    let text = ''
    socket.on('data', chunk => (text += chunk))
    // What it writes after the end of the connection fails, which is its own fault.
    socket.on('error', () => {})
    const sending = setInterval(() => socket.write(Buffer.alloc(100_000, ' ')), 1)
    await new Promise(done => socket.once('close', done))
    clearInterval(sending)
    expect(text).toMatch(/^HTTP\/1\.1 401 /)
    expect(text.toLowerCase()).toContain('connection: close')
  })

  test('so is a client without the scope', async () => {
    const token = await service.application.identity.tokens.mint(
      { clientId: 'd', organizationId: 'demo-organization', consentExempt: true },
      [],
    )
    const { reply } = begin('PUT /api/v1/connect/pharmacy/stock', 5_000_000, { authorization: `Bearer ${token}` })
    expect((await reply).status).toBe(403)
  })

  test('an operation that knows its sender by the body alone, or not at all, takes a small one', async () => {
    const document = await (await fetch(`${service.url}/openapi.json`)).json()
    const operations = operationsOf(document).filter(
      ({ body, schemes }) =>
        body &&
        !schemes.some(each => each === 'MobileToken' || each === 'SessionAuth') &&
        (schemes.length === 0 || schemes.includes('ClientBasic')),
    )
    const statuses = await Promise.all(
      operations.map(async ({ method, path, body }) => {
        const { reply } = begin(`${method} ${path}`, 70_000, { 'content-type': body!.types[0]! })
        return [path, (await reply).status]
      }),
    )
    expect(operations.length).toBeGreaterThan(3)
    expect(statuses).toEqual(operations.map(({ path }) => [path, 413]))
  })

  test('who waits to be told to go on is told so after the credentials were seen, and not before', async () => {
    const expecting = { expect: '100-continue' }
    const refused = begin('POST /api/fhir/R4', 1000, expecting, '')
    expect((await refused.reply).status).toBe(401)
    const body = basic('expected', 10)
    const { socket, reply } = begin(
      'PUT /api/fhir/R4/Basic/expected',
      body.length,
      { ...as('a'), ...expecting, 'content-type': 'application/fhir+json' },
      '',
    )
    const [first] = await once(socket, 'data')
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(body)
    expect((await reply).status).toBe(201)
  })
})

describe('memory that all bodies share', () => {
  test('a client that holds its part waits, and others do not', async () => {
    const first = put('a', 300_000)
    await until('its body is on its way', async () => (await inFlight()) >= 1)
    const second = put('a', 1000 + 300_000, `${basic('large', 200_000)}`)
    let isAnswered = false
    void second.reply.then(() => (isAnswered = true))
    expect((await store('b', 100_000)).status).toBe(201)
    expect((await store('a', 1000)).status).toBe(201)
    expect(isAnswered).toBe(false)
    first.socket.destroy()
    second.socket.write(' '.repeat(1000 + 300_000 - basic('large', 200_000).length))
    expect((await second.reply).status).toBe(201)
  })

  test('a client of which very many bodies wait is refused more of them, with the reason', async () => {
    const all = Array.from({ length: 60 }, () => put('c', 300_000))
    const refused = await Promise.any(all.map(async ({ reply }) => reply))
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ error_code: 'RATE_LIMITED', retry_after: 1 })
    expect(refused.body['message']).toContain('bytes of request bodies')
    expect((await store('b', 100_000)).status).toBe(200)
    for (const { socket } of all) socket.destroy()
  })

  test('probes are answered, however many bodies are on their way', async () => {
    const all = ['a', 'b', 'c'].flatMap(client => Array.from({ length: 20 }, () => put(client, 300_000)))
    await until('its body is on its way', async () => (await inFlight()) >= 1)
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const { status } = await fetch(`${service.url}${path}`)
      expect([path, status]).toEqual([path, 200])
    }
    for (const { socket } of all) socket.destroy()
  })
})

describe('what is counted of a body', () => {
  const send = (body: Buffer<ArrayBuffer> | string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/api/fhir/R4/Basic`, {
      method: 'POST',
      headers: { ...as('b'), 'content-type': 'application/fhir+json', accept: 'application/json', ...headers },
      body,
    })

  test('its values: more of them than any record has are refused before they are parsed', async () => {
    const reply = await fetch(`${service.url}/api/fhir/R4`, {
      method: 'POST',
      headers: { ...as('b'), 'content-type': 'application/fhir+json', accept: 'application/json' },
      body: `[${'1,'.repeat(500_000)}1]`,
    })
    expect(reply.status).toBe(413)
    expect(await reply.json()).toMatchObject({
      resourceType: 'OperationOutcome',
      issue: [{ code: 'too-costly' }],
      message: 'The JSON contains more than 500000 values: split the request.',
    })
  })

  test('how much gzip unpacks to', async () => {
    const plain = JSON.stringify({ resourceType: 'Basic', code: { text: 'x'.repeat(3_000_000) } })
    const packed = await send(gzipSync(plain), { 'content-encoding': 'gzip' })
    expect(packed.status).toBe(413)
    expect(await packed.json()).toMatchObject({ message: 'The gzip body expands to more than 200 times its size.' })
    const usual = JSON.stringify({ resourceType: 'Basic', code: { text: 'x'.repeat(30_000) } })
    expect((await send(gzipSync(usual), { 'content-encoding': 'gzip' })).status).toBe(201)
    const broken = await send(Buffer.from(gzipSync(usual).subarray(0, 40)), { 'content-encoding': 'gzip' })
    expect([broken.status, (await broken.json()).message]).toEqual([400, 'The body is not valid gzip.'])
  })

  test('its time: what comes more slowly than it may is given up, and the connection stays for the reply', async () => {
    const outcomes: unknown[] = []
    const server = createServer(async (request, response) => {
      try {
        for await (const chunk of paced(request, { grace: 40, slowest: 1e6 })) outcomes.push(chunk.length)
      } catch (error) {
        outcomes.push((error as Failure).code)
      }
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc')
    const [reply] = await once(socket, 'data')
    expect(String(reply)).toContain('200 OK')
    expect(outcomes).toEqual([3, 'REQUEST_TIMEOUT'])
    socket.destroy()
    server.close()
  })
})

test('connections of one address are bounded, and those that are open go on', async () => {
  const few = await startService({ MAX_CONNECTIONS: '16' })
  const open = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const socket = connect(Number(new URL(few.url).port), '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    }),
  )
  const ninth = connect(Number(new URL(few.url).port), '127.0.0.1')
  ninth.on('error', () => {})
  await once(ninth, 'close')
  open[0]!.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(String((await once(open[0]!, 'data'))[0])).toContain('200 OK')
  for (const socket of open) socket.destroy()
  await few.stop()
})
