// Listens for connections, and stops without cutting off requests in hand.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'
import { answerHostless, answerUnreadable } from './unreadable.ts'

export interface Listening {
  readonly port: number
  /** Stops taking connections, lets the requests in hand finish, and resolves when the last one is answered. */
  close(): Promise<void>
}

/** Listens; `finish` on close is bounded by 25 s, after which what is left is cut. */
export async function listen(app: Koa, port: number, host: string): Promise<Listening> {
  const answer = app.callback()
  // Node itself would refuse a request without Host, and one that expects something unheard of, without a word of why.
  const server = createServer({ requireHostHeader: false }, (request, response) =>
    request.headers.host === undefined && request.httpVersion === '1.1'
      ? answerHostless(request, response)
      : answer(request, response),
  )
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, done)
  })
  server.on('clientError', answerUnreadable)
  server.headersTimeout = 20_000
  // Bodies that are read into memory have their own, shorter time (body.ts); a file that is streamed may take this long.
  server.requestTimeout = 4 * 3_600_000
  server.keepAliveTimeout = 65_000
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise(done => {
        const cut = setTimeout(() => server.closeAllConnections(), 25_000)
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
