// Whether the consents that opened data to an organisation still open it: for data that is stored under them and handed
// out later.
import type { Queryable } from '../../db/statement.ts'
import { hash64 } from '../../lib/hash.ts'

/** Returns true if a consent for the organisation has ended, or has become narrower, since that time. */
export async function hasNarrowed(on: Queryable, organizationId: string, since: Date): Promise<boolean> {
  const [row] = await on.query<{ is_narrower: boolean }>({
    name: 'consent-narrowed',
    text: `select exists (select 1 from consent_narrowed where organization = $1 and at >= $2)
        or exists (select 1 from consent_grant where organization = $1 and ends_at >= $2 and ends_at <= statement_timestamp()) as is_narrower`,
    values: [hash64(`Organization/${organizationId}`), since],
  })
  return row!.is_narrower
}
