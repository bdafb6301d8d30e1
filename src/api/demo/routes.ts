// POST /api/demo/reset: the demo patients as they were on the first start (interface §4.2).

import type { DemoData } from '../../demo/data.ts'
import { open, type Route, reply, route } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { Type } from '../../lib/schema.ts'

const Reset = Type.Object(
  {
    status: Type.Enum(['ok']),
    seeded: Type.Record(Type.String(), Type.Integer(), { description: 'The number of restored resources by type.' }),
    patients: Type.Array(Type.String(), { description: 'Health IDs of the demo patients.' }),
  },
  { $id: 'DemoReset', description: 'The restored demo data.' },
)

/** @param isAllowed false in production, where the route answers 403. */
export function demoRoutes(demo: DemoData, isAllowed: boolean): Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/demo/reset',
      tag: 'Operational Flow',
      operationId: 'resetDemo',
      summary: 'Restore the demo patients, their records and the demo hospital; other data is unchanged',
      access: open,
      body: Type.Object({}, { additionalProperties: true, description: 'Ignored.' }),
      bodyOptional: true,
      isRepeatable: true,
      replies: { 201: Reset },
      async handle() {
        if (!isAllowed) throw new Failure('FORBIDDEN', 'There is no demo data in production.')
        return reply(201, { status: 'ok', ...(await demo.restore()) })
      },
    }),
  ]
}
