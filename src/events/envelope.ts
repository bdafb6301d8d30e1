// What a subscriber gets: the envelope around the data of an event (interface §6.2). Its bytes are made once, kept, and signed as kept.
import type { JsonObject } from '../lib/json.ts'
import { payloadVersion } from './event-types.ts'

export interface Enveloped {
  readonly id: string
  readonly type: string
  readonly happenedAt: Date
  readonly data: JsonObject
  readonly meta: {
    /** Who made the change. */
    readonly organization_id: string
    readonly facility_id: string
    readonly environment: string
    /** Of the request that made it. */
    readonly request_id: string
  }
}

/** The envelope as it is sent. */
export function envelopeOf({ id, type, happenedAt, data, meta }: Enveloped): string {
  return JSON.stringify({ id, type, version: payloadVersion, created_at: happenedAt.toISOString(), data, meta })
}

/** The same envelope with a resource in its data, which is put in as it is stored: the same bytes each time. */
export function withResource(envelope: string, resource: string): string {
  const meta = envelope.lastIndexOf('},"meta":{')
  const isEmpty = envelope[meta - 1] === '{'
  return `${envelope.slice(0, meta)}${isEmpty ? '' : ','}"resource":${resource}${envelope.slice(meta)}`
}

/** Returns the same envelope for a subscriber that may not know the patient. */
export const withoutHealthId = (envelope: string): string =>
  envelope.replace(/"data":\{"health_id":"[^"]*"/, '"data":{"health_id":null')
