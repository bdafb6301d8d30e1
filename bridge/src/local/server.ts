// HTTP on loopback: the status page for people, and items of programs that can post.
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '../config-check.ts'
import type { Config, Limits } from '../config-shape.ts'
import type { Intake } from '../intake.ts'
import { kindOf, type Log } from '../log.ts'
import { Problem } from '../problem.ts'
import { sha256 } from '../server/keys.ts'
import type { State } from '../state/state.ts'
import { type Answer, takeItems } from './items.ts'
import { pageOf } from './page.ts'
import type { Status } from './status.ts'

export interface Local {
  readonly port: number
  close(): Promise<void>
}

export interface LocalParts {
  readonly config: Pick<Config, 'local'>
  readonly limits: () => Limits
  readonly state: State
  readonly intake: Intake
  readonly log: Log
  /** Now, by the server's clock. */
  readonly time: () => Date
  readonly status: () => Status
}

export async function startLocal(parts: LocalParts): Promise<Local> {
  const { port } = parts.config.local
  const server = createServer((request, response) => {
    answer(parts, request).then(
      reply => write(response, reply),
      error => {
        parts.log.error('a local request failed', { error: kindOf(error) })
        write(response, refusal(500, 'INTERNAL_ERROR', 'The agent failed; its log says more.'))
      },
    )
  })
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  server.maxConnections = 200
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch(error => {
    throw new Problem(
      `The status page cannot use port ${port} (${error.code}): set "local.port" in the config to another one.`,
    )
  })
  const bound = (server.address() as AddressInfo).port
  parts.log.info('status page', { url: `http://127.0.0.1:${bound}/` })
  return {
    port: bound,
    async close() {
      server.close()
      server.closeIdleConnections()
      await once(server, 'close')
    },
  }
}

const refusal = (status: number, error_code: string, message: string): Answer => ({
  status,
  body: { error_code, message },
})

async function answer(parts: LocalParts, request: IncomingMessage): Promise<Answer> {
  const { method, url = '/' } = request
  // A page on the internet that points its own name at this machine is refused: it would read the status.
  if (!isLoopback((request.headers.host ?? '').replace(/:\d+$/, '')))
    return refusal(403, 'FORBIDDEN', 'Only addresses of this machine are served.')
  const path = url.split('?')[0]
  if (path === '/items') {
    if (method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'Send items with POST.')
    if (!isAllowed(request, parts.config.local.token))
      return refusal(401, 'UNAUTHENTICATED', 'Send the token of the agent’s config: Authorization: Bearer TOKEN.')
    return takeItems(parts, request)
  }
  if (method !== 'GET') return refusal(405, 'METHOD_NOT_ALLOWED', 'This address can only be read.')
  if (path === '/') return { status: 200, html: pageOf(parts.status()) }
  if (path === '/status.json') return { status: 200, body: parts.status() }
  return refusal(404, 'NOT_FOUND', 'There is /, /status.json and /items.')
}

function isAllowed({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)))
}

function write(response: ServerResponse, { status, body, html, headers }: Answer): void {
  const text = html ?? `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    'content-type': html === undefined ? 'application/json' : 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(text)
}
