// Which statements look into one bucket of resources, and which into all: what an engine that distributes the tables sends to one node
// and what it sends to all of them (docs/decisions/0095-shard.md). Tables in eight parts show it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Asked, type Hearing, hearing } from '../support/asked.ts'
import { consentOf } from '../support/consents.ts'
import { fhirCaller } from '../support/fhir.ts'
import { bundleOf, entryOf, type Party, partyOf } from '../support/parties.ts'
import { type Service, startOn } from '../support/service.ts'

let service: Service
let heard: Hearing
let clinic: Party
const call = fhirCaller(() => service)

const patients = Array.from({ length: 60 }, (_, number) => `p${number}`)
const to = (reference: string) => ({ reference })

const observation = (id: string, patient: string, more: object = {}) => ({
  ...{ resourceType: 'Observation', id, status: 'final', effectiveDateTime: '2026-03-04' },
  code: { coding: [{ system: 'http://loinc.org', code: '718-7', display: 'Hemoglobin' }], text: 'blood' },
  ...{ subject: to(`Patient/${patient}`), encounter: to(`Encounter/visit-${patient}`) },
  ...{ valueQuantity: { value: 12, unit: 'g/dL' }, performer: [to('Practitioner/doctor')], ...more },
})

const recordOf = (patient: string) => [
  {
    ...{
      resourceType: 'Patient',
      id: patient,
      birthDate: '1980-01-01',
      managingOrganization: to('Organization/hospital'),
    },
    name: [{ family: `Family${patient}`, given: ['Ann'] }],
  },
  {
    resourceType: 'Encounter',
    id: `visit-${patient}`,
    status: 'finished',
    class: { code: 'AMB' },
    subject: to(`Patient/${patient}`),
  },
  ...['a', 'b', 'c'].map(letter => observation(`${letter}-${patient}`, patient)),
  { resourceType: 'Condition', id: `sick-${patient}`, subject: to(`Patient/${patient}`), code: { text: 'malaria' } },
]

const putAll = (...resources: { resourceType: string; id: string }[]) =>
  call('POST', '', {
    body: bundleOf('transaction', ...resources.map(each => entryOf('PUT', `${each.resourceType}/${each.id}`, each))),
  })

beforeAll(async () => {
  heard = await hearing(8)
  service = await startOn(heard.connection)
  clinic = await partyOf(service, 'clinic')
  const shared = [
    { resourceType: 'Practitioner', id: 'doctor', name: [{ family: 'Fouda' }] },
    { resourceType: 'Organization', id: 'hospital', name: 'Hospital' },
  ]
  const { status } = await putAll(...shared, ...patients.flatMap(recordOf), consentOf('open', 'p1', 'clinic') as never)
  expect(status).toBe(200)
  // Each has a former version.
  await putAll(
    ...patients.flatMap(patient =>
      ['a', 'b'].map(letter => observation(`${letter}-${patient}`, patient, { status: 'amended' })),
    ),
  )
  await heard.analyze()
})

afterAll(() => heard.close())

async function heardOf(method: string, path: string, body?: unknown, token?: string): Promise<Asked[]> {
  heard.taken()
  const { status } = await call(method, path, { body, ...(token && { token }) })
  expect(status).toBeLessThan(300)
  return heard.taken()
}

const partsOf = (all: readonly Asked[]): number[] => all.map(({ parts }) => parts.size)

/**
 * How many parts the statements of a read look at, each by itself. What the service does beside does not come twice, and what it knows of
 * a client it has learned from the first request.
 */
async function askedBy(path: string, token?: string): Promise<number[]> {
  await heardOf('GET', path, undefined, token)
  let after = await heardOf('GET', path, undefined, token)
  // A sketch that is made meanwhile leads to other statements from then on.
  for (let tries = 1; ; tries++) {
    const before = after
    after = await heardOf('GET', path, undefined, token)
    const asked = partsOf(after.filter(({ text }) => before.some(each => each.text === text)))
    if (asked.length > 0 || tries === 3) return asked
  }
}

const ofOne = [
  'Patient/p1',
  'Observation/a-p1',
  'Observation/a-p1/_history/1',
  'Observation/a-p1/_history/2',
  'Observation/a-p1/_history',
  'Observation?patient=p1',
  'Observation?patient=p1&code=718-7',
  'Observation?subject=Patient/p1&code=http://loinc.org|718-7&_sort=-date&_count=2',
  'Observation?patient=p1&category=laboratory',
  'Observation?patient=p1&date=ge2026-01-01',
  'Observation?patient=p1&value-quantity=gt5',
  'Observation?patient=p1&code:text=blood',
  'Observation?patient=p1&_text=blood',
  'Observation?patient=p1&_content=hemoglobin',
  'Observation?patient=p1&_lastUpdated=gt2026-01-01',
  'Observation?patient=p1&_sort=_lastUpdated',
  'Observation?patient=p1&_summary=count',
  'Observation?patient=p1&_total=accurate&_count=1',
  'Observation?patient=p1&encounter=Encounter/visit-p1',
  'Observation/$lastn?patient=p1&max=1',
  'Patient?_id=p1',
]

describe.each(['exempt', 'of the clinic'])('for a client that is %s, one bucket answers', who => {
  test.each(ofOne)('%s', async path => {
    const asked = await askedBy(path, who === 'exempt' ? undefined : clinic.token)
    expect(asked.length).toBeGreaterThan(0)
    expect(new Set(asked)).toEqual(new Set([1]))
  })
})

const again = (more: object) => observation('a-p3', 'p3', more)

describe('one bucket takes', () => {
  test.each<[what: string, method: string, path: string, body?: object]>([
    ['a new resource', 'PUT', 'Observation/new', observation('new', 'p2')],
    ['a new version', 'PUT', 'Observation/a-p3', again({ status: 'corrected' })],
    ['a new version that is found otherwise', 'PUT', 'Observation/a-p3', again({ effectiveDateTime: '2026-05-05' })],
    ['a deletion', 'DELETE', 'Observation/b-p3'],
    ['a resource under the id of a deleted one', 'PUT', 'Observation/b-p3', observation('b-p3', 'p3')],
    [
      'a transaction about one patient',
      ...(['POST', ''] as const),
      bundleOf('transaction', entryOf('PUT', 'Observation/a-p3', again({})), entryOf('DELETE', 'Observation/b-p3')),
    ],
  ])('%s', async (_what, method, path, body) => {
    for (const parts of partsOf(await heardOf(method, path, body))) expect(parts).toBe(1)
  })
})

// What asks all buckets, and why. Whatever is taken from this list goes to the one above.
describe('all buckets are asked for', () => {
  test.each<[what: string, path: string]>([
    ['what is about no single patient', 'Observation?code=718-7'],
    ['dates of all patients', 'Observation?date=2026-03'],
    ['names', 'Patient?family=Familyp1'],
    ['letters within names', 'Patient?name:contains=amilyp1'],
    ['identifiers', 'Patient?identifier=urn:x|1'],
    ['words', 'Observation?_content=hemoglobin'],
    ['ids of what may be about any patient', 'Observation?_id=a-p1'],
    ['a chain', 'Observation?patient.name=Familyp1'],
    ['a reverse chain', 'Patient?_has:Observation:patient:code=718-7'],
    ['a count of all', 'Observation?_summary=count'],
    ['what is included, which may be anywhere', 'Observation?patient=p1&_include=Observation:performer'],
    ['what refers to the matches, from anywhere', 'Patient?_id=p1&_revinclude=Observation:patient'],
    ['a compartment, which holds what others are about as well', 'Patient/p1/Observation'],
    ['everything about a patient, for the same reason', 'Patient/p1/$everything'],
    ['the history of a type', 'Observation/_history'],
    ['the history of all', '_history'],
    ['several types by time', '?_type=Observation,Condition&_lastUpdated=gt2026-01-01'],
  ])('%s', async (_what, path) => expect(Math.max(...(await askedBy(path)))).toBe(8))
})

test('several patients are looked for in their buckets alone', async () => {
  expect(await askedBy('Observation?patient=p1,p2')).toEqual([2])
})
