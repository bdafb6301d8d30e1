// Small requests that would cost much: what a resource may hold is bounded, and within the bounds nothing is compared with everything.
import { beforeAll, describe, expect, test } from 'vitest'
import { bucketOf } from '../../../src/fhirpath/bucket.ts'
import { Seen } from '../../../src/fhirpath/equality.ts'
import { ancestors, versionsAbove } from '../../../src/store/index/postings.ts'
import { textPostings } from '../../../src/store/index/text-postings.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

const many = <Of>(count: number, make: (index: number) => Of): Of[] => Array.from({ length: count }, (_, i) => make(i))
const basic = { resourceType: 'Basic', code: { text: 'x' } }

const tooLarge: readonly [string, Record<string, unknown>, string][] = [
  [
    'codings',
    { resourceType: 'Basic', code: { coding: many(8000, i => ({ system: 'urn:x', code: `c${i}` })) } },
    'Basic.code',
  ],
  [
    'wrong codings',
    { resourceType: 'Basic', code: { coding: many(8000, i => ({ system: 'urn:x', code: ` c ${i}` })) } },
    'Basic.code',
  ],
  [
    'names',
    { resourceType: 'Patient', name: many(6000, i => ({ family: `f${i}`, given: [`g${i}`] })) },
    'Patient.name',
  ],
  [
    'components',
    {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      component: many(4000, i => ({ code: { coding: [{ code: `c${i}` }] }, valueQuantity: { value: i, unit: 'mg' } })),
    },
    'Observation.component',
  ],
  [
    'extensions',
    { ...basic, extension: many(10_000, i => ({ url: `urn:x:${i}`, valueString: 'v' })) },
    'Basic.extension',
  ],
  ['contained resources', { ...basic, contained: many(5000, i => ({ ...basic, id: `c${i}` })) }, 'Basic.contained'],
  [
    'entries of a Bundle',
    { resourceType: 'Bundle', type: 'collection', entry: many(20_000, () => ({ resource: basic })) },
    'Bundle.entry',
  ],
  [
    'items of a questionnaire',
    { resourceType: 'Questionnaire', status: 'draft', item: many(8000, i => ({ linkId: `l${i}`, type: 'display' })) },
    'Questionnaire.item',
  ],
]

describe('too many values', () => {
  test.each(tooLarge)('of %s are refused, with the element and the bound', async (_name, resource, element) => {
    const { status, body } = await call('POST', String(resource['resourceType']), { body: resource })
    expect([status, body.issue.length]).toEqual([422, 1])
    expect(body.issue[0]).toMatchObject({ severity: 'error', code: 'too-costly', expression: [element] })
    expect(body.issue[0].diagnostics).toMatch(/the limit is \d+: split it/)
  })

  test('in one resource of a transaction refuse all of it, and nothing is written', async () => {
    const entry = [basic, tooLarge[0]![1]].map((resource, index) => ({
      fullUrl: `urn:uuid:00000000-0000-4000-8000-00000000000${index}`,
      resource: { ...resource, id: undefined, identifier: [{ system: 'urn:x', value: 'costly' }] },
      request: { method: 'POST', url: 'Basic' },
    }))
    const { status, body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect([status, body.issue[0].code]).toEqual([422, 'too-costly'])
    expect((await call('GET', 'Basic?identifier=urn:x|costly&_summary=count')).body.total).toBe(0)
  })

  test('made by a patch are refused like those that are sent', async () => {
    const { body: stored } = await call('POST', 'Basic', { body: basic })
    const coding = many(10_000, i => ({ code: `c${i}` }))
    const patch = [{ op: 'add', path: '/code/coding', value: coding }]
    const { status, body } = await call('PATCH', `Basic/${stored.id}`, {
      body: patch,
      headers: { 'content-type': 'application/json-patch+json' },
    })
    expect([status, body.issue[0].code]).toEqual([422, 'too-costly'])
  })

  test('by far are refused before they are parsed', async () => {
    const resource = {
      resourceType: 'Basic',
      code: { coding: many(20_000, i => ({ system: 'urn:x', code: `c${i}` })) },
    }
    const { status, body } = await call('POST', 'Basic', { body: resource })
    expect([status, body.issue[0].code]).toEqual([413, 'too-costly'])
    expect(body.issue[0].diagnostics).toBe('The JSON contains more than 40000 values: split the request.')
  })

  test('that are members of one object are refused before they are parsed', async () => {
    const members = Object.fromEntries(many(2000, i => [`unknown${i}`, 1]))
    const { status, body } = await call('POST', 'Basic', { body: { ...basic, ...members } })
    expect([status, body.issue[0].code]).toEqual([422, 'too-costly'])
    expect(body.issue[0].diagnostics).toBe('An object of the JSON has more than 1000 members.')
  })
})

test('of very many problems the first are listed, and how many there are', async () => {
  const coding = many(3000, () => ({ system: 'urn:x', code: ' wrong ' }))
  const { status, body } = await call('POST', 'Basic', { body: { resourceType: 'Basic', code: { coding } } })
  expect([status, body.issue.length]).toEqual([400, 101])
  expect(body.issue[100]).toMatchObject({
    code: 'too-costly',
    diagnostics: 'Only the first 100 of 3000 problems are listed',
  })
})

describe('too many entries of the index', () => {
  test('are refused, with the search parameter and the bound', async () => {
    const identifier = many(4000, i => ({ system: `urn:x:${i}`, value: `v${i}` }))
    const { status, body } = await call('POST', 'Basic', { body: { ...basic, identifier } })
    expect([status, body.issue[0].code]).toEqual([422, 'too-costly'])
    expect(body.issue[0].diagnostics).toBe(
      'The values of Basic.identifier create more than 10000 index entries: split the resource.',
    )
  })

  test('that are pairs of values are counted while they are made', async () => {
    const coding = (name: string) => many(1500, i => ({ system: 'urn:x', code: `${name}${i}` }))
    const { status, body } = await call('POST', 'Observation', {
      body: {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: coding('a') },
        valueCodeableConcept: { coding: coding('b') },
      },
    })
    expect([status, body.issue[0].code]).toEqual([422, 'too-costly'])
  })

  test('of a long address or version: it is found as it stands only', () => {
    expect(ancestors(`http://a.example/${'b/'.repeat(2000)}`)).toEqual([])
    expect(versionsAbove(`http://a.example|${'1.'.repeat(2000)}`)).toHaveLength(1)
  })

  test('of words: a text is found by its first ones', () => {
    const text = many(200_000, i => `w${i}`).join(' ')
    expect(textPostings({ ...basic, code: { text } }, 'Basic')).toHaveLength(50_000)
  })
})

describe('what is a list by its nature may be long', () => {
  test.each([
    [
      'a code system of 10,000 codes',
      {
        resourceType: 'CodeSystem',
        status: 'draft',
        content: 'complete',
        concept: many(10_000, i => ({ code: `c${i}`, display: `Code ${i}` })),
      },
    ],
    [
      'a value set of 30,000 codes',
      {
        resourceType: 'ValueSet',
        status: 'draft',
        compose: { include: [{ system: 'urn:x', concept: many(30_000, i => ({ code: `c${i}` })) }] },
      },
    ],
    [
      'a group of 10,000 members',
      {
        resourceType: 'Group',
        type: 'person',
        actual: true,
        member: many(10_000, i => ({ entity: { reference: `Patient/${i}` } })),
      },
    ],
  ])('%s', async (_name, resource) => {
    const { status } = await call('POST', resource.resourceType, { body: resource })
    expect(status).toBe(201)
  })

  test('and a record of a whole life comes in one transaction', async () => {
    const entry = many(2000, i => ({
      resource: { ...basic, code: { text: `${i}` } },
      request: { method: 'POST', url: 'Basic' },
    }))
    const { status, body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect([status, body.entry.length]).toEqual([200, 2000])
  })
})

describe('values that differ lie apart, so that each is compared with few', () => {
  const typed = (value: unknown, type: string) => ({ value, type, path: undefined, sibling: undefined })
  const kinds: readonly [string, (index: number) => ReturnType<typeof typed>][] = [
    ['objects', i => typed({ code: { coding: [{ code: `c${i}` }] } }, 'Observation.component')],
    ['objects of numbers', i => typed({ low: { value: i } }, 'Range')],
    ['quantities', i => typed({ value: i, code: 'mg', system: 'http://unitsofmeasure.org' }, 'Quantity')],
    ['numbers', i => typed(i / 7, 'decimal')],
    ['days', i => typed(new Date(i * 86_400_000).toISOString().slice(0, 10), 'date')],
    ['moments', i => typed(new Date(i * 1000).toISOString(), 'dateTime')],
  ]

  test.each(kinds)('%s', (_name, make) => {
    expect(new Set(many(1000, i => bucketOf(make(i), { budget: 1e6 }).key)).size).toBe(1000)
  })

  test.each([
    [
      'quantities in other units',
      [
        { value: 1, code: 'g' },
        { value: 1000, code: 'mg' },
      ],
      'Quantity',
    ],
    [
      'quantities of which doubles differ',
      [
        { value: 0.3, code: 'g' },
        { value: 300, code: 'mg' },
      ],
      'Quantity',
    ],
    ['moments in other zones', ['2020-01-01T12:00:00Z', '2020-01-01T13:00:00+01:00'], 'dateTime'],
    ['decimals of other precision', [{ low: { value: 1 } }, { low: { value: JSON.parse('1.0') } }], 'Range'],
  ])('%s are found to be equal all the same', (_name, [one, other], type) => {
    const withSystem = (value: unknown) =>
      type === 'Quantity' ? { ...(value as object), system: 'http://unitsofmeasure.org' } : value
    const seen = new Seen({ budget: 1e6 })
    expect(seen.add(typed(withSystem(one), type))).toBe(true)
    expect(seen.add(typed(withSystem(other), type))).toBe(false)
  })
})
