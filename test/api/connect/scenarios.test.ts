// One request of each kind over the surfaces: what is answered, which events it causes, and what the audit trail tells of it. A scenario
// finds what the earlier ones of its group have stored.
import { describe } from 'vitest'
import { amina, haemoglobin, samuel, startCast } from '../../support/cast.ts'
import { scenario } from '../../support/scenario.ts'

const { hospital, narrow, phone } = startCast()

const person = { first_name: 'Odile', last_name: 'Mbarga', date_of_birth: '1977-04-05', sex: 'female' }
const about = (healthId: string, what: string) => `/api/v1/connect/patient/${healthId}/${what}`
const json = (body: object) => ({ body: JSON.stringify(body) })

describe('Health IDs', () => {
  scenario('registering somebody new creates the Patient and the Health ID', {
    as: hospital,
    request: ['POST', '/api/v1/connect/patients/resolve', json(person)],
    status: 201,
    body: { status: 'created', possible_duplicates: 0 },
    events: ['patient.created', 'health_id.created'],
    audit: ['create Patient', 'patient.resolve'],
  })
  scenario('registering without a date of birth is refused, and creates nothing', {
    as: hospital,
    request: ['POST', '/api/v1/connect/patients/resolve', json({ first_name: 'Odile', last_name: 'Mbarga' })],
    status: 422,
    body: { error_code: 'VALIDATION_FAILED', details: [{ field: 'date_of_birth', code: 'required' }] },
    events: [],
    audit: ['patient.resolve (refused)'],
  })
  scenario('verifying a registered Health ID is an event', {
    as: hospital,
    request: ['GET', `/api/v1/connect/patients/verify/${amina}`],
    status: 200,
    body: { valid: true, registered: true, status: 'verified' },
    events: ['health_id.verified'],
    audit: ['patient.verify'],
  })
  scenario('verifying what is no Health ID is none', {
    as: hospital,
    request: ['GET', '/api/v1/connect/patients/verify/hello'],
    status: 200,
    body: { valid: false, checksum_valid: false, status: 'invalid_checksum' },
    events: [],
    audit: ['patient.verify'],
  })
  scenario('a search without consent shows the holder in part', {
    as: hospital,
    request: ['GET', `/api/v1/connect/patient/search?health_id=${samuel}`],
    status: 200,
    body: { data: [{ health_id: samuel, last_name: 'E.', date_of_birth: '1981', redacted: true }] },
    events: [],
    audit: ['patient.search'],
  })
})

describe('records and consents', () => {
  scenario('records with consent are shown', {
    as: hospital,
    request: ['GET', about(amina, 'records')],
    status: 200,
    body: { health_id: amina, consent_id: 'by-amina', has_more: false },
    events: [],
    audit: ['records.read'],
  })
  scenario('records without consent are refused, and the refusal is on record', {
    as: hospital,
    request: ['GET', about(samuel, 'records')],
    status: 403,
    body: { error_code: 'CONSENT_REQUIRED' },
    events: [],
    audit: ['records.read (refused)'],
  })
  scenario('records without the scope are refused, and the refusal is on record', {
    as: narrow,
    request: ['GET', about(amina, 'records')],
    status: 403,
    body: { error_code: 'INSUFFICIENT_SCOPE' },
    events: [],
    audit: ['records.read (refused)'],
  })
  scenario('a consent that is asked for opens nothing yet', {
    as: hospital,
    request: ['POST', about(samuel, 'consent/request'), json({ consent_type: 'lab_results' })],
    status: 202,
    body: { status: 'pending', consent_type: 'lab_results', organization_id: 'hospital' },
    events: ['consent.requested'],
    audit: ['search Consent', 'update Consent', 'create Provenance'],
  })
  scenario('what was asked for is denied', {
    as: hospital,
    request: ['POST', about(samuel, 'consent/deny'), { headers: { 'content-type': 'application/json' } }],
    status: 200,
    body: { status: 'denied', consent_type: 'lab_results' },
    events: ['consent.denied'],
    audit: ['search Consent', 'update Consent', 'create Provenance'],
  })
  scenario('a consent of a type that does not exist is refused, and nothing is stored', {
    as: hospital,
    request: ['POST', about(samuel, 'consent/grant'), json({ consent_type: 'everything' })],
    status: 422,
    body: { error_code: 'VALIDATION_FAILED', details: [{ field: 'consent_type' }] },
    events: [],
    audit: ['consent.grant (refused)'],
  })
  scenario('a consent is granted', {
    as: hospital,
    request: ['POST', about(samuel, 'consent/grant'), json({ consent_type: 'full_record' })],
    status: 201,
    body: { status: 'active', consent_type: 'full_record' },
    events: ['consent.granted'],
    audit: ['search Consent', 'update Consent', 'create Provenance'],
  })
  scenario('a consent is revoked', {
    as: hospital,
    request: ['POST', about(samuel, 'consent/revoke'), { headers: { 'content-type': 'application/json' } }],
    status: 200,
    body: { status: 'revoked' },
    events: ['consent.revoked'],
    audit: ['search Consent', 'update Consent', 'create Provenance'],
  })
  scenario('a patient grants by telephone what was asked for', {
    as: phone,
    request: ['POST', '/api/v1/mobile/consents/asked-of-rose/grant'],
    status: 200,
    body: { status: 'active', consent_id: 'asked-of-rose', organization_id: 'hospital' },
    events: ['consent.granted'],
    audit: ['search Consent', 'search Consent', 'update Consent', 'create Provenance'],
  })
  scenario("a client's token grants nothing by telephone", {
    as: hospital,
    request: ['POST', '/api/v1/mobile/consents/asked-of-rose/grant'],
    status: 401,
    body: { error_code: 'TOKEN_INVALID' },
    events: [],
    audit: ['mobile consent.grant (refused)'],
  })
})

describe('stock', () => {
  const stock = {
    facility_id: 'hospital',
    medication_code: 'J01CA04',
    code_system: 'ATC',
    name: 'Amoxicilline',
    quantity_on_hand: 100,
    unit: 'capsule',
    updated_at: '2026-03-14T07:00:00+01:00',
  }
  scenario('a report is stored', {
    as: hospital,
    request: ['PUT', '/api/v1/connect/pharmacy/stock', json(stock)],
    status: 200,
    body: { data: [{ medication_code: 'J01CA04', status: 'accepted' }] },
    events: [],
    audit: ['create Basic'],
  })
  scenario('a report without the scope is refused', {
    as: narrow,
    request: ['PUT', '/api/v1/connect/pharmacy/stock', json(stock)],
    status: 403,
    body: { error_code: 'INSUFFICIENT_SCOPE' },
    events: [],
    audit: ['stock.report (refused)'],
  })
})

describe('FHIR', () => {
  const { id: _id, ...again } = haemoglobin('', 'amina')
  const visit = {
    resourceType: 'Encounter',
    id: 'visit',
    status: 'in-progress',
    class: { code: 'AMB' },
    subject: { reference: 'Patient/amina' },
  }
  const suppressed = { resourceType: 'OperationOutcome', issue: [{ code: 'suppressed' }] }
  scenario('a read with consent is shown', {
    as: hospital,
    request: ['GET', 'Observation/of-amina'],
    status: 200,
    body: { resourceType: 'Observation', id: 'of-amina' },
    events: [],
    audit: ['read Observation'],
  })
  scenario('a read without consent is refused', {
    as: hospital,
    request: ['GET', 'Observation/of-samuel'],
    status: 403,
    body: suppressed,
    events: [],
    audit: ['read Observation (refused)'],
  })
  scenario('a read without the scope is refused', {
    as: narrow,
    request: ['GET', 'Patient/amina'],
    status: 403,
    body: { issue: [{ code: 'forbidden' }] },
    events: [],
    audit: ['read Patient (refused)'],
  })
  scenario('a search finds what consent opens, and no more', {
    as: hospital,
    request: ['GET', 'Observation?code=718-7&_total=accurate'],
    status: 200,
    body: { total: 1, entry: [{ resource: { id: 'of-amina' } }] },
    events: [],
    audit: ['search Observation'],
  })
  scenario('an Encounter is created', {
    as: hospital,
    request: ['PUT', 'Encounter/visit', { body: visit }],
    status: 201,
    body: { id: 'visit', meta: { versionId: '1' } },
    events: ['encounter.created'],
    audit: ['update Encounter'],
  })
  scenario('a condition that matches creates nothing', {
    as: hospital,
    request: ['POST', 'Observation', { body: again, headers: { 'if-none-exist': 'patient=amina&code=718-7' } }],
    status: 200,
    body: { id: 'of-amina' },
    events: [],
    audit: ['create Observation by condition'],
  })
  scenario('a resource with an invalid value is refused, and nothing is stored', {
    as: hospital,
    request: ['POST', 'Patient', { body: { resourceType: 'Patient', birthDate: 'yesterday' } }],
    status: 400,
    body: { issue: [{ code: 'value', expression: ['Patient.birthDate'] }] },
    events: [],
    audit: ['create Patient (refused)'],
  })
  scenario('a change without consent is refused', {
    as: hospital,
    request: ['PUT', 'Observation/of-samuel', { body: haemoglobin('of-samuel', 'samuel', { status: 'amended' }) }],
    status: 403,
    body: suppressed,
    events: [],
    audit: ['update Observation (refused)'],
  })
  scenario('a Flag is deleted', {
    as: hospital,
    request: ['DELETE', 'Flag/falls'],
    status: 204,
    events: [],
    audit: ['delete Flag'],
  })
})
