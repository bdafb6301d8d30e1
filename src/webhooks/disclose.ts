// Records every delivery about a patient in the audit trail before it is sent, like every other access to a patient's
// data.

import { recordOf } from '../audit/records.ts'
import type { AuditWriter } from '../audit/writer.ts'
import { typeName } from '../store/type-number.ts'
import type { Task } from './queue.ts'
import type { Target } from './targets.ts'

/** The query of a notice in the audit trail, before the id of the event. */
export const noticePath = 'connect/webhooks/events'

/** Records the deliveries that are about a patient, each before its first attempt. */
export function disclosing(audit: Pick<AuditWriter, 'write'>) {
  return async (tasks: readonly (Task & { readonly target: Target })[]): Promise<void> => {
    const fresh = tasks.filter(({ attempt, patients }) => attempt === 1 && patients !== '')
    const at = new Date()
    const records = fresh.map(({ source, event, patients, requestId, target: { id, clientId, organizationId } }) =>
      recordOf(
        {
          deed: 'operation',
          type: typeName(source.type),
          id: source.id,
          version: source.version,
          query: `${noticePath}/${event}?subscription=${id}`,
          patients: patients.split(' '),
          resources: 1,
        },
        { clientId, organizationId, tokenId: '', address: '', requestId, purpose: '' },
        at,
      ),
    )
    if (records.length > 0) await audit.write(records)
  }
}
