// `:missing` and `pr`: parameters that are posted where they have a value, those that are posted where they have none, and both at once.
// https://hl7.org/fhir/R4/search.html#modifiers
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, finderBy, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
const found = finderBy(call)

const observation = (id: string, more: object = {}) => ({
  ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'weight' } },
  ...more,
})
const of = (reference: string) => ({ subject: { reference } })
const kilograms = (value: number) => ({ valueQuantity: { value, unit: 'kg' } })
const unknown = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
}

const report = (id: string, more: object) => ({
  ...{ resourceType: 'DiagnosticReport', id, status: 'final', code: { text: 'weights' } },
  ...more,
})

beforeAll(async () => {
  service = await startService()
  await store(
    { resourceType: 'Patient', id: 'ada' },
    { resourceType: 'Device', id: 'scales' },
    observation('whole', { ...of('Patient/ada'), ...kilograms(70), effectiveDateTime: '2026-01-02' }),
    observation('undated', { ...of('Patient/ada'), component: [{ code: { text: 'net' }, ...kilograms(69) }] }),
    observation('device', { ...of('Device/scales'), effectiveDateTime: '2026-01-03' }),
    observation('nobody', { effectiveDateTime: '2026-01-04' }),
    {
      ...observation('nostatus', { ...of('Patient/ada'), effectiveDateTime: '2026-01-05' }),
      status: undefined,
      _status: unknown,
    },
    { resourceType: 'Procedure', id: 'coded', status: 'completed', ...of('Patient/ada'), code: { text: 'weighing' } },
    { resourceType: 'Procedure', id: 'uncoded', status: 'completed', ...of('Patient/ada') },
    report('outer', { result: [{ reference: 'Observation/nobody' }] }),
    report('inner', { contained: [observation('o')], result: [{ reference: '#o' }] }),
    report('inner-of', { contained: [observation('o', of('Patient/ada'))], result: [{ reference: '#o' }] }),
  )
})

const observations = ['device', 'nobody', 'nostatus', 'undated', 'whole']
const without = (...ids: string[]) => observations.filter(id => !ids.includes(id))

describe('a parameter has a value or none', () => {
  test.each<[query: string, ids: string[]]>([
    ['Observation?subject:missing=true', ['nobody']],
    ['Observation?subject:missing=false', without('nobody')],
    ['Observation?patient:missing=true', ['device', 'nobody']],
    ['Observation?patient:missing=false', without('device', 'nobody')],
    ['Observation?date:missing=true', ['undated']],
    ['Observation?date:missing=false', without('undated')],
    ['Observation?code:missing=true', []],
    ['Observation?code:missing=false', observations],
    ['Observation?status:missing=false', without('nostatus')],
    ['Observation?status:missing=true', ['nostatus']],
    ['Observation?value-quantity:missing=false', ['whole']],
    ['Observation?combo-value-quantity:missing=false', ['undated', 'whole']],
    ['Observation?combo-value-quantity:missing=true', without('undated', 'whole')],
    ['Observation?date:missing=true&subject:missing=false', ['undated']],
    ['Observation?_filter=not (subject pr true)', ['nobody']],
    ['Observation?_filter=date pr true and subject pr true', without('undated', 'nobody')],
    ['Procedure?code:missing=true', ['uncoded']],
    ['?_type=Observation,Procedure&code:missing=true', ['uncoded']],
    ['?_type=Observation,Procedure&code:missing=false', ['coded', ...observations].sort()],
    ['?_type=Observation,Procedure&date:missing=true', ['coded', 'uncoded', 'undated']],
    ['Patient?_has:Observation:patient:date:missing=true', ['ada']],
    ['Patient?_has:Observation:patient:subject:missing=true', []],
    ['DiagnosticReport?result.subject:missing=true', ['inner', 'outer']],
    ['DiagnosticReport?result.subject:missing=false', ['inner-of']],
    ['DiagnosticReport?result.code:missing=true', []],
  ])('%s', async (query, ids) => {
    expect(await found(query)).toEqual(ids)
  })
})

test('an update that adds the value, or takes it away, changes what is found', async () => {
  const put = (more: object) => call('PUT', 'Observation/changing', { body: observation('changing', more) })
  const missing = async () => [
    (await found('Observation?subject:missing=true')).includes('changing'),
    (await found('Observation?subject:missing=false')).includes('changing'),
  ]
  await put({})
  expect(await missing()).toEqual([true, false])
  await put(of('Patient/ada'))
  expect(await missing()).toEqual([false, true])
  await put({})
  expect(await missing()).toEqual([true, false])
  await call('DELETE', 'Observation/changing')
  expect(await missing()).toEqual([false, false])
})

test.each([
  ['Observation?code-value-quantity:missing=true', 'supports none: ask for its parts'],
  ['Observation?_filter=code-value-quantity pr true', 'pr has no meaning for code-value-quantity'],
])('a composite has no value of its own, so that %s is refused', async (query, said) => {
  const { status, body } = await call('GET', query)
  expect(status).toBe(400)
  expect(issueOf(body).diagnostics).toContain(said)
})

describe('values that two parameters share are found by both, and ordered', () => {
  test.each<[query: string, ids: string[]]>([
    ['Observation?combo-value-quantity=69', ['undated']],
    ['Observation?combo-value-quantity=gt68', ['undated', 'whole']],
    ['Observation?component-value-quantity=gt68', ['undated']],
    ['Observation?value-quantity=gt68', ['whole']],
  ])('%s', async (query, ids) => {
    expect(await found(query)).toEqual(ids)
  })

  test.each([
    ['combo-value-quantity', ['undated', 'whole']],
    ['-combo-value-quantity', ['whole', 'undated']],
  ])('by %s', async (sort, ids) => {
    const { body } = await call('GET', `Observation?combo-value-quantity:missing=false&_sort=${sort}`)
    expect(body.entry.map((each: { resource: { id: string } }) => each.resource.id)).toEqual(ids)
  })
})
