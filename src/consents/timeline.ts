// What became of a patient's consents over time, for people who look after the patient's rights: each step is the difference of two
// versions of a Consent, or the end that a version states.

import { onBehalfOf } from '../access/caller.ts'
import { permits } from '../access/consent/permits.ts'
import { isObject, type JsonObject, objectsIn, parseJson } from '../lib/json.ts'
import { ConsentRecord } from '../shapes/consent.ts'
import { asOperation } from '../store/operation.ts'
import type { Store } from '../store/store.ts'
import type { Version } from '../store/versions.ts'
import { contextOf, type FindParts, samePerson } from './find.ts'
import type { ConsentCall, ConsentStatus, ConsentStep, ConsentTimeline, StepKind, Subject } from './service.ts'

/** Most consents that are followed, the newest first, and most versions of each. */
const most = { consents: 50, versions: 100 }

/**
 * Returns the steps, the newest first: of all consents of the patient and of those merged with the patient, or of those that concern an
 * organisation, as far as they do. One entry of the audit trail stands for all that is read.
 */
export function consentTimeline(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  organization?: string,
): Promise<ConsentTimeline> {
  const { patient } = subject
  return asOperation(
    request.caller,
    { type: 'Consent', query: `consents/timeline?patient=${patient}` },
    async caller => {
      const store = parts.storeFor(onBehalfOf(caller, { Consent: 'rs', Provenance: 's' }))
      const same = await samePerson(parts, request, subject)
      const found = await searched(store, 'Consent', { patient: same.join(','), _count: String(most.consents + 1) })
      const followed = found.slice(0, most.consents)
      const recorders = recordersIn(await searched(store, 'Provenance', { patient: same.join(','), _count: '1000' }))
      const reader: Reader = { parts, request, subject, organization, recorders }
      const steps: ConsentStep[] = []
      for (const { id } of followed) {
        const { versions } = await store.history({ type: 'Consent', id: String(id), count: most.versions })
        steps.push(...stepsOf(reader, versions.slice(0, most.versions).toReversed()))
      }
      steps.sort((one, other) => other.at.getTime() - one.at.getTime())
      const result = { steps, isCut: found.length > most.consents }
      return { result, patients: [patient], resources: followed.length }
    },
  )
}

async function searched(store: Store, type: string, query: Readonly<Record<string, string>>): Promise<JsonObject[]> {
  const pairs = Object.entries({ ...query, _sort: '-_lastUpdated' })
  const { matches } = await store.search(store.parse([type], pairs, true))
  return matches.map(({ body }) => parseJson(body) as JsonObject)
}

/** Returns who recorded which version, as references: `Consent/1/_history/2` to `Patient/…` or `Organization/…`. */
function recordersIn(provenances: readonly JsonObject[]): ReadonlyMap<string, string> {
  return new Map(
    provenances.flatMap(({ target, agent }) => {
      const who = referenceIn(objectsIn(agent)[0]?.['who'])
      return objectsIn(target).map(each => [referenceIn(each) ?? '', who ?? ''] as const)
    }),
  )
}

const referenceIn = (value: unknown): string | undefined =>
  isObject(value) && typeof value['reference'] === 'string' ? value['reference'] : undefined

interface Reader {
  readonly parts: FindParts
  readonly request: ConsentCall
  readonly subject: Subject
  readonly organization: string | undefined
  readonly recorders: ReadonlyMap<string, string>
}

/** How a consent stood in one of its versions. */
interface Standing {
  readonly version: Version
  /** Undefined: it was deleted, or did not concern the organisation. */
  readonly record: ConsentStatus | undefined
}

/** Returns the steps of one consent. @param versions the oldest first */
function stepsOf(reader: Reader, versions: readonly Version[]): ConsentStep[] {
  const steps: ConsentStep[] = []
  let before: Standing | undefined
  for (const version of versions) {
    const now = { version, record: recordAt(reader, version, version.updatedAt) }
    const ended = before && endOf(before, version.updatedAt)
    if (ended) steps.push(step(reader, before!, ended.kind, ended.at))
    const kind = kindOf(before?.record, now.record, version)
    if (kind) steps.push(step(reader, now.record ? now : { ...before!, version }, kind, version.updatedAt))
    before = now
  }
  const ended = before && endOf(before, reader.parts.now())
  if (ended) steps.push(step(reader, before!, ended.kind, ended.at))
  return steps
}

function recordAt(
  { parts, request, subject, organization }: Reader,
  { body }: Version,
  moment: Date,
): ConsentStatus | undefined {
  if (body === null) return undefined
  const resource = parseJson(body) as JsonObject
  const context = { ...contextOf(parts, request, subject, organization), received_at: moment.toISOString() }
  const record = parts.translator.fromFhir('consent-from-fhir', ConsentRecord, resource, context)
  if (!record || organization === undefined || record.organization_id === organization) return record
  return permits(resource, organization, parts.base) ? { ...record, organization_id: organization } : undefined
}

const kinds: Readonly<Record<ConsentStatus['status'], StepKind>> = {
  ...{ pending: 'requested', active: 'granted', denied: 'denied', revoked: 'revoked', expired: 'expired' },
  none: 'withdrawn',
}

/** Returns what a version does to the one before; undefined if the consent is as it was. */
function kindOf(
  before: ConsentStatus | undefined,
  after: ConsentStatus | undefined,
  { body }: Version,
): StepKind | undefined {
  if (!after) return before && (body === null ? 'withdrawn' : 'revoked')
  if (before?.status !== after.status) return kinds[after.status]
  return termsOf(before) === termsOf(after) ? undefined : 'changed'
}

const termsOf = ({ consent_type, scopes, purpose, expires_at, request_expires_at, organization_id }: ConsentStatus) =>
  JSON.stringify([consent_type, scopes, purpose, expires_at, request_expires_at, organization_id])

/** Returns when and how a consent ended by time, before a moment. */
function endOf({ record }: Standing, moment: Date): { readonly kind: StepKind; readonly at: Date } | undefined {
  const end =
    record?.status === 'active' ? record.expires_at : record?.status === 'pending' && record.request_expires_at
  if (!end || new Date(end) > moment) return undefined
  return { kind: record?.status === 'active' ? 'expired' : 'unanswered', at: new Date(end) }
}

function step({ recorders }: Reader, { version, record }: Standing, kind: StepKind, at: Date): ConsentStep {
  const place = `Consent/${version.id}/_history/${version.version}`
  const isByTime = kind === 'unanswered' || (kind === 'expired' && at.getTime() !== version.updatedAt.getTime())
  const by = isByTime ? undefined : recorders.get(place)
  return { kind, at, consent: version.id, version: version.version, by: by === '' ? undefined : by, record: record! }
}
