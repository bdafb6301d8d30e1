// What a rule tells of a resource, and how an event is described to those who subscribe to it: interface §6.

import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import type { JsonObject } from '../lib/json.ts'
import { id, text } from '../shapes/fields.ts'
import type { LifecycleStep } from './claims.ts'

/** What is told once. */
export interface Telling {
  /** Id of the Patient it is about. */
  readonly patient?: string | undefined
  readonly facility?: string | undefined
  readonly data: JsonObject
  /** Ids of the only organisations that are told; undefined: whoever may see the source. */
  readonly audience?: readonly string[]
  /** The resource that tells it, where it is another one than that which changed. */
  readonly source?: { readonly type: string; readonly id: string; readonly version: number }
}

/** Makes what there is to tell of a step: once, several times, or not at all. */
export type Tell = (step: LifecycleStep) => Telling | readonly Telling[]

/** What subscribers can know of a type of events. */
export interface Description {
  readonly description: string
  /** The data of an event as it is delivered. */
  readonly data: TObject
  /** Such data. */
  readonly example: JsonObject
}

/** Describes a type of events. @param data what its data says beside whom it is about */
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

/** What is always said, though it may not be known. */
export function orNull<Schema extends TSchema & { description?: string }>(schema: Schema) {
  return Type.Union([schema, Type.Null()], { description: schema.description })
}

/** Where something happened, in every data that says so. */
export const facilityId = orNull(
  id('The facility (Organization or Location) where the event happened. Null if not recorded.'),
)
