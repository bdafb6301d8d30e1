// The newest of a code, or of a few: walked along an index of its own, it must find just what any other search would.
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const loinc = 'http://loinc.org'

beforeAll(async () => {
  service = await startService()
  const entry = Array.from({ length: 60 }, (_, index) => ({
    request: { method: 'PUT', url: `Observation/o${index}` },
    resource: observation(index),
  }))
  expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
})

/**
 * Every second one is a pulse, every third one of another system's code of the same name, every fifth has no date, every
 * seventh has both codes.
 */
function observation(index: number) {
  const system = index % 3 === 0 ? 'http://other' : loinc
  const codes = index % 7 === 0 ? ['pulse', 'weight'] : [index % 2 === 0 ? 'pulse' : 'weight']
  const coding = codes.map(code => ({ system, code }))
  const time = index % 5 === 0 ? {} : { effectiveDateTime: `2024-01-${String((index % 28) + 1).padStart(2, '0')}` }
  return {
    resourceType: 'Observation',
    id: `o${index}`,
    status: index % 4 === 0 ? 'preliminary' : 'final',
    code: { coding },
    ...time,
  }
}

const ids = async (query: string): Promise<string[]> =>
  ((await call('GET', `Observation?${query}`)).body.entry ?? []).map(
    (each: { resource: { id: string } }) => each.resource.id,
  )

/** The same search in a form that is never walked: more values than are, which nothing has. */
const many = Array.from({ length: 30 }, (_, index) => `no-such-code-${index}`).join()
const otherwise = (query: string): string => query.replace(/code=([^&]+)/, `code=$1,${many}`)

describe('a search for the newest of a code', () => {
  for (const query of [
    'code=pulse&_count=100',
    'code=pulse&_sort=-date&_count=7',
    `code=${loinc}|pulse&_sort=-date&_count=100`,
    'code=pulse&status=final&_sort=-date&_count=100',
    'code=weight&date=lt2024-01-15&_sort=-date&_count=100',
    'code=weight&date=ge2024-01-10&date=le2024-01-20&_sort=-date&_count=100',
    'code=weight&date=2024-01-12&_count=100',
    'code=pulse&date=ne2024-01-12&_count=100',
    'code=pulse,weight&_sort=-date&_count=100',
    'code=pulse,weight,pulse&_count=9',
    `code=pulse,${loinc}|weight&status=final&_sort=-date&_count=100`,
    `code=${loinc}|pulse,${loinc}|weight&date=lt2024-01-15&_sort=-date&_count=8`,
  ]) {
    test(`finds what the search finds otherwise: ${query}`, async () => {
      const found = await ids(query)
      expect(found.length).toBeGreaterThan(0)
      expect(found).toEqual(await ids(otherwise(query)))
    })
  }

  test('asked for by a filter is the same', async () => {
    const filter = encodeURIComponent('code eq pulse or code eq weight')
    expect(await ids(`_filter=${filter}&_count=100`)).toEqual(await ids('code=pulse,weight&_count=100'))
  })

  test.each(['pulse', 'pulse,weight'])(
    'goes forward and back page by page without losing or repeating any: %s',
    async codes => {
      const all = await ids(`code=${codes}&_sort=-date&_count=100`)
      const seen: string[] = []
      let page = (await call('GET', `Observation?code=${codes}&_sort=-date&_count=7`)).body
      for (;;) {
        seen.push(...page.entry.map((each: { resource: { id: string } }) => each.resource.id))
        const next = page.link.find((link: { relation: string }) => link.relation === 'next')
        if (!next) break
        page = (await call('GET', next.url)).body
      }
      expect(seen).toEqual(all)
      const previous = page.link.find((link: { relation: string }) => link.relation === 'previous')
      const before = (await call('GET', previous.url)).body.entry.map(
        (each: { resource: { id: string } }) => each.resource.id,
      )
      const last = Math.floor((all.length - 1) / 7) * 7
      expect(before).toEqual(all.slice(last - 7, last))
    },
  )

  test('follows an update of the code, of the date, and a deletion', async () => {
    const created = await call('POST', 'Observation', {
      body: { ...observation(1), id: undefined, code: { coding: [{ code: 'once' }] } },
    })
    const { id } = created.body
    expect(await ids('code=once')).toEqual([id])
    await call('PUT', `Observation/${id}`, { body: { ...created.body, code: { coding: [{ code: 'twice' }] } } })
    expect([await ids('code=once'), await ids('code=twice')]).toEqual([[], [id]])
    await call('PUT', `Observation/${id}`, {
      body: { ...created.body, code: { coding: [{ code: 'twice' }] }, effectiveDateTime: '2020' },
    })
    expect([await ids('code=twice&date=2024'), await ids('code=twice&date=2020')]).toEqual([[], [id]])
    await call('DELETE', `Observation/${id}`)
    expect(await ids('code=twice')).toEqual([])
    const [left] = await service.application.database.query<{ count: number }>({
      text: 'select count(*) as count from coded c left join search s using (shard, key) where s.key is null',
      values: [],
    })
    expect(left?.count).toBe(0)
  })
})
