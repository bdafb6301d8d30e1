// Sends requests exactly as they are written: a client that helps would mend what is to be wrong.
import { Agent, request } from 'node:http'
import type { Sent } from './world.ts'

export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export function createWire(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const { hostname, port } = new URL(url)
  const once = ({ method, target, headers: told, body }: Sent): Promise<Received> =>
    new Promise((done, fail) => {
      const headers = body ? { ...told, 'content-length': body.length } : told
      const sent = request({ agent, hostname, port, method, path: target, headers, timeout: 20_000 }, response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          done({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      sent.on('error', fail)
      sent.on('timeout', () => sent.destroy(new Error('no answer in 20 seconds')))
      sent.end(body)
    })
  return {
    /** A connection that the service closes while it is written to is tried once more, as clients do. */
    send: (sent: Sent): Promise<Received> => once(sent).catch(() => once(sent)),
    close: () => agent.destroy(),
  }
}
