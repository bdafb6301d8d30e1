// Searches from a date on, whose newest matches come first and may be few: they must find just what any other search would, in its order,
// also what began long before and lasts.
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

/** Dates of every kind: moments, days, months, years, and periods, with both ends and with one. */
const dates: readonly object[] = [
  ...['2024-02-28', '2024-02-29', '2024-03', '2024', '2023', '2025-01-01', '2026'].map(effectiveDateTime => ({
    effectiveDateTime,
  })),
  ...Array.from({ length: 20 }, (_, index) => ({
    effectiveDateTime: `2024-0${1 + (index % 6)}-10T0${index % 10}:30:00Z`,
  })),
  ...[
    { start: '2024-02-28T22:00:00Z', end: '2024-02-29T05:00:00Z' },
    { start: '2024-02-20', end: '2024-03-02' },
    { start: '2010-01-01', end: '2024-05-01' },
    { start: '2012-06-01', end: '2031-01-01' },
    { start: '2011-01-01' },
    { start: '2024-02-01' },
    { start: '2024-04-10T00:00:00Z' },
    { end: '2024-04-01' },
    { end: '2019-04-01' },
  ].map(effectivePeriod => ({ effectivePeriod })),
  {},
]

beforeAll(async () => {
  service = await startService()
  const resources = [0, 1, 2].flatMap(round =>
    dates.map((date, index) => ({
      ...{ resourceType: 'Observation', id: `o${round}-${index}`, ...date },
      status: index % 3 === round ? 'preliminary' : 'final',
      code: { coding: [{ system: 'http://loinc.org', code: index % 2 === 0 ? 'pulse' : 'weight' }] },
    })),
  )
  const entry = resources.map(resource => ({ request: { method: 'PUT', url: `Observation/${resource.id}` }, resource }))
  expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
})

const idsOf = ({ entry = [] }: { entry?: readonly { resource: { id: string } }[] }): string[] =>
  entry.map(each => each.resource.id)
const search = async (query: string) => (await call('GET', `Observation?${query}`)).body

/** The same search in a form that looks at everything: of another date, too, after which there is nothing. */
const otherwise = (query: string): string => query.replace(/date=([^&]+)/, 'date=$1,sa9998')

const moments = ['2024-02-29', '2024-03', '2024', '2024-04-10T00:30:00Z', '2011-01-01', '2030', '2031-01-02', '1990']
const queries = moments.flatMap(moment =>
  ['gt', 'ge', 'ap', 'lt', 'le', 'sa', 'eb', 'eq', 'ne'].map(prefix => `date=${prefix}${moment}`),
)

describe('a search by a date finds what it finds otherwise', () => {
  test.each([
    ...['', 'code=pulse&', 'code=pulse,weight&', 'status=final&', 'code=pulse&status=preliminary&'],
    ...['_sort=date&', 'status=final&_sort=date&'],
  ])('beside %j', async beside => {
    for (const query of queries) {
      const found = idsOf(await search(`${beside}${query}&_count=500`))
      expect([query, found]).toEqual([query, idsOf(await search(otherwise(`${beside}${query}&_count=500`)))])
      const { total } = await search(`${beside}${query}&_summary=count`)
      expect([query, total]).toEqual([query, found.length])
    }
  })

  test('and between two dates', async () => {
    for (const from of moments) {
      const query = `date=ge${from}&date=lt2024-05-02&_count=500`
      expect([from, idsOf(await search(query))]).toEqual([from, idsOf(await search(otherwise(query)))])
    }
  })

  test('forward and back, page by page, where it ends with what lasts', async () => {
    for (const query of [
      ...['date=gt2024-05', 'code=pulse&date=ge2024-03-01', 'status=final&date=gt2024-04-10'],
      ...['_sort=date', 'status=final&_sort=date', 'date=gt2024-02&_sort=date', 'date=lt2024-03-01&_sort=date'],
    ]) {
      const all = idsOf(await search(`${otherwise(query)}&code:not=none&_count=500`))
      const pages: string[][] = []
      let page = await search(`${query}&_count=4`)
      const linked = (relation: string) => page.link.find((link: { relation: string }) => link.relation === relation)
      for (;;) {
        pages.push(idsOf(page))
        if (!linked('next')) break
        page = (await call('GET', linked('next').url)).body
      }
      expect([query, pages.flat()]).toEqual([query, all])
      expect(pages.length).toBeGreaterThan(3)
      for (let at = pages.length - 2; at >= 0; at--) {
        page = (await call('GET', linked('previous').url)).body
        expect([query, at, idsOf(page)]).toEqual([query, at, pages[at]])
      }
    }
  })
})
