// The envelope around the data of an event, as a subscriber receives it (interface §6.2). Its bytes are made once, stored, and
// signed as stored.
import type { JsonObject } from '../lib/json.ts'
import { payloadVersion } from './event-types.ts'

export interface Enveloped {
  readonly id: string
  readonly type: string
  readonly happenedAt: Date
  readonly data: JsonObject
  readonly meta: {
    /** The organisation that made the change. */
    readonly organization_id: string
    readonly facility_id: string
    readonly environment: string
    /** Id of the request that made the change. */
    readonly request_id: string
  }
}

/** Returns the envelope as it is sent. */
export function envelopeOf({ id, type, happenedAt, data, meta }: Enveloped): string {
  return JSON.stringify({ id, type, version: payloadVersion, created_at: happenedAt.toISOString(), data, meta })
}

/** Returns the same envelope with a resource in its data, inserted as it is stored: the same bytes each time. */
export function withResource(envelope: string, resource: string): string {
  const meta = envelope.lastIndexOf('},"meta":{')
  const isEmpty = envelope[meta - 1] === '{'
  return `${envelope.slice(0, meta)}${isEmpty ? '' : ','}"resource":${resource}${envelope.slice(meta)}`
}

/** Returns the same envelope for a subscriber that may not know the patient. */
export const withoutHealthId = (envelope: string): string =>
  envelope.replace(/"data":\{"health_id":"[^"]*"/, '"data":{"health_id":null')
