import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { but, derived, names } from './support.ts'

const system = 'https://health-interop.org/fhir/CodeSystem/task'
const failed: JsonObject = {
  resourceType: 'Task',
  status: 'failed',
  code: { coding: [{ system, code: 'bridge-sync' }] },
  statusReason: { coding: [{ code: 'unreachable' }], text: 'The line was cut' },
  requester: { reference: 'Device/agent' },
  owner: { reference: 'Organization/hcy' },
  for: { reference: 'Organization/group' },
  location: { reference: 'Location/ward' },
}
const running = but(failed, { status: 'in-progress' })

const cases: readonly [string, JsonObject | undefined, JsonObject | undefined, boolean][] = [
  ['one that fails', failed, running, true],
  ['one that had failed when it was recorded', failed, undefined, true],
  ['one that runs', running, undefined, false],
  ['one of which more is known', but(failed, { statusReason: {} }), failed, false],
  ['one that fails again', failed, but(failed, { status: 'ready' }), true],
  ['another task', but(failed, { code: { coding: [{ system, code: 'review' }] } }), running, false],
  ['a task of somebody else', but(failed, { code: { coding: [{ code: 'bridge-sync' }] } }), running, false],
  ['a deleted one', undefined, failed, false],
]

describe('of a synchronisation is told that it failed', () => {
  test.each(cases)('%s', (_name, now, before, isTold) => {
    expect(names('Task', now, before)).toEqual(isTold ? ['bridge_agent.sync_failed'] : [])
  })

  test('which agent, why, and to the organisations that it works for', () => {
    expect(derived('Task', failed)).toEqual([
      {
        type: 'bridge_agent.sync_failed',
        source: { type: 'Task', id: 'it', version: 7 },
        patient: undefined,
        data: { agent_id: 'agent', task_id: 'it', reason_code: 'unreachable', facility_id: 'ward' },
        facility: 'ward',
        audience: ['hcy', 'group'],
      },
    ])
  })

  test('an agent that is known by its identifier', () => {
    const requester = { identifier: { value: 'agent-hcy-01' } }
    expect(derived('Task', but(failed, { requester }))[0]?.data['agent_id']).toBe('agent-hcy-01')
  })
})
