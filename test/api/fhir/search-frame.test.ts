// The frame of a search: what is asked for, how much of it comes, in which order. https://hl7.org/fhir/R4/search.html
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf, linkOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const strict = { prefer: 'handling=strict' }

const patients = [
  { id: 'a', name: [{ family: 'Berg' }], gender: 'female', birthDate: '1970-01-01' },
  { id: 'b', name: [{ family: 'Adler' }], gender: 'male', birthDate: '1980' },
  { id: 'c', name: [{ family: 'Berg' }], birthDate: '1970-01-01', active: true },
  { id: 'd', gender: 'male' },
  { id: 'e', name: [{ family: 'Çelik' }], birthDate: '1990-05' },
  { id: 'f', name: [{ family: 'Berg' }, { family: 'Zorn' }], gender: 'female' },
  { id: 'g', gender: 'female', birthDate: '1970-01-01' },
]

beforeAll(async () => {
  service = await startService()
  for (const each of patients) {
    const managingOrganization = { reference: 'Organization/org' }
    await call('PUT', `Patient/${each.id}`, { body: { resourceType: 'Patient', managingOrganization, ...each } })
  }
  await call('PUT', 'Organization/org', {
    body: { resourceType: 'Organization', id: 'org', name: 'O', partOf: { reference: 'Organization/top' } },
  })
  await call('PUT', 'Organization/top', {
    body: { resourceType: 'Organization', id: 'top', name: 'T', partOf: { reference: 'Organization/org' } },
  })
  for (const [id, subject] of Object.entries({ o1: 'a', o2: 'a', o3: 'b' })) {
    const code = { coding: [{ system: 'http://loinc.org', code: id }] }
    const body = {
      resourceType: 'Observation',
      id,
      status: 'final',
      code,
      subject: { reference: `Patient/${subject}` },
    }
    await call('PUT', `Observation/${id}`, { body })
  }
  await call('PUT', 'Provenance/pr', {
    body: {
      resourceType: 'Provenance',
      id: 'pr',
      target: [{ reference: 'Observation/o1' }],
      recorded: '2024-01-01T00:00:00Z',
      agent: [{ who: { reference: 'Organization/org' } }],
    },
  })
})

const get = (query: string, headers: Record<string, string> = {}) => call('GET', query, { headers })
const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

describe('a search', () => {
  test('answers a searchset whose matches have addresses and say that they match', async () => {
    const { status, body } = await get('Patient?_id=a')
    expect(status).toBe(200)
    expect(body).toMatchObject({ resourceType: 'Bundle', type: 'searchset' })
    expect(body.entry).toHaveLength(1)
    expect(body.entry[0]).toMatchObject({
      fullUrl: `${service.url}/api/fhir/R4/Patient/a`,
      resource: { resourceType: 'Patient', id: 'a' },
      search: { mode: 'match' },
    })
  })

  test('without matches has no entries', async () => {
    const { status, body } = await get('Patient?_id=nobody')
    expect(status).toBe(200)
    expect(body.entry).toBeUndefined()
  })

  test('by POST answers the same as by GET, in the same order', async () => {
    for (const query of ['family=berg&_sort=-_id', '_sort=birthdate&_count=3', 'gender=male,female&_total=accurate']) {
      const byGet = await get(`Patient?${query}`)
      const byPost = await call('POST', 'Patient/_search', { body: query, headers: form })
      expect(byPost.status).toBe(200)
      expect(matchIds(byPost.body)).toEqual(matchIds(byGet.body))
      expect(byPost.body.link).toEqual(byGet.body.link)
      expect(byPost.body.total).toBe(byGet.body.total)
    }
  })

  test('by POST takes parameters of the address and of the body together', async () => {
    const { body } = await call('POST', 'Patient/_search?family=berg', {
      body: 'gender=female&_sort=_id',
      headers: form,
    })
    expect(matchIds(body)).toEqual(['a', 'f'])
  })

  test('by POST may have no body at all', async () => {
    const { status, body } = await call('POST', 'Patient/_search?_id=a')
    expect([status, matchIds(body)]).toEqual([200, ['a']])
  })

  test('ands parameters that recur and ors values that are listed', async () => {
    expect(matchIds((await get('Patient?family=berg&family=zorn')).body)).toEqual(['f'])
    expect(matchIds((await get('Patient?family=adler,zorn&_sort=_id')).body)).toEqual(['b', 'f'])
  })

  test('finds an id once that is named twice', async () => {
    expect(matchIds((await get('Patient?_id=a,a,b&_sort=_id&_total=accurate')).body)).toEqual(['a', 'b'])
  })

  test('takes thousands of values by POST', async () => {
    const ids = Array.from({ length: 9_990 }, (_, n) => `x${n}`)
    const { status, body } = await call('POST', 'Patient/_search', {
      body: `_id=${[...ids, 'a', 'b'].join()}`,
      headers: form,
    })
    expect(status).toBe(200)
    expect(matchIds(body).sort()).toEqual(['a', 'b'])
  })

  test.each([
    'name=',
    '_id=',
    'birthdate=',
    'name=,',
    'birthdate=,,',
    'identifier=,',
    '_lastUpdated=,',
    '_sort=',
    '_include=',
  ])('ignores the empty parameter %s', async query => {
    const { status, body } = await get(`Patient?${query}&_sort=_id`)
    expect(status).toBe(200)
    expect(matchIds(body)).toEqual(all)
    expect(linkOf(body, 'self')).toBe(`${service.url}/api/fhir/R4/Patient?_sort=_id`)
  })
})

describe('links', () => {
  test('name what was applied, encoded', async () => {
    const { body } = await get('Patient?family=ber,çe&identifier=http://a|b&_count=5&shoe=42')
    const self = linkOf(body, 'self')!
    expect(self).not.toMatch(/[,|ç]|shoe/)
    expect([...new URL(self).searchParams]).toEqual([
      ['family', 'ber,çe'],
      ['identifier', 'http://a|b'],
      ['_count', '5'],
    ])
  })

  test('begin with the public address, where the service has one', async () => {
    const published = await startService({ BASE_URL: 'https://fhir.example.org' })
    const there = fhirCaller(() => published)
    const base = 'https://fhir.example.org/api/fhir/R4'
    const created = await there('POST', 'Patient', { body: { resourceType: 'Patient' } })
    expect(created.headers.get('location')).toBe(`${base}/Patient/${created.body.id}/_history/1`)
    await there('POST', 'Patient', { body: { resourceType: 'Patient' } })
    const { body } = await there('GET', 'Patient?_count=1')
    expect(body.entry[0].fullUrl).toContain(`${base}/Patient/`)
    for (const relation of ['self', 'first', 'next'])
      expect(linkOf(body, relation)).toContain(`${base}/Patient?_count=1`)
    const subject = { reference: `${base}/Patient/${created.body.id}` }
    await there('POST', 'Basic', { body: { resourceType: 'Basic', code: { text: 'x' }, subject } })
    expect(matchIds((await there('GET', `Basic?subject=${created.body.id}`)).body)).toHaveLength(1)
  })

  test('that is too long for the link to a second page is refused, unless one page has all', async () => {
    const ids = [...all, ...Array.from({ length: 700 }, (_, index) => `patient-of-long-ago-${index}`)].join(',')
    const post = (query: string) => call('POST', 'Patient/_search', { body: `_id=${ids}${query}`, headers: form })
    expect(matchIds((await post('')).body).sort()).toEqual(all)
    for (const query of ['&_count=2', '&_count=2&_sort=_id']) {
      const { status, body } = await post(query)
      expect([status, issueOf(body).code]).toEqual([400, 'too-long'])
      expect(issueOf(body).diagnostics).toContain('Search for fewer values at a time, or send a larger _count')
    }
  })

  test('of a search by POST lead to the same by GET', async () => {
    const { body } = await call('POST', 'Patient/_search', { body: '_sort=_id&_count=2', headers: form })
    const next = await get(linkOf(body, 'next')!)
    expect(matchIds(next.body)).toEqual(['c', 'd'])
  })
})

describe('an unknown parameter', () => {
  test('is left out with a warning that is never an error', async () => {
    const { status, body } = await get('Patient?shoe=42&_id=a')
    expect(status).toBe(200)
    expect(matchIds(body)).toEqual(['a'])
    const outcome = body.entry.find((entry: { search: { mode: string } }) => entry.search.mode === 'outcome').resource
    expect(outcome.issue).toHaveLength(1)
    expect(outcome.issue[0]).toMatchObject({ severity: 'warning', code: 'not-supported' })
    expect(outcome.issue[0].diagnostics).toContain('shoe')
    expect(linkOf(body, 'self')).not.toContain('shoe')
  })

  test('is refused where the caller prefers strict handling', async () => {
    const { status, body } = await get('Patient?shoe=42', strict)
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain('shoe')
    expect(issueOf(body).expression).toEqual(['shoe'])
  })

  test('is left out where the caller prefers lenient handling', async () => {
    expect((await get('Patient?shoe=42', { prefer: 'handling=lenient' })).status).toBe(200)
  })

  test.each(['__proto__=x', 'constructor=x', 'toString=x', ':x=1', '=1', '.=x', 'hasOwnProperty:exact=x'])(
    'such as %s is only unknown',
    async query => {
      const { status, body } = await get(`Patient?${query}&_sort=_id`)
      expect(status).toBe(200)
      expect(matchIds(body)).toEqual(all)
      expect(linkOf(body, 'self')).toBe(`${service.url}/api/fhir/R4/Patient?_sort=_id`)
      expect((await get(`Patient?${query}`, strict)).status).toBe(400)
    },
  )

  test('does not hide a preference that there is not', async () => {
    const { status, body } = await get('Patient?_id=a', { prefer: 'handling=whatever' })
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain('handling')
  })
})

describe('_count', () => {
  test('is never exceeded, by matches', async () => {
    for (const count of [1, 2, 6]) expect(matchIds((await get(`Patient?_count=${count}`)).body)).toHaveLength(count)
  })

  test('does not count what is included', async () => {
    const { body } = await get('Observation?_count=1&_sort=_id&_include=Observation:patient')
    expect(body.entry.map((entry: { resource: { id: string } }) => entry.resource.id)).toEqual(['o1', 'a'])
  })

  test('of 0 answers the number only', async () => {
    const { body } = await get('Patient?_count=0')
    expect(body.total).toBe(7)
    expect(body.entry).toBeUndefined()
    expect(linkOf(body, 'next')).toBeUndefined()
  })

  test.each(['5000', '99999999999999999999999'])('of %s is limited with a warning', async count => {
    const { status, body } = await get(`Patient?_count=${count}`)
    expect(status).toBe(200)
    expect(matchIds(body)).toHaveLength(7)
    expect(body.entry.at(-1).resource.issue[0].diagnostics).toContain('_count was limited to 1000')
  })

  test.each(['-1', '1.5', 'ten', '0x10', '1e3'])('of %s is refused', async count => {
    const { status, body } = await get(`Patient?_count=${count}`)
    expect(status).toBe(400)
    expect(issueOf(body).expression).toEqual(['_count'])
  })
})

describe('_total', () => {
  test.each(['accurate', 'estimate'])('%s counts the matches, not what is included', async total => {
    const { body } = await get(`Observation?_total=${total}&_count=1&_include=Observation:patient`)
    expect(body.total).toBe(3)
  })

  test('none, which is the default, counts nothing', async () => {
    expect((await get('Patient?_total=none')).body.total).toBeUndefined()
    expect((await get('Patient?_count=3')).body.total).toBeUndefined()
  })

  test('comes without being asked for where the page holds all matches', async () => {
    expect((await get('Patient')).body.total).toBe(7)
    expect((await get('Patient?_count=7')).body.total).toBe(7)
    expect((await get('Patient?family=nobody')).body.total).toBe(0)
    expect((await get('Observation?_include=Observation:patient')).body.total).toBe(3)
    const last = await get(linkOf((await get('Patient?_count=6')).body, 'next')!)
    expect([matchIds(last.body).length, last.body.total]).toEqual([1, undefined])
  })

  test('is the same on every page', async () => {
    const { body } = await get('Patient?_total=accurate&_count=3')
    expect((await get(linkOf(body, 'next')!)).body.total).toBe(7)
  })

  test('that there is not is refused', async () => {
    const { status, body } = await get('Patient?_total=some')
    expect([status, issueOf(body).expression]).toEqual([400, ['_total']])
  })
})

describe('pages', () => {
  const pagesOf = async (query: string): Promise<Answer[]> => {
    const pages = [await get(query)]
    for (let next = linkOf(pages[0]!.body, 'next'); next; next = linkOf(pages.at(-1)!.body, 'next'))
      pages.push(await get(next))
    return pages
  }

  test.each([
    'Patient?',
    'Patient?_sort=_id',
    'Patient?_sort=-_id',
    'Patient?_sort=birthdate',
    'Patient?_sort=-birthdate',
    'Patient?_sort=family',
    'Patient?_sort=-family',
    'Patient?_sort=family,-birthdate',
    'Patient?_sort=-gender,birthdate',
    'Patient?_sort=gender',
    'Patient?_sort=active',
    'Patient?_sort=_lastUpdated',
    'Patient?_sort=-_lastUpdated,family',
    'Patient?_sort=death-date',
    'Patient?_sort=organization,-_id',
    '?_type=Patient,Observation&_sort=-_lastUpdated',
    '?_type=Patient,Organization',
  ])('of %s are complete and unique, forward and back', async query => {
    const whole = matchIds((await get(`${query}&_count=1000`)).body)
    expect(new Set(whole).size).toBe(whole.length)
    for (const count of [1, 2, 3]) {
      const pages = await pagesOf(`${query}&_count=${count}`)
      expect(pages.flatMap(page => matchIds(page.body))).toEqual(whole)
      for (let at = pages.length - 1; at > 0; at--) {
        const back = await get(linkOf(pages[at]!.body, 'previous')!)
        expect(matchIds(back.body)).toEqual(matchIds(pages[at - 1]!.body))
      }
      expect(linkOf(pages[0]!.body, 'previous')).toBeUndefined()
      if (pages.length > 1)
        expect(matchIds((await get(linkOf(pages.at(-1)!.body, 'first')!)).body)).toEqual(whole.slice(0, count))
    }
  })

  test('stay whole while somebody writes between them', async () => {
    const write = (n: number) =>
      call('PUT', `Device/${n}`, { body: { resourceType: 'Device', id: String(n), lotNumber: String(n) } })
    for (let n = 0; n < 12; n++) await write(n)
    for (const query of ['Device?_count=2', 'Device?_count=5&_sort=_id', 'Device?_count=3&_sort=-_id']) {
      const seen: string[] = []
      let page = await get(query)
      for (let n = 100; ; n++) {
        seen.push(...matchIds(page.body))
        const next = linkOf(page.body, 'next')
        if (!next) break
        await write(n)
        page = await get(next)
      }
      const old = seen.filter(id => Number(id) < 12)
      expect(new Set(seen).size).toBe(seen.length)
      expect(old.map(Number).sort((x, y) => x - y)).toEqual(Array.from({ length: 12 }, (_, n) => n))
    }
  })

  test('are self-contained: each has what its own matches include', async () => {
    const pages = await pagesOf('Observation?_sort=_id&_count=1&_include=Observation:patient')
    const included = pages.map(page =>
      page.body.entry.slice(1).map((entry: { resource: { id: string } }) => entry.resource.id),
    )
    expect(included).toEqual([['a'], ['a'], ['b']])
  })

  const cursor = (...values: unknown[]) => `_cursor=${Buffer.from(JSON.stringify(values)).toString('base64url')}`

  test.each([
    '_cursor=nonsense',
    cursor(),
    cursor(1, 1),
    cursor(1, 1, null),
    cursor(1, 1, 5),
    cursor(1, 1, 'abc'),
    cursor(1, 1, '1e300'),
    cursor(1, 1, '99999999999999999999'),
    cursor(2, 1, '1'),
    cursor(1, 'x', '1'),
    cursor(1, 1e300, '1'),
    `_sort=_lastUpdated&${cursor(1, 1, 'abc')}`,
    `_sort=_lastUpdated&${cursor(1, 1, '2024-99-99 00:00:00+00')}`,
    `_sort=death-date&${cursor(1, 1, 'x')}`,
    `_sort=death-date&${cursor(1, 1, 'NaN')}`,
    `_sort=family&${cursor(1, 1, 'a\0')}`,
    `_sort=family,_id&${cursor(1, 1, 'a')}`,
  ])('refuse the forged link %s', async query => {
    const { status, body } = await get(`Patient?${query}`)
    expect(status).toBe(400)
    expect(issueOf(body).expression).toEqual(['_cursor'])
  })
})

describe('_sort', () => {
  const sorted = async (sort: string) => matchIds((await get(`Patient?_sort=${sort}`)).body)

  test.each([
    ['_id', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
    ['-_id', ['g', 'f', 'e', 'd', 'c', 'b', 'a']],
    ['family,_id', ['b', 'a', 'c', 'f', 'e', 'd', 'g']],
    ['-family,_id', ['f', 'e', 'a', 'c', 'b', 'd', 'g']],
    ['birthdate,_id', ['a', 'c', 'g', 'b', 'e', 'd', 'f']],
    ['-birthdate,_id', ['e', 'b', 'a', 'c', 'g', 'd', 'f']],
    ['gender,-_id', ['g', 'f', 'a', 'd', 'b', 'e', 'c']],
    ['_lastUpdated', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
  ])('by %s orders, with those last that have no value', async (sort, expected) => {
    expect(await sorted(sort)).toEqual(expected)
  })

  test('by what is not known is left out with a warning, or refused where that is preferred', async () => {
    const { status, body } = await get('Patient?_sort=shoe,_id')
    expect(status).toBe(200)
    expect(matchIds(body)).toEqual(all)
    expect(body.entry.at(-1).resource.issue[0].diagnostics).toContain('shoe')
    expect((await get('Patient?_sort=shoe', strict)).status).toBe(400)
  })

  test('by what has no order of its own is left out alike', async () => {
    const { status, body } = await get('Patient?_sort=phone,_id')
    expect([status, matchIds(body)]).toEqual([200, all])
    expect((await get('Patient?_sort=phone', strict)).status).toBe(400)
    expect((await get('Observation?_sort=code-value-quantity', strict)).status).toBe(400)
  })

  test('orders types together', async () => {
    const { body } = await get('?_type=Patient,Organization&_sort=_id&_count=1000')
    expect(matchIds(body)).toEqual([...all, 'org', 'top'])
  })
})

describe('_summary and _elements', () => {
  const tag = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }
  const keys = ({ body }: Answer) => Object.keys(body.entry[0].resource).sort()

  test('of count answers the number only', async () => {
    const { body } = await get('Patient?gender=male&_summary=count')
    expect(body.total).toBe(2)
    expect(body.entry).toBeUndefined()
  })

  test('of true keeps what belongs to the summary, and says so', async () => {
    const answer = await get('Observation?_id=o1&_summary=true')
    expect(keys(answer)).toEqual(['code', 'id', 'meta', 'resourceType', 'status', 'subject'])
    expect(answer.body.entry[0].resource.meta.tag).toEqual([tag])
  })

  test('of text keeps what is mandatory', async () => {
    expect(keys(await get('Observation?_id=o1&_summary=text'))).toEqual([
      'code',
      'id',
      'meta',
      'resourceType',
      'status',
    ])
  })

  test('of false keeps everything', async () => {
    expect((await get('Patient?_id=a&_summary=false')).body.entry[0].resource.meta.tag).toBeUndefined()
  })

  test('of elements keeps them and what is mandatory', async () => {
    const answer = await get('Observation?_id=o1&_elements=subject,__proto__,shoe')
    expect(keys(answer)).toEqual(['code', 'id', 'meta', 'resourceType', 'status', 'subject'])
    expect(answer.body.entry[0].resource.meta.tag).toEqual([tag])
  })

  test('that there is not is refused', async () => {
    const { status, body } = await get('Patient?_summary=short')
    expect([status, issueOf(body).expression]).toEqual([400, ['_summary']])
  })
})

describe('_include and _revinclude', () => {
  const included = async (query: string) => {
    const { status, body } = await get(query)
    expect(status).toBe(200)
    const entries: { resource: { resourceType: string; id: string }; search: { mode: string } }[] = body.entry ?? []
    return entries
      .filter(entry => entry.search.mode === 'include')
      .map(({ resource }) => `${resource.resourceType}/${resource.id}`)
      .sort()
  }

  test.each([
    ['what a match refers to', 'Observation?_id=o1&_include=Observation:patient', ['Patient/a']],
    ['it once for several matches', 'Observation?_include=Observation:subject', ['Patient/a', 'Patient/b']],
    ['it with the target type named', 'Observation?_id=o1&_include=Observation:subject:Patient', ['Patient/a']],
    ['nothing of another target type', 'Observation?_id=o1&_include=Observation:subject:Group', []],
    ['every reference', 'Provenance?_id=pr&_include=*', ['Observation/o1', 'Organization/org']],
    ['every reference of the type', 'Provenance?_id=pr&_include=Provenance:*', ['Observation/o1', 'Organization/org']],
    ['what refers to a match', 'Patient?_id=a&_revinclude=Observation:patient', ['Observation/o1', 'Observation/o2']],
    ['provenance', 'Observation?_id=o1&_revinclude=Provenance:target', ['Provenance/pr']],
    [
      'both ways at once',
      'Observation?_id=o1&_include=Observation:patient&_revinclude=Provenance:target',
      ['Patient/a', 'Provenance/pr'],
    ],
    [
      'nothing further without :iterate',
      'Observation?_id=o1&_include=Observation:patient&_include=Patient:organization',
      ['Patient/a'],
    ],
    [
      'further with :iterate',
      'Observation?_id=o1&_include=Observation:patient&_include:iterate=Patient:organization',
      ['Organization/org', 'Patient/a'],
    ],
    [
      'circles once',
      'Patient?_id=a&_include=Patient:organization&_include:iterate=Organization:partof',
      ['Organization/org', 'Organization/top'],
    ],
    [
      'backwards and further',
      'Patient?_id=a&_revinclude=Observation:patient&_revinclude:iterate=Provenance:target',
      ['Observation/o1', 'Observation/o2', 'Provenance/pr'],
    ],
  ])('bring %s', async (_what, query, expected) => {
    expect(await included(query)).toEqual(expected)
  })

  test('follow :iterate as deep as it leads', async () => {
    const depth = 9
    for (let index = depth; index >= 0; index--) {
      const partOf = index === depth ? {} : { partOf: { reference: `Location/deep${index + 1}` } }
      await call('PUT', `Location/deep${index}`, { body: { resourceType: 'Location', id: `deep${index}`, ...partOf } })
    }
    const found = await included('Location?_id=deep0&_include:iterate=Location:partof')
    expect(found).toEqual(Array.from({ length: depth }, (_, index) => `Location/deep${index + 1}`).sort())
  })

  test('do not repeat a match among what is included', async () => {
    expect(await included('Organization?_include=Organization:partof')).toEqual([])
  })

  test('do not bring what was deleted', async () => {
    await call('PUT', 'Patient/temp', { body: { resourceType: 'Patient', id: 'temp' } })
    const body = {
      resourceType: 'Observation',
      id: 'temp',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: 'Patient/temp' },
    }
    await call('PUT', 'Observation/temp', { body })
    expect(await included('Observation?_id=temp&_include=Observation:patient')).toEqual(['Patient/temp'])
    await call('DELETE', 'Patient/temp')
    expect(await included('Observation?_id=temp&_include=Observation:patient')).toEqual([])
    await call('DELETE', 'Observation/temp')
  })

  test.each([
    '_include=Patient',
    '_include=Observation',
    '_include:iterate=Patient',
    '_revinclude=Observation',
    '_include=Shoe:patient',
    '_include=Observation:shoe',
    '_include=Observation:code',
    '_include=Observation:subject:Shoe',
    '_include:sometimes=Observation:subject',
    '_include=__proto__:x',
    '_revinclude=Shoe:patient',
    '_revinclude=*',
  ])('that mean nothing are refused: %s', async query => {
    const { status, body } = await get(`Observation?${query}`)
    expect(status).toBe(400)
    expect(issueOf(body).expression).toEqual([query.split('=')[0]])
  })
})

describe('a search across types', () => {
  test('finds in the types that it names', async () => {
    expect(matchIds((await get('?_type=Patient,Organization&_id=a,org&_sort=_id')).body)).toEqual(['a', 'org'])
    expect(matchIds((await get('?_type=Organization&_id=a,org')).body)).toEqual(['org'])
  })

  test('finds in every type when it names none', async () => {
    expect(matchIds((await get('?_id=a,o1,org,pr&_sort=_id')).body)).toEqual(['a', 'o1', 'org', 'pr'])
  })

  test('takes any parameter of a single type', async () => {
    expect(matchIds((await get('?_type=Patient&family=adler')).body)).toEqual(['b'])
  })

  test('takes parameters that all its types have', async () => {
    const { body } = await get('?_type=Observation,Provenance&patient=Patient/a&_sort=_id')
    expect(matchIds(body)).toEqual(['o1', 'o2'])
  })

  test.each(['?_type=Patient,Observation&family=x', '?family=x', '?_type=Patient,Observation&family:exact=x'])(
    'refuses a parameter that only some types have: %s',
    async query => {
      const { status, body } = await get(query)
      expect(status).toBe(400)
      expect(issueOf(body).diagnostics).toContain('family')
    },
  )

  test('by POST answers the same', async () => {
    const { body } = await call('POST', '_search', { body: '_type=Patient&family=adler', headers: form })
    expect(matchIds(body)).toEqual(['b'])
  })

  test('refuses a type that there is not', async () => {
    const { status, body } = await get('?_type=Patient,Shoe')
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain('Shoe')
  })
})
