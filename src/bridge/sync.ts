// One batch of an agent: its items in order of their sequence, each stored in a savepoint of its own or refused without a trace
// (decisions §13). The batch is one transaction: its answer and what it stored exist together.
import type { Transaction } from '../db/statement.ts'
import type { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import { asPart, inUnitOfWork } from '../store/unit-of-work.ts'
import { episode } from './failing.ts'
import { type BridgeItem, itemTypes, mostItems, type Rejection, type SyncBody, type SyncReply } from './item.ts'
import { markOf, openLedger } from './ledger.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { type RecordType, recordTypes } from './records.ts'
import { refuse } from './refuse.ts'
import { sourced, sourceOf } from './sourced.ts'
import { advance, lockState, setFailing } from './state.ts'

/** Stores the items of a batch. @throws Failure CONFLICT if its sequence has too many gaps; UNAVAILABLE. */
export async function sync(parts: BridgeParts, call: AgentCall, body: SyncBody): Promise<SyncReply> {
  const { batch_id, skipped = [] } = body
  const items = body.items.toSorted((one, other) => one.seq - other.seq)
  return inUnitOfWork(parts.unitOfWork, call.caller, async (caller, on) => {
    const agent = caller.clientId
    const state = await lockState(on, agent)
    const marks = items.map(markOf)
    const ledger = await openLedger(on, agent, marks)
    const rejected: Rejection[] = []
    let [accepted, duplicates] = [0, 0]
    for (const [index, item] of items.entries()) {
      const mark = marks[index]!
      if (ledger.has(mark)) {
        duplicates++
        continue
      }
      const rejection = await attempt(parts, { ...call, caller }, item)
      if (rejection) rejected.push(rejection)
      else {
        ledger.add(mark, item.seq)
        accepted++
      }
    }
    await ledger.save()
    const failing = await episode(parts, { ...call, caller }, state.failingTask, { items: items.length, rejected })
    if (failing !== state.failingTask) await setFailing(on, agent, failing)
    const waiting = new Set(rejected.filter(({ retryable }) => retryable).map(({ seq }) => seq))
    const done = items.map(({ seq }) => seq).filter(seq => !waiting.has(seq))
    const acked = await advance(on, agent, { done, skipped })
    if (acked === undefined)
      throw refuse(
        'CONFLICT',
        'The sequence of the agent has more than 1000 gaps: send the missing items, or list them as skipped.',
      )
    return {
      ...{ batch_id, accepted, duplicates, rejected },
      ...{ acked_through_seq: acked, next_expected_seq: acked + 1, max_batch_items: mostItems },
      server_time: parts.now().toISOString(),
    }
  })
}

/** Stores one item; returns why it was refused, and then it left nothing behind but its record in the audit trail. */
async function attempt(
  parts: BridgeParts,
  { caller, requestId }: AgentCall & { readonly caller: { readonly within: Transaction } },
  item: BridgeItem,
): Promise<Rejection | undefined> {
  const agent = caller.clientId
  const query = `bridge/sync ${isKnown(item.type) ? item.type : 'item'}`
  const failure = await asPart(caller, { query }, async own => {
    const marking = sourced(parts, caller.author, sourceOf(agent, item.item_id))
    await workOf(item)(marking, { caller: own, requestId }, payloadOf(item))
  })
  if (failure && failure.status >= 500)
    parts.log.error(
      { requestId, agent, item: item.item_id, err: failure.options.cause },
      'bridge: could not store an item',
    )
  return failure && rejectionOf(item, failure)
}

/** Conflicts and internal errors may pass: the same item may be stored the next time. */
function rejectionOf({ seq, item_id }: BridgeItem, failure: Failure): Rejection {
  const { code, message, status, options } = failure
  const field = options.details?.find(each => each.field !== undefined)?.field
  const retryable = status >= 500 || code === 'CONFLICT' || code === 'RATE_LIMITED'
  return { seq, item_id, error_code: code, message, ...(field === undefined ? {} : { field }), retryable }
}

const isKnown = (type: string): type is (typeof itemTypes)[number] => (itemTypes as readonly string[]).includes(type)

/** Returns what is to be done with an item. @throws Failure VALIDATION_FAILED naming the member that says nothing that can be done. */
function workOf({ type, op = 'upsert', occurred_at }: BridgeItem): RecordType['upsert'] {
  if (!isKnown(type)) throw refuse('VALIDATION_FAILED', `type must be ${oneOf(itemTypes, type)}`, 'type')
  if (op !== 'upsert' && op !== 'delete')
    throw refuse('VALIDATION_FAILED', `op must be ${oneOf(['upsert', 'delete'], op)}`, 'op')
  if (occurred_at !== undefined && Number.isNaN(Date.parse(occurred_at)))
    throw refuse('VALIDATION_FAILED', 'occurred_at must be an ISO 8601 date and time.', 'occurred_at')
  const work = recordTypes[type][op]
  if (work) return work
  throw refuse('VALIDATION_FAILED', `A ${type} cannot be deleted: send it again with the status that it has now.`, 'op')
}

function oneOf(names: readonly string[], given: string): string {
  const meant = nearest(given.slice(0, 100), [...names])
  return `one of ${names.join(', ')}${meant ? `; did you mean ${meant}?` : '.'}`
}

function payloadOf({ payload }: BridgeItem): JsonObject {
  if (isObject(payload)) return payload
  throw refuse('VALIDATION_FAILED', 'payload must be an object.', 'payload')
}
