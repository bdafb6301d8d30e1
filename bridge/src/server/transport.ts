// HTTP to the server: one request, one deadline, no connection that outlives a failure.

import { readFileSync } from 'node:fs'
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import { gzipSync } from 'node:zlib'
import { https, tls } from '../lazy-tls.ts'
import { type HttpProxy, proxyFor } from './proxy.ts'

/** The server could not be reached, or did not answer in time: what was asked may have been done or not. */
export class Unreachable extends Error {
  readonly code: string
  constructor(code: string, options?: ErrorOptions) {
    super(`the server cannot be reached (${code})`, options)
    this.code = code
  }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

interface Sent {
  readonly method: 'GET' | 'POST'
  /** After /api/v1/bridge/. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
  readonly deadline: number
}

export interface Transport {
  /** @throws Unreachable */
  send(sent: Sent): Promise<Reply>
  close(): void
}

/** Bodies from this size on are packed. */
const packFrom = 1024

/** Bytes of an answer that are read at most. */
const longestAnswer = 8_388_608

/** @param caFile certificates to trust besides the system's */
export function createTransport(url: string, caFile?: string, proxy = proxyFor(url)): Transport {
  const make = () => connectionsTo(url, caFile, proxy)
  let agent = make()
  return {
    async send(sent) {
      const used = agent
      try {
        return await exchange(`${url}/api/v1/bridge/${sent.path}`, sent, used)
      } catch (error) {
        // A connection that failed is not used again, nor are its neighbours: the network may have changed.
        if (agent === used) agent = make()
        used.destroy()
        throw error
      }
    },
    close: () => agent.destroy(),
  }
}

/** The connections to a server, kept for the next request. */
export function connectionsTo(
  url: string,
  caFile: string | undefined,
  proxy: HttpProxy | undefined,
): HttpAgent | HttpsAgent {
  const options = { keepAlive: true, keepAliveMsecs: 15_000, maxSockets: 3 }
  if (!url.startsWith('https:')) return new HttpAgent(options)
  const ca = caFile ? { ca: [...tls().rootCertificates, readFileSync(caFile, 'utf8')] } : {}
  const way = proxy ? { proxyEnv: { HTTPS_PROXY: proxy.url } } : {}
  return new (https().Agent)({ ...options, ...ca, ...way })
}

/** What makes requests to an address. */
export const requesterOf = (url: string): typeof requestHttp =>
  url.startsWith('https:') ? https().request : requestHttp

function exchange(
  url: string,
  { method, headers, body, deadline }: Sent,
  agent: HttpAgent | HttpsAgent,
): Promise<Reply> {
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const isPacked = bytes !== undefined && bytes.length >= packFrom
  const payload = isPacked ? gzipSync(bytes, { level: 6 }) : bytes
  const content = payload && {
    'content-type': 'application/json',
    'content-length': String(payload.length),
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  }
  const options = { method, agent, headers: { accept: 'application/json', ...headers, ...content } }
  return new Promise((done, fail) => {
    const lost = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer)
      fail(new Unreachable(error.code ?? error.message, { cause: error }))
      request.destroy()
    }
    const request = requesterOf(url)(url, options)
    const timer = setTimeout(() => lost(new Error('no answer in time')), deadline)
    request.on('error', lost)
    request.on('response', response => {
      collect(response).then(text => {
        clearTimeout(timer)
        done({ status: response.statusCode!, headers: response.headers, body: asJson(text) })
      }, lost)
    })
    request.end(payload)
  })
}

async function collect(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length
    if (length > longestAnswer) throw new Error('the answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** An answer that is no JSON object, of a proxy perhaps, says nothing besides its status. */
function asJson(text: string): Reply['body'] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Reply['body']) : {}
  } catch {
    return {}
  }
}
