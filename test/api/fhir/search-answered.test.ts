// Searches that once found nothing, whatever was stored: they are answered, or refused with what to ask instead.
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)

const many = '123456789012345678901234567890'
const bundle = (id: string, type: string, resource: object) => ({
  ...{ resourceType: 'Bundle', id, type, timestamp: '2026-01-01T00:00:00Z' },
  identifier: { system: 'urn:x', value: id },
  entry: [{ fullUrl: `https://other.example/fhir/X/${id}`, resource }],
})

beforeAll(async () => {
  service = await startService()
  await store(
    { resourceType: 'Patient', id: 'p', name: [{ family: 'Smith' }] },
    { resourceType: 'Practitioner', id: 'dr', name: [{ family: 'Mbarga' }] },
    bundle('document', 'document', {
      ...{ resourceType: 'Composition', id: 'letter', status: 'final', title: 'Discharge letter', date: '2026-01-01' },
      type: { coding: [{ system: 'http://loinc.org', code: '18842-5' }] },
      subject: { reference: 'Patient/p' },
      author: [{ reference: 'Practitioner/dr' }],
    }),
    bundle('message', 'message', {
      ...{ resourceType: 'MessageHeader', id: 'head', source: { endpoint: 'urn:x' } },
      eventCoding: { system: 'urn:events', code: 'admit' },
    }),
    bundle('collection', 'collection', { resourceType: 'Patient', id: 'inner', name: [{ family: 'Discharge' }] }),
    {
      ...{ resourceType: 'Observation', id: 'long', status: 'final', code: { text: 'long' } },
      valueQuantity: { value: 0, unit: '1' },
    },
  )
  const body = JSON.stringify({
    ...{ resourceType: 'Observation', id: 'digits', status: 'final', code: { text: 'digits' } },
    valueQuantity: { value: 0, unit: '1' },
  })
  const reply = await call('PUT', 'Observation/digits', {
    body: body.replace('"value":0', `"value":${many}`),
    headers: { 'content-type': 'application/fhir+json' },
  })
  expect(reply.status, reply.text).toBe(201)
})

const found = async (query: string) => {
  const { status, body, text } = await call('GET', query)
  expect(status, text).toBe(200)
  return matchIds(body).sort()
}

describe('a Bundle is found by what it begins with', () => {
  test.each([
    ['composition.type=http://loinc.org|18842-5', ['document']],
    ['composition.title=discharge', ['document']],
    ['composition.patient=Patient/p', ['document']],
    ['composition.patient.family=smith', ['document']],
    ['composition.author:Practitioner.family=mbarga', ['document']],
    ['composition.date=ge2025', ['document']],
    ['composition.title=summary', []],
    ['composition=Composition/letter', ['document']],
    ['composition=letter', ['document']],
    ['message.event=urn:events|admit', ['message']],
    ['message=head', ['message']],
    ['message.event=discharge', []],
  ])('Bundle?%s', async (query, ids) => {
    expect(await found(`Bundle?${query}`)).toEqual(ids)
  })
})

test.each([
  [`value-quantity=${many}`, ['digits']],
  [`value-quantity=123456789012345678901234567891`, ['digits']],
  [`value-quantity=${many}||1`, ['digits']],
  ['value-quantity=124456789012345678901234567890', []],
  ['value-quantity=-123456789012345678901234567890', []],
  ['value-quantity=0.000000000000000000000000000001', []],
  ['value-quantity=0', ['long']],
])('a quantity of many digits equals what is stored as the same number: %s', async (query, ids) => {
  expect(await found(`Observation?${query}`)).toEqual(ids)
})

describe('a parameter over canonical addresses is not followed, and the search says so:', () => {
  test.each([
    ['QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire', 'Search Questionnaire by url='],
    ['QuestionnaireResponse?questionnaire.title=x', 'Search Questionnaire by url='],
    ['Questionnaire?_has:QuestionnaireResponse:questionnaire:status=completed', 'holds canonical addresses'],
    ['Questionnaire?_revinclude=QuestionnaireResponse:questionnaire', 'holds canonical addresses'],
    ['ConceptMap?_include=ConceptMap:source', 'Search ValueSet by url='],
    ['StructureDefinition?valueset.name=x', 'Search ValueSet by url='],
    ['Measure?_include=Measure:depends-on', 'holds canonical addresses'],
    ['QuestionnaireResponse?_filter=questionnaire.title co "x"', 'Search Questionnaire by url='],
    ['PlanDefinition?_include=PlanDefinition:definition', 'holds canonical addresses'],
  ])('%s', async (query, hint) => {
    const { status, body } = await call('GET', query)
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain(hint)
  })

  test('what follows all references leaves it out', async () => {
    expect((await call('GET', 'QuestionnaireResponse?_include=*')).status).toBe(200)
    expect((await call('GET', 'QuestionnaireResponse?_include=QuestionnaireResponse:*')).status).toBe(200)
  })

  test('the CapabilityStatement names none of these', async () => {
    const { body } = await call('GET', 'metadata')
    const all = body.rest[0].resource as { type: string; searchInclude: string[]; searchRevInclude?: string[] }[]
    const of = (type: string) => all.find(each => each.type === type)!
    expect(of('QuestionnaireResponse').searchInclude).toContain('QuestionnaireResponse:patient')
    expect(of('QuestionnaireResponse').searchInclude).not.toContain('QuestionnaireResponse:questionnaire')
    expect(of('Questionnaire').searchRevInclude ?? []).not.toContain('QuestionnaireResponse:questionnaire')
  })
})

test.each([
  'Patient?phonetic=smyth',
  'Patient?_filter=phonetic eq smyth',
  'Practitioner?phonetic:exact=x',
  'Patient?_has:Person:patient:phonetic=x',
])('a search by sound is refused: %s', async query => {
  const { status, body } = await call('GET', query)
  expect([status, issueOf(body).diagnostics]).toEqual([400, expect.stringContaining('Patient/$match')])
})

describe('resolve() in a SearchParameter', () => {
  const parameter = (code: string, expression: string) => ({
    ...{ resourceType: 'SearchParameter', id: code, url: `https://example.org/${code}`, name: 'Trial', code },
    ...{ status: 'active', description: 'For a trial.', base: ['Observation'], type: 'string', expression },
  })

  test.each([
    ['subject-family', 'Observation.subject.resolve().name.family'],
    ['subject-name', 'Observation.subject.resolve().ofType(Patient).name'],
    ['of-smith', "Observation.subject.where(resolve().name.family = 'Smith').display"],
    ['as-patient', '(Observation.subject.resolve() as Patient).name'],
  ])('is refused where it would read another resource: %s', async (code, expression) => {
    const body = parameter(code, expression)
    const reply = await call('PUT', `SearchParameter/${code}`, { body })
    expect(reply.status, reply.text).toBe(400)
    expect(issueOf(reply.body).diagnostics).toContain('search what a reference points at by a chain')
  })

  test('tests the type of a reference', async () => {
    const body = parameter('of-patient', 'Observation.subject.where(resolve() is Patient).display')
    expect((await call('PUT', 'SearchParameter/of-patient', { body })).status).toBe(201)
  })
})

test('$expand marks what cannot be selected, and leaves it out for a user interface', async () => {
  const concept = [
    {
      ...{ code: 'animal', property: [{ code: 'notSelectable', valueBoolean: true }] },
      concept: [{ code: 'cat' }, { code: 'group', property: [{ code: 'grouper', valueBoolean: true }] }],
    },
  ]
  const property = [
    { code: 'grouper', uri: 'http://hl7.org/fhir/concept-properties#notSelectable', type: 'boolean' },
    { code: 'notSelectable', type: 'boolean' },
  ]
  const url = 'http://animals.example'
  const set = (id: string, include: object) => ({
    ...{ resourceType: 'ValueSet', id, url: `${url}/${id}`, status: 'active', compose: { include: [include] } },
  })
  await store(
    { resourceType: 'CodeSystem', id: 'animals', url, status: 'active', content: 'complete', property, concept },
    set('all', { system: url }),
    set('listed', { system: url, concept: [{ code: 'animal' }, { code: 'cat' }] }),
  )
  const expanded = async (query: string) =>
    (await call('GET', `ValueSet/${query}`)).body.expansion.contains.map(
      (each: { code: string; abstract?: boolean }) => `${each.code}${each.abstract ? ' (abstract)' : ''}`,
    )
  expect(await expanded('all/$expand')).toEqual(['animal (abstract)', 'cat', 'group (abstract)'])
  expect(await expanded('listed/$expand')).toEqual(['animal (abstract)', 'cat'])
  expect(await expanded('all/$expand?excludeNotForUI=true')).toEqual(['cat'])
})
