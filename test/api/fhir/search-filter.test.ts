// `_filter`: tests on search parameters joined by and, or and not. https://hl7.org/fhir/R4/search_filter.html
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, finderBy, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const found = finderBy(call)
const mint = (...scopes: string[]) =>
  service.application.identity.tokens.mint({ clientId: 'demo', organizationId: 'demo', consentExempt: true }, scopes)

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const path = (type: string, filter: string, more = ''): string => `${type}?_filter=${encodeURIComponent(filter)}${more}`

const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] })
const observation = (id: string, code: string, more: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: loinc(code),
  ...more,
})
const resources: readonly ({ resourceType: string; id: string } & Record<string, unknown>)[] = [
  { resourceType: 'Organization', id: 'north', name: 'Northern Clinic' },
  {
    resourceType: 'Patient',
    id: 'peter',
    name: [{ family: 'Petersen', given: ['Peter', 'Ole'] }],
    birthDate: '2014-10-10',
    gender: 'male',
    active: true,
    managingOrganization: { reference: 'Organization/north' },
  },
  {
    resourceType: 'Patient',
    id: 'anna',
    name: [{ family: 'Ölund', given: ['Anna'] }],
    birthDate: '1980-05',
    gender: 'female',
  },
  { resourceType: 'Patient', id: 'nobody', identifier: [{ system: 'http://ids', value: 'a) b]' }] },
  observation('o1', '1234-5', {
    subject: { reference: 'Patient/peter' },
    effectiveDateTime: '2024-02-10',
    valueQuantity: { value: 150, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
    hasMember: [{ reference: 'Observation/o2' }],
  }),
  observation('o2', '8480-6', {
    subject: { reference: 'Patient/anna' },
    effectivePeriod: { start: '2024-01-01', end: '2024-03-31' },
    valueQuantity: { value: 90, unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
  }),
  observation('o3', '8480-6', { category: [loinc('a')], valueString: 'quoted "text" \\ here' }),
  {
    resourceType: 'CodeSystem',
    id: 'animals',
    url: 'http://animals',
    status: 'active',
    content: 'complete',
    concept: [{ code: 'animal', concept: [{ code: 'cat', concept: [{ code: 'siamese' }] }] }],
  },
  {
    resourceType: 'ValueSet',
    id: 'pets',
    url: 'http://sets/pets',
    status: 'active',
    compose: { include: [{ system: 'http://animals', concept: [{ code: 'cat' }] }] },
  },
  ...['animal', 'cat', 'siamese'].map(code => ({
    resourceType: 'Condition',
    id: code,
    subject: { reference: 'Patient/anna' },
    code: { coding: [{ system: 'http://animals', code }] },
  })),
  { resourceType: 'RiskAssessment', id: 'r1', ...risk(0.25) },
  { resourceType: 'RiskAssessment', id: 'r2', ...risk(0.5) },
  { resourceType: 'ValueSet', id: 'plain', url: 'http://sets/plain', status: 'draft' },
]

function risk(probability: number) {
  return {
    status: 'final',
    subject: { reference: 'Patient/anna' },
    prediction: [{ outcome: { text: 'x' }, probabilityDecimal: probability }],
  }
}

beforeAll(async () => {
  service = await startService()
  const entry = resources.map(resource => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  }))
  const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(status, text).toBe(200)
})

const finds = (type: string, table: [filter: string, ids: string[]][]) =>
  test.each(table)(`${type}: %s`, async (filter, ids) => {
    expect(await found(path(type, filter))).toEqual(ids)
  })

describe('a filter on strings', () => {
  finds('Patient', [
    ['name co "ete"', ['peter']],
    ['name CO ETE', ['peter']],
    ['given eq "peter"', ['peter']],
    ['given eq "pete"', []],
    ['given sw "pete"', ['peter']],
    ['family ew "und"', ['anna']],
    ['family ew "lun"', []],
    ['given ne "anna"', ['peter']],
    ['given ne "peter"', ['anna', 'peter']],
    ['family gt "p"', ['peter']],
    ['family lt "p"', ['anna']],
    ['family ge "petersen"', ['peter']],
    ['family le "olund"', ['anna']],
    ['name pr true', ['anna', 'peter']],
    ['name pr false', ['nobody']],
    ['name co "%"', []],
    ['name eq "a,b"', []],
  ])
})

describe('a filter on dates, numbers and quantities', () => {
  finds('Patient', [
    ['birthdate eq 2014-10-10', ['peter']],
    ['birthdate ge 2014-10-10', ['peter']],
    ['birthdate lt 2014', ['anna']],
    ['birthdate ne 1980-05', ['peter']],
    ['birthdate sa 1980', ['peter']],
    ['birthdate eb 1981', ['anna']],
    ['birthdate co 1980-05-07', ['anna']],
    ['birthdate po 1980', ['anna']],
    ['birthdate co 1980', []],
    ['birthdate pr false', ['nobody']],
    ['_lastUpdated gt 2020-01-01 and birthdate ap 2014-10-10', ['peter']],
    ['_lastUpdated po 2020', []],
  ])
  finds('Observation', [
    ['date po 2024-02', ['o1', 'o2']],
    ['date co 2024-02-10', ['o1', 'o2']],
    ['date eq 2024-02', ['o1']],
    ['date po 2025', []],
    ['date lt 2024-01-15', ['o2']],
    ['value-quantity gt 100', ['o1']],
    ['value-quantity eq 90|ucum|mm[Hg', []],
    ['value-quantity eq "90|ucum|mm[Hg]"', ['o2']],
    ['value-quantity ne 90', ['o1']],
    ['value-quantity ap 155', ['o1']],
    ['code-value-quantity eq "1234-5$gt100"', ['o1']],
  ])
  finds('RiskAssessment', [
    ['probability gt 0.3', ['r2']],
    ['probability eq 0.25', ['r1']],
  ])
})

describe('a filter on codes, references and uris', () => {
  finds('Observation', [
    ['code eq http://loinc.org|1234-5', ['o1']],
    ['code eq loinc|1234-5', ['o1']],
    ['code eq 8480-6', ['o2', 'o3']],
    ['code ne loinc|1234-5', ['o2', 'o3']],
    ['category pr true', ['o3']],
    ['subject re Patient/peter', ['o1']],
    ['subject eq anna', ['o2']],
    ['subject ne Patient/anna', ['o1']],
    ['subject.id eq anna', ['o2']],
    ['_id eq o1 or _id eq o3', ['o1', 'o3']],
    ['_id ne o1', ['o2', 'o3']],
  ])
  finds('Patient', [
    ['identifier eq "http://ids|a) b]"', ['nobody']],
    ['active eq true', ['peter']],
    ['organization re Organization/north', ['peter']],
  ])
  finds('ValueSet', [
    ['url eq http://sets/plain', ['plain']],
    ['url ne http://sets/plain', ['pets']],
    ['status in http://hl7.org/fhir/ValueSet/publication-status', ['pets', 'plain']],
  ])
  finds('Condition', [
    ['code in http://sets/pets', ['cat']],
    ['code ni http://sets/pets', ['animal', 'siamese']],
    ['code ss http://animals|cat', ['cat', 'siamese']],
    ['code sb http://animals|cat', ['animal', 'cat']],
    ['not (code in http://sets/pets or code eq siamese)', ['animal']],
  ])
})

describe('a filter joins tests', () => {
  finds('Patient', [
    ['given eq "peter" and birthdate ge 2014-10-10', ['peter']],
    ['given eq "peter" or given eq "anna"', ['anna', 'peter']],
    ['gender eq male or gender eq female and family sw p', ['peter']],
    ['gender eq male or (gender eq female and family sw p)', ['peter']],
    ['gender eq female and family sw p or gender eq female', ['anna']],
    ['not (gender eq male)', ['anna', 'nobody']],
    ['not(gender eq male) and not(gender eq female)', ['nobody']],
    ['not (organization re Organization/north)', ['anna', 'nobody']],
    ['((((gender eq male))))', ['peter']],
    ['(gender eq male)and(active eq true)', ['peter']],
    ['  gender   eq\tmale  ', ['peter']],
  ])
  finds('Observation', [['not (patient re Patient/peter)', ['o2', 'o3']]])
})

describe('a filter follows references', () => {
  finds('Observation', [
    ['subject.name co "pet"', ['o1']],
    ['subject.organization.name sw north', ['o1']],
    ['subject:Patient.family eq "olund"', ['o2']],
    ['subject.family pr false', ['o3']],
    ['subject[active eq true].name pr true', ['o1']],
    ['subject[active eq true].name co "anna"', []],
    ['has-member[code eq loinc|8480-6].status eq final', ['o1']],
    ['has-member[code eq loinc|1234-5].status pr false', ['o1', 'o2', 'o3']],
    ['subject.given ne "peter"', ['o1', 'o2']],
    ['subject[given eq peter or given eq anna].gender eq female', ['o2']],
  ])
  finds('Patient', [
    ['_has:Observation:patient:code eq loinc|1234-5', ['peter']],
    ['given eq "peter" and _has:Observation:patient:value-quantity lt 100', []],
    ['_has:Observation:patient:code pr false', ['nobody']],
  ])
})

describe('a filter goes together with', () => {
  test('other parameters, a sort, a total and an include', async () => {
    const { body } = await call(
      'GET',
      path(
        'Observation',
        'code eq 8480-6 or code eq 1234-5',
        '&status=final&_sort=-date&_total=accurate&_count=2&_include=Observation:patient',
      ),
    )
    expect(body.total).toBe(3)
    expect(matchIds(body)).toEqual(['o1', 'o2'])
    expect(body.entry.map((entry: { resource: { id: string } }) => entry.resource.id)).toEqual(
      expect.arrayContaining(['peter', 'anna']),
    )
    expect(body.link[0].url).toContain('_filter=')
    const next = await call('GET', body.link.find((link: { relation: string }) => link.relation === 'next').url)
    expect(matchIds(next.body)).toEqual(['o3'])
  })

  test('another filter, chains and _has', async () => {
    expect(await found(path('Patient', 'gender eq male', '&_filter=active%20eq%20false'))).toEqual([])
    expect(await found('Observation?patient._filter=given%20eq%20anna')).toEqual(['o2'])
    expect(await found('Patient?_has:Observation:patient:_filter=code%20eq%208480-6')).toEqual(['anna'])
  })

  test('a POST, a patient’s compartment and a search across types', async () => {
    const body = new URLSearchParams({ _filter: 'value-quantity gt 100' })
    expect(matchIds((await call('POST', 'Observation/_search', { body, headers: form })).body)).toEqual(['o1'])
    expect(await found(path('Patient/anna/Observation', 'code eq 8480-6'))).toEqual(['o2'])
    expect(await found(path('', '_id eq o1 or _id eq peter', '&_type=Patient,Observation'))).toEqual(['o1', 'peter'])
  })

  test('a conditional create, which finds by it what is there', async () => {
    const patient = { resourceType: 'Patient', name: [{ family: 'Conditional' }] }
    const headers = { 'if-none-exist': '_filter=family eq "conditional"' }
    expect((await call('POST', 'Patient', { body: patient, headers })).status).toBe(201)
    expect((await call('POST', 'Patient', { body: patient, headers })).status).toBe(200)
    await call('DELETE', 'Patient?_filter=family%20eq%20conditional')
    expect(await found(path('Patient', 'family eq conditional'))).toEqual([])
  })

  test('the scopes of whoever asks', async () => {
    const token = await mint('system/Observation.rs')
    const ask = async (filter: string) => (await call('GET', path('Observation', filter), { token })).status
    expect(await ask('code eq 1234-5')).toBe(200)
    expect(await ask('code eq 1234-5 and not (status eq final or subject:Patient.name co pet)')).toBe(403)
    expect(await ask('has-member[subject:Patient.name pr true].code pr true')).toBe(403)
    expect(await ask('code in http://sets/pets')).toBe(403)
    const patients = await mint('system/Patient.rs')
    const reverse = path('Patient', 'not (_has:Observation:patient:code pr true)')
    expect((await call('GET', reverse, { token: patients })).status).toBe(403)
  })
})

describe('a filter is refused with its place', () => {
  test.each([
    ['name', 'at character 5: expected an operator'],
    ['name co', 'at character 8: expected a value, found the end'],
    ['name co "pet', 'at character 9: the quote that opens here'],
    ['name co "a\\q"', 'at character 9: this is not a JSON string'],
    ['name co "a\\u0000b"', 'at character 9: the string contains a NUL'],
    ['name xx "pet"', 'at character 6: "xx" is no operator'],
    ['shoe eq 43', 'at character 1: Patient has no search parameter "shoe"'],
    ['name eq x and shoe eq 43', 'at character 15'],
    ['name eq x y', 'at character 11: expected "and", "or" or the end, found "y"'],
    ['(name eq x', 'the ")" for the "(" at character 1'],
    ['name eq x)', 'at character 10'],
    ['not name eq x', 'at character 5'],
    ['name eq x and', 'found the end'],
    ['and name eq x', 'at character 5'],
    ['organization[active eq true] pr true', 'a dot and a parameter after'],
    ['organization[active eq true.name pr true', 'the "]" for the "["'],
    ['organization[shoe eq true].name pr true', 'Organization has no search parameter "shoe"'],
    ['name.family eq x', 'name is a string parameter'],
    ['organization:Shoe.name eq x', '"Shoe" is not a resource type'],
    ['gender:not eq x', 'operators, not modifiers'],
    ['gender gt male', 'gt has no meaning for gender'],
    ['birthdate co x', 'is not a date'],
    ['birthdate ge ge2014', 'is not a date'],
    ['birthdate sw 2014', 'sw has no meaning'],
    ['identifier ne x', 'write not (identifier eq'],
    ['name pr maybe', 'true or false'],
    ['_content eq x', 'is not supported in a filter: send it as a separate parameter'],
    ['_has:Observation:shoe:code eq x', 'write _has:Type:reference:parameter'],
    ['_has:Observation eq x', 'write _has:Type:reference:parameter'],
    [`organization.${'partof.'.repeat(9)}name eq x`, 'at most 5 references'],
    [`${'('.repeat(5000)}name eq x`, 'more than 30 nested filters'],
    [`${'organization['.repeat(5000)}name eq x`, 'more than 30 nested filters'],
    [Array(300).fill('name eq x').join(' or '), 'more than 200 tests'],
  ])('%#', async (filter, said) => {
    const body = new URLSearchParams({ _filter: filter })
    const { status, body: answer } = await call('POST', 'Patient/_search', { body, headers: form })
    expect([status, answer.resourceType]).toEqual([400, 'OperationOutcome'])
    expect(issueOf(answer).diagnostics).toContain(said)
    expect(issueOf(answer).expression).toEqual(['_filter'])
  })

  test('when it carries a modifier, or a path that R4 no longer has', async () => {
    for (const url of ['Patient?_filter:not=name%20eq%20x', path('Observation', 'related[type eq "x"].target pr true')])
      expect((await call('GET', url)).status).toBe(400)
  })

  test('only when something is wrong: 200 tests are answered', async () => {
    const filter = Array.from({ length: 200 }, (_, index) => `name co "nobody${index}"`).join(' or ')
    const body = new URLSearchParams({ _filter: filter })
    expect((await call('POST', 'Patient/_search', { body, headers: form })).status).toBe(200)
  })
})
