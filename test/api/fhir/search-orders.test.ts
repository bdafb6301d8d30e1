// Orders of search results that are walked along an index: by magnitudes, by ids, and by codes of which R4 gives all. Each resource comes once, at its
// lowest value or, in descending order, at its highest one; what has none comes last, either way.
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, linkOf, pagesBy } from '../../support/fhir.ts'
import { bundleOf } from '../../support/parties.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const walk = pagesBy(call)

/** The values of the components: none, one, several, one twice in different units, and equal ones of several resources. */
const values: readonly (readonly number[])[] = [
  ...[[5], [], [3, 9], [7, 7], [2], [], [12, 1], [5], [8], [10.5, 10.5, 4], [6], [], [11], [-3], [0.25]],
]
const id = (index: number): string => `${'zyxwvutsrqponml'[index]}${index}`

beforeAll(async () => {
  service = await startService()
  const observations = values.map((components, index) => ({
    ...{ resourceType: 'Observation', id: id(index), status: index % 4 === 0 ? 'amended' : 'final' },
    code: { coding: [{ system: 'http://loinc.org', code: 'panel' }] },
    component: components.map((value, part) => ({
      ...{ code: { text: 'part' }, valueQuantity: { value, unit: ['mg', 'g', 'kg'][part] } },
    })),
  }))
  await storeTogether(observations)
  for (const gone of ['a-deleted', 'n-deleted', 'zz-deleted']) {
    const resource = { resourceType: 'Observation', id: gone, status: 'final', code: { text: 'gone' } }
    expect((await call('PUT', `Observation/${gone}`, { body: resource })).status).toBe(201)
    expect((await call('DELETE', `Observation/${gone}`)).status).toBe(204)
  }
})

/** Stores resources under ids of their own, all at one time. */
async function storeTogether(resources: readonly { readonly resourceType: string; readonly id: string }[]) {
  const entry = resources.map(resource => ({
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    resource,
  }))
  const body = withoutEmpty(bundleOf('transaction', ...entry))
  expect((await call('POST', '', { body })).status).toBe(200)
}

/** FHIR has no empty arrays. */
const withoutEmpty = (body: object): object =>
  JSON.parse(JSON.stringify(body, (_key, value) => (Array.isArray(value) && value.length === 0 ? undefined : value)))

/** Indexes of the observations by their lowest or highest value, those without one last; equal ones in the order in which they were stored. */
function expected(descending: boolean, among: (index: number) => boolean): string[] {
  const all = values.map((_values, index) => index).filter(among)
  const place = (index: number): number =>
    values[index]!.length === 0 ? Infinity : descending ? -Math.max(...values[index]!) : Math.min(...values[index]!)
  const tie = (one: number, other: number): number => (descending ? other - one : one - other)
  return all.sort((one, other) => Math.sign(place(one) - place(other)) || tie(one, other)).map(id)
}

const isAmended = (index: number): boolean => index % 4 === 0

describe.each([2, 4, 100])('in pages of %d, forth and back,', count => {
  test.each([
    ['the lowest values first', 'component-value-quantity', false],
    ['the highest values first', '-component-value-quantity', true],
  ])('%s', async (_what, sort, descending) => {
    const { forth, back } = await walk(`Observation?_sort=${sort}&_count=${count}`)
    expect(forth).toEqual(expected(descending, () => true))
    expect(back).toEqual(forth)
    const amended = await walk(`Observation?status=amended&_sort=${sort}&_count=${count}`)
    expect(amended.forth).toEqual(expected(descending, isAmended))
    expect(amended.back).toEqual(amended.forth)
  })

  test.each(['_id', '-_id'])('by %s, without what was deleted', async sort => {
    const inOrder = (ids: string[]): string[] => (sort === '_id' ? ids.sort() : ids.sort().reverse())
    const { forth, back } = await walk(`Observation?_sort=${sort}&_count=${count}`)
    expect(forth).toEqual(inOrder(values.map((_values, index) => id(index))))
    expect(back).toEqual(forth)
    const amended = await walk(`Observation?status=amended&_sort=${sort}&_count=${count}`)
    expect(amended.forth).toEqual(
      inOrder(values.map((_values, index) => id(index)).filter((_, index) => isAmended(index))),
    )
    expect(amended.back).toEqual(amended.forth)
  })
})

/** Appointments by status, most of them booked; schedules by whether they are in use, which some do not say. */
const appointments = Array.from({ length: 40 }, (_, index) => ({
  id: `appointment${(index * 7) % 40}`,
  status: index % 13 === 5 ? 'cancelled' : index === 11 ? 'arrived' : index % 17 === 3 ? 'entered-in-error' : 'booked',
  start: `2026-0${1 + ((index * 5) % 9)}-1${index % 7}T08:00:00Z`,
}))
const schedules = Array.from({ length: 12 }, (_, index) => ({
  id: `schedule${index}`,
  ...(index % 4 !== 1 && { active: index % 3 === 0 }),
}))

describe('by a code,', () => {
  beforeAll(async () => {
    const resources = [
      ...schedules.map(each => ({ resourceType: 'Schedule', ...each, actor: [{ display: 'Desk' }] })),
      ...appointments.map(each => ({
        ...{
          resourceType: 'Appointment',
          ...each,
          end: each.start,
          participant: [{ actor: { display: 'Desk' }, status: 'accepted' }],
        },
        serviceType: [{ coding: [{ code: Number(each.id.slice(11)) % 2 ? 'odd' : 'even' }] }],
      })),
    ]
    await storeTogether(resources)
  })

  const inOrder = (sign: number, among = appointments): string[] =>
    among
      .toSorted(
        (one, other) =>
          sign * (one.status < other.status ? -1 : one.status > other.status ? 1 : 0) ||
          Date.parse(other.start) - Date.parse(one.start) ||
          appointments.indexOf(other) - appointments.indexOf(one),
      )
      .map(each => each.id)

  test.each(['status', 'status,-date'])('%s: the newest first of each status, in pages of any size', async sort => {
    for (const count of [1, 2, 3, 7, 100]) {
      const { forth, back } = await walk(`Appointment?_sort=${sort}&_count=${count}`)
      expect(forth).toEqual(inOrder(1))
      expect(back).toEqual(forth)
    }
  })

  test('the last status first, the newest first of each', async () => {
    for (const count of [1, 2, 3, 7, 100]) {
      const { forth, back } = await walk(`Appointment?_sort=-status&_count=${count}`)
      expect(forth).toEqual(inOrder(-1))
      expect(back).toEqual(forth)
    }
  })

  test('beside another criterion', async () => {
    const odd = appointments.filter(each => Number(each.id.slice(11)) % 2)
    for (const count of [1, 2, 3]) {
      const { forth, back } = await walk(`Appointment?service-type=odd&_sort=-status&_count=${count}`)
      expect(forth).toEqual(inOrder(-1, odd))
      expect(back).toEqual(forth)
    }
  })

  test.each([
    ['active', ['false', 'true', undefined]],
    ['-active', ['true', 'false', undefined]],
  ])('%s: what has none comes last', async (sort, groups) => {
    const expected = groups.flatMap(active =>
      schedules
        .filter(each => each.active?.toString() === active)
        .map(each => each.id)
        .reverse(),
    )
    for (const count of [1, 2, 3]) {
      const { forth, back } = await walk(`Schedule?_sort=${sort}&_count=${count}`)
      expect(forth).toEqual(expected)
      expect(back).toEqual(forth)
    }
  })

  test('a page link of another order is refused', async () => {
    const { body } = await call('GET', 'Appointment?_sort=date&_count=2')
    const cursor = new URL(linkOf(body, 'next')!).searchParams.get('_cursor')
    const refused = await call('GET', `Appointment?_sort=status&_count=2&_cursor=${cursor}`)
    expect(refused.status).toBe(400)
    const forged = Buffer.from(JSON.stringify([1, 5, 'no-such-status', '0'])).toString('base64url')
    expect((await call('GET', `Appointment?_sort=status&_count=2&_cursor=${forged}`)).status).toBe(200)
  })
})

/** People of few names and birthdays; some have none. */
const people = Array.from({ length: 30 }, (_, index) => ({
  id: `person${(index * 11) % 30}`,
  family: ['Bah', 'Diallo', 'Sow', undefined][(index * 7) % 4],
  given: ['Ada', 'Ben', undefined][index % 3],
  birthDate: ['1990-01-01', '1985-05-05', undefined, '2001-02-03'][(index * 5) % 4],
  gender: ['female', 'male'][index % 2],
}))

describe('by several keys,', () => {
  beforeAll(async () => {
    // All of a transaction change at one time; the last ten follow in one of their own.
    for (const some of [people.slice(0, 20), people.slice(20)]) {
      const patients = some.map(({ id, family, given, ...others }) => ({
        ...{ resourceType: 'Patient', id, ...others },
        ...((family ?? given) && { name: [{ family, ...(given && { given: [given] }) }] }),
      }))
      await storeTogether(patients)
    }
  })

  type Person = (typeof people)[number]
  const keys: Readonly<Record<string, (person: Person) => string | number | undefined>> = {
    family: person => person.family,
    given: person => person.given,
    birthdate: person => person.birthDate,
    gender: person => person.gender,
    _id: person => person.id,
    _lastUpdated: person => (people.indexOf(person) < 20 ? 1 : 2),
  }

  /** Where the sort decides; equals may come in any order. */
  function expectOrder(ids: readonly string[], sort: string): void {
    const place = (id: string) => people.find(each => each.id === id)!
    for (const [one, other] of ids.slice(1).map((id, at) => [place(ids[at]!), place(id)] as const)) {
      const compared = sort.split(',').map(key => {
        const [a, b] = [one, other].map(keys[key.replace('-', '')]!)
        if (a === b) return 0
        if (a === undefined || b === undefined) return a === undefined ? 1 : -1
        return (a < b ? -1 : 1) * (key.startsWith('-') ? -1 : 1)
      })
      expect([sort, one.id, other.id, compared.find(each => each !== 0) ?? 0]).not.toContain(1)
    }
  }

  test.each([
    'family,given',
    '-family,given',
    'family,-birthdate,_id',
    'birthdate,family',
    '-birthdate,gender,given',
    'gender,family,given',
    'given,gender',
    '_lastUpdated,_id',
    '-_lastUpdated,_id',
    '-_lastUpdated,family,-given',
    '_id,family',
  ])('%s: each once, in pages of any size, forth and back', async sort => {
    for (const count of [1, 4, 7, 100]) {
      const { forth, back } = await walk(`Patient?_sort=${sort}&_count=${count}`)
      expect(forth.toSorted()).toEqual(people.map(({ id }) => id).sort())
      expectOrder(forth, sort)
      expect(back).toEqual(forth)
      const women = await walk(`Patient?gender=female&_sort=${sort}&_count=${count}`)
      expect(women.forth).toEqual(forth.filter(id => people.find(each => each.id === id)!.gender === 'female'))
      expect(women.back).toEqual(women.forth)
    }
  })
})
