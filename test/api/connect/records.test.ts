import { beforeAll, expect, test } from 'vitest'
import { consentOf, ofType, terminology } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { type Call, clientOf, healthIdSystem } from './support.ts'

let service: Service
let clinic: Call
const fhir = fhirCaller(() => service)
const store = creatorBy(fhir)

const healthId = 'CM-TQYE-6SRK-YQ6S'
const records = (query = '', of = healthId): string => `/api/v1/connect/patient/${of}/records${query}`

const observation = (id: string, kind: string, more: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  category: [{ coding: [{ system: `${terminology}/observation-category`, code: kind }] }],
  subject: { reference: 'Patient/amina' },
  ...more,
})

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(service, 'clinic', 'patient:diagnostics:read')
  await store(
    {
      resourceType: 'Patient',
      id: 'amina',
      identifier: [{ use: 'official', system: healthIdSystem(service), value: healthId }],
      name: [{ family: 'Bello', given: ['Amina'] }],
    },
    {
      resourceType: 'Patient',
      id: 'samuel',
      identifier: [{ use: 'official', system: healthIdSystem(service), value: 'CM-72GS-8CYN-J8XR' }],
    },
    {
      resourceType: 'Condition',
      id: 'malaria',
      clinicalStatus: { coding: [{ system: `${terminology}/condition-clinical`, code: 'active' }] },
      subject: { reference: 'Patient/amina' },
      code: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'B50.9' }], text: 'Malaria' },
      recordedDate: '2026-03-02',
    },
    {
      resourceType: 'Condition',
      id: 'by-mistake',
      verificationStatus: { coding: [{ system: `${terminology}/condition-ver-status`, code: 'entered-in-error' }] },
      subject: { reference: 'Patient/amina' },
      code: { text: 'Somebody else’s' },
      recordedDate: '2026-03-03',
    },
    {
      resourceType: 'MedicationRequest',
      id: 'artemether',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: { text: 'Artemether 20 mg / lumefantrine 120 mg' },
      subject: { reference: 'Patient/amina' },
      authoredOn: '2026-03-02',
    },
    ...['2026-01-01', '2026-02-01', '2026-03-01'].map((day, index) =>
      observation(`hb-${index}`, 'laboratory', {
        code: { coding: [{ system: 'http://loinc.org', code: '718-7' }], text: 'Haemoglobin' },
        effectiveDateTime: `${day}T08:00:00Z`,
        valueQuantity: { value: 10 + index, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
      }),
    ),
    observation('pulse', 'vital-signs', {
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      effectiveDateTime: '2026-03-01T08:00:00Z',
      valueQuantity: { value: 72, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
    }),
  )
})

/** Gives the clinic a consent for as long as the work takes. */
async function under<T>(provision: object, work: () => Promise<T>): Promise<T> {
  await fhir('PUT', 'Consent/of-amina', { body: consentOf('of-amina', 'amina', 'clinic', provision) })
  try {
    return await work()
  } finally {
    await fhir('DELETE', 'Consent/of-amina')
  }
}

test('without consent nothing is shown, and that is on record', async () => {
  const { status, body, headers } = await clinic('GET', records())
  expect([status, body.error_code]).toEqual([403, 'CONSENT_REQUIRED'])
  const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
  expect(rows.map(row => [row.outcome, row.problem, row.resources])).toEqual([[4, 'CONSENT_REQUIRED', 0]])
})

test('with consent every kind is shown in the words of the interface, the newest first', () =>
  under({}, async () => {
    const { status, body, headers } = await clinic('GET', records())
    expect(status).toBe(200)
    expect(body).toMatchObject({
      health_id: healthId,
      type: 'all',
      consent_id: 'of-amina',
      withheld: [],
      unreadable: 0,
      has_more: false,
      next_cursor: null,
    })
    expect(body.data.diagnoses).toEqual([
      {
        id: 'malaria',
        patient_id: 'amina',
        visit_id: null,
        provider_id: null,
        display_name: 'Malaria',
        code_system: 'ICD-10',
        code: 'B50.9',
        snomed_code: null,
        snomed_display: null,
        status: 'active',
        is_primary: expect.any(Boolean),
        created_at: expect.any(String),
      },
    ])
    expect(body.data.prescriptions[0]).toMatchObject({ id: 'artemether', status: 'active' })
    expect(body.data.lab_results.map((each: { id: string }) => each.id)).toEqual(['hb-2', 'hb-1', 'hb-0'])
    expect(body.data.vitals).toMatchObject([{ id: 'pulse', type: 'heart_rate', loinc_code: '8867-4', value: 72 }])
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows).toMatchObject([{ interaction: 'operation', outcome: 0, patients: ['amina'], resources: 6 }])
  }))

test('what was entered in error is left out', () =>
  under({}, async () => {
    const { text } = await clinic('GET', records('?type=diagnoses'))
    expect(text).toContain('Malaria')
    expect(text).not.toContain('Somebody else')
  }))

test('what was read before is shown as it is now: changed, entered in error, and gone', () =>
  under({}, async () => {
    const glucose = (status: string, value: number) =>
      observation('glucose', 'laboratory', {
        status,
        code: { text: 'Glucose' },
        effectiveDateTime: '2026-04-01T08:00:00Z',
        valueQuantity: { value, unit: 'mmol/L' },
      })
    const shown = async () => {
      const { body } = await clinic('GET', records('?type=lab_results'))
      const found = body.data.lab_results.filter((each: { id: string }) => each.id === 'glucose')
      return found.map((each: { status: string; result_value: string }) => `${each.status} ${each.result_value}`)
    }
    const all = []
    for (const [status, value] of [
      ['preliminary', 5],
      ['final', 6],
      ['entered-in-error', 6],
      ['final', 6],
    ] as const) {
      await fhir('PUT', 'Observation/glucose', { body: glucose(status, value) })
      all.push(await shown(), await shown())
    }
    await fhir('DELETE', 'Observation/glucose')
    all.push(await shown())
    expect(all).toEqual([
      ...[['preliminary 5'], ['preliminary 5'], ['final 6'], ['final 6'], [], [], ['final 6'], ['final 6'], []],
    ])
  }))

test('only what is asked for is there', () =>
  under({}, async () => {
    const { body } = await clinic('GET', records('?type=vitals'))
    expect(Object.keys(body.data)).toEqual(['vitals'])
  }))

test('a narrow consent shows its part, and says what it holds back', () =>
  under(
    {
      ...ofType('Observation', 'DiagnosticReport'),
      code: [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }],
    },
    async () => {
      const { body } = await clinic('GET', records())
      expect(Object.keys(body.data)).toEqual(['lab_results'])
      expect(body.withheld).toEqual(['diagnoses', 'prescriptions', 'vitals'])
      expect((await clinic('GET', records('?type=vitals'))).body.error_code).toBe('CONSENT_REQUIRED')
      expect((await clinic('GET', records('?type=lab_results'))).body.data.lab_results).toHaveLength(3)
    },
  ))

test('a consent to resource types shows these, and says that it holds back all others', () =>
  under(ofType('Condition'), async () => {
    const { body } = await clinic('GET', records())
    expect(Object.keys(body.data)).toEqual(['diagnoses'])
    expect(body.withheld).toEqual(['prescriptions', 'lab_results', 'vitals'])
  }))

test('a consent with an exception shows the rest, and says that it holds the exception back', () =>
  under(
    {
      provision: [
        { type: 'deny', code: [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }] },
      ],
    },
    async () => {
      const { body } = await clinic('GET', records())
      expect(Object.keys(body.data)).toEqual(['diagnoses', 'prescriptions', 'vitals'])
      expect(body.withheld).toEqual(['lab_results'])
      expect(body.data.vitals).toHaveLength(1)
    },
  ))

test('dates narrow it', () =>
  under({}, async () => {
    const ids = async (query: string) =>
      (await clinic('GET', records(`?type=lab_results&${query}`))).body.data.lab_results.map(
        (each: { id: string }) => each.id,
      )
    expect(await ids('since=2026-02-01')).toEqual(['hb-2', 'hb-1'])
    expect(await ids('until=2026-02-01')).toEqual(['hb-1', 'hb-0'])
    expect(await ids('since=2026-01-15&until=2026-02-15T00:00:00%2B01:00')).toEqual(['hb-1'])
  }))

test('pages hold each record once, of every kind', () =>
  under({}, async () => {
    const found: string[] = []
    let cursor = ''
    do {
      const { status, body } = await clinic('GET', records(`?limit=1${cursor}`))
      expect(status).toBe(200)
      for (const list of Object.values(body.data as Record<string, { id: string }[]>))
        found.push(...list.map(({ id }) => id))
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
    } while (cursor)
    expect(found.sort()).toEqual(['artemether', 'hb-0', 'hb-1', 'hb-2', 'malaria', 'pulse'])
  }))

test.each([
  ['?type=allergies', 'query.type'],
  ['?limit=0', 'query.limit'],
  ['?limit=101', 'query.limit'],
  ['?since=yesterday', 'query.since'],
  ['?cursor=abc', 'query.cursor'],
  ['?status=active', 'query.status'],
])('%s is refused', (query, field) =>
  under({}, async () => {
    const { status, body } = await clinic('GET', records(query))
    expect([status, body.error_code, body.details[0].field]).toEqual([422, 'VALIDATION_FAILED', field])
  }),
)

test('a cursor of one patient is none of another', () =>
  under({}, async () => {
    const { body } = await clinic('GET', records('?limit=1'))
    await fhir('PUT', 'Consent/of-samuel', { body: consentOf('of-samuel', 'samuel', 'clinic') })
    const stolen = await clinic('GET', records(`?limit=1&cursor=${body.next_cursor}`, 'CM-72GS-8CYN-J8XR'))
    expect([stolen.status, stolen.body.details[0].field]).toEqual([422, 'query.cursor'])
  }))

test('in an emergency everything is shown, on that basis', async () => {
  const { clientId, organizationId } = { clientId: 'ambulance', organizationId: 'ambulance' }
  const token = await service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, [
    'patient:diagnostics:read',
    'emergency:access',
  ])
  const headers = { 'x-emergency-access': 'true', 'x-emergency-reason': 'Found unconscious in the street' }
  const reply = await fhir('GET', records(), { token, headers })
  expect([reply.status, reply.headers.get('x-access-basis')]).toEqual([200, 'emergency'])
  expect(reply.body.consent_id).toBeNull()
  expect(reply.body.data.lab_results).toHaveLength(3)
  expect((await fhir('GET', records(), { token })).status).toBe(403)
})

test('without the scope nobody sees anything', async () => {
  const labs = await clientOf(service, 'clinic', 'labs:read')
  expect((await labs('GET', records())).body.error_code).toBe('INSUFFICIENT_SCOPE')
})
