// FHIR resources in the portal: search, JSON, versions and everything about a patient, as far as the user may see them.
import { beforeAll, describe, expect, test } from 'vitest'
import { consentOf } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'

let service: Service
let developer: PortalUser
let officer: PortalUser
let administrator: PortalUser
const call = fhirCaller(() => service)
const hostile = '<img src=x onerror=alert(1)>'

const observation = (id: string, patient: string, day: string, more: object = {}) => ({
  ...{ resourceType: 'Observation', id, status: 'final', effectiveDateTime: day },
  code: { text: `haemoglobin ${hostile}`, coding: [{ system: 'http://loinc.org', code: '718-7' }] },
  subject: { reference: `Patient/${patient}` },
  ...more,
})

beforeAll(async () => {
  service = await startService()
  const purposed = (code: string) => ({
    purpose: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason', code }],
  })
  await creatorBy(call)(
    { resourceType: 'Organization', id: 'hospital-a', name: `Hospital ${hostile}` },
    ...['open', 'treated', 'closed'].map(id => ({
      resourceType: 'Patient',
      id,
      name: [{ family: id, given: ['Rose'] }],
    })),
    observation('of-open', 'open', '2026-03-14'),
    observation('of-treated', 'treated', '2026-03-14'),
    observation('of-closed', 'closed', '2026-03-14'),
    consentOf('by-open', 'open', 'hospital-a'),
    consentOf('by-treated', 'treated', 'hospital-a', purposed('TREAT')),
    consentOf('by-closed', 'closed', 'hospital-b'),
  )
  developer = await portalUser(service, ['developer'])
  officer = await portalUser(service, ['privacy_officer', 'informaticist'])
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
})

const linked = (text: string): string[] => [
  ...new Set([...text.matchAll(/<th scope="row"><a href="\/portal\/resources\/([^"]+)"/g)].map(([, path]) => path!)),
]
const rowsFor = async (headers: Headers) => rowsOf(await databaseOf(service), headers.get('x-request-id')!)

describe('what a user may see', () => {
  test('is about no patient, or open by a consent to the organisation for its operations; administrators see all', async () => {
    const seen = async (user: PortalUser) => linked((await user.get('/portal/resources/Observation?q=')).text).sort()
    for (const user of [developer, officer]) expect(await seen(user)).toEqual(['Observation/of-open'])
    expect(await seen(administrator)).toEqual(['of-closed', 'of-open', 'of-treated'].map(id => `Observation/${id}`))
    const other = await portalUser(service, ['privacy_officer'], 'hospital-b')
    expect(await seen(other)).toEqual(['Observation/of-closed'])
    expect(linked((await developer.get('/portal/resources/Organization?q=')).text)).toContain('Organization/hospital-a')
  })

  test.each(['', '/history', '?version=1'])('decides each page of a resource as the FHIR API does: %s', async rest => {
    const status = async (id: string, user = developer) => (await user.get(`/portal/resources/${id}${rest}`)).status
    expect(await status('Observation/of-open')).toBe(200)
    for (const id of ['of-treated', 'of-closed']) {
      const token = await service.application.identity.tokens.mint(
        { clientId: 'app', organizationId: 'hospital-c', consentExempt: false },
        ['system/Observation.rs'],
      )
      const path = rest === '/history' ? `Observation/${id}/_history` : `Observation/${id}`
      const api = await call('GET', path, { token })
      expect([await status(`Observation/${id}`), api.status]).toEqual([403, 403])
      expect(await status(`Observation/${id}`, administrator)).toBe(200)
    }
    expect(await status('Observation/none', administrator)).toBe(404)
    expect(await status('Nothing/none', administrator)).toBe(404)
  })

  test('and everything about a patient alike', async () => {
    const path = (id: string) => `/portal/resources/Patient/${id}/everything`
    expect((await developer.get(path('closed'))).status).toBe(403)
    expect((await developer.get(path('none'))).status).toBe(404)
    expect((await developer.get(path('open'))).text).toContain('/portal/resources/Observation/of-open')
    expect((await administrator.get(path('closed'))).text).toContain('/portal/resources/Observation/of-closed')
  })

  test('leaves out the audit trail, which has its own page, and questions of the service to its officers', async () => {
    for (const path of ['AuditEvent', 'AuditEvent?q=', 'AuditEvent/1-1', 'AuditEvent/1-1/history'])
      expect((await administrator.get(`/portal/resources/${path}`)).status).toBe(403)
    const emergency = { 'x-emergency-access': 'true', 'x-emergency-reason': 'unconscious on arrival' }
    const token = await service.application.identity.tokens.mint(
      { clientId: 'ward-app', organizationId: 'hospital-a', consentExempt: false },
      ['system/*.rs', 'emergency:access'],
    )
    expect((await call('GET', 'Patient/closed', { token, headers: emergency })).status).toBe(200)
    expect(linked((await officer.get('/portal/resources/Task?q=')).text)).toEqual([])
    expect(linked((await administrator.get('/portal/resources/Task?q=')).text)).toHaveLength(1)
  })

  test('is on record with the user, search, read, versions and everything alike', async () => {
    for (const [path, interaction, query] of [
      ['Observation?status=final', 'search-type', 'Observation?status=final&_count=25'],
      ['Observation/of-open', 'read', ''],
      ['Observation/of-open?version=1', 'vread', ''],
      ['Observation/of-open/history', 'history-instance', ''],
      ['Patient/open/everything', 'operation', 'Patient/open/$everything'],
    ] as const) {
      const { status, headers } = await developer.get(`/portal/resources/${path}`)
      expect(status).toBe(200)
      expect(await rowsFor(headers)).toMatchObject([
        { interaction, query, client_id: expect.stringMatching(/^user\/usr_/), patients: ['open'], outcome: 0 },
      ])
    }
    const refused = await developer.get('/portal/resources/Observation/of-closed')
    expect(await rowsFor(refused.headers)).toMatchObject([{ interaction: 'read', outcome: 4, resources: 0 }])
  })
})

describe('a search', () => {
  test('takes fields and a free line, which may be a whole address, and shows them again', async () => {
    const found = async (query: string) => {
      const { status, text } = await administrator.get(`/portal/resources/Observation?${query}`)
      expect(status).toBe(200)
      return { ids: linked(text).sort(), text }
    }
    expect((await found('subject=Patient/closed')).ids).toEqual(['Observation/of-closed'])
    const line = new URLSearchParams({ q: 'Observation?subject:Patient.name=open&_include=Observation:subject' })
    const { ids, text } = await found(`code=718-7&status=&${line}`)
    expect(ids).toEqual(['Observation/of-open', 'Patient/open'])
    expect(text).toContain('Included beside the matches')
    expect(text).toContain('value="subject:Patient.name=open&amp;_include=Observation:subject"')
    expect(text).toMatch(/name="code"[^>]*value="718-7"/)
    expect((await found('q=_summary%3Dcount')).text).toContain('3 in all')
  })

  test('that makes no sense says why', async () => {
    for (const query of ['nonsense=1', 'date=yesterday', '_cursor=x', 'q=_sort%3Dnothing']) {
      const { status, text } = await developer.get(`/portal/resources/Observation?${query}`)
      expect([query, status, text.includes('role="alert"')]).toEqual([query, 400, true])
    }
  })

  test('comes in pages that keep what was asked for, each match once', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({
      ...{ resourceType: 'Basic', id: `page-${index}`, code: { text: 'x' } },
      identifier: [{ value: 'paged' }],
    }))
    const entry = many.map(resource => ({ resource, request: { method: 'PUT', url: `Basic/${resource.id}` } }))
    expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
    const ids: string[] = []
    const sizes: number[] = []
    for (let next: string | undefined = '/portal/resources/Basic?identifier=paged&q=_count%3D1000'; next; ) {
      const { text } = await administrator.get(next)
      sizes.push(linked(text).length)
      ids.push(...linked(text))
      next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(sizes).toEqual([60])
    let next: string | undefined = '/portal/resources/Basic?identifier=paged'
    for (ids.length = sizes.length = 0; next; ) {
      const { text } = await administrator.get(next)
      sizes.push(linked(text).length)
      ids.push(...linked(text))
      next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect([sizes, new Set(ids).size]).toEqual([[25, 25, 10], 60])
  })

  test('shows texts that are markup as texts, in what was found and in what was asked for', async () => {
    for (const path of [
      'Observation?q=',
      `Observation?code:text=${encodeURIComponent(hostile)}`,
      'Observation/of-open',
      'Organization?q=',
      'Observation/of-open/history',
      'Patient/open/everything',
    ]) {
      const { text } = await developer.get(`/portal/resources/${path}`)
      expect([path, text.includes('<img')]).toEqual([path, false])
    }
    expect((await developer.get('/portal/resources/Organization?q=')).text).toContain('&lt;img')
  })
})

describe('a resource', () => {
  test('is shown as JSON with its digits as written, and references lead to what they name', async () => {
    const value =
      '{"resourceType":"Observation","id":"precise","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.50}'
    const more = `,"subject":{"reference":"Patient/open/_history/1"},"performer":[{"reference":"${service.url}/api/fhir/R4/Organization/hospital-a"}],"focus":[{"reference":"https://elsewhere.example/Patient/1"}]}`
    expect(
      (
        await call('PUT', 'Observation/precise', {
          body: `${value}${more}`,
          headers: { 'content-type': 'application/fhir+json' },
        })
      ).status,
    ).toBe(201)
    const { text } = await administrator.get('/portal/resources/Observation/precise')
    expect(text).toContain('&quot;value&quot;: 1.50')
    expect(text).toContain('"<a href="/portal/resources/Patient/open?version=1">Patient/open/_history/1</a>"')
    expect(text).toContain('<a href="/portal/resources/Organization/hospital-a">')
    expect(text).toContain('"https://elsewhere.example/Patient/1"')
  })

  test('with a very long text is cut, and says so', async () => {
    await creatorBy(call)({
      resourceType: 'Binary',
      id: 'long',
      contentType: 'text/plain',
      data: 'QUJD'.repeat(10_000),
    })
    const { text } = await administrator.get('/portal/resources/Binary/long')
    expect(text).toContain('… 36,000 more characters')
    expect(text.length).toBeLessThan(12_000)
  })

  test('has versions that say what each changed, also over a deletion, page by page', async () => {
    const flag = (text: string, more: object = {}) => ({
      body: {
        resourceType: 'Flag',
        id: 'often',
        status: 'active',
        code: { text },
        subject: { reference: 'Patient/open' },
        ...more,
      },
    })
    for (let times = 0; times < 22; times++) await call('PUT', 'Flag/often', flag(`falls ${times}`))
    await call('PUT', 'Flag/often', flag(hostile, { period: { start: '2026-01-01' } }))
    await call('DELETE', 'Flag/often')
    await call('PUT', 'Flag/often', flag('back'))
    const first = await developer.get('/portal/resources/Flag/often/history')
    const items = first.text
      .split('<ol class="timeline">')[1]!
      .split('</ol>')[0]!
      .split(/<li>(?=<a href="\/portal|<strong)/)
      .slice(1)
    expect(items).toHaveLength(20)
    const words = items.map(each => each.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '))
    expect(words[0]).toContain('the first after a deletion')
    expect(words[1]).toContain('Deleted')
    expect(words[2]).toContain('2 places changed')
    expect(words[2]).toContain('code.text : &quot;falls 21&quot; → &quot;&lt;img src=x onerror=alert(1)&gt;&quot;')
    expect(words[2]).toContain('period : nothing → {&quot;start&quot;:&quot;2026-01-01&quot;}')
    expect(words[19]).toContain('code.text')
    const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!
    const second = await developer.get(next)
    expect(second.text).toContain('The first version')
    expect([...second.text.matchAll(/\?version=(\d+)"/g)].map(([, nth]) => Number(nth))).toEqual([5, 4, 3, 2, 1])
    expect((await developer.get('/portal/resources/Flag/often/history?after=x')).status).toBe(400)
    expect((await developer.get('/portal/resources/Flag/often?version=3')).text).toContain('falls 2')
    expect((await developer.get('/portal/resources/Flag/often?version=24')).status).toBe(410)
  })
})

describe('everything about a patient', () => {
  test('stands day by day, the newest first, by type, and by one type if asked', async () => {
    await creatorBy(call)(
      { resourceType: 'Patient', id: 'busy' },
      consentOf('by-busy', 'busy', 'hospital-a'),
      observation('busy-1', 'busy', '2026-03-14T08:00:00Z'),
      observation('busy-2', 'busy', '2026-03-15'),
      observation('busy-3', 'busy', '2026-03-14T09:00:00Z'),
      {
        ...{ resourceType: 'Condition', id: 'busy-4', recordedDate: '2026-03-14' },
        subject: { reference: 'Patient/busy' },
      },
    )
    const { text } = await developer.get('/portal/resources/Patient/busy/everything')
    const order = [
      ...text.matchAll(
        /<h2>(?:<time datetime="([^"]+)">|([^<]+))|<h3>(\w+)|<li><a href="\/portal\/resources\/\w+\/(busy-\d)"/g,
      ),
    ]
    const words = order.map(([, day, undated, type, id]) => day ?? undated ?? type ?? id)
    expect(words.slice(0, 8)).toEqual([
      '2026-03-15',
      'Observation',
      'busy-2',
      '2026-03-14',
      'Condition',
      'busy-4',
      'Observation',
      'busy-1',
    ])
    expect(words[8]).toBe('busy-3')
    expect(words).toContain('Without a date')
    const one = await developer.get('/portal/resources/Patient/busy/everything?type=Condition')
    expect([one.text.includes('busy-4'), one.text.includes('busy-1')]).toEqual([true, false])
  })

  test('is bounded and comes in pages', async () => {
    await creatorBy(call)({ resourceType: 'Patient', id: 'long' }, consentOf('by-long', 'long', 'hospital-a'))
    const entry = Array.from({ length: 520 }, (_, index) => {
      const resource = observation(`long-${index}`, 'long', `20${10 + (index % 16)}-01-01`)
      return { resource, request: { method: 'PUT', url: `Observation/${resource.id}` } }
    })
    expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
    const { text } = await developer.get('/portal/resources/Patient/long/everything')
    expect(text).toContain('There are more than 500: choose a type.')
    expect([...text.matchAll(/\/Observation\/long-/g)]).toHaveLength(100)
    const next = /rel="next" href="([^"]+)"/.exec(text)![1]!
    expect([...(await developer.get(next)).text.matchAll(/\/Observation\/long-/g)].length).toBeGreaterThan(90)
  })
})
