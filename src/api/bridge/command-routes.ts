// What an agent is to do, what became of it, and its settings (decisions §13).

import { acknowledge, commandTypes, type Command as Offered } from '../../bridge/commands.ts'
import { AgentConfig, configOf } from '../../bridge/configuration.ts'
import { offeredCommands } from '../../bridge/offer.ts'
import { agentKey, headerOf, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
import type { BridgeParts } from './parts.ts'

const Command = Type.Object(
  {
    id: Type.String({ description: 'The id of the command. Later commands have larger ones.' }),
    type: Type.Enum([...commandTypes], { description: 'What to do.' }),
    payload: Type.Object({}, { description: 'What the type of command needs.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the command was given.' }),
  },
  { $id: 'BridgeCommand', description: 'Something that an agent is to do.' },
)

const commandId = Type.String({ pattern: '^\\d{1,18}$', description: 'The id of a command.', examples: ['42'] })

export const commandRoutes = (parts: BridgeParts): Route[] => [listRoute(parts), ackRoute(parts), configRoute(parts)]

function listRoute(parts: BridgeParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/bridge/commands',
    tag: 'Bridge',
    operationId: 'bridgeCommands',
    summary: 'List the commands that wait for an agent, oldest first',
    description:
      'With wait, the reply comes as soon as there is a command. A command is listed until it is acknowledged.',
    access: agentKey,
    isAboutCaller: true,
    query: Type.Object(
      {
        after: Type.Optional(
          Type.String({
            pattern: '^\\d{1,18}$',
            description: 'List the commands after this one only.',
            examples: ['41'],
          }),
        ),
        wait: Type.Optional(
          Type.String({
            pattern: '^([01]?\\d|2[0-5])$',
            description: 'Seconds to wait for a command, 0 to 25. Default: 0.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    replies: {
      200: Type.Object(
        { commands: Type.Array(Command) },
        { $id: 'BridgeCommands', description: 'Commands, oldest first.' },
      ),
    },
    async handle({ caller, requestId, query, signal }) {
      const find = () => offeredCommands(parts, { caller, requestId }, query.after)
      const seconds = Number(query.wait ?? 0)
      let commands: readonly Offered[] = await find()
      const look = async () => (commands = await find()).length > 0
      if (commands.length === 0 && seconds > 0) await parts.bell.wait(caller.clientId, seconds * 1000, signal, look)
      return reply(200, {
        commands: commands.map(({ id, type, payload, createdAt }) => ({ id, type, payload, created_at: createdAt })),
      })
    },
  })
}

const Ack = Type.Object(
  {
    status: Type.Enum(['done', 'failed'], { description: 'What became of the command.' }),
    message: Type.Optional(Type.String({ maxLength: 1000, description: 'Why it failed, or what came of it.' })),
    key_sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          'For rotate_key: the SHA-256 of the key that the agent made, in hexadecimal. The key is valid from the reply on, and the one before for 24 hours more.',
      }),
    ),
  },
  { $id: 'BridgeAcknowledgement', additionalProperties: false, description: 'What became of a command.' },
)

function ackRoute({ unitOfWork }: BridgeParts): Route {
  return route({
    method: 'POST',
    path: '/api/v1/bridge/commands/{id}/ack',
    tag: 'Bridge',
    operationId: 'bridgeAcknowledge',
    summary: 'Acknowledge a command',
    access: agentKey,
    isAboutCaller: true,
    isRepeatable: true,
    params: Type.Object({ id: commandId }),
    body: Ack,
    maxBodyBytes: 16_384,
    refusals: [409],
    replies: {
      200: Type.Object(
        { id: commandId, status: Type.String() },
        { $id: 'BridgeAcknowledged', description: 'The command.' },
      ),
    },
    async handle({ caller, params, body: { status, message, key_sha256: key } }) {
      await unitOfWork(caller, on => acknowledge(on, caller.clientId, params.id, { status, message, key }))
      return reply(200, { id: params.id, status })
    },
  })
}

function configRoute({ databaseFor }: BridgeParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/bridge/config',
    tag: 'Bridge',
    operationId: 'bridgeConfig',
    summary: 'Get the settings of an agent',
    description:
      'Sources, targets and limits replace those of the same name in the file of the agent. If-None-Match saves the body.',
    access: agentKey,
    isAboutCaller: true,
    replies: {
      200: Type.Object(
        { version: Type.Integer({ description: 'Grows with each change.' }), ...AgentConfig.properties },
        { $id: 'BridgeConfig', description: 'The settings of an agent.' },
      ),
      304: null,
    },
    async handle(request) {
      const { version, config } = await configOf(databaseFor(request.caller), request.caller.clientId)
      const etag = `"${version}"`
      const asked = headerOf(request, 'if-none-match')
        ?.split(',')
        .map(each => each.trim().replace(/^W\//, ''))
      if (asked?.some(each => each === etag || each === '*')) return reply(304, undefined, { etag })
      return reply(200, { version, sources: {}, targets: {}, limits: {}, ...config }, { etag })
    },
  })
}
