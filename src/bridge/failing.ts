// Failures of an agent's syncs: one Task for each episode, from the first sync with a refused item to the first without one. The
// event bridge_agent.sync_failed follows from it (events/bridge.ts).
import { system } from '../access/caller.ts'
import { ownFacilities } from '../inventory/facilities.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { recordedFor } from '../store/recording.ts'
import type { Rejection } from './item.ts'
import type { AgentCall, BridgeParts } from './parts.ts'

const ours = 'https://health-interop.org/fhir'

/**
 * Opens an episode with the first refusals and closes it with the first sync that has none.
 * @param task the Task of the episode that goes on
 * @returns the Task of the episode that goes on now
 */
export async function episode(
  parts: BridgeParts,
  call: AgentCall,
  task: string | undefined,
  sync: { readonly items: number; readonly rejected: readonly Rejection[] },
): Promise<string | undefined> {
  const { items, rejected } = sync
  const isFailing = rejected.length > 0
  if (items === 0 || isFailing === (task !== undefined)) return task
  const store = parts.storeFor({ ...system, origin: call.caller.origin, ...recordedFor(call.caller) })
  if (task === undefined) return (await store.create('Task', await failedTask(parts, call, sync))).id
  const { body } = await store.read('Task', task)
  const failed = parseJson(body) as JsonObject
  const now = parts.now().toISOString()
  await store.update(
    'Task',
    task,
    { ...failed, executionPeriod: { ...(failed['executionPeriod'] as object), end: now } },
    {},
  )
  return undefined
}

/** It names counts and codes, never what an item contains. */
async function failedTask(
  parts: BridgeParts,
  { caller }: AgentCall,
  { items, rejected }: { readonly items: number; readonly rejected: readonly Rejection[] },
): Promise<JsonObject> {
  const { clientId, organizationId, facilityId } = caller
  const kind = (await ownFacilities(parts, caller, [facilityId])).get(facilityId)
  const counts = Map.groupBy(rejected, ({ error_code }) => error_code)
  const reasons = [...counts].map(([code, { length }]) => `${code} (${length})`).join(', ')
  const now = parts.now().toISOString()
  return {
    resourceType: 'Task',
    status: 'failed',
    intent: 'order',
    code: { coding: [{ system: `${ours}/CodeSystem/task`, code: 'bridge-sync', display: 'Bridge sync' }] },
    statusReason: { coding: [{ system: `${ours}/CodeSystem/error-code`, code: rejected[0]!.error_code }] },
    description: `The service refused ${rejected.length} of ${items} items of a sync: ${reasons}. Mend their cause and retry them from the quarantine of the agent.`,
    requester: { identifier: { system: parts.addresses.base.naming('bridge-agent'), value: clientId } },
    owner: { reference: `Organization/${organizationId}` },
    for: { reference: `${kind ?? 'Organization'}/${facilityId}` },
    authoredOn: now,
    executionPeriod: { start: now },
  }
}
