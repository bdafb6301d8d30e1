// Reads the consents of a patient, as resources and in the form of the interface.

import { onBehalfOf } from '../access/caller.ts'
import { permits } from '../access/consent/permits.ts'
import type { MergedWith } from '../access/consent/projection.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Translator } from '../mapping/translator.ts'
import { ConsentRecord } from '../shapes/consent.ts'
import type { Base } from '../store/base.ts'
import type { DatabaseFor, Principal } from '../store/principal.ts'
import type { Store } from '../store/store.ts'
import type { ConsentCall, ConsentStatus, Subject } from './service.ts'

export interface FindParts {
  readonly databaseFor: DatabaseFor
  readonly mergedWith: MergedWith
  readonly storeFor: (principal: Principal) => Store
  readonly translator: Translator
  /** Of the data set. */
  readonly base: Base
  readonly now: () => Date
}

export type ConsentView = ConsentStatus & { readonly consent_id: string }

const isStored = (record: ConsentStatus): record is ConsentView => record.consent_id !== null

/** A consent in the form of the interface, and as it is stored. */
export interface StoredConsent {
  readonly record: ConsentView
  readonly resource: JsonObject
}

/** Most consents of one patient that are looked at. */
const most = 1000

/** Returns the ids of all patients that are the same person as the subject. */
export async function samePerson(parts: FindParts, { caller }: ConsentCall, { patient }: Subject) {
  return (await parts.mergedWith(parts.databaseFor(caller), [patient])).get(patient)!
}

/**
 * Returns the consents of a patient, and of those that were merged with it, the newest first; if an organisation is
 * named, those that concern it, as they stand for it, wherever in the Consent it is permitted something.
 */
export async function find(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  organization?: string,
): Promise<StoredConsent[]> {
  const store = parts.storeFor(onBehalfOf(request.caller, { Consent: 'rs' }))
  const same = await samePerson(parts, request, subject)
  const query = Object.entries({ patient: same.join(','), _sort: '-_lastUpdated', _count: String(most) })
  const { matches } = await store.search(store.parse(['Consent'], query, true))
  const context = contextOf(parts, request, subject, organization)
  return matches.flatMap(({ body }): StoredConsent[] => {
    const resource = parseJson(body) as JsonObject
    const record = parts.translator.fromFhir('consent-from-fhir', ConsentRecord, resource, context)
    if (!record || !isStored(record) || record.status === 'none') return []
    if (organization === undefined || record.organization_id === organization) return [{ resource, record }]
    if (!permits(resource, organization, parts.base)) return []
    return [{ resource, record: { ...record, organization_id: organization } }]
  })
}

/** Returns the context of a map, beside the consent. */
export function contextOf(
  parts: FindParts,
  request: ConsentCall,
  { patient, healthId }: Subject,
  organization?: string | null,
) {
  return {
    base_url: parts.base.origin,
    received_at: parts.now().toISOString(),
    request_id: request.requestId,
    patient_id: patient,
    health_id: healthId,
    organization_id: organization ?? (request.caller.organizationId || undefined),
  }
}
