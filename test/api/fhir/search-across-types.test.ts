// The order and the pages of a search across types: each type is read along an index of its own, and the pages are those of all together.
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, pagesBy } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const walk = pagesBy(call)

interface Stored {
  readonly type: 'Condition' | 'Encounter' | 'Observation'
  readonly id: string
  readonly day: number | undefined
  readonly status: string | undefined
}

const types = ['Observation', 'Encounter', 'Condition'] as const

/** 45 resources of three types in turn, on days in another order, some on the same and some on none. */
const all: readonly Stored[] = Array.from({ length: 45 }, (_, index) => {
  const type = types[index % 7 < 3 ? 0 : index % 3]!
  return {
    ...{ type, id: `${'qwertyuiop'[index % 10]}${index}` },
    day: type === 'Encounter' || index % 8 !== 5 ? 1 + ((index * 11) % 23) : undefined,
    status:
      type === 'Condition' ? undefined : index % 4 === 0 ? 'cancelled' : type === 'Encounter' ? 'finished' : 'final',
  }
})

const resourceOf = ({ type, id, day, status }: Stored): object => {
  const date = day === undefined ? undefined : `2024-03-${String(day).padStart(2, '0')}`
  const rest = {
    Observation: { status, code: { text: 'x' }, effectiveDateTime: date },
    Encounter: { status, class: { code: 'AMB' }, period: { start: date, end: date } },
    Condition: { subject: { display: 'somebody' }, recordedDate: date },
  }
  return JSON.parse(JSON.stringify({ resourceType: type, id, ...rest[type] }))
}

/** When the second half of the resources was about to be stored. */
let middle: string

beforeAll(async () => {
  service = await startService()
  const store = async (part: readonly Stored[]): Promise<void> => {
    for (const each of part)
      expect((await call('PUT', `${each.type}/${each.id}`, { body: resourceOf(each) })).status).toBe(201)
  }
  await store(all.slice(0, 22))
  const { body } = await call('GET', '?_sort=-_lastUpdated&_count=1')
  await store(all.slice(22, 23))
  middle = body.entry[0].resource.meta.lastUpdated
  await store(all.slice(23))
  for (const type of types) {
    expect((await call('PUT', `${type}/gone`, { body: resourceOf({ ...all[0]!, type, id: 'gone' }) })).status).toBe(201)
    expect((await call('DELETE', `${type}/gone`)).status).toBe(204)
  }
})

const [observations, conditions] = ['Encounter,Observation', 'Condition,Encounter,Observation']
const place = ({ id }: Stored): number => all.findIndex(each => each.id === id)

/** Newest day first, those without one last, and of one day what was stored last. */
const byDay = (one: Stored, other: Stored): number => (other.day ?? 0) - (one.day ?? 0) || place(other) - place(one)
/** The first day first, those without one last. */
const byFirstDay = (one: Stored, other: Stored): number =>
  (one.day ?? 99) - (other.day ?? 99) || place(one) - place(other)
const byId = (one: Stored, other: Stored): number => (one.id < other.id ? -1 : 1)
const byChange = (one: Stored, other: Stored): number => place(one) - place(other)
const since = (each: Stored): boolean => place(each) >= 22

describe.each([2, 7, 100])('in pages of %d, forth and back,', count => {
  test.each<[query: string, order: typeof byDay, among: (each: Stored) => boolean]>([
    [`?_type=${conditions}`, byDay, () => true],
    [`?_type=${observations}&_sort=-date`, byDay, () => true],
    [`?_type=${observations}&_sort=-date&status=cancelled`, byDay, each => each.status === 'cancelled'],
    [`?_type=${observations}&_sort=date`, (one, other) => byFirstDay(one, other), () => true],
    [`?_type=${observations}&date=2024-03-12`, byDay, each => each.day === 12],
    [`?_type=${observations}&date=gt2024-03-15`, byDay, each => (each.day ?? 0) > 15],
    [`?_type=${observations}&date=ne2024-03-12`, byDay, each => each.day !== undefined && each.day !== 12],
    [`?_type=${observations}&date=2024-03-12,2024-03-20`, byDay, each => each.day === 12 || each.day === 20],
    [
      `?_type=${observations}&date=ge2024-03-05&date=le2024-03-15`,
      byDay,
      each => each.day !== undefined && each.day >= 5 && each.day <= 15,
    ],
    [`?_type=${observations}&date=lt2024-03-10`, byDay, each => each.day !== undefined && each.day < 10],
    [`?_type=${conditions}&_lastUpdated=gt{middle}`, byDay, since],
    [
      `?_type=${observations}&_lastUpdated=gt{middle}&status=cancelled`,
      byDay,
      each => since(each) && each.status === 'cancelled',
    ],
    [`?_type=${conditions}&_sort=_lastUpdated`, byChange, () => true],
    [`?_type=${conditions}&_sort=-_lastUpdated`, (one, other) => byChange(other, one), () => true],
    [
      `?_type=${observations}&_sort=-_lastUpdated&status=cancelled`,
      (one, other) => byChange(other, one),
      each => each.status === 'cancelled',
    ],
    [`?_type=${conditions}&_sort=_lastUpdated&_lastUpdated=gt{middle}`, byChange, since],
    [`?_type=${conditions}&_sort=_id`, byId, () => true],
    [`?_type=${conditions}&_sort=-_id`, (one, other) => byId(other, one), () => true],
    [`?_type=${observations}&_sort=_id&status=cancelled`, byId, each => each.status === 'cancelled'],
  ])('%s has all of the types, in order', async (query, order, among) => {
    const named = query.slice('?_type='.length).split('&')[0]!.split(',')
    const expected = all.filter(each => named.includes(each.type) && among(each)).sort(order)
    const { forth, back } = await walk(`${query.replace('{middle}', encodeURIComponent(middle))}&_count=${count}`)
    expect(forth).toEqual(expected.map(({ id }) => id))
    expect(back).toEqual(forth)
  })
})

test('without types it has all of them, by the last change or not', async () => {
  const ours = new Set(all.map(({ id }) => id))
  const found = async (query: string): Promise<string[]> => (await walk(query)).forth.filter(id => ours.has(id))
  expect(await found('?_count=50')).toEqual([...all].sort(byDay).map(({ id }) => id))
  expect(await found('?_sort=-_lastUpdated&_count=50')).toEqual(all.map(({ id }) => id).reverse())
  expect(await found(`?_lastUpdated=gt${encodeURIComponent(middle)}&_count=50`)).toEqual(
    all
      .filter(since)
      .sort(byDay)
      .map(({ id }) => id),
  )
})

describe('a parameter that types have each in its own way', () => {
  beforeAll(async () => {
    const payment = { status: 'active', payment: { display: 'x' }, recipient: { display: 'x' }, amount: { value: 1 } }
    const wrong = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification'
    const verificationStatus = { coding: [{ system: wrong, code: 'entered-in-error' }] }
    const stored = [
      { resourceType: 'PaymentNotice', id: 'c2', ...payment, created: '2024-02-02' },
      { resourceType: 'Media', id: 'c1', status: 'completed', content: { title: 'x' }, createdDateTime: '2024-02-01' },
      { resourceType: 'PaymentNotice', id: 'c4', ...payment, created: '2024-02-04' },
      { resourceType: 'Media', id: 'c3', status: 'completed', content: { title: 'x' }, createdDateTime: '2024-02-03' },
      { resourceType: 'Media', id: 'c0', status: 'completed', content: { title: 'x' } },
      { resourceType: 'Practitioner', id: 'n2', name: [{ family: 'Berg' }] },
      { resourceType: 'Patient', id: 'n1', name: [{ family: 'Adler' }] },
      { resourceType: 'Patient', id: 'n3', name: [{ family: 'Conti' }] },
      { resourceType: 'Practitioner', id: 'n4', name: [{ family: 'Dorn' }] },
      { resourceType: 'AllergyIntolerance', id: 'p2', verificationStatus, patient: { reference: 'Patient/n3' } },
      { resourceType: 'Condition', id: 'p1', subject: { reference: 'Patient/n1' } },
    ]
    for (const resource of stored)
      expect((await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })).status).toBe(201)
  })

  test.each([
    ['?_type=Media,PaymentNotice&created=lt2024-02-03', ['c1', 'c2']],
    ['?_type=Media,PaymentNotice&created=ge2024-02-02', ['c2', 'c3', 'c4']],
    ['?_type=PaymentNotice,Media&created=2024-02-01,2024-02-04', ['c1', 'c4']],
    ['?_type=Media,PaymentNotice&_filter=created lt 2024-02-03', ['c1', 'c2']],
  ])('%s finds those of each', async (query, expected) => {
    expect((await walk(query)).forth.sort()).toEqual(expected)
  })

  test.each([
    ['?_type=Media,PaymentNotice&_sort=created', ['c1', 'c2', 'c3', 'c4', 'c0']],
    ['?_type=PaymentNotice,Media&_sort=-created', ['c4', 'c3', 'c2', 'c1', 'c0']],
    ['?_type=Patient,Practitioner&_sort=family&family=a,b,c,d', ['n1', 'n2', 'n3', 'n4']],
    ['?_type=Practitioner,Patient&_sort=-family&family=a,b,c,d', ['n4', 'n3', 'n2', 'n1']],
    ['?_type=AllergyIntolerance,Condition&_sort=patient&patient=n1,n3', ['p1', 'p2']],
    ['?_type=Condition,AllergyIntolerance&_sort=-patient&patient=n1,n3', ['p2', 'p1']],
  ])('%s has them in one order', async (query, expected) => {
    const { forth, back } = await walk(`${query}&_count=2`)
    expect(forth).toEqual(expected)
    expect(back).toEqual(forth)
  })
})

test.each(['?_type=Slot,GraphDefinition&start=2024', '?_type=Goal,ActivityDefinition&description=x'])(
  '%s is refused, since the types mean different kinds of values by it',
  async query => {
    const { status, body } = await call('GET', query)
    expect(status).toBe(400)
    expect(body.issue[0].diagnostics).toContain(
      'is not one parameter of all searched types: name types with _type that have it for the same kind of values.',
    )
  },
)
