// Patient/$everything. https://hl7.org/fhir/R4/operation-patient-everything.html
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf, linkOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const ada = { reference: 'Patient/ada' }
const bea = { reference: 'Patient/bea' }
const code = { coding: [{ system: 'http://loinc.org', code: 'x' }] }
const observation = (id: string, day: string, subject: object, performer: string) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code,
  subject,
  effectiveDateTime: day,
  performer: [{ reference: performer }],
})

const resources = [
  // Before the patient, so that an order by arrival alone would not begin with it.
  observation('o1', '2020-05-01', ada, 'Practitioner/who'),
  { resourceType: 'Practitioner', id: 'who' },
  { resourceType: 'Practitioner', id: 'other' },
  { resourceType: 'Practitioner', id: 'unused' },
  { resourceType: 'Organization', id: 'near', name: 'one hop away', partOf: { reference: 'Organization/far' } },
  { resourceType: 'Organization', id: 'far', name: 'two hops away' },
  { resourceType: 'Device', id: 'hers', patient: ada },
  { resourceType: 'Device', id: 'theirs', patient: bea },
  { resourceType: 'Medication', id: 'extension' },
  { resourceType: 'Patient', id: 'ada', managingOrganization: { reference: 'Organization/near' } },
  { resourceType: 'Patient', id: 'bea' },
  observation('o2', '2022-05-01', ada, 'Practitioner/who'),
  observation('o3', '2024-05-01', ada, 'Practitioner/who'),
  observation('o4', '2024-05-01', bea, 'Practitioner/other'),
  {
    ...observation('o5', '2024-06-01', ada, 'Practitioner/who'),
    device: { reference: 'Device/hers' },
    hasMember: [{ reference: 'Observation/o4' }],
    // No search parameter reads an extension, and a text is no reference.
    extension: [{ url: 'http://x', valueReference: { reference: 'Medication/extension' } }],
    note: [{ text: '"reference":"Practitioner/unused"' }],
  },
  { ...observation('o6', '2024-07-01', ada, 'Practitioner/who'), device: { reference: 'Device/theirs' } },
  { resourceType: 'Coverage', id: 'undated', status: 'active', beneficiary: ada, payor: [bea] },
  {
    resourceType: 'Account',
    id: 'shared',
    status: 'active',
    subject: [ada, bea],
  },
]

const hers = ['ada', 'o1', 'o2', 'o3', 'o5', 'o6', 'shared', 'undated']
const outside = ['extension', 'hers', 'near', 'who']
const all = [...hers, ...outside].sort()

beforeAll(async () => {
  service = await startService()
  for (const body of resources) {
    const { status, text } = await call('PUT', `${body.resourceType}/${body.id}`, { body })
    expect(status, text).toBe(201)
  }
})

const get = (path: string, token?: string) => call('GET', path, token === undefined ? {} : { token })
const mint = (...scopes: string[]) =>
  service.application.identity.tokens.mint({ clientId: 'demo', organizationId: 'demo', consentExempt: true }, scopes)

interface Entry {
  readonly resource: { readonly id: string; readonly resourceType: string }
  readonly search: { readonly mode: string }
}

const idsOf = (body: Answer['body'], mode?: string): string[] =>
  ((body.entry ?? []) as Entry[])
    .filter(each => mode === undefined || each.search.mode === mode)
    .map(each => each.resource.id)

const sorted = (body: Answer['body'], mode?: string) => idsOf(body, mode).sort()

/** Follows the links to the last page. */
async function pages(path: string): Promise<string[][]> {
  const found: string[][] = []
  for (let next: string | undefined = path; next && found.length < 50; ) {
    const { status, body } = await get(next)
    expect(status).toBe(200)
    found.push(idsOf(body))
    next = linkOf(body, 'next')
  }
  return found
}

describe('Patient/{id}/$everything', () => {
  test('answers the patient first, then the compartment, then what these refer to outside of it', async () => {
    const { status, body } = await get('Patient/ada/$everything')
    expect(status).toBe(200)
    expect(body).toMatchObject({ resourceType: 'Bundle', type: 'searchset' })
    expect(idsOf(body)[0]).toBe('ada')
    expect(sorted(body, 'match')).toEqual(hers)
    expect(sorted(body, 'include')).toEqual(outside)
    expect(body.link.map((link: { relation: string }) => link.relation)).toEqual(['self'])
    expect(body.entry[0].fullUrl).toBe(`${service.url}/api/fhir/R4/Patient/ada`)
  })

  test('answers every resource as it is stored', async () => {
    const { text } = await get('Patient/ada/$everything')
    for (const path of ['Patient/ada', 'Observation/o5', 'Practitioner/who'])
      expect(text).toContain((await get(path)).text)
  })

  test('takes care between two dates, and whatever has no date', async () => {
    const undated = ['ada', 'shared', 'undated']
    const within = async (query: string) => sorted((await get(`Patient/ada/$everything?${query}`)).body, 'match')
    expect(await within('start=2022-05-01&end=2024-05-01')).toEqual([...undated, 'o2', 'o3'].sort())
    expect(await within('start=2024-05-02')).toEqual([...undated, 'o5', 'o6'].sort())
    expect(await within('end=2020')).toEqual([...undated, 'o1'].sort())
  })

  test('refers from what lies between the dates only', async () => {
    const { body } = await get('Patient/ada/$everything?end=2023')
    expect(sorted(body, 'include')).toEqual(['near', 'who'])
  })

  test('with _type shows these types only, those outside of the compartment too', async () => {
    expect(sorted((await get('Patient/ada/$everything?_type=Coverage,Account')).body)).toEqual(['shared', 'undated'])
    expect(sorted((await get('Patient/ada/$everything?_type=Practitioner&_type=Patient')).body)).toEqual(['ada', 'who'])
    expect((await get('Patient/ada/$everything?_type=Binary')).body.entry).toBeUndefined()
  })

  test('with _since shows what changed since, wherever it is', async () => {
    const before = await call('PUT', 'Observation/o1', { body: { ...resources[0], status: 'amended' } })
    const since = encodeURIComponent(before.body.meta.lastUpdated)
    expect(sorted((await get(`Patient/ada/$everything?_since=${since}`)).body)).toEqual(['o1'])
    await call('PUT', 'Practitioner/who', { body: { resourceType: 'Practitioner', id: 'who', active: true } })
    expect(sorted((await get(`Patient/ada/$everything?_since=${since}`)).body)).toEqual(['o1', 'who'])
  })

  test.each([1, 2, 3, 7, 8, 9, 11, 12])('in pages of %i loses nothing and repeats nothing', async count => {
    const found = await pages(`Patient/ada/$everything?_count=${count}`)
    expect(found.flat().sort()).toEqual(all)
    expect(found[0]![0]).toBe('ada')
    expect(found.slice(0, -1).every(page => page.length === count)).toBe(true)
    expect(found).toHaveLength(Math.ceil(all.length / count))
  })

  test('tells on each page how many the compartment has', async () => {
    const totals: number[] = []
    for (let next: string | undefined = 'Patient/ada/$everything?_count=3'; next; ) {
      const { body } = await get(next)
      totals.push(body.total)
      next = linkOf(body, 'next')
    }
    expect(totals).toEqual([8, 8, 8, 8])
    expect((await get('Patient/ada/$everything')).body.total).toBe(8)
    expect((await get('Patient/ada/$everything?_type=Binary')).body.total).toBe(0)
    expect((await get('Patient/$everything')).body.total).toBeGreaterThan(8)
    expect((await get('Patient/$everything?_count=3')).body.total).toBeUndefined()
  })

  test('in pages keeps its other parameters', async () => {
    const found = await pages('Patient/ada/$everything?_count=1&_type=Observation,Practitioner&start=2024')
    expect(found.flat().sort()).toEqual(['o3', 'o5', 'o6', 'who'])
  })

  test('in pages does not take another resource of the same id for the patient', async () => {
    for (const body of [
      { resourceType: 'Patient', id: 'twin' },
      observation('twin', '2024-01-01', { reference: 'Patient/twin' }, 'Practitioner/who'),
      observation('twin-2', '2024-01-02', { reference: 'Patient/twin' }, 'Practitioner/who'),
    ])
      await call('PUT', `${body.resourceType}/${body.id}`, { body })
    expect(await pages('Patient/twin/$everything?_type=Observation&_count=1')).toEqual([['twin'], ['twin-2']])
    for (const path of ['Observation/twin', 'Observation/twin-2', 'Patient/twin']) await call('DELETE', path)
    await call('PUT', 'Observation/gone', {
      body: observation('gone', '2024-01-01', { reference: 'Patient/gone' }, 'Practitioner/who'),
    })
    expect((await get('Patient/gone/$everything?_type=Observation')).status).toBe(404)
    await call('DELETE', 'Observation/gone')
  })

  test('works by POST with Parameters and with no body', async () => {
    const body = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'start', valueDate: '2024-06-15' },
        { name: '_type', valueCode: 'Observation' },
        { name: '_count', valueInteger: 5 },
      ],
    }
    expect(sorted((await call('POST', 'Patient/ada/$everything', { body })).body)).toEqual(['o6'])
    expect(sorted((await call('POST', 'Patient/ada/$everything')).body)).toEqual(all)
  })

  test('works as an entry of a batch and of a transaction', async () => {
    for (const type of ['batch', 'transaction']) {
      const entry = [{ request: { method: 'GET', url: 'Patient/ada/$everything?_type=Coverage' } }]
      const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type, entry } })
      expect(sorted(body.entry[0].resource)).toEqual(['undated'])
    }
  })

  test('of a patient that is not known is not found, and of one that was deleted is gone', async () => {
    expect((await get('Patient/nobody/$everything')).status).toBe(404)
    await call('PUT', 'Patient/gone', { body: { resourceType: 'Patient', id: 'gone' } })
    await call('DELETE', 'Patient/gone')
    expect((await get('Patient/gone/$everything')).status).toBe(410)
    expect((await get('Patient/gone/$everything?_type=Observation')).status).toBe(410)
  })

  test('is for patients only, by GET and POST only', async () => {
    const other = await get('Encounter/x/$everything')
    expect([other.status, issueOf(other.body).code]).toEqual([404, 'not-supported'])
    expect((await get('Patient/ada/$nothing')).status).toBe(404)
    expect((await call('PUT', 'Patient/ada/$everything', { body: {} })).status).toBe(405)
  })

  test.each(['start=spring', 'end=2024-13', '_since=x', '_count=0', '_count=many', '_type=Nothing', '_cursor=z'])(
    'refuses %s',
    async query => {
      expect((await get(`Patient/ada/$everything?${query}`)).status).toBe(400)
    },
  )

  test('leaves out the types that the caller may not search', async () => {
    const token = await mint('system/Patient.rs', 'system/Observation.rs', 'system/Practitioner.rs')
    const { body } = await get('Patient/ada/$everything', token)
    expect(sorted(body)).toEqual(['ada', 'o1', 'o2', 'o3', 'o5', 'o6', 'who'])
  })

  test('follows no reference out of a resource that the caller may not search', async () => {
    const token = await mint('system/Patient.rs', 'system/Practitioner.rs')
    expect(sorted((await get('Patient/ada/$everything', token)).body)).toEqual(['ada'])
    expect(sorted((await get('Patient/ada/$everything?_type=Practitioner', token)).body)).toEqual([])
  })

  test('is refused to callers that may not search patients', async () => {
    const token = await mint('system/Observation.rs')
    expect((await get('Patient/ada/$everything', token)).status).toBe(403)
    expect((await get('Patient/$everything', token)).status).toBe(403)
  })
})

describe('Patient/$everything', () => {
  // No search parameter leads to the medication, and what lies outside is found by search parameters here.
  const everybody = [...hers, 'bea', 'o4', 'hers', 'theirs', 'near', 'other', 'who'].sort()

  test('answers everything about all patients, each resource once', async () => {
    const { status, body } = await get('Patient/$everything')
    expect(status).toBe(200)
    expect(sorted(body)).toEqual(everybody)
  })

  test.each([1, 4, 100])('in pages of %i loses nothing and repeats nothing', async count => {
    expect((await pages(`Patient/$everything?_count=${count}`)).flat().sort()).toEqual(everybody)
  })

  test('takes the same parameters', async () => {
    const found = await get('Patient/$everything?start=2024-06-15&_type=Observation,Account,Practitioner')
    expect(sorted(found.body)).toEqual(['o6', 'shared', 'who'])
    const body = { resourceType: 'Parameters', parameter: [{ name: '_type', valueCode: 'Account' }] }
    expect(sorted((await call('POST', 'Patient/$everything', { body })).body)).toEqual(['shared'])
  })
})

describe('care between two dates', () => {
  const mia = { reference: 'Patient/mia' }
  const of = (resourceType: string, id: string, more: object) => ({ resourceType, id, ...more })
  const about = (resourceType: string, id: string, more: object) => of(resourceType, id, { subject: mia, ...more })
  const resolved = {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'resolved' }],
  }
  const active = {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
  }
  const condition = (id: string, more: object) =>
    about('Condition', id, {
      code,
      recordedDate: '2019-01-01',
      ...(Object.keys(more).some(name => name.startsWith('abatement')) ? { clinicalStatus: resolved } : {}),
      ...more,
    })
  const order = { status: 'active', intent: 'order', code }
  const claim = (id: string, more: object) =>
    of('Claim', id, {
      ...{ status: 'active', type: code, use: 'claim', patient: mia, created: '2019-01-01', priority: code },
      ...{ provider: { display: 'x' }, insurance: [{ sequence: 1, focal: true, coverage: { display: 'x' } }] },
      ...more,
    })
  const file = [{ attachment: { contentType: 'text/plain', url: 'http://x' } }]

  // Each row: what it is, and whether it is in from 2022 to 2023.
  const cases: [resource: { resourceType: string; id: string }, isIn: boolean][] = [
    [condition('goes-on', { onsetDateTime: '2010' }), true],
    [condition('over', { onsetDateTime: '2010', abatementDateTime: '2021-12-31' }), false],
    [condition('ended-within', { onsetDateTime: '2010', abatementDateTime: '2022-01' }), true],
    [condition('began-after', { onsetDateTime: '2024-01-01', recordedDate: '2022-06-01' }), false],
    [condition('for-a-time', { onsetPeriod: { start: '2022-03-01' } }), true],
    [condition('unknown', {}), true],
    [condition('over-at-some-time', { abatementDateTime: '2020', recordedDate: '2022-06-01' }), false],
    [
      claim('billed-later', { created: '2025-01-01', billablePeriod: { start: '2022-05-01', end: '2022-05-02' } }),
      true,
    ],
    [claim('other-care', { created: '2022-05-01', billablePeriod: { start: '2021-05-01', end: '2021-12-31' } }), false],
    [claim('last-second', { billablePeriod: { start: '2021', end: '2022-01-01T00:00:00Z' } }), true],
    [claim('just-in-time', { billablePeriod: { start: '2024-01-01T00:30:00+01:00' } }), true],
    [claim('much-too-late', { billablePeriod: { start: '2024-01' } }), false],
    [claim('until-some-time', { billablePeriod: { end: '2023' } }), true],
    [claim('no-period', {}), true],
    [
      of('CoverageEligibilityRequest', 'serviced', {
        ...{ status: 'active', purpose: ['benefits'], patient: mia, created: '2022-05-01', insurer: { display: 'x' } },
        servicedDate: '2021-05',
      }),
      false,
    ],
    [
      about('ServiceRequest', 'for-then', { ...order, authoredOn: '2021-05-01', occurrenceDateTime: '2022-05-01' }),
      true,
    ],
    [
      about('ServiceRequest', 'for-later', { ...order, authoredOn: '2022-05-01', occurrenceDateTime: '2024-05-01' }),
      false,
    ],
    [about('ServiceRequest', 'ordered-then', { ...order, authoredOn: '2022-05-01' }), true],
    [about('ServiceRequest', 'ordered-before', { ...order, authoredOn: '2021-05-01' }), false],
    [
      about('DocumentReference', 'about-then', {
        status: 'current',
        content: file,
        date: '2025-01-01T00:00:00Z',
        context: { period: { start: '2022-05-01', end: '2022-05-02' } },
      }),
      true,
    ],
    [
      about('DocumentReference', 'about-before', {
        status: 'current',
        content: file,
        date: '2022-05-01T00:00:00Z',
        context: { period: { start: '2020', end: '2020' } },
      }),
      false,
    ],
    [about('DocumentReference', 'filed', { status: 'current', content: file, date: '2025-01-01T00:00:00Z' }), true],
    [
      of('AllergyIntolerance', 'allergy', { patient: mia, code, clinicalStatus: active, recordedDate: '2010-01-01' }),
      true,
    ],
    [about('Goal', 'aim', { lifecycleStatus: 'active', description: code, startDate: '2010-01-01' }), true],
    [about('Goal', 'later-aim', { lifecycleStatus: 'active', description: code, startDate: '2024-01-01' }), false],
    [
      about('Media', 'photo', { status: 'completed', content: file[0]!.attachment, createdDateTime: '2020-05-01' }),
      false,
    ],
    [
      about('MedicationStatement', 'taken', {
        status: 'active',
        medicationCodeableConcept: code,
        effectivePeriod: { start: '2020' },
      }),
      true,
    ],
    [
      about('Encounter', 'stay', {
        status: 'finished',
        class: code.coding[0],
        period: { start: '2021-12-30', end: '2022-01-02' },
      }),
      true,
    ],
  ]
  const named = (ids: readonly { resourceType: string; id: string }[]) =>
    ids.map(each => `${each.resourceType}/${each.id}`).sort()
  const inside = named([of('Patient', 'mia', {}), ...cases.filter(([, isIn]) => isIn).map(([resource]) => resource)])

  beforeAll(async () => {
    const entry = [of('Patient', 'mia', { birthDate: '1980-01-01' }), ...cases.map(([resource]) => resource)].map(
      resource => ({
        resource,
        request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
      }),
    )
    const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status, text).toBe(200)
  })

  const found = (body: Answer['body']): string[] =>
    named((body.entry as Entry[]).filter(each => each.search.mode === 'match').map(each => each.resource))

  test('is decided by when the care took place, and what goes on or has no such date is in', async () => {
    const { body } = await get('Patient/mia/$everything?start=2022-01-01&end=2023-12-31')
    expect([found(body), body.total]).toEqual([inside, inside.length])
  })

  test('is the same for all patients, and in pages', async () => {
    const types = [...new Set(cases.map(([resource]) => resource.resourceType))].join()
    const { body } = await get(`Patient/$everything?start=2022-01-01&end=2023-12-31&_type=${types}`)
    const ids = new Set(cases.map(([resource]) => `${resource.resourceType}/${resource.id}`))
    expect(found(body).filter(each => ids.has(each))).toEqual(inside.filter(each => each !== 'Patient/mia'))
    const paged = await pages('Patient/mia/$everything?start=2022-01-01&end=2023-12-31&_count=4')
    expect(paged.flat()).toHaveLength(inside.length)
  })

  test('is open where a bound is left out', async () => {
    const since = found((await get('Patient/mia/$everything?start=2022-01-01')).body)
    expect(since).toEqual(expect.arrayContaining(['Condition/began-after', 'Condition/goes-on', 'Claim/much-too-late']))
    expect(since).not.toContain('Condition/over')
    const until = found((await get('Patient/mia/$everything?end=2023-12-31')).body)
    expect(until).toEqual(expect.arrayContaining(['Condition/over', 'Claim/other-care']))
    expect(until).not.toContain('Condition/began-after')
  })
})

test('the CapabilityStatement names the operation on Patient and nowhere else', async () => {
  const { body } = await get('metadata')
  const holders = body.rest[0].resource.filter((each: { operation: { name: string }[] }) =>
    each.operation.some(({ name }) => name === 'everything'),
  )
  expect(holders.map((each: { type: string }) => each.type)).toEqual(['Patient'])
  expect(holders[0].operation).toContainEqual({
    name: 'everything',
    definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  })
})
