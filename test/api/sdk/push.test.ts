// POST sdk/records/encounters and lab-results: what is stored, the events, idempotency, and what is refused.
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { actorOf, scenario } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'
import { eventsOfRequest } from '../../support/webhooks.ts'
import { type Call, clientOf } from '../connect/support.ts'
import { about, amina, storeRecord, unregistered, wrongCheck } from './support.ts'

let service: Service
let cdss: Call
const fhir = fhirCaller(() => service)
const encounters = '/api/v1/sdk/records/encounters'
const labResults = '/api/v1/sdk/records/lab-results'
const pusher = actorOf(() => service, 'cdss', 'encounters:write', 'labs:write')

const alert = {
  ...{ health_id: amina, encounter_type: 'cdss_alert', clinical_note: 'Warfarin with co-trimoxazole' },
  ...{ severity: 'high', alert_type: 'drug_interaction', cdss_rule_id: 'DDI-0042' },
}
const potassium = {
  ...{ health_id: amina, test_name: 'Serum potassium', result_value: '6.8 mmol/L' },
  ...{ flagged: true, flag_level: 'critical', interpretation: 'Severe hyperkalaemia' },
}

beforeAll(async () => {
  service = await startService()
  await storeRecord(service)
  cdss = await clientOf(service, 'cdss', 'encounters:write', 'labs:write', 'labs:read', 'patients:read')
})

const stored = async (name: string) => (await fhir('GET', name)).body

test('an alert becomes an Encounter, a DetectedIssue and the Provenance of its sender', async () => {
  const { status, body, headers } = await cdss('POST', encounters, alert)
  expect(status).toBe(201)
  expect(body.resources.map((name: string) => name.split('/')[0])).toEqual(['Encounter', 'DetectedIssue', 'Provenance'])
  expect(body).toMatchObject({ resource: `Encounter/${body.id}`, status: 'accepted' })
  const [encounter, issue, provenance] = await Promise.all(body.resources.map(stored))
  expect(encounter).toMatchObject({ subject: { reference: 'Patient/amina' }, class: { code: 'VR' } })
  expect(issue).toMatchObject({
    ...{ severity: 'high', patient: { reference: 'Patient/amina' }, code: { text: 'drug_interaction' } },
    evidence: [{ detail: [{ reference: body.resource }] }],
  })
  expect(provenance.target).toEqual(body.resources.slice(0, 2).map((reference: string) => ({ reference })))
  expect(provenance.agent[0].who).toEqual({ reference: 'Organization/cdss' })
  expect(body.events).toHaveLength(2)
  expect(body.events.every((id: string) => /^evt_[0-9a-f]{32}$/.test(id))).toBe(true)
  expect(await eventsOfRequest(service, headers.get('x-request-id')!)).toEqual([
    'encounter.created',
    'encounter.closed',
  ])
})

test('a laboratory result becomes an Observation and the report that releases it, and is read back', async () => {
  const { status, body } = await cdss('POST', labResults, { ...potassium, health_id: ' cm-tqye 6srk-yq6s' })
  expect(status).toBe(201)
  expect(body.resources.map((name: string) => name.split('/')[0])).toEqual(['Observation', 'DiagnosticReport'])
  expect(body.resource).toBe(body.resources[1])
  const report = await stored(body.resource)
  expect(report).toMatchObject({
    ...{ status: 'final', conclusion: 'Severe hyperkalaemia', result: [{ reference: body.resources[0] }] },
    subject: { reference: 'Patient/amina', identifier: { value: amina } },
  })
  expect(await stored(body.resources[0])).toMatchObject({ valueQuantity: { value: 6.8, code: 'mmol/L' } })
  const own = await cdss('GET', about(amina, 'fhir/Observation'))
  expect(own.body.entry.map((each: { resource: { id: string } }) => `Observation/${each.resource.id}`)).toEqual([
    body.resources[0],
  ])
})

test('the ids of events are those of the outbox', async () => {
  const { body, headers } = await cdss('POST', labResults, potassium)
  const { database } = service.application
  const rows = await database.query<{ id: string }>({
    text: `select id from event_outbox where request_id = $1 and event <> ''
      union all select id from event where request_id = $1`,
    values: [headers.get('x-request-id')],
  })
  expect(rows.map(({ id }) => id)).toEqual(body.events)
})

test('a push with the same Idempotency-Key is stored once, and answered with the same ids', async () => {
  const token = await pusher.token()
  const once = () =>
    fhir('POST', labResults, {
      token,
      body: JSON.stringify(potassium),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'result-4711' },
    })
  const [first, second] = [await once(), await once()]
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('idempotent-replayed')).toBe('true')
})

describe('on record', () => {
  const json = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  scenario('an alert is on record as its creations', {
    as: pusher,
    request: ['POST', encounters, json(alert)],
    status: 201,
    events: ['encounter.created', 'encounter.closed'],
    audit: ['create Encounter', 'create DetectedIssue', 'create Provenance'],
  })
  scenario('a released result is an event', {
    as: pusher,
    request: ['POST', labResults, json(potassium)],
    status: 201,
    events: ['lab_result.released'],
    audit: ['create Observation', 'create DiagnosticReport'],
  })
  scenario('a push about an unregistered Health ID is 404, and stores nothing', {
    as: pusher,
    request: ['POST', labResults, json({ ...potassium, health_id: unregistered })],
    status: 404,
    body: { error_code: 'PATIENT_NOT_FOUND', details: [{ field: 'health_id' }] },
    events: [],
    audit: ['push lab-results (refused)'],
  })
  scenario('a push about a Health ID with wrong check symbols is 422', {
    as: pusher,
    request: ['POST', encounters, json({ ...alert, health_id: wrongCheck })],
    status: 422,
    body: { error_code: 'INVALID_HEALTH_ID', details: [{ field: 'health_id' }] },
    events: [],
    audit: ['push encounters (refused)'],
  })
  scenario('a push without its required fields names each of them', {
    as: pusher,
    request: ['POST', labResults, json({ health_id: amina, flagged: 'yes' })],
    status: 422,
    body: {
      error_code: 'VALIDATION_FAILED',
      details: [{ field: 'test_name' }, { field: 'result_value' }, { field: 'flagged' }],
    },
    events: [],
    audit: ['push lab-results (refused)'],
  })
  scenario('labs:write pushes no encounter', {
    as: actorOf(() => service, 'cdss', 'labs:write'),
    request: ['POST', encounters, json(alert)],
    status: 403,
    body: { error_code: 'INSUFFICIENT_SCOPE' },
    events: [],
    audit: ['push encounters (refused)'],
  })
})

test('a text that FHIR cannot hold is refused with its field, and nothing is stored', async () => {
  const before = (await fhir('GET', 'Observation?_summary=count')).body.total
  const { status, body } = await cdss('POST', labResults, { ...potassium, result_value: `${'9'.repeat(40)}.1 mmol/L` })
  expect([201, 422]).toContain(status)
  if (status === 422) expect(body.error_code).toBe('VALIDATION_FAILED')
  const control = await cdss('POST', labResults, { ...potassium, interpretation: 'a\u0000b' })
  expect(control).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_FAILED' } })
  const after = (await fhir('GET', 'Observation?_summary=count')).body.total
  expect(after - before).toBe(status === 201 ? 1 : 0)
})
