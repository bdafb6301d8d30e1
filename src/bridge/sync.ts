// One batch of an agent: its items in order of their sequence, each stored in a savepoint of its own or refused without a trace
// (decisions §13). The batch is one transaction: its answer and what it stored exist together.

import { itemTypes } from '../lib/bridge-item-types.ts'
import type { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import { inUnitOfWork } from '../store/unit-of-work.ts'
import { asSizeFailure, bounded } from './bounded.ts'
import { episode } from './failing.ts'
import { type CallWithin, type GroupItem, type Plan, storeGroup } from './group.ts'
import { type BridgeItem, mostItems, type Rejection, type SyncBody, type SyncReply } from './item.ts'
import { type Mark, markOf, openLedger } from './ledger.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { type IsNewer, openPlaces, type Places } from './places.ts'
import { type RecordType, recordTypes } from './records.ts'
import { refuse } from './refuse.ts'
import { sourceOf } from './sourced.ts'
import { advance, lockState, setFailing } from './state.ts'

/**
 * Stores the items of a batch.
 * @throws Failure CONFLICT if its sequence has too many gaps; PAYLOAD_TOO_LARGE if it registers too many people; UNAVAILABLE.
 */
export async function sync(parts: BridgeParts, call: AgentCall, body: SyncBody): Promise<SyncReply> {
  const register = bounded(parts.register)
  return stored({ ...parts, register }, call, body).catch(error => {
    throw asSizeFailure(error)
  })
}

function stored(parts: BridgeParts, call: AgentCall, body: SyncBody): Promise<SyncReply> {
  const { batch_id, skipped = [] } = body
  const items = body.items.toSorted((one, other) => one.seq - other.seq).map(item => ({ item, mark: markOf(item) }))
  return inUnitOfWork(parts.unitOfWork, call.caller, async (caller, on) => {
    const agent = caller.clientId
    const state = await lockState(on, agent)
    const ledger = await openLedger(
      on,
      agent,
      items.map(({ mark }) => mark),
    )
    const places = await openPlaces(on, agent, body.items)
    const rejected: Rejection[] = []
    let [accepted, duplicates] = [0, 0]
    for (const run of runsOf(items)) {
      const fresh = run.filter(({ mark }) => !ledger.has(mark))
      duplicates += run.length - fresh.length
      const refused = await storeRun(parts, { ...call, caller }, fresh, places)
      for (const { item, mark } of fresh) {
        const failure = refused.get(item)
        if (failure) rejected.push(rejectionOf(item, failure))
        else ledger.add(mark, places.of(item))
      }
      accepted += fresh.length - refused.size
    }
    await ledger.save()
    await places.save(rejected)
    const failing = await episode(parts, { ...call, caller }, state.failingTask, { items: items.length, rejected })
    if (failing !== state.failingTask) await setFailing(on, agent, failing)
    const waiting = new Set(rejected.filter(({ retryable }) => retryable).map(({ seq }) => seq))
    const done = items.map(({ item: { seq } }) => seq).filter(seq => !waiting.has(seq))
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

interface RunItem {
  readonly item: BridgeItem
  readonly mark: Mark
}

/** Items that follow each other and are stored together, or one that is stored alone. */
type Run = readonly RunItem[]

/** An item and its repetition are never in one run. */
function* runsOf(items: readonly RunItem[]): Generator<Run> {
  let run: RunItem[] = []
  const names = new Set<string>()
  for (const each of items) {
    const { item, mark } = each
    const name = mark.message?.toString('hex') ?? mark.item
    const isAlone = !isShared(item)
    if (run.length > 0 && (isAlone || names.has(name) || names.has(mark.item))) {
      yield run
      run = []
      names.clear()
    }
    if (isAlone) yield [each]
    else {
      run.push(each)
      names.add(name).add(mark.item)
    }
  }
  if (run.length > 0) yield run
}

/** True if an item may be stored together with others. */
const isShared = ({ type, op = 'upsert' }: BridgeItem): boolean =>
  isKnown(type) && op === 'upsert' && recordTypes[type].read !== undefined

/** Stores a run; returns why items of it were refused. Those left nothing behind but their record in the audit trail. */
async function storeRun(
  parts: BridgeParts,
  call: CallWithin,
  run: Run,
  places: Places,
): Promise<Map<BridgeItem, Failure>> {
  const ready = run.map(({ item }) => readyItem(parts, call, item, places.lateness(item)))
  const refused = await storeGroup(
    parts,
    call,
    ready.filter(({ isRead }) => isRead),
  )
  // What cannot be read is refused alone, so that the others are stored at the first attempt.
  for (const each of ready.filter(({ isRead }) => !isRead))
    for (const [item, failure] of await storeGroup(parts, call, [each])) refused.set(item, failure)
  for (const [{ item }, failure] of refused)
    if (failure.status >= 500)
      parts.log.error(
        { requestId: call.requestId, agent: call.caller.clientId, item: item.item_id, err: failure.options.cause },
        'bridge: could not store an item',
      )
  return new Map([...refused].map(([{ item }, failure]) => [item, failure]))
}

interface ReadyItem extends GroupItem {
  readonly item: BridgeItem
  readonly isRead: boolean
}

function readyItem(parts: BridgeParts, call: CallWithin, item: BridgeItem, isNewer: IsNewer | undefined): ReadyItem {
  const about = {
    item,
    isNewer,
    query: `bridge/sync ${isKnown(item.type) ? item.type : 'item'}`,
    source: sourceOf(call.caller.clientId, item.item_id),
  }
  try {
    return { ...about, isRead: true, plan: readItem(parts, call, item) }
  } catch (error) {
    return { ...about, isRead: false, plan: () => Promise.reject(error) }
  }
}

/** Reads an item without the database. @throws Failure saying what is wrong with it. */
function readItem(parts: BridgeParts, call: AgentCall, item: BridgeItem): Plan {
  const { read, work } = workOf(item)
  const payload = payloadOf(item)
  if (read) return read(parts, call, payload)
  return async (own, within) => {
    await work!(own, within, payload)
    return []
  }
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
function workOf({ type, op = 'upsert', occurred_at }: BridgeItem): {
  readonly read?: RecordType['read']
  readonly work?: RecordType['upsert']
} {
  if (!isKnown(type)) throw refuse('VALIDATION_FAILED', `type must be ${oneOf(itemTypes, type)}`, 'type')
  if (op !== 'upsert' && op !== 'delete')
    throw refuse('VALIDATION_FAILED', `op must be ${oneOf(['upsert', 'delete'], op)}`, 'op')
  if (occurred_at !== undefined && Number.isNaN(Date.parse(occurred_at)))
    throw refuse('VALIDATION_FAILED', 'occurred_at must be an ISO 8601 date and time.', 'occurred_at')
  const record = recordTypes[type]
  if (op === 'upsert') return { read: record.read, work: record.upsert }
  if (record.delete) return { work: record.delete }
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
