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

/** `mappings`: the maps of the service, whose state is told beside that of the database. */
export function healthRoutes(database: Database, mappings: { state(): string }, version: string): Route[] {
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
      description:
        '`checks.mappings` tells whether the maps of the folder are those that are served; with broken ones there, the last sound ones are, and the service stays ready.',
      access: open,
      replies: { 200: Health, 503: Health },
      async handle() {
        const answer = await database.query({ text: 'select 1', values: [] }).then(
          () => 'ok',
          () => 'unavailable',
        )
        const checks = { database: answer, mappings: mappings.state() }
        return reply(answer === 'ok' ? 200 : 503, { status: answer, version, checks })
      },
    }),
  ]
}
