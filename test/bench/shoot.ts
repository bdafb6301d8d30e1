// One workload, fired for some seconds.

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
