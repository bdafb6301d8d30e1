// Listens for connections, and stops without cutting off requests in hand.
import { createServer, type Server } from 'node:http'
import { type AddressInfo, BlockList } from 'node:net'
import type Koa from 'koa'
import { problemOf } from './line.ts'
import { isIn, plain } from './proxy.ts'
import { answerMalformed, answerUnreadable } from './unreadable.ts'

export interface Listening {
  readonly port: number
  /**
   * Stops taking connections, lets the requests in hand finish, and resolves when the last one is answered.
   * @param most milliseconds after which those that are left are cut off, which ends their statements too.
   */
  close(most?: number): Promise<void>
}

export interface ListenOptions {
  /** Connections at a time, of which one address holds at most half. */
  readonly maxConnections?: number
  /** Proxies, which hold as many as they need. */
  readonly trustedProxies?: BlockList
}

/** Listens until it is closed. */
export async function listen(
  app: Koa,
  port: number,
  host: string,
  { maxConnections = 5000, trustedProxies = new BlockList() }: ListenOptions = {},
): Promise<Listening> {
  const answer = app.callback()
  // Node itself would refuse a request without Host, and one with an unknown Expect, without stating why.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const problem = problemOf(request)
    if (problem === undefined) answer(request, response)
    else answerMalformed(problem, request, response)
  })
  for (const expecting of ['checkExpectation', 'checkContinue'])
    server.on(expecting, (request, response) => server.emit('request', request, response))
  server.maxConnections = maxConnections
  boundByAddress(server, Math.ceil(maxConnections / 2), trustedProxies)
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, done)
  })
  server.on('clientError', answerUnreadable)
  server.headersTimeout = 15_000
  // A body has a slowest rate (pace.ts), and a file that is streamed a longest silence; this bounds the whole of either.
  server.requestTimeout = 4 * 3_600_000
  server.keepAliveTimeout = 65_000
  return {
    port: (server.address() as AddressInfo).port,
    close: (most = 6000) =>
      new Promise(done => {
        const cut = setTimeout(() => server.closeAllConnections(), most)
        // A connection that is answered now would otherwise be kept alive for the next request.
        const idle = setInterval(() => server.closeIdleConnections(), 50)
        server.close(() => {
          clearTimeout(cut)
          clearInterval(idle)
          done()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Closes what one address opens beyond its part, so that others still reach the service. */
function boundByAddress(server: Server, most: number, trustedProxies: BlockList): void {
  const open = new Map<string, number>()
  server.on('connection', socket => {
    const address = socket.remoteAddress
    if (address === undefined || isIn(trustedProxies, plain(address))) return
    const count = open.get(address) ?? 0
    if (count >= most) {
      socket.destroy()
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = open.get(address)! - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}
