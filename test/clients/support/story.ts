// One story that each client library tells against the real service: a patient, a consent, a push, a webhook, a revocation.
//
// A library's test calls startStory(), gives STORY (JSON, the type Story) to its own script, and compares what that tells with `told`.
// The script does this, in order, and tells each outcome under its name, an error as `<class> <errorCode>` (class without PHP's suffix):
//   resolved, resolvedAgain   healthIds.resolve(person), twice: status
//   verified                  healthIds.verify(healthId): status
//   refused                   patients.getSummary(healthId): the error
//   requested, status         consents.request(healthId, purpose, requestedScopes): status; consents.status(healthId): status
//   granted                   consents.grant(healthId, grant): status
//   subscribed                webhooks.subscribe(receiverUrl, events), after which the library's sample of a receiver is started with the
//                             secret, on the port of receiverUrl; then webhooks.listAll(): how many
//   pushed                    records.pushLabResult({health_id, …}) for each of labResults: status of each
//   alert                     records.pushEncounter({health_id, …encounter}): status
//   repeated, replayed        the first labResult with idempotencyKey `key`, twice: whether the ids are equal; lastResponse.replayed
//   reused                    the second labResult with the same key: the error
//   summary                   patients.getSummary(healthId): patient.first_name, and how many recent_labs
//   found                     fhir.diagnosticReports(healthId, {_count: 1}), then fhir.iterate: code.text of each, sorted
//   listed                    records.listAll(healthId, 'lab_results', limit 1): test_name of each, sorted
//   events                    the types that the receiver accepted, when it has `told.events.length` of them
//   revoked, refusedAgain     consents.revoke(healthId): status; patients.getSummary(healthId): the error
//   unsubscribed              webhooks.unsubscribe(subscription), then webhooks.listAll(): how many
import { createClient } from '../../../src/identity/clients.ts'
import { freePort } from '../../support/process.ts'
import { type Service, startService } from '../../support/service.ts'

/** What a script of the story receives. */
interface Story {
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where the sample of a receiver is to listen: http://127.0.0.1:PORT/webhooks */
  readonly receiverUrl: string
  readonly person: { readonly first_name: string; readonly last_name: string; readonly date_of_birth: string }
  readonly purpose: string
  readonly requestedScopes: readonly string[]
  readonly grant: { readonly consent_type: string; readonly verification_method: 'in_person' }
  readonly events: readonly ['lab_result.released']
  readonly labResults: readonly {
    readonly test_name: string
    readonly result_value: string
    readonly flagged: boolean
  }[]
  readonly encounter: { readonly encounter_type: string; readonly clinical_note: string; readonly severity: string }
  readonly key: string
}

const labResults = [
  { test_name: 'Créatinine sérique', result_value: '88 µmol/L', flagged: false },
  { test_name: 'Kali – huyết thanh', result_value: '6.8 mmol/L', flagged: true },
  { test_name: 'Haemoglobin', result_value: '12.1 g/dL', flagged: false },
]
const names = labResults.map(each => each.test_name)

/** What every library tells. */
export const told = {
  resolved: 'created',
  resolvedAgain: 'found',
  verified: 'verified',
  refused: 'ConsentRequiredError CONSENT_REQUIRED',
  requested: 'pending',
  status: 'pending',
  granted: 'active',
  subscribed: 1,
  pushed: ['accepted', 'accepted', 'accepted'],
  alert: 'accepted',
  repeated: true,
  replayed: true,
  reused: 'IdempotencyConflictError IDEMPOTENCY_KEY_REUSED',
  summary: ['Ngọc Ánh', 4],
  found: [...names, names[0]!].toSorted(),
  listed: [...names, names[0]!].toSorted(),
  events: Array<string>(4).fill('lab_result.released'),
  revoked: 'revoked',
  refusedAgain: 'ConsentRequiredError CONSENT_REVOKED',
  unsubscribed: 0,
}

const scopes = [
  ...['health_id:verify', 'patients:read', 'consents:read', 'consents:write', 'encounters:write', 'labs:read'],
  ...['labs:write', 'patient:diagnostics:read', 'webhooks:manage'],
]

/** Starts a service with demo data and a client of its own, which consent filters. */
export async function startStory(): Promise<{ service: Service; story: Story }> {
  const service = await startService()
  await service.application.prepare()
  const { client, secret } = await createClient(service.application.database, 'local', {
    name: 'Client library',
    organizationId: 'clinic',
    scopes,
  })
  const story = {
    ...{ baseUrl: service.url, clientId: client.id, clientSecret: secret ?? '' },
    receiverUrl: `http://127.0.0.1:${await freePort()}/webhooks`,
    person: { first_name: 'Ngọc Ánh', last_name: 'Ébodé', date_of_birth: '1990-02-03' },
    ...{ purpose: 'treatment', requestedScopes: ['patients:read', 'labs:read'] },
    grant: { consent_type: 'full_record', verification_method: 'in_person' as const },
    ...{ events: ['lab_result.released'] as const, labResults },
    encounter: {
      encounter_type: 'cdss_alert',
      clinical_note: 'Interaction: ibuprofène 💊 – warfarine',
      severity: 'high',
    },
    key: 'story-0001',
  }
  return { service, story }
}
