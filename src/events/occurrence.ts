// A change, and what happened by it: the data that recording and sending events share. Interface §6, decisions §8.

import type { JsonObject } from '../lib/json.ts'
import type { EventType } from './event-types.ts'

/** A resource that has just been written, and its version before. */
export interface Change {
  readonly type: string
  readonly id: string
  readonly version: number
  /** Undefined: it is deleted. */
  readonly resource: JsonObject | undefined
  /** The version before; undefined: it did not exist. */
  readonly former: JsonObject | undefined
}

/** Something that happened, as subscribers receive it. */
export interface Occurrence {
  readonly type: EventType
  readonly source: { readonly type: string; readonly id: string; readonly version: number }
  /** Id of the Patient it is about; its Health ID is put in front of the data when the event is recorded. */
  readonly patient: string | undefined
  /** Ids, codes of states and flags: never a name of a patient, nor free text about one. */
  readonly data: JsonObject
  /** Id of the facility (Organization or Location) where it happened; empty if not given. */
  readonly facility: string
  /** All that may see the source, or only these organisations (ids). */
  readonly audience: 'readers' | readonly string[]
}

export interface Verification {
  /** As it was verified, in canonical form. */
  readonly healthId: string
  /** Id of the Patient, and its version if it is known. */
  readonly patient: string
  readonly version?: number
  /** Id of the organisation that verified it, the only one that is notified; empty if there is none. */
  readonly organization: string
  readonly facility?: string
}

/** A Health ID was verified, which changes no resource. */
export function verified({ healthId, patient, version = 0, organization, facility = '' }: Verification): Occurrence {
  return {
    type: 'health_id.verified',
    source: { type: 'Patient', id: patient, version },
    patient,
    data: { health_id: healthId, patient_id: patient, organization_id: organization || null },
    facility,
    audience: organization ? [organization] : [],
  }
}
