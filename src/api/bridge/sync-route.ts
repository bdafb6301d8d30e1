// Takes what an agent has collected (decisions §13).
import { mostBytes, SyncBody, SyncReply } from '../../bridge/item.ts'
import { sync } from '../../bridge/sync.ts'
import { agentKey, type Route, reply, route } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { mustBeOwn } from './own.ts'
import type { BridgeParts } from './parts.ts'

export function syncRoute(parts: BridgeParts): Route {
  return route({
    method: 'POST',
    path: '/api/v1/bridge/sync',
    tag: 'Bridge',
    operationId: 'bridgeSync',
    summary: 'Store the items that an agent has collected',
    description:
      'Stores each item once, in order of seq, and answers for each refused item what is wrong with it. A refused item leaves nothing behind and holds nothing up. The same batch_id with the same body gets the same answer.',
    access: agentKey,
    body: SyncBody,
    maxBodyBytes: mostBytes,
    replies: { 200: SyncReply },
    onceBy: ({ batch_id }) => `bridge ${batch_id}`,
    failure: inOwnWords,
    async handle({ body, caller, requestId }) {
      mustBeOwn(caller, body)
      return reply(200, await sync(parts, { caller, requestId }, body))
    },
  })
}

function inOwnWords(failure: Failure): Failure {
  if (failure.code !== 'IDEMPOTENCY_KEY_REUSED') return failure
  return new Failure('CONFLICT', 'This batch_id was used for a different batch: use a new one for each batch.', {
    details: [{ field: 'batch_id', code: 'duplicate', message: 'was used for a different batch' }],
  })
}
