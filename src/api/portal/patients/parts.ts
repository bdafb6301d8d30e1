// What the pages about one patient work with, and which patients a user finds.

import { ownOrganization, type UserCaller } from '../../../access/caller.ts'
import type { ReviewParts } from '../../../access/consent/reviews.ts'
import { isKnownTo } from '../../../access/officer.ts'
import type { ConsentService } from '../../../consents/service.ts'
import { clientsOf } from '../../../identity/clients.ts'
import { Failure } from '../../../lib/failure.ts'
import { mergedWith } from '../../../mpi/register/merged.ts'
import type { Base } from '../../../store/base.ts'
import { asOperation } from '../../../store/operation.ts'
import type { AuditPageParts } from '../audit/parts.ts'

export interface PatientPageParts extends AuditPageParts, ReviewParts {
  readonly consents: ConsentService
  readonly base: Base
  /** The names of organisations that the store knows, by id. */
  readonly organizationNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

/**
 * Returns the patient (id) if the user may know of the patient. The look is on the audit trail, under what was asked for; one at a
 * patient of others is answered and recorded as one that found nobody.
 * @throws Failure NOT_FOUND
 */
export async function knownPatient(
  parts: PatientPageParts,
  caller: UserCaller,
  patient: string | undefined,
  query: string,
): Promise<string> {
  const found = await asOperation(caller, { type: 'Patient', query }, async () => {
    const isKnown = patient !== undefined && (await mayKnow(parts, caller, patient))
    return isKnown
      ? { result: patient, id: patient, patients: [patient], resources: 1 }
      : { result: undefined, patients: [], resources: 0 }
  })
  if (found !== undefined) return found
  throw new Failure('NOT_FOUND', 'Your organisation has neither a consent nor a record of such a patient.')
}

async function mayKnow({ databaseFor, base }: PatientPageParts, caller: UserCaller, patient: string): Promise<boolean> {
  const on = databaseFor(caller)
  const bound = ownOrganization(caller)
  const clients = bound === undefined ? [] : await clientsOf(on, bound)
  const organization = bound === undefined ? undefined : { id: bound, clients: clients.map(({ id }) => id) }
  // Who has to do with one of several merged records has to do with the person.
  const same = (await mergedWith(on, [patient])).get(patient)!
  return (await Promise.all(same.map(each => isKnownTo(on, organization, each, base)))).includes(true)
}
