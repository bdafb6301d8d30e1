// What each type of search parameter finds. https://hl7.org/fhir/R4/search.html#ptypes
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, finderBy, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
const found = finderBy(call)

beforeAll(async () => {
  service = await startService()
})

const refused = async (query: string, said: string): Promise<void> => {
  const { status, body } = await call('GET', query)
  expect(status).toBe(400)
  expect(issueOf(body).diagnostics).toContain(said)
}

/** Each row: a query and the ids it must find. */
const finds = (table: [string, string[]][]) =>
  test.each(table)('%s', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

describe('a string parameter', () => {
  beforeAll(() =>
    store(
      { resourceType: 'Patient', id: 's1', name: [{ family: 'Müller-Lüdenscheidt', given: ['Anna', 'Maria'] }] },
      { resourceType: 'Patient', id: 's2', name: [{ family: 'muller', given: ['José'] }] },
      { resourceType: 'Patient', id: 's3', name: [{ text: 'Dr. van der Berg, MD' }] },
      { resourceType: 'Patient', id: 's4', address: [{ line: ['1 Main St'], city: 'Gaborone', postalCode: '00000' }] },
      { resourceType: 'Patient', id: 's5', name: [{ family: '100%_sure\\' }] },
      { resourceType: 'Patient', id: 's6', name: [{ family: `${'Ω'.repeat(3000)}end` }] },
    ),
  )

  describe('finds', () => {
    finds([
      ['Patient?family=m', ['s1', 's2']],
      ['Patient?family=MULLER', ['s1', 's2']],
      ['Patient?family=müller', ['s1', 's2']],
      ['Patient?family=uller', []],
      ['Patient?given=maria', ['s1']],
      ['Patient?given=jose', ['s2']],
      ['Patient?name=anna', ['s1']],
      ['Patient?name=dr.%20%20van', ['s3']],
      ['Patient?name=dr. van der berg\\, md', ['s3']],
      ['Patient?name=anna,jose', ['s1', 's2']],
      ['Patient?name=anna&name=maria', ['s1']],
      ['Patient?address=gab', ['s4']],
      ['Patient?address=1%20main', ['s4']],
      ['Patient?address-postalcode=00000', ['s4']],
      ['Patient?family:exact=muller', ['s2']],
      ['Patient?family:exact=Muller', []],
      ['Patient?family:exact=mulle', []],
      ['Patient?family:contains=LUDEN', ['s1']],
      ['Patient?family:contains=100%25_', ['s5']],
      ['Patient?family:contains=%25', ['s5']],
      ['Patient?family:contains=_', ['s5']],
      ['Patient?family=%25', []],
      ['Patient?family:contains=\\\\', ['s5']],
      [`Patient?family=${'Ω'.repeat(1000)}`, ['s6']],
      ['Patient?name:missing=true', ['s4']],
      ['Patient?address:missing=false', ['s4']],
    ])
  })

  test.each(['name:text=x', 'name:shoe=x', 'name:exact:contains=x'])('refuses the modifier of %s', query =>
    refused(`Patient?${query}`, 'not supported'),
  )
})

describe('a token parameter', () => {
  const coding = (system: string | undefined, code: string, display?: string) => ({
    coding: [{ system, code, display }],
  })
  beforeAll(() =>
    store(
      {
        resourceType: 'Condition',
        id: 't1',
        subject: { reference: 'Patient/x' },
        code: coding('http://s1', 'c1', 'Broken arm'),
      },
      { resourceType: 'Condition', id: 't2', subject: { reference: 'Patient/x' }, code: coding('http://s2', 'c1') },
      { resourceType: 'Condition', id: 't3', subject: { reference: 'Patient/x' }, code: coding(undefined, 'c1') },
      { resourceType: 'Condition', id: 't4', subject: { reference: 'Patient/x' }, code: { text: 'Broken leg' } },
      { resourceType: 'Condition', id: 't5', subject: { reference: 'Patient/x' } },
      {
        resourceType: 'Practitioner',
        id: 't6',
        active: true,
        gender: 'female',
        identifier: [{ system: 'http://ids', value: 'a|b,c', type: coding('http://types', 'MR') }],
        telecom: [{ system: 'phone', value: '+267 71' }],
      },
      { resourceType: 'Practitioner', id: 't7', active: false, identifier: [{ system: 'http://ids', value: 'MR' }] },
    ),
  )

  describe('finds', () => {
    finds([
      ['Condition?code=c1', ['t1', 't2', 't3']],
      ['Condition?code=http://s1|c1', ['t1']],
      ['Condition?code=|c1', ['t3']],
      ['Condition?code=http://s2|', ['t2']],
      ['Condition?code=http://s1|c1,http://s2|c1', ['t1', 't2']],
      ['Condition?code=nothing', []],
      ['Condition?code=http://nowhere|c1', []],
      ['Condition?code:not=c1', ['t4', 't5']],
      ['Condition?code:not=http://s1|c1', ['t2', 't3', 't4', 't5']],
      ['Condition?code:text=broken', ['t1', 't4']],
      ['Condition?code:text=LEG', ['t4']],
      ['Condition?code:missing=true', ['t5']],
      ['Condition?code:missing=false', ['t1', 't2', 't3', 't4']],
      ['Practitioner?active=true', ['t6']],
      ['Practitioner?active=false', ['t7']],
      ['Practitioner?gender=female', ['t6']],
      ['Practitioner?gender=http://hl7.org/fhir/administrative-gender|female', ['t6']],
      ['Practitioner?gender=|female', ['t6']],
      ['Practitioner?gender=|Female', []],
      ['Practitioner?gender=http://other|female', []],
      ['Practitioner?active=|true', ['t6']],
      ['Practitioner?identifier=a\\|b\\,c', ['t6']],
      ['Practitioner?identifier=http://ids|a\\|b\\,c', ['t6']],
      ['Practitioner?identifier=http://ids|', ['t6', 't7']],
      ['Practitioner?identifier:of-type=http://types|MR|a\\|b\\,c', ['t6']],
      ['Practitioner?identifier:of-type=http://types|MR|MR', []],
      ['Practitioner?telecom=%2B267 71', ['t6']],
      ['Practitioner?phone=%2B267 71', ['t6']],
      ['Practitioner?_id:not=t6', ['t7']],
    ])
  })

  test.each(['code:exact=c1', 'code:shoe=c1'])('refuses a modifier that is not there: %s', query =>
    refused(`Condition?${query}`, 'not supported'),
  )

  test.each([
    ['identifier:text=MR', ':of-type'],
    ['identifier:in=http://hl7.org/fhir/ValueSet/administrative-gender', ':not'],
    ['identifier:below=http://ids|a', ':not'],
    ['gender:text=Female', ':in'],
    ['gender:of-type=http://types|MR|female', ':in'],
    ['active:text=true', ':not'],
    ['active:in=http://hl7.org/fhir/ValueSet/administrative-gender', ':not'],
    ['telecom:text=71', ':not'],
    ['phone:text=71', ':not'],
    ['_id:text=t6', ':not'],
    ['_tag:of-type=http://types|MR|x', ':text'],
  ])(
    'refuses a modifier that its elements have nothing for, and names those that it takes: %s',
    async (query, taken) => {
      await refused(`Practitioner?${query}`, 'not supported')
      await refused(`Practitioner?${query}`, taken)
    },
  )

  test.each([
    ['code=a|b|c', 'token'],
    ['code=|', 'neither a system nor a code'],
    ['code:missing=maybe', 'true or false'],
    ['code:missing=true,false', 'true or false'],
    ['identifier:of-type=a|b', 'system|code|value'],
  ])('refuses the malformed %s', (query, said) => refused(`Condition?${query}`, said))
})

// The main code of these types is a bare code: it has one posting, and rows of its own along which the newest are found.
test('a bare code that has changed, or is deleted, is not found any more', async () => {
  const operation = (code: string) => ({
    ...{ resourceType: 'OperationDefinition', id: 'bare', name: 'Bare', status: 'draft', kind: 'operation', code },
    ...{ system: true, type: false, instance: false },
  })
  const all = () => Promise.all(['first', '|first', 'second'].map(code => found(`OperationDefinition?code=${code}`)))
  await store(operation('first'))
  expect(await all()).toEqual([['bare'], ['bare'], []])
  await call('PUT', 'OperationDefinition/bare', { body: operation('second') })
  expect(await all()).toEqual([[], [], ['bare']])
  await call('DELETE', 'OperationDefinition/bare')
  expect(await all()).toEqual([[], [], []])
  const [left] = await service.application.database.query<{ count: number }>({
    text: 'select count(*) as count from coded c left join search s using (shard, key) where s.key is null',
    values: [],
  })
  expect(left?.count).toBe(0)
})

describe('a date parameter', () => {
  beforeAll(() =>
    store(
      { resourceType: 'Patient', id: 'd1', birthDate: '1973' },
      { resourceType: 'Patient', id: 'd2', birthDate: '1973-02' },
      { resourceType: 'Patient', id: 'd3', birthDate: '1973-02-28' },
      { resourceType: 'Patient', id: 'd4', birthDate: '0962-01-01' },
      { resourceType: 'Patient', id: 'd5' },
      encounter('e1', { start: '2020-01-01', end: '2020-01-31' }),
      encounter('e2', { start: '2020-01-15' }),
      encounter('e3', { end: '2019-06-30' }),
      encounter('e4', { start: '2020-01-10T23:00:00-02:00', end: '2020-01-11T01:30:00Z' }),
      encounter('e5'),
      procedure('p1', { performedDateTime: '2021-03-01T10:00:00Z' }),
      procedure('p3', { performedDateTime: '2022-03-01T10:00:00.285Z' }),
      procedure('p2', { performedDateTime: '2021-03-01T10:00:30.500Z' }),
    ),
  )

  function encounter(id: string, period?: object) {
    return { resourceType: 'Encounter', id, status: 'finished', class: { code: 'AMB' }, ...(period ? { period } : {}) }
  }
  function procedure(id: string, more: object) {
    return { resourceType: 'Procedure', id, status: 'completed', subject: { reference: 'Patient/x' }, ...more }
  }

  describe('finds', () => {
    finds([
      ['Patient?birthdate=1973', ['d1', 'd2', 'd3']],
      ['Patient?birthdate=1973-02', ['d2', 'd3']],
      ['Patient?birthdate=1973-02-28', ['d3']],
      ['Patient?birthdate=0962', ['d4']],
      ['Patient?birthdate=eq1973-02', ['d2', 'd3']],
      ['Patient?birthdate=ne1973-02', ['d1', 'd4']],
      ['Patient?birthdate=lt1973', ['d4']],
      ['Patient?birthdate=le1973', ['d1', 'd2', 'd3', 'd4']],
      ['Patient?birthdate=gt1972', ['d1', 'd2', 'd3']],
      ['Patient?birthdate=ge1973-02-28', ['d1', 'd3']],
      ['Patient?birthdate=sa1973-01', ['d2', 'd3']],
      ['Patient?birthdate=eb1973-03', ['d2', 'd3', 'd4']],
      ['Patient?birthdate=ap1973', ['d1', 'd2', 'd3']],
      ['Patient?birthdate=ge1973-02&birthdate=le1973-02', ['d1', 'd2', 'd3']],
      ['Patient?birthdate=0962,1973-02-28', ['d3', 'd4']],
      ['Patient?birthdate:missing=true&_id=d1,d5', ['d5']],
      ['Encounter?date=2020-01', ['e1', 'e4']],
      ['Encounter?date=gt2025', ['e2']],
      ['Encounter?date=lt2019', ['e3']],
      ['Encounter?date=sa2020-01-05', ['e2', 'e4']],
      ['Encounter?date=eb2020-01-12', ['e3', 'e4']],
      ['Encounter?date=2020-01-11', ['e4']],
      ['Encounter?date=2020-01-11T00:00%2B00:00', []],
      ['Encounter?date=ge2020-01-11T01:30:00Z', ['e1', 'e2']],
      ['Encounter?date=ne2020', ['e2', 'e3']],
      ['Encounter?date=le2030', ['e1', 'e2', 'e3', 'e4']],
      ['Encounter?date:missing=true', ['e5']],
      ['Procedure?date=2021-03-01T10:00', ['p1', 'p2']],
      ['Procedure?date=2022-03-01T10:00:00.285Z', ['p3']],
      ['Procedure?date=2022-03-01T10:00:00.284Z', []],
      ['Procedure?date=2021-03-01T10:00:00Z', ['p1']],
      ['Procedure?date=2021-03-01T12:00:00%2B02:00', ['p1']],
      ['Procedure?date=2021-03-01T12:00:00+02:00', ['p1']],
      ['Procedure?date=2021-03-01T10:00:30.500Z', ['p2']],
      ['Procedure?date=gt2021-03-01T10:00:00Z', ['p2', 'p3']],
    ])
  })

  test.each([
    'soon',
    '***',
    '1973-02-30',
    '1973-13',
    '73',
    '0000',
    '-0001',
    'gt',
    'xx2020',
    '2020-01-01T25:00:00Z',
    '2020-01-01T10:00:00+99:00',
  ])('refuses %s', value => refused(`Patient?birthdate=${encodeURIComponent(value)}`, 'is not a date'))

  test('refuses modifiers other than :missing', () => refused('Patient?birthdate:exact=1973', 'not supported'))

  test('knows when a resource changed', async () => {
    const { body } = await call('GET', 'Patient/d3')
    const at = body.meta.lastUpdated
    expect(await found(`Patient?_id=d3&_lastUpdated=${at}`)).toEqual(['d3'])
    expect(await found(`Patient?_id=d3&_lastUpdated=ge${at}`)).toEqual(['d3'])
    expect(await found(`Patient?_id=d3&_lastUpdated=le${at}`)).toEqual(['d3'])
    expect(await found(`Patient?_id=d3&_lastUpdated=gt${at}`)).toEqual([])
    expect(await found(`Patient?_id=d3&_lastUpdated=lt${at}`)).toEqual([])
    expect(await found(`Patient?_id=d3&_lastUpdated=ne${at}`)).toEqual([])
    expect(await found(`Patient?_id=d3&_lastUpdated=${at.slice(0, 10)}`)).toEqual(['d3'])
    expect(await found(`Patient?_id=d3&_lastUpdated=ap${at}`)).toEqual(['d3'])
    expect(await found('Patient?_id=d3&_lastUpdated=ap0001')).toEqual([])
  })
})

describe('a number parameter', () => {
  const risk = (id: string, probability: number) => ({
    resourceType: 'RiskAssessment',
    id,
    status: 'final',
    subject: { reference: 'Patient/x' },
    prediction: [{ probabilityDecimal: probability }],
  })
  beforeAll(() => store(risk('n1', 0.1), risk('n2', 0.15), risk('n3', 2), risk('n4', 99.5)))

  describe('finds', () => {
    finds([
      ['RiskAssessment?probability=0.1', ['n1']],
      ['RiskAssessment?probability=0.10', ['n1']],
      ['RiskAssessment?probability=1e-1', ['n1']],
      ['RiskAssessment?probability=0.2', ['n2']],
      ['RiskAssessment?probability=2', ['n3']],
      ['RiskAssessment?probability=2.00', ['n3']],
      ['RiskAssessment?probability=gt2', ['n4']],
      ['RiskAssessment?probability=ge2', ['n3', 'n4']],
      ['RiskAssessment?probability=lt0.15', ['n1']],
      ['RiskAssessment?probability=le0.15', ['n1', 'n2']],
      ['RiskAssessment?probability=ne2', ['n1', 'n2', 'n4']],
      ['RiskAssessment?probability=ap100', ['n4']],
      ['RiskAssessment?probability=0.1,2', ['n1', 'n3']],
      ['RiskAssessment?probability=1e2', ['n4']],
      ['RiskAssessment?probability=1e-400', []],
    ])
  })

  test.each(['one', '0x10', 'NaN', 'Infinity', '1e400', 'gt', '1,5x', '--1', '1.'])('refuses %s', value =>
    refused(`RiskAssessment?probability=${value}`, 'is not a number'),
  )
})

describe('a quantity parameter', () => {
  const observed = (id: string, valueQuantity: object) => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    code: { text: 'x' },
    category: [{ coding: [{ code: 'quantity' }] }],
    valueQuantity,
  })
  beforeAll(() =>
    store(
      observed('q1', { value: 5.4, unit: 'milligram', system: 'http://unitsofmeasure.org', code: 'mg' }),
      observed('q2', { value: 5.4, unit: 'mg' }),
      observed('q3', { value: 5.4, system: 'http://other', code: 'mg' }),
      observed('q4', { value: 6, comparator: '>', system: 'http://unitsofmeasure.org', code: 'mg' }),
    ),
  )

  describe('finds', () => {
    finds([
      ['Observation?category=quantity&value-quantity=5.4', ['q1', 'q2', 'q3']],
      ['Observation?category=quantity&value-quantity=5.4|http://unitsofmeasure.org|mg', ['q1']],
      ['Observation?category=quantity&value-quantity=5.4||mg', ['q1', 'q2', 'q3']],
      ['Observation?category=quantity&value-quantity=5.4||milligram', ['q1']],
      ['Observation?category=quantity&value-quantity=5.4|http://unitsofmeasure.org|', ['q1']],
      ['Observation?category=quantity&value-quantity=5.4|http://unitsofmeasure.org', ['q1']],
      ['Observation?category=quantity&value-quantity=5.4|mg', ['q1', 'q2', 'q3']],
      ['Observation?category=quantity&value-quantity=5|http://unitsofmeasure.org|mg', ['q1']],
      ['Observation?category=quantity&value-quantity=5.40||kg', []],
      ['Observation?category=quantity&value-quantity=gt100', ['q4']],
      ['Observation?category=quantity&value-quantity=lt6', ['q1', 'q2', 'q3']],
    ])
  })

  test.each(['a', 'gt', '1|a|b|c', '|mg', '1|%00|x'])('refuses %s', async value => {
    const { status, body } = await call('GET', `Observation?value-quantity=${value}`)
    expect([status, body.resourceType]).toEqual([400, 'OperationOutcome'])
  })
})

describe('a reference parameter', () => {
  const observed = (id: string, subject: object, more: object = {}) => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    code: { text: 'x' },
    category: [{ coding: [{ code: 'reference' }] }],
    subject,
    ...more,
  })
  beforeAll(async () => {
    const own = `${service.url}/api/fhir/R4/Patient/r`
    await store(
      observed('r1', { reference: 'Patient/r' }),
      observed('r2', { reference: 'Group/r' }),
      observed('r3', { reference: own }),
      observed('r4', { reference: 'http://elsewhere.org/fhir/Patient/r' }),
      observed('r5', { identifier: { system: 'http://ids', value: '5' } }),
      observed('r6', { reference: 'Patient/r/_history/3' }),
      observed('r7', { reference: '#c' }, { contained: [{ resourceType: 'Patient', id: 'c' }] }),
    )
  })

  describe('finds', () => {
    finds([
      ['Observation?category=reference&subject=Patient/r', ['r1', 'r3', 'r6']],
      ['Observation?category=reference&subject=r', ['r1', 'r2', 'r3', 'r6']],
      ['Observation?category=reference&subject:Patient=r', ['r1', 'r3', 'r6']],
      ['Observation?category=reference&subject:Group=r', ['r2']],
      ['Observation?category=reference&subject:Group=Patient/r', []],
      ['Observation?category=reference&patient=r', ['r1', 'r3', 'r6']],
      ['Observation?category=reference&patient=Patient/r', ['r1', 'r3', 'r6']],
      ['Observation?category=reference&patient=Group/r', []],
      ['Observation?category=reference&subject=Patient/r/_history/3', ['r1', 'r3', 'r6']],
      ['Observation?category=reference&subject=http://elsewhere.org/fhir/Patient/r', ['r4']],
      ['Observation?category=reference&subject=patient/r', []],
      ['Observation?category=reference&subject=Patient/r,Group/r', ['r1', 'r2', 'r3', 'r6']],
      ['Observation?category=reference&subject:identifier=http://ids|5', ['r5']],
      ['Observation?category=reference&subject:identifier=5', ['r5']],
      ['Observation?category=reference&subject:identifier=http://other|5', []],
      ['Observation?category=reference&subject:missing=true', []],
      ['Observation?category=reference&subject=/', []],
      ['Observation?category=reference&subject=a/b/c', []],
    ])
  })

  test('knows the absolute address of a resource here', async () => {
    const own = `${service.url}/api/fhir/R4/Patient/r`
    expect(await found(`Observation?category=reference&subject=${own}`)).toEqual(['r1', 'r3', 'r6'])
    expect(await found(`Observation?category=reference&patient=${own}`)).toEqual(['r1', 'r3', 'r6'])
  })

  test('refuses a type that there is not', () => refused('Observation?subject:Shoe=r', 'not supported'))
  test.each(['Observation?encounter:Patient=r', 'Observation?encounter:Patient.name=r'])(
    'refuses a type that it never points at: %s',
    query => refused(query, 'never points at a resource of type Patient'),
  )
  test('refuses the system of an identifier without its value', () =>
    refused('Observation?subject:identifier=http://ids|', 'system|value'))
  test('refuses identifiers where it points by canonical', () =>
    refused('QuestionnaireResponse?questionnaire:identifier=r', 'not supported'))
})

describe('a uri parameter', () => {
  const set = (id: string, url: string) => ({ resourceType: 'ValueSet', id, status: 'active', url })
  beforeAll(() =>
    store(
      set('u1', 'http://acme.org/fhir/vs/1'),
      set('u2', 'http://acme.org/fhir'),
      set('u3', 'urn:oid:1.2.3.4'),
      {
        resourceType: 'Measure',
        id: 'u4',
        status: 'active',
        library: ['http://acme.org/Library/l|1.2'],
        meta: { profile: ['http://acme.org/profile|2.1'] },
      },
      set('u5', 'http://acme.org/sets/'),
      { resourceType: 'Substance', id: 'u6', code: { text: 'x' }, meta: { profile: ['http://acme.org/p'] } },
      {
        resourceType: 'Substance',
        id: 'u7',
        code: { text: 'x' },
        meta: { profile: ['http://acme.org/p', 'http://acme.org/p/"q"'] },
      },
      { resourceType: 'Substance', id: 'u8', code: { text: 'x' }, meta: { profile: ['http://acme.org/p|1.2'] } },
    ),
  )

  describe('finds', () => {
    finds([
      ['ValueSet?url=http://acme.org/fhir/vs/1', ['u1']],
      ['ValueSet?url=http://acme.org/FHIR/vs/1', []],
      ['ValueSet?url=http://acme.org/fhir/vs', []],
      ['ValueSet?url:below=http://acme.org/fhir', ['u1', 'u2']],
      ['ValueSet?url:below=http://acme.org/fhir/', ['u1']],
      ['ValueSet?url:below=http://acme.org/fhir/vs/1/', []],
      ['ValueSet?url:below=http://acme.org/fhir/,http://acme.org/sets', ['u1', 'u5']],
      ['ValueSet?url:below=http://acme.org/sets/', ['u5']],
      ['Substance?_profile:below=http://acme.org/p', ['u6', 'u7', 'u8']],
      ['Substance?_profile:below=http://acme.org/p/', ['u7']],
      ['ValueSet?url:above=http://acme.org/sets/', ['u5']],
      ['ValueSet?url:above=http://acme.org/sets/1', ['u5']],
      ['ValueSet?url:above=http://acme.org/sets', []],
      ['ValueSet?url:below=http://acme.org/fh', []],
      ['ValueSet?url:above=http://acme.org/fhir/vs/1/2', ['u1', 'u2']],
      ['ValueSet?url=urn:oid:1.2.3.4', ['u3']],
      ['ValueSet?url:below=urn:oid:1.2', []],
      ['ValueSet?url:above=urn:oid:1.2.3.4.5', []],
      ['Measure?_profile=http://acme.org/profile', ['u4']],
      ['Measure?_profile=http://acme.org/profile|2.1', ['u4']],
      ['Measure?_profile=http://acme.org/profile|2.2', []],
      ['Measure?depends-on=http://acme.org/Library/l|1.2', ['u4']],
      ['Measure?depends-on=http://acme.org/Library/l', ['u4']],
    ])
  })
})

describe('a composite parameter', () => {
  const concept = (code: string, system = 'http://loinc.org') => ({ coding: [{ system, code }] })
  beforeAll(() =>
    store({
      resourceType: 'Observation',
      id: 'c1',
      status: 'final',
      code: concept('85354-9'),
      component: [
        { code: concept('8480-6'), valueQuantity: { value: 120, system: 'http://unitsofmeasure.org', code: 'mm[Hg]' } },
        { code: concept('8462-4'), valueQuantity: { value: 80, system: 'http://unitsofmeasure.org', code: 'mm[Hg]' } },
        { code: concept('posture'), valueCodeableConcept: concept('sitting', 'http://postures') },
      ],
    }),
  )

  describe('pairs the values of one element:', () => {
    finds([
      ['Observation?component-code-value-quantity=8480-6$120', ['c1']],
      ['Observation?component-code-value-quantity=8480-6$gt100', ['c1']],
      ['Observation?component-code-value-quantity=8480-6$lt100', []],
      ['Observation?component-code-value-quantity=8462-4$lt100', ['c1']],
      [
        'Observation?component-code-value-quantity=http://loinc.org|8480-6$120|http://unitsofmeasure.org|mm[Hg]',
        ['c1'],
      ],
      ['Observation?component-code-value-quantity=http://other|8480-6$120', []],
      ['Observation?component-code-value-quantity=8480-6$80,8462-4$80', ['c1']],
      ['Observation?combo-code-value-quantity=8462-4$80', ['c1']],
      ['Observation?component-code-value-concept=posture$sitting', ['c1']],
      ['Observation?component-code-value-concept=posture$http://postures|sitting', ['c1']],
      ['Observation?component-code-value-concept=8480-6$sitting', []],
    ])
  })

  test.each(['8480-6', '8480-6$1$2', '8480-6$high', '$1'])('refuses %s', async value => {
    const { status, body } = await call('GET', `Observation?component-code-value-quantity=${value}`)
    expect([status, body.resourceType]).toEqual([400, 'OperationOutcome'])
  })
})

describe('parameters of every resource', () => {
  beforeAll(() =>
    store({
      resourceType: 'Basic',
      id: 'm1',
      code: { text: 'x' },
      meta: {
        source: 'http://source.org/a',
        profile: ['http://profiles.org/p'],
        tag: [{ system: 'http://tags', code: 'blue' }],
        security: [{ system: 'http://sec', code: 'R' }],
      },
    }),
  )

  describe('find', () => {
    finds([
      ['Basic?_id=m1', ['m1']],
      ['Basic?_tag=blue', ['m1']],
      ['Basic?_tag=http://tags|blue', ['m1']],
      ['Basic?_tag:not=blue', []],
      ['Basic?_security=http://sec|R', ['m1']],
      ['Basic?_profile=http://profiles.org/p', ['m1']],
      ['Basic?_source=http://source.org/a', ['m1']],
      ['Basic?_lastUpdated=gt2020', ['m1']],
      ['Basic?_id=M1', []],
    ])
  })

  test.each(['_id:text=x', '_id:of-type=a|b|c', '_lastUpdated:not=2020', '_contained=true', '_query=x'])(
    'that cannot be answered are refused: %s',
    async query => {
      const { status, body } = await call('GET', `Basic?${query}`)
      expect([status, body.resourceType]).toEqual([400, 'OperationOutcome'])
    },
  )
})

describe('chains', () => {
  beforeAll(() =>
    store(
      { resourceType: 'Organization', id: 'ch-org', name: 'Princess Marina' },
      { resourceType: 'Practitioner', id: 'ch-prac', name: [{ family: 'Healer' }] },
      {
        resourceType: 'Patient',
        id: 'ch-pat',
        name: [{ family: 'Chained' }],
        managingOrganization: { reference: 'Organization/ch-org' },
        generalPractitioner: [{ reference: 'Practitioner/ch-prac' }],
      },
      {
        resourceType: 'Observation',
        id: 'ch-obs',
        status: 'final',
        code: { coding: [{ code: 'chain' }] },
        subject: { reference: 'Patient/ch-pat' },
        performer: [{ reference: 'Practitioner/ch-prac' }],
        effectiveDateTime: '2024-01-01',
      },
      {
        resourceType: 'Provenance',
        id: 'ch-prov',
        target: [{ reference: 'Observation/ch-obs' }],
        recorded: '2024-01-01T00:00:00Z',
        agent: [{ who: { reference: 'Practitioner/ch-prac' } }],
      },
    ),
  )

  describe('find', () => {
    finds([
      ['Observation?patient.family=chained', ['ch-obs']],
      ['Observation?subject:Patient.family=chained', ['ch-obs']],
      ['Observation?subject.family=chained', ['ch-obs']],
      ['Observation?subject:Group.code=x', []],
      ['Observation?subject:Patient.organization.name=princess', ['ch-obs']],
      ['Observation?subject:Patient.general-practitioner:Practitioner.family=healer', ['ch-obs']],
      ['Observation?performer:Practitioner.family=healer&code=chain', ['ch-obs']],
      ['Observation?patient.family=nobody', []],
      ['Observation?patient._id=ch-pat', ['ch-obs']],
      ['Observation?patient.family:exact=Chained', ['ch-obs']],
      ['Observation?patient.family:missing=true&code=chain', []],
      ['Patient?_has:Observation:patient:code=chain', ['ch-pat']],
      ['Patient?_has:Observation:patient:code=other', []],
      ['Patient?_has:Observation:patient:date=gt2023', ['ch-pat']],
      ['Practitioner?_has:Observation:performer:code=chain', ['ch-prac']],
      ['Patient?_has:Observation:patient:_has:Provenance:target:agent=ch-prac', ['ch-pat']],
      ['Organization?_has:Patient:organization:family=chained', ['ch-org']],
      ['Organization?_has:Patient:organization:_has:Observation:patient:code=chain', ['ch-org']],
      ['Patient?_has:Observation:patient:code=chain&_sort=family&_count=5', ['ch-pat']],
    ])
  })

  test('do not go by what was deleted', async () => {
    await store(
      { resourceType: 'Patient', id: 'ch-gone', name: [{ family: 'Gone' }] },
      {
        resourceType: 'Observation',
        id: 'ch-left',
        status: 'final',
        code: { text: 'x' },
        subject: { reference: 'Patient/ch-gone' },
      },
    )
    expect(await found('Observation?patient.family=gone')).toEqual(['ch-left'])
    await call('DELETE', 'Patient/ch-gone')
    expect(await found('Observation?patient.family=gone')).toEqual([])
  })

  test('are followed by an update', async () => {
    await store({ resourceType: 'Patient', id: 'ch-new', name: [{ family: 'Before' }] })
    const body = { resourceType: 'Patient', id: 'ch-new', name: [{ family: 'After' }] }
    await call('PUT', 'Patient/ch-new', { body })
    expect(await found('Patient?family=before')).toEqual([])
    expect(await found('Patient?family=after')).toEqual(['ch-new'])
  })

  test.each([
    ['patient.shoe=x', 'shoe'],
    ['patient:Shoe.family=x', 'Shoe'],
    ['patient.=x', 'no target type'],
    ['subject.subject.family=x', 'no target type'],
    ['_has:=x', '_has'],
    ['_has:Observation=x', 'no reference parameter'],
    ['_has:Shoe:patient:code=x', 'resource type'],
    ['_has:Observation:shoe:code=x', 'shoe'],
    ['_has:Observation:patient:shoe=x', 'shoe'],
    ['_has:Observation:patient:code:shoe=x', ':shoe'],
    [`${'_has:Provenance:target:'.repeat(7)}agent=x`, 'hops'],
  ])('that mean nothing are refused: %s', (query, said) => refused(`Observation?${query}`, said))
})
