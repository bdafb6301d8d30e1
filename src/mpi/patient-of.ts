// The patient that an address names by Health ID.

import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { Type } from '../lib/schema.ts'
import { holderOf, readHealthId } from './register/health-ids.ts'

/** The path parameter of every route about one patient. */
export const healthIdParam = Type.Object({
  health_id: Type.String({
    maxLength: 100,
    description: 'The Health ID of the patient. Case, spaces and dashes are ignored.',
    examples: ['CM-TQYE-6SRK-YQ6S'],
  }),
})

/** A patient, by the id of the Patient and its current Health ID. */
export interface RegisteredPatient {
  readonly patient: string
  readonly healthId: string
  /** True if other records may be the same person. */
  readonly isMerged: boolean
}

/**
 * Returns the patient with a Health ID. @param field where the request names it, for errors.
 * @throws Failure INVALID_HEALTH_ID, PATIENT_NOT_FOUND.
 */
export async function patientOf(on: Queryable, text: string, field = 'path.health_id'): Promise<RegisteredPatient> {
  const healthId = await readHealthId(on, text, field)
  const holder = await holderOf(on, healthId)
  if (holder) return { ...holder, healthId: holder.current ?? healthId }
  throw new Failure(
    'PATIENT_NOT_FOUND',
    'No patient is registered with this Health ID: register the patient with POST /api/v1/connect/patients/resolve.',
    {
      details: [{ field, code: 'not-found', message: 'is not registered' }],
    },
  )
}
