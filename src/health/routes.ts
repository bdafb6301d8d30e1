// Whether the service lives, and whether it can answer: for load balancers and container schedulers.
import { Type } from 'typebox'
import type { Database } from '../db/database.ts'
import { open, type Route, reply, route } from '../http/route.ts'

const Health = Type.Object(
  {
    status: Type.Enum(['ok', 'unavailable']),
    version: Type.String(),
    checks: Type.Record(Type.String(), Type.String()),
  },
  { $id: 'Health', description: 'State of the service and of what it depends on.' },
)

export function healthRoutes(database: Database, version: string): Route[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      tag: 'Operational Flow',
      operationId: 'health',
      summary: 'The process lives',
      access: open,
      replies: { 200: Health },
      handle: () => reply(200, { status: 'ok', version, checks: {} }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      tag: 'Operational Flow',
      operationId: 'ready',
      summary: 'The service can answer requests: its database does',
      access: open,
      replies: { 200: Health, 503: Health },
      async handle() {
        const answer = await database.query({ text: 'select 1', values: [] }).then(
          () => 'ok',
          () => 'unavailable',
        )
        return reply(answer === 'ok' ? 200 : 503, { status: answer, version, checks: { database: answer } })
      },
    }),
  ]
}
