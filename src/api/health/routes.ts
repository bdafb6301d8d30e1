// Whether the service lives, and whether it can answer: for load balancers and container schedulers.

import type { Database } from '../../db/database.ts'
import { open, type Route, reply, route } from '../../http/route.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { Type } from '../../lib/schema.ts'

const Health = Type.Object(
  {
    status: Type.Enum(['ok', 'unavailable']),
    version: Type.String(),
    checks: Type.Record(Type.String(), Type.String()),
    mapping_problems: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The errors in the mappings folder as `file:line:column: message`, at most twenty.',
      }),
    ),
  },
  { $id: 'Health', description: 'The state of the service and its dependencies.' },
)

/** Milliseconds for the database to answer. */
const patience = 2000

/** What is known of the maps of the service. */
interface MappingsState {
  state(): string
  problems(): readonly string[]
}

/** The probes of the process and of the service; the second reports the state of the maps beside that of the database. */
export function healthRoutes(database: Database, mappings: MappingsState, version: string): Route[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      tag: 'Operational Flow',
      operationId: 'health',
      summary: 'Check that the process is alive',
      access: open,
      replies: { 200: Health },
      handle: () => reply(200, { status: 'ok', version, checks: {} }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      tag: 'Operational Flow',
      operationId: 'ready',
      summary: 'Check that the service can answer requests',
      description:
        'Returns 503 if the database does not answer within 2 s. `checks.mappings` shows whether the service runs the maps in the mappings folder. If the folder has errors, `mapping_problems` lists them and the service stays ready with the last valid maps.',
      access: open,
      replies: { 200: Health, 503: Health },
      async handle() {
        const asked = database.query({ text: 'select 1', values: [] }).then(
          () => 'ok' as const,
          () => 'unavailable' as const,
        )
        const answer = await withDeadline(asked, patience, () => 'unavailable' as const)
        const checks = { database: answer, mappings: mappings.state() }
        const problems = mappings.problems()
        const reasons = problems.length > 0 ? { mapping_problems: [...problems] } : {}
        return reply(answer === 'ok' ? 200 : 503, { status: answer, version, checks, ...reasons })
      },
    }),
  ]
}
