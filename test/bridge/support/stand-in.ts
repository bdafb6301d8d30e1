// A stand-in for the service as the protocol of agents describes it: keeps what it gets, and answers as a test says.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { onCleanup } from '../../support/cleanup.ts'
import { until } from '../../support/process.ts'

export interface SentItem {
  readonly seq: number
  readonly item_id: string
  readonly source: string
  readonly type: string
  readonly op: string
  readonly occurred_at: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they get freely
  readonly payload: any
}

interface SyncRequest {
  readonly batch_id: string
  readonly agent_id: string
  readonly facility_id?: string
  readonly skipped?: readonly number[]
  readonly items: readonly SentItem[]
}

interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they get freely
  readonly body: any
  /** As it came, unpacked. */
  readonly text: string
}

interface Scripted {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Undefined: the stand-in answers as the protocol says. `cut`: the connection breaks, after what it asks was done. */
type Script = (received: Received) => Scripted | 'cut' | 'silence' | undefined

export const agentKey = `bak_${'k'.repeat(43)}`

export interface StandIn {
  readonly url: string
  readonly received: Received[]
  /** Items that are done, by item_id, in the order in which they were. */
  readonly done: Map<string, SentItem>
  /** How often an item came that was done already: what "nothing twice" is measured by comes before this. */
  duplicates: number
  /** Numbers that the agent declared as given up. */
  readonly skipped: Set<number>
  readonly acks: { id: string; status: string; message?: string; key_sha256?: string }[]
  /** Keys that are valid, by their SHA-256. */
  readonly keys: Set<string>
  commands: { id: string; type: string; payload: unknown; created_at: string }[]
  config: Record<string, unknown> & { version: string }
  script: Script
  /** Milliseconds that its clock is ahead. */
  ahead: number
  /** Items refused for the time being, by item_id. */
  refuse: (item: SentItem) => { error_code: string; message: string; retryable: boolean; field?: string } | undefined
  ackedThrough(): number
  /** Loses what it had acknowledged from this number on, as after a restore. */
  forget(from: number): void
  paths(path: string): Received[]
  until(what: string, condition: (standIn: StandIn) => boolean): Promise<void>
  /** Nothing is reached from now on, until what it returns is called. */
  vanish(): Promise<() => Promise<void>>
}

const beatMembers = ['agent_id', 'facility_id', 'version', 'queue', 'clock', 'uptime_seconds', 'warnings']
const syncMembers = ['batch_id', 'agent_id', 'facility_id', 'items', 'skipped']

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Starts a stand-in; it stops after the file's last test. */
export async function startStandIn(): Promise<StandIn> {
  const finals = new Set<number>()
  const answers = new Map<string, { digest: string; answer: unknown }>()
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onCleanup(async () => {
    server.closeAllConnections()
    server.close()
  })
  const standIn: StandIn = {
    url: `http://127.0.0.1:${port}`,
    received: [],
    done: new Map(),
    duplicates: 0,
    skipped: new Set(),
    acks: [],
    keys: new Set([digest(agentKey)]),
    commands: [],
    config: { version: '1' },
    script: () => undefined,
    ahead: 0,
    refuse: () => undefined,
    ackedThrough() {
      let through = 0
      while (finals.has(through + 1)) through++
      return through
    },
    forget(from) {
      for (const seq of [...finals]) if (seq >= from) finals.delete(seq)
    },
    paths: path => standIn.received.filter(each => each.path.split('?')[0]!.endsWith(path)),
    until: (what, condition) => until(what, () => condition(standIn), 20),
    async vanish() {
      server.closeAllConnections()
      server.close()
      return async () => {
        server.listen(port, '127.0.0.1')
        await once(server, 'listening')
      }
    },
  }
  const time = (): Date => new Date(Date.now() + standIn.ahead)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const bytes = Buffer.concat(parts)
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8')
    const body = text ? JSON.parse(text) : undefined
    const received = { path: request.url!, headers: request.headers, body, text }
    standIn.received.push(received)
    const scripted = standIn.script(received)
    if (scripted === 'silence') return
    const reply = scripted && scripted !== 'cut' ? scripted : answer(received)
    if (scripted === 'cut') return void request.socket.destroy()
    const isPoll = received.path.includes('/commands?') && reply.status === 200
    const isEmpty = isPoll && (reply.body as { commands: unknown[] }).commands.length === 0
    if (isEmpty) await patience(response)
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(JSON.stringify(isEmpty ? answer(received).body : (reply.body ?? {})))
  }

  /** Holds a poll until a command comes, or a while has passed. */
  async function patience(response: ServerResponse): Promise<void> {
    const end = Date.now() + 2000
    while (Date.now() < end && standIn.commands.length === 0 && !response.destroyed)
      await new Promise(done => setTimeout(done, 20))
  }

  function answer({ path, headers, body, text }: Received): Scripted {
    const refusal = unproven(headers)
    if (refusal) return refusal
    if (path.endsWith('/heartbeat')) return strange(body, beatMembers) ?? { status: 200, body: beat() }
    if (path.endsWith('/sync')) return strange(body, syncMembers) ?? sync(body, text)
    if (path.endsWith('/config')) return config(headers['if-none-match'])
    if (path.includes('/commands?')) return { status: 200, body: { commands: [...standIn.commands] } }
    const [, id] = /\/commands\/([^/]+)\/ack$/.exec(path) ?? []
    return id ? acknowledge(id, body) : { status: 404, body: { error_code: 'NOT_FOUND', message: 'no such address' } }
  }

  /** What the protocol does not know is refused, as the service does. */
  function strange(body: object, members: readonly string[]): Scripted | undefined {
    if (Object.keys(body).every(each => members.includes(each)) && 'facility_id' in body) return undefined
    return { status: 400, body: { error_code: 'VALIDATION_FAILED', message: 'not of the protocol' } }
  }

  function unproven(headers: IncomingMessage['headers']): Scripted | undefined {
    if (!standIn.keys.has(digest(String(headers['x-bridge-agent-key']))) || headers['x-bridge-agent-id'] !== 'agent-1')
      return { status: 401, body: { error_code: 'INVALID_AGENT', message: 'unknown agent or key' } }
    const skew = time().getTime() / 1000 - Number(headers['x-bridge-timestamp'])
    if (Math.abs(skew) <= 300) return undefined
    return {
      status: 401,
      body: { error_code: 'CLOCK_SKEW', message: 'wrong clock', server_time: time().toISOString() },
    }
  }

  const beat = () => ({
    status: 'ok',
    server_time: time().toISOString(),
    clock_skew_seconds: 0,
    next_heartbeat_seconds: 60,
    config_version: standIn.config.version,
    min_agent_version: '1.0.0',
    latest_agent_version: '1.2.0',
    commands_pending: standIn.commands.length,
    acked_through_seq: standIn.ackedThrough(),
  })

  function sync(request: SyncRequest, text: string): Scripted {
    const known = answers.get(request.batch_id)
    if (known && known.digest !== digest(text))
      return { status: 409, body: { error_code: 'CONFLICT', message: 'other body' } }
    if (known) return { status: 200, body: known.answer }
    let [accepted, duplicates] = [0, 0]
    const rejected: unknown[] = []
    for (const item of request.items) {
      const refusal = standIn.done.has(item.item_id) ? undefined : standIn.refuse(item)
      if (refusal) rejected.push({ seq: item.seq, item_id: item.item_id, ...refusal })
      else if (standIn.done.has(item.item_id)) duplicates++
      else accepted++
      if (!refusal && !standIn.done.has(item.item_id)) standIn.done.set(item.item_id, item)
      if (!refusal?.retryable) finals.add(item.seq)
    }
    for (const seq of request.skipped ?? []) standIn.skipped.add(seq) && finals.add(seq)
    standIn.duplicates += duplicates
    const through = standIn.ackedThrough()
    const answer = {
      batch_id: request.batch_id,
      accepted,
      duplicates,
      rejected,
      acked_through_seq: through,
      next_expected_seq: through + 1,
      max_batch_items: 500,
      server_time: time().toISOString(),
    }
    answers.set(request.batch_id, { digest: digest(text), answer })
    return { status: 200, body: answer }
  }

  function config(known: string | undefined): Scripted {
    const etag = `"${standIn.config.version}"`
    return known === etag ? { status: 304 } : { status: 200, body: standIn.config, headers: { etag } }
  }

  function acknowledge(id: string, body: { status: string; key_sha256?: string }): Scripted {
    standIn.acks.push({ id, ...body })
    standIn.commands = standIn.commands.filter(each => each.id !== id)
    if (body.key_sha256) standIn.keys.add(body.key_sha256)
    return { status: 200, body: { id, status: body.status } }
  }
  return standIn
}
