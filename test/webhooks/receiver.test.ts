import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { listener, type Receipt, type Receiver } from '../../src/commands/receiver/receive.ts'
import { readSettings } from '../../src/commands/receiver/settings.ts'
import { show } from '../../src/commands/receiver/show.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { newWebhookSecret, signatureHeaders, signingKey } from '../../src/outbound/signature.ts'
import { onCleanup } from '../support/cleanup.ts'
import { run, until } from '../support/process.ts'

const secret = newWebhookSecret()
const event = { id: 'evt_1', type: 'lab_result.released', version: '1.0', data: { test_name: 'Malaria RDT' } }
const body = JSON.stringify(event)
const now = Date.parse('2026-01-01T00:00:00Z')

async function serve(take: (request: IncomingMessage, reply: ServerResponse) => void): Promise<string> {
  const server = createServer(take)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onCleanup(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function deliver(url: string, sent: string = body, headers = signed(sent)): Promise<readonly [number, unknown]> {
  const reply = await fetch(url, { method: 'POST', headers, body: sent })
  return [reply.status, await reply.json()]
}

const signed = (sent: string, at: number = now) =>
  signatureHeaders([signingKey(secret)], event.id, Math.floor(at / 1000), sent)

describe('the sample receiver', () => {
  async function receiver(change: Partial<Receiver> = {}) {
    const receipts: Receipt[] = []
    const receive = listener({
      secret: () => secret,
      received: receipt => receipts.push(receipt),
      failing: 0,
      delay: 0,
      now: () => now,
      ...change,
    })
    return { url: await serve((request, reply) => void receive(request, reply)), receipts }
  }

  test('takes an event that was signed with its secret, and knows it when it comes again', async () => {
    const { url, receipts } = await receiver()
    for (let i = 0; i < 2; i++) expect(await deliver(url)).toEqual([200, { received: true }])
    const receipt = { time: '2026-01-01T00:00:00.000Z', status: 200, error: undefined, event }
    expect(receipts).toEqual([
      { ...receipt, times: 1 },
      { ...receipt, times: 2 },
    ])
  })

  test.for([
    ['without a signature', body, {}, /The X-Service-Signature header is missing/],
    ['with a body written anew', JSON.stringify(event, null, 2), signed(body), /raw bytes/],
    ['signed six minutes ago', body, signed(body, now - 360_000), /360 seconds old/],
    ['that is no JSON', 'hello', signed('hello'), /not JSON/],
  ] as const)('refuses one %s', async ([, sent, headers, message]) => {
    const { url, receipts } = await receiver()
    expect(await deliver(url, sent, headers as Record<string, string>)).toMatchObject([
      400,
      { received: false, error: expect.stringMatching(message) },
    ])
    expect(receipts).toMatchObject([{ status: 400, error: expect.stringMatching(message), event: undefined }])
  })

  test('fails the share that it is told to fail', async () => {
    const draws = [0.04, 0.06]
    const { url, receipts } = await receiver({ failing: 0.05, random: () => draws.shift()! })
    expect((await deliver(url))[0]).toBe(500)
    expect((await deliver(url))[0]).toBe(200)
    expect(receipts.map(({ status, times }) => [status, times])).toEqual([
      [500, 1],
      [200, 2],
    ])
  })

  test('asks to be called again while it has no secret yet, and takes POSTs of some length only', async () => {
    const { url } = await receiver({ secret: () => undefined })
    expect((await deliver(url))[0]).toBe(503)
    expect((await deliver(url, 'x'.repeat(1_048_577)))[0]).toBe(413)
    expect((await fetch(url)).status).toBe(405)
  })

  test('prints what came, for people or for programs', () => {
    const receipt: Receipt = { time: new Date(now).toISOString(), status: 200, error: undefined, event, times: 1 }
    expect(show(receipt, false)).toMatch(
      /^\d\d:\d\d:\d\d {2}200 {2}lab_result.released {2}evt_1\n {10}\{"test_name":"Malaria RDT"\}\n$/,
    )
    expect(show({ ...receipt, times: 22 }, false)).toContain('(the same event, for the 22nd time)')
    expect(show({ ...receipt, status: 400, error: 'No.', event: undefined, times: 0 }, false)).toMatch(
      / {2}400 {2}No.\n$/,
    )
    expect(JSON.parse(show(receipt, true))).toEqual({ received_at: receipt.time, status: 200, times: 1, event })
  })
})

describe('its command', () => {
  test('has these settings by itself, others from the environment, and others yet from its arguments', () => {
    const given = { CLIENT_ID: 'a', CLIENT_SECRET: 'b', WEBHOOK_SECRET: secret }
    expect(readSettings([], {})).toMatchObject({ port: 9000, secret: undefined, clientId: demoClient.id, failing: 0 })
    expect(readSettings([], given)).toMatchObject({ clientId: 'a', clientSecret: 'b', secret })
    const args = ['--fail', '5%', '--delay', '2s', '--events', 'a.b, c.d', '--client-id', 'c', '--service', 'http://x/']
    expect(readSettings(args, given)).toMatchObject({
      failing: 0.05,
      delay: 2000,
      events: ['a.b', 'c.d'],
      clientId: 'c',
      service: 'http://x',
    })
  })

  test.for([
    ['--port', '70000'],
    ['--fail', '200%'],
    ['--fail', '5'],
    ['--delay', '2'],
    ['--service', 'localhost:8080'],
    ['--surprise'],
    ['surprise'],
  ])('does not take %s %s', async args => {
    const receiver = run('src/commands/receiver.ts', args, {})
    expect(await receiver.ended).toBe(2)
    expect(receiver.output()).toContain('See npm run receiver -- --help.')
  })

  test('says in a sentence that no service is there, or that its port is taken', async () => {
    const url = await serve((_, reply) => reply.writeHead(401).end('{"message":"The client is not known."}'))
    const taken = run('src/commands/receiver.ts', ['--port', new URL(url).port], {})
    const alone = run('src/commands/receiver.ts', ['--port', '0', '--service', 'http://127.0.0.1:1'], {})
    const unknown = run('src/commands/receiver.ts', ['--port', '0', '--service', url], {})
    expect(await Promise.all([taken.ended, alone.ended, unknown.ended])).toEqual([1, 1, 1])
    expect(taken.output()).toMatch(/^Port \d+ is in use, .* --port\.\n$/)
    expect(alone.output()).toBe(
      'The service does not respond at http://127.0.0.1:1: start it with npm start, or specify its URL with --service.\n',
    )
    expect(unknown.output()).toMatch(
      /^The service responded with 401 to POST .*\/auth\/token: The client is not known\.\n$/,
    )
  })

  test('subscribes by itself to all types, prints what comes, and unsubscribes when it is stopped', async () => {
    const calls: unknown[] = []
    let callback = ''
    const service = await serve(async (request, reply) => {
      const sent = JSON.parse((await text(request)) || 'null')
      calls.push([`${request.method} ${request.url}`, request.headers.authorization, sent])
      callback = sent?.callback_url ?? callback
      const replies: Record<string, unknown> = {
        token: { access_token: 'token' },
        'event-types': { data: [{ type: 'patient.created' }, { type: 'lab_result.released' }] },
        subscriptions: { id: 'whs_1', webhook_secret: secret },
      }
      const found = replies[request.url!.split('/').at(-1)!]
      reply.writeHead(found ? 200 : 204).end(found && JSON.stringify(found))
    })
    const receiver = run('src/commands/receiver.ts', ['--port', '0', '--service', service, '--json'], {})
    await until('it has subscribed', () => receiver.output().includes('Ctrl-C'))
    expect(receiver.output()).toContain('subscribed as whs_1 to 2 event types')
    expect(await deliver(callback, body, signed(body, Date.now()))).toEqual([200, { received: true }])
    await until('it prints the event', () => receiver.output().includes('"evt_1"'))
    receiver.child.kill('SIGINT')
    expect(await receiver.ended).toBe(0)
    expect(receiver.output()).toContain('Unsubscribed whs_1.')
    const grant = { grant_type: 'client_credentials', client_id: demoClient.id, client_secret: demoClient.secret }
    expect(calls).toEqual([
      ['POST /api/v1/connect/auth/token', undefined, grant],
      ['GET /api/v1/connect/webhooks/event-types', 'Bearer token', null],
      [
        'POST /api/v1/connect/webhooks/subscriptions',
        'Bearer token',
        {
          callback_url: callback,
          subscribed_events: ['patient.created', 'lab_result.released'],
          description: 'Sample receiver (npm run receiver)',
        },
      ],
      ['POST /api/v1/connect/auth/token', undefined, grant],
      ['DELETE /api/v1/connect/webhooks/subscriptions/whs_1', 'Bearer token', null],
    ])
  })
})
