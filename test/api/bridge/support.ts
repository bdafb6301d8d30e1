// A Bridge agent of a test: created as the administrator does, calling as the program does.
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { createAgent } from '../../../src/identity/agents.ts'
import type { Service } from '../../support/service.ts'

interface BridgeAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly body: any
  readonly headers: Headers
}

export interface TestAgent {
  readonly id: string
  readonly key: string
  readonly facility: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<BridgeAnswer>
  /** Sends items as one batch, with the next numbers of the sequence unless they have some. */
  sync(items: readonly object[], more?: object): Promise<BridgeAnswer>
}

export async function agentOf(service: Service, facility: string, organization = facility): Promise<TestAgent> {
  const { agent, key } = await createAgent(service.application.database, {
    ...{ name: `agent of ${facility}`, facilityId: facility, organizationId: organization },
  })
  const { id } = agent
  let seq = 0
  const call: TestAgent['call'] = async (method, path, body, headers = {}) => {
    const isZipped = headers['content-encoding'] === 'gzip'
    const text = body === undefined ? undefined : JSON.stringify(body)
    const answer = await fetch(`${service.url}/api/v1/bridge/${path}`, {
      method,
      body: text === undefined ? undefined : isZipped ? gzipSync(text) : text,
      headers: {
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        'x-bridge-agent-id': id,
        'x-bridge-agent-key': key,
        'x-bridge-timestamp': String(Math.round(Date.now() / 1000)),
        ...headers,
      },
    })
    const received = await answer.text()
    return { status: answer.status, body: received ? JSON.parse(received) : undefined, headers: answer.headers }
  }
  return {
    ...{ id, key, facility, call },
    sync: (items, more = {}) =>
      call('POST', 'sync', {
        ...{ batch_id: randomUUID(), agent_id: id, facility_id: facility },
        items: items.map(item => ({ seq: ++seq, item_id: randomUUID(), op: 'upsert', ...item })),
        ...more,
      }),
  }
}
