// A receiver of webhooks on loopback: keeps what it gets, and answers as a test says.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onCleanup } from './cleanup.ts'

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** As it came. */
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they get freely
  readonly event: any
}

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** What it answers from now on; a status, or whatever it does with the response. */
  answer(reply: number | ((response: ServerResponse, received: Received) => void)): void
  /** Answers nothing from now on, until what it returns is called: then everything, those that came meanwhile too. */
  hold(): () => void
  /** Resolves when so many have come in all. */
  until(count: number): Promise<readonly Received[]>
}

/** Starts a receiver; it stops after the file's last test. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let reply: number | ((response: ServerResponse, received: Received) => void) = 200
  const waiting: (() => void)[] = []
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString('utf8')
    const isJson = body.startsWith('{')
    const one = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      body,
      event: isJson ? JSON.parse(body) : undefined,
    }
    received.push(one)
    for (const each of waiting.splice(0)) each()
    if (typeof reply === 'function') reply(response, one)
    else response.writeHead(reply, { 'content-type': 'application/json' }).end('{"received":true}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    answer: next => void (reply = next),
    hold() {
      const held: (() => void)[] = []
      reply = response => void held.push(() => response.writeHead(200).end())
      return () => {
        reply = 200
        for (const each of held) each()
      }
    },
    async until(count) {
      const end = performance.now() + 30_000
      while (received.length < count) {
        if (performance.now() > end)
          throw new Error(`Only ${received.length} of ${count} deliveries came within thirty seconds.`)
        await Promise.race([new Promise<void>(done => waiting.push(done)), new Promise(done => setTimeout(done, 50))])
      }
      return received
    },
  }
}
