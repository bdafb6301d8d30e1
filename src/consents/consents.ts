// What is done about a patient's consents, whoever does it: an organisation asks, the patient answers, and takes back what was
// given. Each is a new version of a Consent, with a Provenance that says who recorded it, in one transaction.
import type { Queryable, Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { hash64, uncachedHash64 } from '../lib/hash.ts'
import { uuidv7 } from '../lib/ids.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import type { Translator } from '../mapping/translator.ts'
import { onBehalfOf } from '../policy/caller.ts'
import type { MergedWith } from '../policy/consent/projection.ts'
import { ConsentRecord } from '../shapes/consent.ts'
import type { Principal } from '../store/principal.ts'
import type { Store } from '../store/store.ts'
import { asWhole, type Whole } from '../store/whole.ts'
import type { Answer, ConsentDesk, ConsentStatus, Request, Subject, Terms } from './desk.ts'
import { ended } from './ending.ts'
import { provenanceOf } from './provenance.ts'

export interface ConsentParts {
  readonly database: Queryable
  readonly mergedWith: MergedWith
  readonly storeFor: (principal: Principal) => Store
  readonly whole: Whole
  readonly translator: Translator
  /** What a type opens, as the map's context has it. */
  readonly opens: (consentType: string | undefined, scopes: readonly string[]) => object
  /** Days that a consent holds of which nobody says how long. */
  readonly usualDays: () => number
  readonly baseUrl: string
  readonly now: () => Date
}

interface Found extends ConsentStatus {
  readonly consent_id: string
}

interface Stored {
  readonly record: Found
  readonly resource: JsonObject
}

export function createConsents(parts: ConsentParts): ConsentDesk {
  return {
    list: async (request, subject) => (await find(parts, request, subject)).map(({ record }) => record),
    async status(request, subject, organization) {
      const records = (await find(parts, request, subject, organization)).map(({ record }) => record)
      const of = (status: ConsentStatus['status']) => records.find(each => each.status === status)
      return of('active') ?? of('pending') ?? records[0] ?? none(subject, organization)
    },
    ask: (request, subject, organization, terms) =>
      alone(parts, request, subject, async inner => {
        const before = await find(parts, inner, subject, organization)
        const asked = before.find(({ record }) => record.status === 'pending' && isOfType(record, terms))
        if (asked) return asked.record
        const record = { ...none(subject, organization), ...told(terms), consent_id: uuidv7() }
        return write(parts, inner, subject, { ...record, status: 'pending', expires_at: terms.expiresAt ?? null })
      }),
    grant: (request, subject, organization, terms, proof) =>
      alone(parts, request, subject, async inner => {
        const before = await find(parts, inner, subject, organization)
        const id = renewable(before, terms)?.consent_id ?? uuidv7()
        const record = { ...none(subject, organization), ...told(terms), consent_id: id }
        return write(parts, inner, subject, { ...record, ...inForce(parts, terms.expiresAt) }, proof)
      }),
    answer: (request, subject, consent, answer, expiresAt) =>
      alone(parts, request, subject, async inner => {
        const stored = (await find(parts, inner, subject)).find(({ record }) => record.consent_id === consent)
        if (!stored) throw new Failure('NOT_FOUND', 'There is no such consent of this patient.')
        const { record } = stored
        mustStand(record, answer)
        if (answer !== 'grant') return end(parts, inner, subject, stored, answer)
        mustBeTold(record)
        return write(parts, inner, subject, { ...record, ...inForce(parts, expiresAt ?? record.expires_at) })
      }),
    answerAll: (request, subject, organization, answer) =>
      alone(parts, request, subject, async inner => {
        const all = await find(parts, inner, subject, organization)
        const [first, ...more] = all.filter(({ record }) => record.status === standing[answer])
        if (!first)
          throw new Failure('CONFLICT', `There is no consent for this organisation that is ${standing[answer]}.`)
        const status = await end(parts, inner, subject, first, answer)
        for (const stored of more) await end(parts, inner, subject, stored, answer)
        return status
      }),
  }
}

/** Most consents of one patient that are looked at. */
const most = 1000

/** The consents of a patient, and of those who were merged with it, the newest first; of one organisation only, if one is named. */
async function find(parts: ConsentParts, request: Request, subject: Subject, organization?: string): Promise<Stored[]> {
  const store = parts.storeFor(onBehalfOf(request.caller, { Consent: 'rs' }))
  const on = request.caller.within ?? parts.database
  const same = (await parts.mergedWith(on, [subject.patient])).get(subject.patient) ?? [subject.patient]
  const query = Object.entries({ patient: same.join(','), _sort: '-_lastUpdated', _count: String(most) })
  const { matches } = await store.search(store.parse(['Consent'], query, true))
  const context = contextOf(parts, request, subject, organization)
  const all = matches.flatMap(({ body }): Stored[] => {
    const resource = parseJson(body) as JsonObject
    const record = parts.translator.fromFhir('consent-from-fhir', ConsentRecord, resource, context)
    return record ? [{ resource, record: record as unknown as Found }] : []
  })
  const isTheirs = ({ record }: Stored) => organization === undefined || record.organization_id === organization
  return all.filter(each => each.record.status !== 'none' && isTheirs(each))
}

function contextOf(
  parts: ConsentParts,
  request: Request,
  { patient, healthId }: Subject,
  organization?: string | null,
) {
  return {
    base_url: parts.baseUrl,
    received_at: parts.now().toISOString(),
    request_id: request.requestId,
    patient_id: patient,
    health_id: healthId,
    organization_id: organization ?? (request.caller.organizationId || undefined),
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
  revoked_at: null,
  organization_id: organization,
})

const told = ({ consentType, purpose, scopes }: Terms) => ({
  consent_type: consentType,
  purpose: purpose ?? null,
  scopes: scopes ?? null,
})

const isOfType = (record: ConsentStatus, { consentType }: Terms): boolean => record.consent_type === consentType

/** What is answered, or takes the place of something: of the same type, or a consent for emergencies alone, which denies the rest. */
function renewable(before: readonly Stored[], terms: Terms): Found | undefined {
  const records = before.map(({ record }) => record)
  const ofType = records.filter(record => isOfType(record, terms))
  return (
    ofType.find(({ status }) => status === 'pending') ??
    ofType.find(({ status }) => status === 'active') ??
    records.find(each => each.status === 'active' && each.consent_type === 'emergency_only')
  )
}

const day = 86_400_000

function inForce({ now, usualDays }: ConsentParts, expiresAt: string | null | undefined) {
  const granted = now()
  const expires_at = expiresAt ?? new Date(granted.getTime() + usualDays() * day).toISOString()
  return { status: 'active' as const, granted_at: granted.toISOString(), expires_at, revoked_at: null }
}

/** How a consent stands of which this is an answer. */
const standing = { grant: 'pending', deny: 'pending', revoke: 'active' } as const
const done = { grant: 'granted', deny: 'denied', revoke: 'revoked' } as const

function mustStand({ status }: Found, answer: Answer): void {
  if (status === standing[answer]) return
  throw new Failure(
    'CONFLICT',
    `The consent is ${status}: only one that is ${standing[answer]} can be ${done[answer]}.`,
  )
}

/** One transaction, alone with the patient's consents. */
function alone<T>(
  { whole }: ConsentParts,
  request: Request,
  { patient }: Subject,
  work: (request: Request) => Promise<T>,
): Promise<T> {
  return asWhole(whole, request.caller, async (caller, on) => {
    await lock(on, patient)
    return work({ ...request, caller })
  })
}

async function lock(on: Transaction, patient: string): Promise<void> {
  await on.query({
    name: 'consents-lock',
    text: 'select pg_advisory_xact_lock($1)',
    values: [uncachedHash64(`consents of Patient/${patient}`)],
  })
}

/** Nobody agrees to what he has not been told. @throws Failure CONFLICT for a part of a record that has no name here. */
function mustBeTold({ consent_type }: Found): void {
  if (consent_type !== null) return
  throw new Failure(
    'CONFLICT',
    'This consent names parts of the record that cannot be shown here, so it cannot be given here: have the organisation ask by consent/request.',
  )
}

/** Writes the consent as it stands now. */
async function write(
  parts: ConsentParts,
  request: Request,
  subject: Subject,
  record: ConsentStatus,
  proof?: string,
): Promise<ConsentStatus> {
  const known = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
  const consent = parts.translator.toFhir('consent-to-fhir', known, {
    ...contextOf(parts, request, subject, record.organization_id),
    ...parts.opens(record.consent_type ?? undefined, record.scopes ?? []),
  })
  await put(parts, request, subject, consent, proof)
  if (isPermission(consent)) await mustOpen(request.caller.within!, subject, String(consent['id']))
  return record
}

const isPermission = ({ status, provision }: JsonObject): boolean =>
  status === 'active' && isObject(provision) && provision['type'] === 'permit'

/** Nobody is told that a record is open when a refusal keeps it shut. @throws Failure CONFLICT, which leaves nothing behind. */
async function mustOpen(on: Queryable, { patient }: Subject, consent: string): Promise<void> {
  const [granted] = await on.query({
    name: 'consent-opens',
    text: 'select from consent_grant where patient = $1 and consent = $2 limit 1',
    values: [hash64(`Patient/${patient}`), consent],
  })
  if (granted) return
  throw new Failure(
    'CONFLICT',
    'A refusal of the patient stands against this, so it would open nothing: have whoever recorded the refusal take it back first.',
  )
}

/** Ends a consent as it was written, whoever wrote it: nothing else of it changes. */
async function end(
  parts: ConsentParts,
  request: Request,
  subject: Subject,
  { record, resource }: Stored,
  answer: Exclude<Answer, 'grant'>,
): Promise<ConsentStatus> {
  const moment = parts.now().toISOString()
  await put(parts, request, subject, ended(resource, answer, moment))
  return answer === 'deny' ? { ...record, status: 'denied' } : { ...record, status: 'revoked', revoked_at: moment }
}

/** Stores the consent, and who recorded it. */
async function put(
  parts: ConsentParts,
  request: Request,
  subject: Subject,
  consent: JsonObject,
  proof?: string,
): Promise<void> {
  const store = parts.storeFor(onBehalfOf(request.caller, { Consent: 'cu', Provenance: 'c' }))
  const { id, version } = await store.update('Consent', String(consent['id']), consent, {})
  const target = `Consent/${id}/_history/${version}`
  await store.create('Provenance', provenanceOf(request, subject, target, parts.now(), proof))
}
