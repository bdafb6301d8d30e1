// Ends consents: a whole Consent as it was written, or the part of it for one organisation.

import { notOwn, refusalStands } from '../access/consent/guard.ts'
import { permits } from '../access/consent/permits.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { ended } from './ending.ts'
import { type ConsentView, type FindParts, find, type StoredConsent } from './find.ts'
import { isForAlone, partFor, refuses, without } from './parting.ts'
import { put } from './put.ts'
import type { ConsentCall, ConsentDecision, ConsentStatus, Subject } from './service.ts'

type Ending = Exclude<ConsentDecision, 'grant'>

/** Ends a consent as it was written, regardless of its author: nothing else of it changes. */
export async function end(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  { record, resource }: StoredConsent,
  answer: Ending,
): Promise<ConsentStatus> {
  const moment = parts.now().toISOString()
  await put(parts, request, subject, ended(resource, answer, moment))
  return answer === 'deny' ? { ...record, status: 'denied' } : { ...record, status: 'revoked', revoked_at: moment }
}

/** Returns true if the organisation is permitted something, or the Consent has no rule that can be evaluated here. */
export const isPermitted = (resource: JsonObject, organization: string, base: Base): boolean =>
  permits(resource, organization, base) || (isForAlone(resource, organization, base) && !refuses(resource, base))

/**
 * Ends the part of a consent for one organisation: all of it, if it is for no other organisation.
 * @throws Failure CONFLICT if the rules for others cannot be kept
 */
export async function endFor(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  stored: StoredConsent,
  organization: string,
  answer: Ending,
): Promise<ConsentStatus> {
  const { record, resource } = stored
  if (isForAlone(resource, organization, parts.base)) return end(parts, request, subject, stored, answer)
  const rest = answer === 'revoke' ? without(resource, organization, parts.base) : undefined
  if (!rest) throw refuses(resource, parts.base) ? refusalStands(record.consent_id) : notOwn(record.consent_id)
  await put(parts, request, subject, rest)
  const part = partFor(resource, organization, parts.base, uuidv7())
  const [moment, consent_id] = [parts.now().toISOString(), String(part['id'])]
  await put(parts, request, subject, ended(part, 'revoke', moment))
  return { ...record, consent_id, status: 'revoked', revoked_at: moment }
}

/** A wider consent replaces one for emergencies alone, which denies the rest. */
export async function endEmergencyOnly(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  granted: ConsentView,
): Promise<void> {
  const all = await find(parts, request, subject, { isOpen: true })
  const isReplaced = ({ record }: StoredConsent): boolean =>
    record.status === 'active' &&
    record.consent_type === 'emergency_only' &&
    record.organization_id === granted.organization_id
  for (const stored of all.filter(isReplaced)) await end(parts, request, subject, stored, 'revoke')
}
