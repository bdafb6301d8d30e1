// The scripted server: conversations with the client libraries, as clients/vectors/scenarios.json states them.
//
// The tests start it and hand its address to a library's own test run as SCRIPTED_SERVER. The address is the control:
//   POST {control}/scenarios/{id}   201 {"url": "http://127.0.0.1:PORT", "received": "{control}/received/PORT"}: a server of its own,
//                                   for one test. Its replies come in order; the last one repeats. Requests for a token get
//                                   `tokenReplies` in order, and after them (or for null) the tokens token-1, token-2, …
//   POST {control}/scripts          The same for a scenario given as the body.
//   GET  {received}                 [{"method", "path", "query", "headers", "body"}]: what that server got so far; names of
//                                   headers are in lower case, their values UTF-8; `query` and `body` are text as they came.
// A reply is {"status", "headers"?, "body"? (JSON) or "text"?} or an action: "reset" (before the response), "reset-in-body",
// "silent" (no byte), "stall" (the head and a part of the body, then nothing). `byToken` answers by the token of a request.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the server answers to one request. */
interface Reply {
  readonly action?: 'reset' | 'reset-in-body' | 'silent' | 'stall'
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly text?: string
}

/** A conversation: the replies to requests for a token, and to all others. */
interface Script {
  readonly tokenReplies?: readonly (Reply | null)[]
  readonly replies?: readonly Reply[]
  readonly byToken?: Readonly<Record<string, Reply>>
}

interface Received {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The scripted server of a test file. */
export interface ScriptedServer {
  /** The address of its control, for SCRIPTED_SERVER. */
  readonly url: string
  close(): Promise<void>
}

const scenarios: readonly (Script & { readonly id: string })[] = JSON.parse(
  readFileSync(new URL('../../../clients/vectors/scenarios.json', import.meta.url), 'utf8'),
).scenarios

/** Starts the control on a free port of loopback. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const opened = new Map<number, { readonly server: Server; readonly received: readonly Received[] }>()
  const control = createServer((request, response) => void direct(request, response))

  async function direct(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, kind, name = ''] = request.url!.split('/')
    const body = await textOf(request)
    if (kind === 'received') return json(response, 200, opened.get(Number(name))?.received ?? [])
    const script = kind === 'scripts' ? (JSON.parse(body) as Script) : scenarios.find(({ id }) => id === name)
    if (script === undefined) return json(response, 404, { message: `There is no scenario ${name}.` })
    const received: Received[] = []
    const server = createServer(conversation(script, received))
    const port = await listening(server)
    opened.set(port, { server, received })
    json(response, 201, { url: `http://127.0.0.1:${port}`, received: `${url}/received/${port}` })
  }

  const url = `http://127.0.0.1:${await listening(control)}`
  return {
    url,
    close: async () => {
      for (const server of [control, ...[...opened.values()].map(each => each.server)]) await closed(server)
    },
  }
}

const tokenPath = '/api/v1/connect/auth/token'

/** Answers as the script says, and keeps what came. */
function conversation(
  { tokenReplies = [], replies = [], byToken = {} }: Script,
  received: Received[],
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let [tokens, others] = [0, 0]
  const nextToken = (): Reply => {
    tokens++
    const access_token = `token-${tokens - tokenReplies.filter((reply, index) => reply && index < tokens).length}`
    const fresh = { status: 200, body: { access_token, token_type: 'Bearer', expires_in: 3600, scope: '' } }
    return tokenReplies[tokens - 1] ?? fresh
  }
  const next = (): Reply => replies[Math.min(others++, replies.length - 1)] ?? { status: 500 }
  return async (request, response) => {
    const body = await textOf(request)
    const [path = '', query = ''] = request.url!.split('?')
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, utf8(`${value}`)]))
    received.push({ method: request.method!, path, query, headers, body })
    const token = headers['authorization']?.replace('Bearer ', '') ?? ''
    send(response, path === tokenPath ? nextToken() : (byToken[token] ?? next()))
  }
}

/** Node reads the bytes of a header as Latin-1. */
const utf8 = (value: string): string => Buffer.from(value, 'latin1').toString('utf8')

const part = '{"resourceType":"Bundle","entry":['

function send(response: ServerResponse, { action, status = 200, headers = {}, body, text }: Reply): void {
  if (action === 'silent') return
  if (action === 'reset') return void response.socket?.resetAndDestroy()
  if (action === 'stall' || action === 'reset-in-body') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write(part, () => (action === 'stall' ? undefined : response.socket?.destroy()))
    return
  }
  const content = text ?? (body === undefined ? '' : JSON.stringify(body))
  response.writeHead(status, {
    ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(content) }),
    ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    ...headers,
  })
  response.end(content)
}

function json(response: ServerResponse, status: number, body: unknown): void {
  send(response, { status, body })
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const each of request) parts.push(each as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>(done => server.close(() => done()))
}
