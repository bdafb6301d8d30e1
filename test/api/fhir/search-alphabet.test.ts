// Results in alphabetical order, where they are too many to be ordered all at once. https://hl7.org/fhir/R4/search.html#sort
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, linkOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

interface Person {
  readonly id: string
  readonly families: readonly string[]
  readonly gender: string
}

const letter = (number: number): string => String.fromCharCode(97 + (number % 26))
// Of 1,150 people every fifth has two family names, the second before or after the first; 30 have none; names recur, in
// other cases and accents too.
const people: readonly Person[] = Array.from({ length: 1150 }, (_, number) => {
  const family = letter(number * 7) + letter(number * 3) + letter(number)
  const families = number % 5 === 0 ? [family, `${letter(number * 11)}é`, family.toUpperCase()] : [family]
  return { id: `p${number}`, families: number < 30 ? [] : families, gender: number % 2 ? 'male' : 'female' }
})

beforeAll(async () => {
  service = await startService()
  const entry = people.map(({ id, families, gender }) => ({
    resource: {
      resourceType: 'Patient',
      id,
      gender,
      name: [...families.map(family => ({ family })), { given: ['Ada'] }],
    },
    request: { method: 'PUT', url: `Patient/${id}` },
  }))
  for (let from = 0; from < entry.length; from += 575) {
    const body = { resourceType: 'Bundle', type: 'transaction', entry: entry.slice(from, from + 575) }
    const { status, text } = await call('POST', '', { body })
    expect(status, text).toBe(200)
  }
})

const folded = (family: string): string => family.toLowerCase().replace('é', 'e')

/** The first family name of each, or the last in descending order; who has none comes last either way. */
function expected(descending: boolean, among: readonly Person[]): (string | undefined)[] {
  const named = among.filter(({ families }) => families.length > 0)
  const firsts = named
    .map(
      ({ families }) =>
        families
          .map(folded)
          .sort()
          .at(descending ? -1 : 0)!,
    )
    .sort()
  return [...(descending ? firsts.reverse() : firsts), ...Array(among.length - named.length).fill(undefined)]
}

const byId = new Map(people.map(person => [person.id, person]))

/** Every page, from link to link. */
async function pages(url: string, relation: string): Promise<string[][]> {
  const found: string[][] = []
  for (let next: string | undefined = url; next; ) {
    const { status, text, body } = await call('GET', next)
    expect(status, text).toBe(200)
    found.push(matchIds(body))
    next = linkOf(body, relation)
  }
  return found
}

const names = (ids: readonly string[], descending: boolean): (string | undefined)[] =>
  ids.map(id =>
    byId
      .get(id)!
      .families.map(folded)
      .sort()
      .at(descending ? -1 : 0),
  )

describe.each([
  ['family', false, people],
  ['-family', true, people],
] as const)('a search with _sort=%s', (sort, descending, among) => {
  test('pages through everybody once, in order, forth and back', async () => {
    const forth = await pages(`Patient?_sort=${sort}&_count=250`, 'next')
    expect(new Set(forth.flat()).size).toBe(among.length)
    expect(names(forth.flat(), descending)).toEqual(expected(descending, among))
    let last = await call('GET', `Patient?_sort=${sort}&_count=250`)
    for (let next = linkOf(last.body, 'next'); next; next = linkOf(last.body, 'next')) last = await call('GET', next)
    const back = await pages(linkOf(last.body, 'self')!, 'previous')
    expect(back.reverse()).toEqual(forth)
  })

  test('does so with many matches of a criterion, and with few', async () => {
    const [many, few] = [
      await pages(`Patient?name:contains=a&_sort=${sort}&_count=400`, 'next'),
      await pages(`Patient?gender=male&_sort=${sort}&_count=400`, 'next'),
    ]
    expect(names(many.flat(), descending)).toEqual(expected(descending, people))
    const men = people.filter(({ gender }) => gender === 'male')
    expect(names(few.flat(), descending)).toEqual(expected(descending, men))
  })
})
