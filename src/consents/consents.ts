// The operations on a patient's consents, for every interface: an organisation requests consent, the patient answers,
// and revokes what was given. Each is a new version of a Consent, with a Provenance of its recorder, in one
// transaction.

import { ownAmong } from '../access/consent/guard.ts'
import { isOpening } from '../access/consent/opened.ts'
import type { Opening } from '../access/consent/opening.ts'
import { int8Array } from '../db/arrays.ts'
import type { Queryable, Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { uncachedHash64 } from '../lib/hash.ts'
import { uuidv7 } from '../lib/ids.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { inUnitOfWork, type UnitOfWork } from '../store/unit-of-work.ts'
import { end, endEmergencyOnly, endFor, isPermitted } from './end.ts'
import { type ConsentView, contextOf, type FindParts, find, type StoredConsent, samePerson } from './find.ts'
import { isForAlone, refuses } from './parting.ts'
import { put } from './put.ts'
import type { ConsentCall, ConsentDecision, ConsentService, ConsentStatus, Subject, Terms } from './service.ts'
import { consentTimeline } from './timeline.ts'

export interface ConsentParts extends FindParts {
  readonly unitOfWork: UnitOfWork
  /** What a type opens, as the map's context has it. */
  readonly opens: (consentType: string | undefined, scopes: readonly string[]) => Opening
  /** Days that a consent holds if no end is given. */
  readonly usualDays: () => number
  /** Days that a patient has to answer a request. */
  readonly requestDays: () => number
}

export function createConsents(parts: ConsentParts): ConsentService {
  return {
    list: async (request, subject, organization) =>
      (await find(parts, request, subject, { organization })).map(({ record }) => record),
    timeline: (request, subject, organization) => consentTimeline(parts, request, subject, organization),
    async status(request, subject, organization) {
      const standing = await find(parts, request, subject, { organization, isOpen: true })
      const of = (status: ConsentStatus['status']) => standing.find(({ record }) => record.status === status)
      const found = of('active') ?? of('pending') ?? (await find(parts, request, subject, { organization }))[0]
      return found?.record ?? none(subject, organization)
    },
    ask: (request, subject, organization, terms) =>
      alone(parts, request, subject, async inner => {
        const before = await find(parts, inner, subject, { organization, isOpen: true })
        const record = {
          ...{
            ...none(subject, organization),
            ...shownTerms(parts, terms),
            consent_id: uuidv7(),
            status: 'pending' as const,
          },
          expires_at: terms.expiresAt ?? null,
        }
        const asked = before.find(each => each.record.status === 'pending' && asksTheSame(each.record, record))
        if (asked) return asked.record
        return write(parts, inner, subject, { ...record, request_expires_at: inDays(parts.now(), parts.requestDays()) })
      }),
    grant: (request, subject, organization, terms, proof) =>
      alone(parts, request, subject, async inner => {
        const before = await find(parts, inner, subject, { organization, isOpen: true })
        const id = (await renewable(parts, inner, before, organization, terms))?.consent_id ?? uuidv7()
        const record = { ...none(subject, organization), ...shownTerms(parts, terms), consent_id: id }
        return write(parts, inner, subject, { ...record, ...inForce(parts, terms.expiresAt) }, proof)
      }),
    answer: (request, subject, consent, answer, expiresAt) =>
      alone(parts, request, subject, async inner => {
        const [stored] = await find(parts, inner, subject, { id: consent })
        if (!stored) throw new Failure('NOT_FOUND', 'This patient has no consent with this id.')
        const { record } = stored
        mustStand(record, answer)
        if (answer !== 'grant') return end(parts, inner, subject, stored, answer)
        mustBeShowable(record)
        await endEmergencyOnly(parts, inner, subject, record)
        return write(parts, inner, subject, { ...record, ...inForce(parts, expiresAt ?? record.expires_at) })
      }),
    answerAll: (request, subject, organization, answer) =>
      alone(parts, request, subject, async inner => {
        const all = await find(parts, inner, subject, { organization, isOpen: true })
        const isAnswered = ({ record, resource }: StoredConsent): boolean =>
          record.status === standing[answer] && (answer === 'deny' || isPermitted(resource, organization, parts.base))
        const [first, ...more] = all.filter(isAnswered)
        if (!first)
          throw new Failure('CONFLICT', `This organisation has no ${standing[answer]} consent of this patient.`)
        const status = await endFor(parts, inner, subject, first, organization, answer)
        for (const stored of more) await endFor(parts, inner, subject, stored, organization, answer)
        return status
      }),
  }
}

const none = ({ healthId }: Subject, organization: string): ConsentStatus => ({
  health_id: healthId,
  status: 'none',
  consent_id: null,
  consent_type: null,
  purpose: null,
  scopes: null,
  granted_at: null,
  expires_at: null,
  request_expires_at: null,
  revoked_at: null,
  organization_id: organization,
})

/** The terms as shown: without a purpose they are for treatment, or for the purpose of the type. */
const shownTerms = ({ opens }: ConsentParts, { consentType, purpose, scopes }: Terms) => ({
  consent_type: consentType,
  purpose: purpose ?? usualPurposeOf(opens(consentType, scopes ?? []), consentType),
  scopes: scopes ?? null,
})

/** A refusal is for every purpose, and so is the denial in a consent for emergencies alone. */
function usualPurposeOf({ consent_opens: opened }: Opening, consentType: string): string | null {
  if (opened === 'emergencies' || opened === 'nothing') return null
  return consentType === 'research' ? 'research' : 'treatment'
}

/** What a patient has seen and can agree to stays as it is: other terms are another request. */
const asksTheSame = (one: ConsentStatus, other: ConsentStatus): boolean =>
  one.consent_type === other.consent_type &&
  one.purpose === other.purpose &&
  sameMembers(one.scopes ?? [], other.scopes ?? []) &&
  (other.expires_at === null || Date.parse(one.expires_at ?? '') === Date.parse(other.expires_at))

function sameMembers(one: readonly string[], other: readonly string[]): boolean {
  const [first, second] = [new Set(one), new Set(other)]
  return first.size === second.size && [...first].every(each => second.has(each))
}

const isOfType = (record: ConsentStatus, { consentType }: Terms): boolean => record.consent_type === consentType

/**
 * Returns the consent that is answered or replaced: of the same type, or a consent for emergencies alone, which denies
 * the rest. It must be for the organisation alone, and what is in force must have been recorded by it.
 */
async function renewable(
  { base }: ConsentParts,
  { caller }: ConsentCall,
  before: readonly StoredConsent[],
  organization: string,
  terms: Terms,
): Promise<ConsentView | undefined> {
  const alone = before.filter(({ resource }) => isForAlone(resource, organization, base))
  const own = await ownAmong(
    caller.within!,
    alone.map(({ record }) => record.consent_id),
    caller,
  )
  const isOfStatus = (status: ConsentStatus['status'], { record, resource }: StoredConsent): boolean =>
    record.status === status && (own.has(record.consent_id) || (status === 'pending' && !refuses(resource, base)))
  const found =
    alone.find(each => isOfType(each.record, terms) && isOfStatus('pending', each)) ??
    alone.find(each => isOfType(each.record, terms) && isOfStatus('active', each)) ??
    alone.find(each => each.record.consent_type === 'emergency_only' && isOfStatus('active', each))
  return found?.record
}

const day = 86_400_000
const inDays = (from: Date, days: number): string => new Date(from.getTime() + days * day).toISOString()

function inForce({ now, usualDays }: ConsentParts, expiresAt: string | null | undefined) {
  const granted = now()
  const expires_at = expiresAt ?? inDays(granted, usualDays())
  const ended = { request_expires_at: null, revoked_at: null }
  return { status: 'active' as const, granted_at: granted.toISOString(), expires_at, ...ended }
}

/** The status that a consent must have for each answer. */
const standing = { grant: 'pending', deny: 'pending', revoke: 'active' } as const
const done = { grant: 'granted', deny: 'denied', revoke: 'revoked' } as const

function mustStand({ status }: ConsentView, answer: ConsentDecision): void {
  if (status === standing[answer]) return
  throw new Failure('CONFLICT', `The consent is ${status}, not ${standing[answer]}, so it cannot be ${done[answer]}.`)
}

/** Runs the work in one transaction, alone with the patient's consents. */
function alone<T>(
  parts: ConsentParts,
  request: ConsentCall,
  subject: Subject,
  work: (request: ConsentCall) => Promise<T>,
): Promise<T> {
  return inUnitOfWork(parts.unitOfWork, request.caller, async (caller, on) => {
    const inner = { ...request, caller }
    await lock(on, await samePerson(parts, inner, subject))
    return work(inner)
  })
}

async function lock(on: Transaction, patients: readonly string[]): Promise<void> {
  await on.query({
    name: 'consents-lock',
    text: 'select pg_advisory_xact_lock(patient) from (select unnest($1::bigint[]) as patient order by 1) patients',
    values: [int8Array(patients.map(each => uncachedHash64(`consents of Patient/${each}`)))],
  })
}

/** A patient cannot agree to a part of a record that the interface cannot name. @throws Failure CONFLICT for such a part. */
function mustBeShowable({ consent_type }: ConsentView): void {
  if (consent_type !== null) return
  throw new Failure(
    'CONFLICT',
    'This consent covers parts of the record that cannot be shown here, so it cannot be granted here: the organisation must request it with consent/request.',
  )
}

/** Writes the consent in its new state. */
async function write(
  parts: ConsentParts,
  request: ConsentCall,
  subject: Subject,
  record: ConsentStatus,
  proof?: string,
): Promise<ConsentStatus> {
  const consent = parts.translator.toFhir(
    'consent-to-fhir',
    { ...record },
    {
      ...contextOf(parts, request, subject, record.organization_id),
      ...parts.opens(record.consent_type ?? undefined, record.scopes ?? []),
    },
  )
  await put(parts, request, subject, consent, proof)
  if (isPermission(consent)) await mustOpen(request.caller.within!, subject, String(consent['id']))
  return record
}

const isPermission = ({ status, provision }: JsonObject): boolean =>
  status === 'active' && isObject(provision) && provision['type'] === 'permit'

/**
 * No reply states that a record is open while a refusal keeps it closed. @throws Failure CONFLICT, which rolls
 * everything back.
 */
async function mustOpen(on: Queryable, { patient }: Subject, consent: string): Promise<void> {
  if (await isOpening(on, patient, consent)) return
  throw new Failure(
    'CONFLICT',
    'A refusal by the patient is in force, so this consent would open nothing: the party that recorded the refusal must withdraw it first.',
  )
}
