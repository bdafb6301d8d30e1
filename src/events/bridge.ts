// Events about Bridge Agents, whose failures to synchronise are Tasks: interface §6.1.

import { isObject, type JsonObject } from '../lib/json.ts'
import { id, text } from '../shapes/fields.ts'
import { objects } from '../store/values.ts'
import { both, entered, type LifecycleStep, type State, status } from './claims.ts'
import { described, type EventContent, facilityId, orNull } from './content.ts'
import { codeIn, codingsIn, facilityIn, idIn } from './elements.ts'

export const bridgeEvents = {
  'bridge_agent.sync_failed': described(
    'Bridge Agent sync failure',
    {
      agent_id: orNull(text('The Bridge Agent.')),
      task_id: id('The failed Task.'),
      reason_code: orNull(text('The reason code. Null if not recorded.')),
      facility_id: facilityId,
    },
    {
      health_id: null,
      agent_id: 'agent-hcy-01',
      task_id: 'c82e74b9-50a6-4d13-9f7c-86b1d3e0a45f',
      reason_code: 'unreachable',
      facility_id: 'hopital-central-yaounde',
    },
  ),
}

/** Codes of Tasks that the service creates for machines. */
const taskSystem = 'https://health-interop.org/fhir/CodeSystem/task'

const isSync: State = ({ code }) =>
  codingsIn(code).some(({ system, code: each }) => system === taskSystem && each === 'bridge-sync')

export const syncFailed = entered(both(isSync, status('failed')))

/** A failure, sent to the organisations that the agent works for. */
export function failedSync({ id, now = {}, around }: LifecycleStep): EventContent {
  const { owner, for: beneficiary, location, requester, statusReason } = now
  const facility = facilityIn(now, around, location, beneficiary, owner)
  const organizations = [owner, beneficiary].flatMap(each => idIn(each, ['Organization'], around) ?? [])
  const [reason] = codingsIn(statusReason)
  return {
    facility,
    data: {
      agent_id: idIn(requester, ['Device'], around) ?? identifierIn(requester),
      task_id: id,
      reason_code: codeIn(reason?.['code']),
      facility_id: facility ?? null,
    },
    audience: [...new Set(organizations)],
  }
}

function identifierIn(reference: unknown): string | null {
  const identifiers: JsonObject[] = isObject(reference) ? objects(reference['identifier']) : []
  return codeIn(identifiers[0]?.['value'])
}
