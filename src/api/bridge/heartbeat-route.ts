// The sign of life of an agent (interface §4.6, decisions §13).

import { countCommands } from '../../bridge/commands.ts'
import { heard } from '../../bridge/state.ts'
import { agentKey, headerOf, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
import { mustBeOwn } from './own.ts'
import type { BridgeParts } from './parts.ts'

/** The oldest version of the agent that this service works with; the newest has the version of the service. */
const leastVersion = '1.0.0'
const heartbeatSeconds = 60

const count = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const Heartbeat = Type.Object(
  {
    agent_id: Type.String({ maxLength: 100, description: 'The id of the agent.' }),
    facility_id: Type.String({ maxLength: 100, description: 'The id of the facility of the agent.' }),
    version: Type.String({
      minLength: 1,
      maxLength: 50,
      description: 'The version of the agent.',
      examples: ['1.0.0'],
    }),
    queue: Type.Optional(
      Type.Object(
        {
          pending: count('Items that wait.'),
          quarantined: count('Items that were refused or cannot be sent.'),
          oldest_at: Type.Optional(
            Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
              description: 'When the oldest waiting item was received.',
            }),
          ),
          bytes: count('Size of the queue on disk.'),
        },
        { additionalProperties: false, description: 'The queue of the agent.' },
      ),
    ),
    clock: Type.Optional(Type.String({ format: 'date-time', description: 'The time by the clock of the agent.' })),
    uptime_seconds: Type.Optional(count('Seconds since the agent started.')),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: 500 }), {
        maxItems: 20,
        description: 'What people on the premises should look after, the gravest first.',
      }),
    ),
  },
  { $id: 'BridgeHeartbeat', additionalProperties: false, description: 'What an agent says of itself.' },
)

const HeartbeatReply = Type.Object(
  {
    status: Type.Literal('ok'),
    server_time: Type.String({ format: 'date-time', description: 'The time of the service.' }),
    clock_skew_seconds: Type.Integer({ description: 'Seconds by which the clock of the agent is ahead.' }),
    next_heartbeat_seconds: Type.Integer({ description: 'Seconds until the next heartbeat is due.' }),
    config_version: Type.Integer({ description: 'The version of the settings at GET /api/v1/bridge/config.' }),
    min_agent_version: Type.String({ description: 'Older agents must be updated.' }),
    latest_agent_version: Type.String({ description: 'The newest version of the agent.' }),
    commands_pending: Type.Integer({ description: 'Commands that wait for the agent.' }),
    acked_through_seq: Type.Integer({ description: 'Every item up to this seq is stored, refused or skipped.' }),
  },
  { $id: 'BridgeHeartbeatReply', description: 'What the agent needs to know.' },
)

export function heartbeatRoute({ databaseFor, now, version }: BridgeParts): Route {
  return route({
    method: 'POST',
    path: '/api/v1/bridge/heartbeat',
    tag: 'Bridge',
    operationId: 'bridgeHeartbeat',
    summary: 'Report that an agent is running',
    description: 'An agent that is silent for three intervals counts as offline.',
    access: agentKey,
    isAboutCaller: true,
    isRepeatable: true,
    body: Heartbeat,
    maxBodyBytes: 16_384,
    replies: { 200: HeartbeatReply },
    async handle(request) {
      const { body, caller } = request
      mustBeOwn(caller, body)
      const time = now()
      const clock =
        body.clock === undefined ? Number(headerOf(request, 'x-bridge-timestamp')) * 1000 : Date.parse(body.clock)
      const skew = Math.round((clock - time.getTime()) / 1000)
      const { pending = 0, quarantined = 0, bytes = 0, oldest_at } = body.queue ?? {}
      const queue = { pending, quarantined, bytes, oldestAt: oldest_at ? new Date(oldest_at) : undefined }
      const on = databaseFor(caller)
      const [state, commands] = await Promise.all([
        heard(
          on,
          caller.clientId,
          {
            version: body.version,
            skew,
            uptime: body.uptime_seconds,
            queue: body.queue && queue,
            warnings: body.warnings ?? [],
          },
          time,
        ),
        countCommands(on, caller.clientId),
      ])
      return reply(200, {
        status: 'ok',
        server_time: time.toISOString(),
        clock_skew_seconds: skew,
        next_heartbeat_seconds: heartbeatSeconds,
        config_version: state.configVersion,
        min_agent_version: leastVersion,
        latest_agent_version: version,
        commands_pending: commands,
        acked_through_seq: state.acked,
      })
    },
  })
}
