// What a rule reports about a resource, and how a type of events is described to subscribers: interface §6.

import type { JsonObject } from '../lib/json.ts'
import { type TObject, type TProperties, type TSchema, Type } from '../lib/schema.ts'
import { id, text } from '../shapes/fields.ts'
import type { LifecycleStep } from './claims.ts'

/** The content of one event. */
export interface EventContent {
  /** Id of the Patient it is about. */
  readonly patient?: string | undefined
  readonly facility?: string | undefined
  readonly data: JsonObject
  /** Ids of the only organisations that are notified; undefined: all that may see the source. */
  readonly audience?: readonly string[]
  /** The resource that the event is about, where it differs from the one that changed. */
  readonly source?: { readonly type: string; readonly id: string; readonly version: number }
}

/** Returns the content of the events of a step: of one, several, or none. */
export type ContentOf = (step: LifecycleStep) => EventContent | readonly EventContent[]

/** What subscribers can know of a type of events. */
export interface Description {
  readonly description: string
  /** The data of an event as it is delivered. */
  readonly data: TObject
  /** Such data. */
  readonly example: JsonObject
}

/** Describes a type of events. @param data its data in addition to the subject */
export function described(description: string, data: TProperties, example: JsonObject): Description {
  const health_id = orNull(
    text('The Health ID of the patient. Null if unknown, or if the event is not about a patient.'),
  )
  return {
    description,
    data: Type.Object({ health_id, ...data }, { description, additionalProperties: false }),
    example,
  }
}

/** A member that is always present, though its value may be null. */
export function orNull<Schema extends TSchema & { description?: string }>(schema: Schema) {
  return Type.Union([schema, Type.Null()], { description: schema.description })
}

/** Where it happened, in the data of every event that has a facility. */
export const facilityId = orNull(
  id('The facility (Organization or Location) where the event happened. Null if not recorded.'),
)
