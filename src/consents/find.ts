// Reads the consents of a patient, as resources and in the form of the interface.

import { onBehalfOf } from '../access/caller.ts'
import { permits } from '../access/consent/permits.ts'
import type { MergedWith } from '../access/consent/projection.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Translator } from '../mapping/translator.ts'
import { ConsentRecord } from '../shapes/consent.ts'
import type { Base } from '../store/base.ts'
import { isId } from '../store/ids.ts'
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

/** Which consents of a patient are found; of several conditions all are met. */
export interface Wanted {
  /** Those that concern this organisation, as they stand for it, wherever in the Consent it is permitted something. */
  readonly organization?: string | undefined
  /** The one with this id. */
  readonly id?: string
  /** Those that are requested or in force. */
  readonly isOpen?: boolean
}

/** Consents that are read at a time: others are answered in between. */
const pageSize = 500

/** Statuses of a Consent that is requested or in force. */
const open = 'draft,proposed,active'

/** Returns the ids of all patients that are the same person as the subject. */
export async function samePerson(parts: FindParts, { caller }: ConsentCall, { patient }: Subject) {
  return (await parts.mergedWith(parts.databaseFor(caller), [patient])).get(patient)!
}

/**
 * Returns the consents of a patient, and of those that were merged with it, the newest first. However many there are, none is left
 * out: a consent that is not found cannot be revoked.
 */
export async function find(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  wanted: Wanted,
): Promise<StoredConsent[]> {
  if (wanted.id !== undefined && !isId(wanted.id)) return []
  const store = parts.storeFor(onBehalfOf(request.caller, { Consent: 'rs' }))
  const query = {
    patient: (await samePerson(parts, request, subject)).join(','),
    ...(wanted.id !== undefined && { _id: wanted.id }),
    ...(wanted.isOpen && { status: open }),
    _sort: '-_lastUpdated',
    _count: String(pageSize),
  }
  const search = store.parse(['Consent'], Object.entries(query), true)
  const view = viewOf(parts, request, subject, wanted.organization)
  const found: StoredConsent[] = []
  let { cursor } = search
  do {
    const { matches, next } = await store.search({ ...search, cursor })
    for (const { body } of matches) found.push(...view(parseJson(body) as JsonObject))
    cursor = next
  } while (cursor)
  return found
}

/** Returns how a consent is seen: none if it has no form in the interface, or does not concern the organisation. */
function viewOf(parts: FindParts, request: ConsentCall, subject: Subject, organization: string | undefined) {
  const context = contextOf(parts, request, subject, organization)
  return (resource: JsonObject): StoredConsent[] => {
    const record = parts.translator.fromFhir('consent-from-fhir', ConsentRecord, resource, context)
    if (!record || !isStored(record) || record.status === 'none') return []
    if (organization === undefined || record.organization_id === organization) return [{ resource, record }]
    if (!permits(resource, organization, parts.base)) return []
    return [{ resource, record: { ...record, organization_id: organization } }]
  }
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
