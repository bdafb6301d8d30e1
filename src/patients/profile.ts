// The identity of a registered patient, of which verify and search show parts.

import { type Caller, onBehalfOf } from '../access/caller.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import { parseJson } from '../lib/json.ts'
import type { Translator } from '../mapping/translator.ts'
import type { Holder } from '../mpi/register/health-ids.ts'
import { Demographics } from '../shapes/demographics.ts'
import type { Filled } from '../shapes/filled.ts'
import { asOperation, inOperation } from '../store/operation.ts'
import type { Acting } from '../store/unit-of-work.ts'

export type Profile = Filled<typeof Demographics>

/**
 * Reads it for a caller without checking consent: the operation shows little of it. The audit trail records the
 * operation, as `query`, instead of the reading.
 */
export async function profileOf(
  parts: Pick<Acting, 'storeFor'> & { readonly translator: Translator },
  request: { readonly caller: Caller; readonly requestId: string },
  { patient }: Holder,
  query: string,
): Promise<Profile | undefined> {
  const body = await asOperation(request.caller, { type: 'Patient', id: patient, query }, async caller => {
    const { body: result } = await parts.storeFor(onBehalfOf(caller, { Patient: 'r' })).read('Patient', patient)
    return { result, patients: [patient], resources: 1 }
  })
  return parts.translator.fromFhir(
    'patient-from-fhir',
    Demographics,
    parseJson(body) as JsonObject,
    parts.translator.contextOf(request),
  )
}

/**
 * Returns true if the caller may see the Patient itself: by consent, as the client that created it, in an emergency, or
 * exempt from consent.
 */
export async function mayBeSeen(
  { storeFor }: Pick<Acting, 'storeFor'>,
  caller: Caller,
  { patient }: Holder,
): Promise<boolean> {
  const reader = { ...onBehalfOf(inOperation(caller), { Patient: 'r' }), visibility: caller.visibility }
  try {
    await storeFor(reader).read('Patient', patient)
    return true
  } catch (error) {
    if (error instanceof Failure && error.status === 403) return false
    throw error
  }
}
