// What happened to a resource, a type, or everything. https://hl7.org/fhir/R4/http.html#history
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf, linkOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const times: string[] = []

beforeAll(async () => {
  service = await startService()
  for (let n = 1; n <= 3; n++) {
    const body = { resourceType: 'Patient', id: 'ada', multipleBirthInteger: n }
    times.push((await call('PUT', 'Patient/ada', { body })).body.meta.lastUpdated)
  }
  await call('DELETE', 'Patient/ada')
  await call('PUT', 'Patient/ada', { body: { resourceType: 'Patient', id: 'ada' } })
  await call('POST', 'Device', { body: { resourceType: 'Device' } })
  const entry = Array.from({ length: 25 }, () => ({
    request: { method: 'POST', url: 'Basic' },
    resource: { resourceType: 'Basic', code: { text: 'x' } },
  }))
  await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
})

interface Entry {
  fullUrl: string
  resource?: { id: string; meta: { versionId: string } }
  request: { method: string; url: string }
  response: { status: string; etag: string; lastModified: string }
}

const entries = (answer: Answer): Entry[] => answer.body.entry ?? []
const names = (answer: Answer) => entries(answer).map(({ fullUrl, response }) => `${fullUrl} ${response.etag}`)

describe('the history of a resource', () => {
  test('tells every version, newest first, deletions included', async () => {
    const answer = await call('GET', 'Patient/ada/_history')
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ resourceType: 'Bundle', type: 'history' })
    expect(
      entries(answer).map(({ request, response }) => [request.method, request.url, response.status, response.etag]),
    ).toEqual([
      ['PUT', 'Patient/ada', '200 OK', 'W/"5"'],
      ['DELETE', 'Patient/ada', '204 No Content', 'W/"4"'],
      ['PUT', 'Patient/ada', '200 OK', 'W/"3"'],
      ['PUT', 'Patient/ada', '200 OK', 'W/"2"'],
      ['PUT', 'Patient/ada', '201 Created', 'W/"1"'],
    ])
    expect(entries(answer).map(entry => entry.resource?.meta.versionId)).toEqual(['5', undefined, '3', '2', '1'])
    expect(new Set(entries(answer).map(entry => entry.fullUrl))).toEqual(
      new Set([`${service.url}/api/fhir/R4/Patient/ada`]),
    )
  })

  test('of a creation by POST says so', async () => {
    const created = await call('POST', 'Patient', { body: { resourceType: 'Patient' } })
    const [entry] = entries(await call('GET', `Patient/${created.body.id}/_history`))
    expect(entry).toMatchObject({ request: { method: 'POST', url: 'Patient' }, response: { status: '201 Created' } })
  })

  test('of what never was answers 404', async () => {
    const { status, body } = await call('GET', 'Patient/nobody/_history')
    expect([status, issueOf(body).code]).toEqual([404, 'not-found'])
  })

  test('of what is deleted is still told', async () => {
    await call('PUT', 'Patient/gone', { body: { resourceType: 'Patient', id: 'gone' } })
    await call('DELETE', 'Patient/gone')
    expect(entries(await call('GET', 'Patient/gone/_history'))).toHaveLength(2)
  })

  test('tells how many versions there are, on each page', async () => {
    expect((await call('GET', 'Patient/ada/_history')).body.total).toBe(5)
    const first = await call('GET', 'Patient/ada/_history?_count=2')
    const next = await call('GET', linkOf(first.body, 'next')!)
    expect([first.body.total, next.body.total]).toEqual([5, 5])
    expect((await call('GET', `Patient/ada/_history?_since=${times[1]}`)).body.total).toBe(4)
    expect((await call('GET', 'Device/_history')).body.total).toBe(1)
    expect((await call('GET', 'Account/_history')).body.total).toBe(0)
    expect((await call('GET', '_history?_count=1')).body.total).toBeUndefined()
  })

  test('since a moment leaves out what was before', async () => {
    const answer = await call('GET', `Patient/ada/_history?_since=${times[1]}`)
    expect(entries(answer).map(entry => entry.response.etag)).toEqual(['W/"5"', 'W/"4"', 'W/"3"', 'W/"2"'])
  })

  test('at a moment tells the version that was current then', async () => {
    const answer = await call('GET', `Patient/ada/_history?_at=${times[1]}`)
    expect(entries(answer).map(entry => entry.response.etag)).toContain('W/"2"')
    expect(entries(answer).map(entry => entry.response.etag)).not.toContain('W/"4"')
  })

  test('has times that grow with the versions', async () => {
    const found = entries(await call('GET', 'Patient/ada/_history')).map(entry => entry.response.lastModified)
    expect(found).toEqual([...found].sort().reverse())
    expect(new Set(found).size).toBe(found.length)
  })
})

describe('the history of a type', () => {
  test('tells of that type only', async () => {
    const urls = entries(await call('GET', 'Device/_history')).map(entry => entry.fullUrl)
    expect(urls).toHaveLength(1)
    expect(urls[0]).toContain('/Device/')
  })

  test('that has none is an empty bundle', async () => {
    const { status, body } = await call('GET', 'Account/_history')
    expect(status).toBe(200)
    expect(body.entry).toBeUndefined()
  })

  test('of an unknown type answers 404', async () => {
    expect((await call('GET', 'Nonsense/_history')).status).toBe(404)
  })
})

describe('the history of everything', () => {
  test('tells of all types', async () => {
    const types = new Set(
      entries(await call('GET', '_history?_count=1000')).map(entry => entry.fullUrl.split('/').at(-2)),
    )
    expect(types).toEqual(new Set(['Patient', 'Device', 'Basic']))
  })

  test.each(['_history', 'Basic/_history', 'Patient/ada/_history'])(
    '%s comes in pages that are complete and unique, forward and back',
    async path => {
      const all = names(await call('GET', `${path}?_count=1000`))
      for (const count of [1, 2, 7]) {
        const pages: string[][] = []
        let page = await call('GET', `${path}?_count=${count}`)
        for (;;) {
          pages.push(names(page))
          const next = linkOf(page.body, 'next')
          if (!next) break
          page = await call('GET', next)
          expect(linkOf(page.body, 'self')).toBe(next)
        }
        expect(pages.flat()).toEqual(all)
        expect(pages.every(each => each.length <= count)).toBe(true)
        for (let at = pages.length - 2; at >= 0; at--) {
          page = await call('GET', linkOf(page.body, 'previous')!)
          expect(names(page)).toEqual(pages[at])
        }
        expect(linkOf(page.body, 'previous')).toBeUndefined()
      }
    },
  )

  test('stays whole while somebody writes between the pages', async () => {
    const all = names(await call('GET', 'Basic/_history?_count=1000'))
    let page = await call('GET', 'Basic/_history?_count=4')
    const seen = names(page)
    while (linkOf(page.body, 'next')) {
      await call('POST', 'Basic', { body: { resourceType: 'Basic', code: { text: 'late' } } })
      page = await call('GET', linkOf(page.body, 'next')!)
      seen.push(...names(page))
    }
    expect(seen).toEqual(all)
  })
})

/** Of versions, newest first, those that were current at a moment: of each resource the last one made until then. */
function currentAt(all: readonly Entry[], moment: string): Entry[] {
  const met = new Set<string>()
  return all.filter(({ fullUrl, response }) => {
    if (response.lastModified > moment || met.has(fullUrl)) return false
    return met.add(fullUrl)
  })
}

describe('a history at a moment', () => {
  test.each(['_history', 'Patient/_history', 'Basic/_history', 'Patient/ada/_history'])(
    '%s has the versions that were current then, deletions included, on complete pages, forward and back',
    async path => {
      const all = entries(await call('GET', `${path}?_count=1000`))
      const moments = [...new Set(all.map(({ response }) => response.lastModified))]
      expect(moments.length).toBeGreaterThan(0)
      for (const moment of ['2001-01-01', ...moments, '2999-01-01T00:00:00Z']) {
        const expected = currentAt(all, moment).map(({ fullUrl, response }) => `${fullUrl} ${response.etag}`)
        expect(names(await call('GET', `${path}?_at=${moment}&_count=1000`))).toEqual(expected)
        const pages: string[][] = []
        let page = await call('GET', `${path}?_at=${moment}&_count=3`)
        for (;;) {
          pages.push(names(page))
          const next = linkOf(page.body, 'next')
          if (!next) break
          page = await call('GET', next)
        }
        expect(pages.flat()).toEqual(expected)
        for (let at = pages.length - 2; at >= 0; at--) {
          page = await call('GET', linkOf(page.body, 'previous')!)
          expect(names(page)).toEqual(pages[at])
        }
      }
    },
  )

  test('of some length has every version that was current at some time of it', async () => {
    const year = times[0]!.slice(0, 4)
    const found = names(await call('GET', `_history?_at=${year}&_count=1000`))
    expect(found).toEqual(names(await call('GET', '_history?_count=1000')))
  })
})

describe('a history is refused with 400', () => {
  const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test.each([
    '_count=-1',
    '_count=many',
    '_since=yesterday',
    '_since=2024-02-30',
    '_since=-9999',
    '_since=0000',
    '_at=soon',
    '_cursor=nonsense',
    `_cursor=${cursor([])}`,
    `_cursor=${cursor(['a', 9e15, 1, 'x', 1])}`,
    `_cursor=${cursor(['a', 1, 1, 'x\0', 1])}`,
    `_cursor=${cursor(['a', 1, 1, 'x', 1e12])}`,
    `_cursor=${cursor(['c', 1, 1, 'x', 1])}`,
  ])('for %s', async query => {
    for (const path of ['_history', 'Patient/_history', 'Patient/ada/_history']) {
      const { status, body } = await call('GET', `${path}?${query}`)
      expect(status).toBe(400)
      expect(body.resourceType).toBe('OperationOutcome')
    }
  })

  test('but a huge _count is only limited', async () => {
    expect((await call('GET', '_history?_count=99999999999999999999')).status).toBe(200)
  })

  test('and _count=0 answers no entries', async () => {
    expect((await call('GET', '_history?_count=0')).body.entry).toBeUndefined()
  })
})
