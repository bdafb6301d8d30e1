// Chains that end inside of a resource, in what it contains. https://hl7.org/fhir/R4/search.html#contained
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, finderBy, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
const found = finderBy(call)

const rx = (code: string) => ({
  coding: [{ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', code, display: `Tablets of ${code}` }],
})
const request = (id: string, more: object) => ({
  resourceType: 'MedicationRequest',
  id,
  status: 'active',
  intent: 'order',
  subject: { reference: 'Patient/p' },
  ...more,
})
const resources: readonly ({ resourceType: string; id: string } & Record<string, unknown>)[] = [
  { resourceType: 'Organization', id: 'maker', name: 'Outside Pharma' },
  { resourceType: 'Medication', id: 'outside', code: rx('aspirin'), manufacturer: { reference: 'Organization/maker' } },
  request('plain', { medicationReference: { reference: 'Medication/outside' } }),
  request('inside', {
    contained: [
      {
        resourceType: 'Medication',
        id: 'm',
        code: rx('aspirin'),
        identifier: [{ system: 'http://ids', value: 'box 7' }],
        manufacturer: { reference: 'Organization/maker' },
        batch: { expirationDate: '2026-05-31', lotNumber: 'L1' },
      },
      { resourceType: 'Practitioner', id: 'doc', name: [{ family: 'Müller' }], gender: 'female' },
    ],
    medicationReference: { reference: '#m' },
    requester: { reference: '#doc' },
  }),
  request('other', {
    contained: [{ resourceType: 'Medication', id: 'm', code: rx('ibuprofen') }],
    medicationReference: { reference: '#m' },
  }),
  request('coded', { medicationCodeableConcept: rx('aspirin') }),
]

const measured = (id: string, more: object) => ({
  ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'weight' }, valueInteger: 70 },
  ...more,
})

beforeAll(async () => {
  service = await startService()
  await store(...resources)
})

describe('a chain looks inside contained resources:', () => {
  test.each<[query: string, ids: string[]]>([
    ['medication.code=aspirin', ['inside', 'plain']],
    ['medication:Medication.code=http://www.nlm.nih.gov/research/umls/rxnorm|aspirin', ['inside', 'plain']],
    ['medication.code=ibuprofen', ['other']],
    ['medication.code:not=aspirin', ['other']],
    ['medication.code:text=of ibu', ['other']],
    ['medication.code:text=tablets', ['inside', 'other', 'plain']],
    ['medication.identifier=http://ids|box 7', ['inside']],
    ['medication.identifier:missing=true', ['other', 'plain']],
    ['medication.expiration-date=2026-05', ['inside']],
    ['medication.expiration-date=gt2027', []],
    ['medication.manufacturer=Organization/maker', ['inside', 'plain']],
    ['medication.manufacturer.name=outside', ['inside', 'plain']],
    ['requester:Practitioner.family=muller', ['inside']],
    ['requester:Practitioner.name:contains=ülle', ['inside']],
    ['requester:Practitioner.family:exact=Muller', []],
    ['requester.gender=female', ['inside']],
    ['requester:Practitioner._id=doc', []],
    ['_filter=medication.code eq aspirin and requester:Practitioner.family sw mul', ['inside']],
    ['medication.code=aspirin&requester:Practitioner.family=muller', ['inside']],
  ])('MedicationRequest?%s', async (query, ids) => {
    expect(await found(`MedicationRequest?${query}`)).toEqual(ids)
  })

  test('and nothing else does: what is contained is no resource of its own', async () => {
    expect(await found('Medication?code=aspirin')).toEqual(['outside'])
    expect(await found('Practitioner?family=muller')).toEqual([])
    expect(await found('MedicationRequest?code=ibuprofen')).toEqual([])
    expect(await found('Medication?_has:MedicationRequest:medication:status=active')).toEqual(['outside'])
  })

  test('as it is now, after an update', async () => {
    const body = request('other', {
      contained: [{ resourceType: 'Medication', id: 'm', code: rx('paracetamol') }],
      medicationReference: { reference: '#m' },
    })
    await call('PUT', 'MedicationRequest/other', { body })
    expect(await found('MedicationRequest?medication.code=ibuprofen')).toEqual([])
    expect(await found('MedicationRequest?medication.code=paracetamol')).toEqual(['other'])
  })
})

describe('a chain through the one patient of a resource', () => {
  const within = [{ resourceType: 'Patient', id: 'p', name: [{ family: 'Ngono' }], birthDate: '1990-05-01' }]

  test('finds patients of their own, before and after a resource comes that contains one', async () => {
    await store({ resourceType: 'Patient', id: 'ngono', name: [{ family: 'Ngono' }], birthDate: '1970-01-01' })
    await store(measured('outer', { subject: { reference: 'Patient/ngono' } }))
    expect(await found('Observation?patient.family=ngono')).toEqual(['outer'])
    await store(measured('inner', { contained: within, subject: { reference: '#p' } }))
    expect(await found('Observation?patient.family=ngono')).toEqual(['inner', 'outer'])
  })

  test.each<[query: string, ids: string[]]>([
    ['subject:Patient.family=ngono', ['inner', 'outer']],
    ['subject.name=ngono', ['inner', 'outer']],
    ['patient.birthdate=lt1980', ['outer']],
    ['patient.birthdate=gt1980', ['inner']],
    ['patient.family=ngono&patient.birthdate=gt1980', ['inner']],
    ['patient.family=somebody', []],
    ['_filter=patient.family eq ngono', ['inner', 'outer']],
  ])('Observation?%s', async (query, ids) => {
    expect(await found(`Observation?${query}`)).toEqual(ids)
  })

  test('also as a further step of a chain, and where the total is counted', async () => {
    await store({
      resourceType: 'Provenance',
      id: 'trace',
      target: [{ reference: 'Observation/inner' }],
      recorded: '2026-01-01T00:00:00Z',
      agent: [{ who: { display: 'lab' } }],
    })
    expect(await found('Provenance?target:Observation.patient.family=ngono')).toEqual(['trace'])
    expect((await call('GET', 'Observation?patient.family=ngono&_summary=count')).body.total).toBe(2)
  })
})

test.each(['_contained=true', '_contained=both', '_containedType=contained', '_containedType=container'])(
  'contained resources are no results of their own: %s is refused',
  async query => {
    const { status, body } = await call('GET', `Medication?${query}`)
    expect([status, issueOf(body).diagnostics]).toEqual([400, expect.stringContaining('chain')])
  },
)
