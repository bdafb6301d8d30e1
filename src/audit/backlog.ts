// The changes that the audit trail has yet to record, for metrics.
import type { Backlog } from '../db/backlog.ts'

/** Changes that are committed and not yet in the trail. */
export const auditBacklog: Backlog = {
  name: 'audit',
  query: 'select count(*) as audit_pending_changes from (select from audit_pending limit $1::integer) rows',
  figures: [
    {
      name: 'audit_pending_changes',
      help: 'Requests whose changes are not yet in the audit trail.',
      isCapped: true,
    },
  ],
}
