// One workload, fired for some seconds; and the token that it needs.

import autocannon from 'autocannon'
import type { Workload } from './workloads.ts'

export function shoot(
  { origin, connections, requests }: Workload,
  token: string,
  seconds: number,
): Promise<autocannon.Result> {
  let clients = 0
  return autocannon({
    url: origin,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
    setupClient: client => client.setRequests(requests(clients++)),
  })
}

export async function fetchToken(origin: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'demo-client',
    client_secret: 'demo-secret-for-local-use-only',
  })
  const reply = await fetch(`${origin}/api/v1/connect/auth/token`, { method: 'POST', body })
  return ((await reply.json()) as { access_token: string }).access_token
}
