// What an agent sends: items in a sequence, each stored once, and the answer to each batch of them (decisions §13).

import { itemTypes } from '../lib/bridge-item-types.ts'
import { type Static, Type } from '../lib/schema.ts'

/** Most items of a batch. */
export const mostItems = 500
/** Most bytes of a batch, after decompression. */
export const mostBytes = 5 * 1024 * 1024

const printable = (description: string, more: object = {}) =>
  Type.String({ pattern: '^[\\x21-\\x7e]{1,100}$', description, ...more })

const sequence = (description: string) => Type.Integer({ minimum: 1, maximum: 9_007_199_254_740_000, description })

/** The members by which the answer names an item; all others are checked item by item. */
export const BridgeItem = Type.Object(
  {
    seq: sequence('The place of the item in the sequence of the agent: 1, 2, 3 and so on.'),
    item_id: printable('The id that the agent gave the item. An item is stored once, however often it is sent.', {
      examples: ['0192f3c4-7a10-7c3e-8a51-0c6f0f6a9d11'],
    }),
    type: Type.String({ description: `What the payload is: ${itemTypes.join(', ')}.`, examples: ['hl7v2'] }),
    op: Type.Optional(Type.String({ default: 'upsert', description: 'upsert or delete.' })),
    occurred_at: Type.Optional(Type.String({ description: 'When the facility recorded it, ISO 8601.' })),
    source: Type.Optional(Type.String({ maxLength: 200, description: 'The input of the agent that received it.' })),
    payload: Type.Unknown({ description: 'The record, in the shape of its type.' }),
  },
  { $id: 'BridgeItem', description: 'One item of a sync.' },
)

export type BridgeItem = Static<typeof BridgeItem>

export const SyncBody = Type.Object(
  {
    batch_id: printable('The id of the batch. The same batch again gets the same answer, for 24 hours.'),
    agent_id: printable('The id of the agent.'),
    facility_id: printable('The id of the facility of the agent.'),
    items: Type.Array(BridgeItem, { maxItems: mostItems, description: 'The items, in any order of seq.' }),
    skipped: Type.Optional(
      Type.Array(sequence('A sequence number.'), {
        maxItems: mostItems,
        description: 'Sequence numbers of items that the agent no longer has, and never sends.',
      }),
    ),
  },
  { $id: 'BridgeSync', additionalProperties: false, description: 'A batch of items.' },
)

export type SyncBody = Static<typeof SyncBody>

export const Rejection = Type.Object(
  {
    seq: Type.Integer({ description: 'The seq of the item.' }),
    item_id: Type.String({ description: 'The id of the item.' }),
    error_code: Type.String({ description: 'The error code, as in errors of the service.' }),
    message: Type.String({ description: 'What is wrong, and what to do.' }),
    field: Type.Optional(Type.String({ description: 'The field of the payload that is wrong.' })),
    retryable: Type.Boolean({
      description: 'True if the same item may be accepted later: send it again. Otherwise it counts as received.',
    }),
  },
  { $id: 'BridgeRejection', description: 'An item that was not stored, and why. It left nothing behind.' },
)

export type Rejection = Static<typeof Rejection>

export const SyncReply = Type.Object(
  {
    batch_id: Type.String({ description: 'The id of the batch.' }),
    accepted: Type.Integer({ description: 'How many items this batch stored.' }),
    duplicates: Type.Integer({ description: 'How many items had been stored before.' }),
    rejected: Type.Array(Rejection, { description: 'The items that were not stored.' }),
    acked_through_seq: Type.Integer({ description: 'Every item up to this seq is stored, refused or skipped.' }),
    next_expected_seq: Type.Integer({
      description: 'The first seq that is missing. Below the first seq of the batch: there is a gap.',
    }),
    max_batch_items: Type.Integer({ description: 'Most items that the next batch may have.' }),
    server_time: Type.String({ format: 'date-time', description: 'The time of the service.' }),
  },
  { $id: 'BridgeSyncReply', description: 'What became of each item.' },
)

export type SyncReply = Static<typeof SyncReply>
