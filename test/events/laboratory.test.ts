import { describe, expect, test } from 'vitest'
import type { RelatedResources } from '../../src/events/claims.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { but, catalogue, change, derived, names } from './support.ts'

const concept = (system: string, code: string) => [{ coding: [{ system, code }] }]
const section = (code: string) => concept('http://terminology.hl7.org/CodeSystem/v2-0074', code)
const snomed = (code: string) => concept('http://snomed.info/sct', code)
const interpreted = (code: string) =>
  concept('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code)
const laboratory = concept('http://terminology.hl7.org/CodeSystem/observation-category', 'laboratory')

const order: JsonObject = {
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  category: snomed('108252007'),
  priority: 'urgent',
  code: { coding: [{ system: 'http://loinc.org', code: '718-7', display: 'Hemoglobin' }], text: 'Hémoglobine' },
  subject: { reference: 'Patient/ngono' },
  requester: { reference: 'Organization/hcy' },
}
const ofStatus = (resource: JsonObject, status: string) => but(resource, { status })
const bare = but(order, { category: undefined })

const orders: readonly [string, JsonObject | undefined, JsonObject | undefined, boolean][] = [
  ['a new one', order, undefined, true],
  ['a draft', ofStatus(order, 'draft'), undefined, false],
  ['a draft that is placed', order, ofStatus(order, 'draft'), true],
  ['one on hold', ofStatus(order, 'on-hold'), undefined, true],
  ['one that goes on', order, ofStatus(order, 'on-hold'), false],
  ['one that changes', but(order, { priority: 'stat' }), order, false],
  ['one that is carried out', ofStatus(order, 'completed'), order, false],
  ['one that was carried out before it was recorded', ofStatus(order, 'completed'), undefined, false],
  ['one that was called completed too early', order, ofStatus(order, 'completed'), false],
  ['one that is placed again after it was revoked', order, ofStatus(order, 'revoked'), true],
  ['a proposal', but(order, { intent: 'proposal' }), undefined, false],
  ['a plan that is carried out', order, but(order, { intent: 'plan' }), true],
  ['a deleted one', undefined, order, false],
  ['one of a section of a laboratory', but(order, { category: section('HM') }), undefined, true],
  ['one of the category of observations', but(order, { category: laboratory }), undefined, true],
  [
    'an X-ray',
    but(order, { category: snomed('363679005'), specimen: [{ reference: 'Specimen/s' }] }),
    undefined,
    false,
  ],
  ['one without a category', bare, undefined, false],
  ['one without a category, of a specimen', but(bare, { specimen: [{ reference: 'Specimen/s' }] }), undefined, true],
]

describe('of an order is told that it is placed', () => {
  test.each(orders)('%s', (_name, now, before, isTold) => {
    expect(names('ServiceRequest', now, before)).toEqual(isTold ? ['lab_order.created'] : [])
  })

  test('which test, how urgent, and where', () => {
    expect(derived('ServiceRequest', order)).toEqual([
      {
        type: 'lab_order.created',
        source: { type: 'ServiceRequest', id: 'it', version: 7 },
        patient: 'ngono',
        data: { lab_order_id: 'it', test_name: 'Hemoglobin', status: 'active', priority: 'urgent', facility_id: 'hcy' },
        facility: 'hcy',
        audience: 'readers',
      },
    ])
  })
})

const report: JsonObject = {
  resourceType: 'DiagnosticReport',
  status: 'final',
  category: section('LAB'),
  code: { text: 'Serum potassium' },
  subject: { reference: 'Patient/ngono' },
  performer: [{ reference: 'Practitioner/p' }, { reference: 'Organization/hcy' }],
  result: [{ reference: 'Observation/k' }],
  conclusion: 'Hyperkaliémie sévère chez Mme Ngono',
}
const preliminary = ofStatus(report, 'preliminary')
const [released, amended] = ['lab_result.released', 'lab_result.amended']
const imaging = but(report, { category: section('RAD') })

const reports: readonly [string, JsonObject | undefined, JsonObject | undefined, string[]][] = [
  ['a final one', report, undefined, [released]],
  ['a preliminary one', preliminary, undefined, []],
  ['one that becomes final', report, preliminary, [released]],
  ['one that was corrected before it was sent here', ofStatus(report, 'corrected'), undefined, [released]],
  ['one that is corrected before it is released', ofStatus(report, 'corrected'), preliminary, [released]],
  ['one that is amended', ofStatus(report, 'amended'), report, [amended]],
  ['one that is corrected', ofStatus(report, 'corrected'), report, [amended]],
  ['one to which something is added', ofStatus(report, 'appended'), report, [amended]],
  ['one that is changed and stays final', but(report, { conclusion: 'Normal' }), report, [amended]],
  [
    'one that is corrected twice',
    but(report, { status: 'corrected', conclusion: 'x' }),
    ofStatus(report, 'corrected'),
    [amended],
  ],
  ['one that was an error', ofStatus(report, 'entered-in-error'), report, [amended]],
  ['one that is cancelled', ofStatus(report, 'cancelled'), report, [amended]],
  ['one that is preliminary again', preliminary, report, [amended]],
  ['one that is cancelled before it is released', ofStatus(report, 'cancelled'), preliminary, []],
  ['the same again', but(report, { meta: { versionId: '2' }, text: { div: '<div/>' } }), report, []],
  ['a deleted one', undefined, report, [amended]],
  ['one that comes back after a deletion', report, undefined, [released]],
  ['one of imaging', imaging, undefined, []],
  ['one of imaging, corrected', ofStatus(imaging, 'corrected'), imaging, []],
  [
    'a document of a laboratory',
    but(report, { category: concept('http://loinc.org', '11502-2') }),
    undefined,
    [released],
  ],
]

/** A result that asks for attention. */
const high: JsonObject = {
  resourceType: 'Observation',
  status: 'final',
  category: laboratory,
  interpretation: interpreted('HH'),
}
const knowing = (...all: [string, JsonObject | undefined][]): RelatedResources =>
  new Map(all.map(([id, each]) => [`Observation/${id}`, each]))
const group = (...ids: string[]) => ({
  resourceType: 'Observation',
  hasMember: ids.map(id => ({ reference: `Observation/${id}` })),
})

const flags: readonly [string, JsonObject, RelatedResources | undefined, boolean][] = [
  ['a critical result', report, knowing(['k', high]), true],
  ['a normal result', report, knowing(['k', but(high, { interpretation: interpreted('N') })]), false],
  ['a negative result', report, knowing(['k', but(high, { interpretation: interpreted('NEG') })]), false],
  [
    'a critical result of the older table',
    report,
    knowing(['k', but(high, { interpretation: concept('http://terminology.hl7.org/CodeSystem/v2-0078', 'HH') })]),
    true,
  ],
  [
    'a result without a range, of the older table by its OID',
    report,
    knowing(['k', but(high, { interpretation: concept('urn:oid:2.16.840.1.113883.12.78', 'null') })]),
    false,
  ],
  ['a result that nobody has interpreted', report, knowing(['k', but(high, { interpretation: undefined })]), false],
  ['a result that was an error', report, knowing(['k', ofStatus(high, 'entered-in-error')]), false],
  ['a result that is not there', report, knowing(['k', undefined]), false],
  ['a result that is not known', report, undefined, false],
  ['a component', report, knowing(['k', { resourceType: 'Observation', component: [high] }]), true],
  ['a member of a group', report, knowing(['k', group('a', 'b')], ['b', high]), true],
  ['a group within itself', report, knowing(['k', group('k')]), false],
  [
    'a contained result',
    but(report, { result: [{ reference: '#r' }], contained: [but(high, { id: 'r' })] }),
    undefined,
    true,
  ],
  ['another system of codes', report, knowing(['k', but(high, { interpretation: snomed('HH') })]), true],
  ['a conclusion of another system', but(report, { conclusionCode: snomed('14140009') }), undefined, false],
  ['a conclusion in codes', but(report, { conclusionCode: interpreted('A') }), undefined, true],
]

describe('of a report is told', () => {
  test.each(reports)('%s', (_name, now, before, expected) => {
    expect(names('DiagnosticReport', now, before)).toEqual(expected)
  })

  test.each(flags)('whether it asks for attention: %s', (_name, now, known, flagged) => {
    expect(derived('DiagnosticReport', now, undefined, known)[0]?.data['flagged']).toBe(flagged)
  })

  test('exactly what the interface says, and nothing of what it concludes', () => {
    expect(derived('DiagnosticReport', report, preliminary, knowing(['k', high]))).toEqual([
      {
        type: 'lab_result.released',
        source: { type: 'DiagnosticReport', id: 'it', version: 7 },
        patient: 'ngono',
        data: { lab_result_id: 'it', test_name: 'Serum potassium', flagged: true, facility_id: 'hcy' },
        facility: 'hcy',
        audience: 'readers',
      },
    ])
  })

  test('what has become of it', () => {
    const [told] = derived('DiagnosticReport', ofStatus(report, 'entered-in-error'), report)
    expect(told?.data).toMatchObject({ lab_result_id: 'it', status: 'entered-in-error' })
  })

  test('that it is of a laboratory, where its observations alone say so', () => {
    const untold = but(report, { category: undefined })
    expect(names('DiagnosticReport', untold)).toEqual([])
    expect(names('DiagnosticReport', untold, undefined, knowing(['k', high]))).toEqual([released])
  })
})

describe('what has to be known of a report', () => {
  test('its observations, and then those that they group', () => {
    expect(catalogue.missing(change('DiagnosticReport', report))).toEqual(['Observation/k'])
    expect(catalogue.missing(change('DiagnosticReport', report), knowing(['k', group('a', 'b')]))).toEqual([
      'Observation/a',
      'Observation/b',
    ])
    expect(catalogue.missing(change('DiagnosticReport', report), knowing(['k', undefined]))).toEqual([])
  })

  test('the observations that it had, where they alone say whether what is withdrawn was of a laboratory', () => {
    const untold = but(report, { category: undefined })
    const emptied = but(ofStatus(untold, 'entered-in-error'), { result: undefined })
    for (const now of [undefined, emptied]) {
      expect(catalogue.missing(change('DiagnosticReport', now, untold))).toEqual(['Observation/k'])
      expect(names('DiagnosticReport', now, untold, knowing(['k', high]))).toEqual([amended])
      expect(catalogue.missing(change('DiagnosticReport', now, report))).toEqual([])
    }
  })

  test('nothing before it is released, nor of imaging, nor of what is deleted, nor of other types', () => {
    expect(catalogue.missing(change('DiagnosticReport', preliminary))).toEqual([])
    expect(catalogue.missing(change('DiagnosticReport', imaging))).toEqual([])
    expect(catalogue.missing(change('DiagnosticReport', undefined, report))).toEqual([])
    expect(catalogue.missing(change('Observation', high))).toEqual([])
  })
})

const testNames: readonly [string, unknown, string | null][] = [
  ['display before words', { coding: [{ code: 'a' }, { code: 'b', display: 'B' }], text: 'c' }, 'B'],
  ['words', { coding: [{ code: 'a' }], text: ' c ' }, 'c'],
  ['a code', { coding: [{ code: 'a' }] }, 'a'],
  ['nothing', { extension: [] }, null],
  ['blanks', { text: '  ' }, null],
  ['no concept', undefined, null],
  ['very many words', { text: 'x'.repeat(1000) }, 'x'.repeat(200)],
]

test.each(testNames)('a test is called by %s', (_name, code, expected) => {
  expect(derived('DiagnosticReport', but(report, { code }))[0]?.data['test_name']).toBe(expected)
})
