// Included resources that are more than a page holds: they go on over `next`. https://hl7.org/fhir/R4/search.html#include
import { beforeAll, describe, expect, test } from 'vitest'
import { demoClient } from '../../../src/identity/demo-accounts.ts'
import { type Answer, fhirCaller, issueOf, linkOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

/** Most included resources of a page of this service. */
const most = 3

let service: Service
const call = fhirCaller(() => service)
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const reference = (to: string) => ({ reference: to })

const patient = (id: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  birthDate: `1990-01-0${id}`,
  ...more,
})
const observation = (id: string, of: string, more: object = {}) => ({
  ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, subject: reference(`Patient/${of}`) },
  ...more,
})
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** Patients by the number of their observations: the second brings more than a page holds, and so does the fourth. */
const counts: Readonly<Record<string, number>> = { '1': 2, '2': 7, '3': 1, '4': 4, '5': 0, '6': 3, '7': 1 }
const ownOf = (id: string): string[] => numbers(counts[id]!).map(index => `Observation/o${id}-${index}`)

async function store(resources: readonly { resourceType: string; id: string }[]): Promise<void> {
  const entry = resources.map(resource => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  }))
  const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(status, text).toBe(200)
}

beforeAll(async () => {
  service = await startService({ MAX_INCLUDED: String(most) })
  const ids = Object.keys(counts)
  await store([
    ...ids.map(id => patient(id)),
    ...ids.flatMap(id => numbers(counts[id]!).map(index => observation(`o${id}-${index}`, id))),
  ])
})

interface Page {
  readonly matches: string[]
  readonly included: string[]
}

type Entry = { resource: { resourceType: string; id: string }; search: { mode: string } }

function pageOf(body: Answer['body']): Page {
  const named = (mode: string): string[] =>
    ((body.entry ?? []) as Entry[])
      .filter(entry => entry.search.mode === mode)
      .map(({ resource }) => `${resource.resourceType}/${resource.id}`)
  expect(named('outcome')).toEqual([])
  return { matches: named('match'), included: named('include') }
}

/** Every page, from the first on by `next`, each checked for what it may hold. */
async function walk(first: Answer, token = service.token): Promise<Page[]> {
  const pages: Page[] = []
  for (let answer = first; ; ) {
    expect(answer.status, answer.text).toBe(200)
    const page = pageOf(answer.body)
    expect(page.included.length).toBeLessThanOrEqual(most)
    expect(new Set(page.included).size).toBe(page.included.length)
    pages.push(page)
    expect(pages.length).toBeLessThan(100)
    const next = linkOf(answer.body, 'next')
    if (next === undefined) return pages
    expect(next.length).toBeLessThan(1000)
    answer = await call('GET', next, { token })
  }
}

const matchesOf = (pages: readonly Page[]): string[] => pages.flatMap(page => page.matches)
const includedOf = (pages: readonly Page[]): string[] => pages.flatMap(page => page.included)

describe('a search whose includes are too many for its pages', () => {
  const query = 'Patient?_sort=birthdate&_revinclude=Observation:subject'
  const ids = Object.keys(counts)

  test.each([1, 2, 3, 20])('tells every match once and everything included, in pages of %i', async count => {
    const pages = await walk(await call('GET', `${query}&_count=${count}`))
    expect(matchesOf(pages)).toEqual(ids.map(id => `Patient/${id}`))
    expect(includedOf(pages).sort()).toEqual(ids.flatMap(ownOf).sort())
  })

  test('puts what is included beside its match, or on the pages after it that have no match', async () => {
    const pages = await walk(await call('GET', query))
    expect(pages.map(({ matches, included }) => [matches.join(), included.length])).toEqual([
      ['Patient/1', 2],
      ['Patient/2', 3],
      ['', 3],
      ['', 1],
      ['Patient/3', 1],
      ['Patient/4', 3],
      ['', 1],
      ['Patient/5,Patient/6', 3],
      ['Patient/7', 1],
    ])
  })

  test('does so when it is asked by POST', async () => {
    const body = query.slice('Patient?'.length)
    const pages = await walk(await call('POST', 'Patient/_search', { body, headers: form }))
    expect([matchesOf(pages).length, includedOf(pages).sort()]).toEqual([7, ids.flatMap(ownOf).sort()])
  })

  test('goes back the same way: a page that is cut leaves out what is furthest, and links lead to the rest', async () => {
    const last = (await call('GET', `${query}&_count=20`)).body
    let answer = await call('GET', linkOf(last, 'first')!)
    const forward: string[] = []
    for (let next = linkOf(answer.body, 'next'); next; next = linkOf(answer.body, 'next'))
      answer = await call('GET', next)
    for (;;) {
      const page = pageOf(answer.body)
      forward.unshift(...page.matches)
      const previous = linkOf(answer.body, 'previous')
      if (previous === undefined) break
      answer = await call('GET', previous)
      expect(pageOf(answer.body).included.length).toBeLessThanOrEqual(most)
    }
    expect(forward).toEqual(ids.map(id => `Patient/${id}`))
    const second = await call('GET', query)
    const onlyTwo = await call('GET', linkOf(second.body, 'next')!)
    const back = await call('GET', linkOf(onlyTwo.body, 'previous')!)
    expect(pageOf(back.body)).toEqual(pageOf(second.body))
  })

  test('tells the number of matches as if it were whole', async () => {
    expect((await call('GET', query)).body.total).toBe(7)
    const first = await call('GET', `${query}&_total=accurate&_count=2`)
    const next = await call('GET', linkOf(first.body, 'next')!)
    expect([first.body.total, next.body.total]).toEqual([7, 7])
  })

  test('finds within a compartment', async () => {
    await store([
      {
        resourceType: 'Encounter',
        id: 'e',
        status: 'finished',
        class: { code: 'AMB' },
        subject: reference('Patient/3'),
      } as never,
      ...numbers(5).map(index => observation(`e${index}`, '5', { encounter: reference('Encounter/e') })),
    ])
    const pages = await walk(await call('GET', 'Patient/3/Encounter?_revinclude=Observation:encounter'))
    expect([matchesOf(pages), includedOf(pages).length]).toEqual([['Encounter/e'], 5])
    for (const index of numbers(5)) await call('DELETE', `Observation/e${index}`)
  })

  test('includes for each type of a search across types', async () => {
    const pages = await walk(await call('GET', '?_type=Patient,Observation&_id=1,o2-0,o3-0&_include=*'))
    expect(matchesOf(pages).sort()).toEqual(['Observation/o2-0', 'Observation/o3-0', 'Patient/1'])
    expect(includedOf(pages).sort()).toEqual(['Patient/2', 'Patient/3'])
  })
})

describe('includes that lead on', () => {
  const location = (index: number, of?: number) => ({
    ...{ resourceType: 'Location', id: `l${index}` },
    ...(of === undefined ? {} : { partOf: reference(`Location/l${of}`) }),
  })

  test('are followed to the end, however deep that is', async () => {
    await store([...numbers(12).map(index => location(index, index + 1)), location(12)])
    const pages = await walk(await call('GET', 'Location?_id=l0&_include:iterate=Location:partof'))
    expect(matchesOf(pages)).toEqual(['Location/l0'])
    expect(includedOf(pages).sort()).toEqual(
      numbers(12)
        .map(index => `Location/l${index + 1}`)
        .sort(),
    )
  })

  test('end in a circle, and bring nothing twice', async () => {
    await call('PUT', 'Location/l12', { body: location(12, 3) })
    const pages = await walk(await call('GET', 'Location?_id=l3&_revinclude:iterate=Location:partof'))
    expect(matchesOf(pages)).toEqual(['Location/l3'])
    expect(includedOf(pages).sort()).toEqual(
      ['l0', 'l1', 'l2', ...numbers(9).map(index => `l${index + 4}`)].map(id => `Location/${id}`).sort(),
    )
  })

  test('go several ways at once, and only those with :iterate further than one step', async () => {
    const trace = (id: string, target: string) => ({
      ...{ resourceType: 'Provenance', id, target: [reference(target)], recorded: '2026-01-01T00:00:00Z' },
      agent: [{ who: { display: 'lab' } }],
    })
    await store([
      trace('direct', 'Patient/4'),
      ...numbers(4).map(index => trace(`p${index}`, `Observation/o4-${index}`)),
    ])
    const ask = async (query: string) => includedOf(await walk(await call('GET', `Patient?_id=4&${query}`))).sort()
    const provenances = numbers(4).map(index => `Provenance/p${index}`)
    expect(await ask('_revinclude=Observation:subject&_revinclude=Provenance:target')).toEqual([
      ...ownOf('4'),
      'Provenance/direct',
    ])
    expect(await ask('_revinclude=Observation:subject&_revinclude:iterate=Provenance:target')).toEqual([
      ...ownOf('4'),
      'Provenance/direct',
      ...provenances,
    ])
  })

  test('are refused where they lead to more than can be told, and nothing else is', async () => {
    const body = patient('9')
    await store([body, ...numbers(301).map(index => observation(`w${index}`, '9'))])
    const { status, body: outcome } = await call('GET', 'Patient?_id=9&_revinclude:iterate=Observation:subject')
    expect([status, issueOf(outcome).code]).toEqual([400, 'too-costly'])
    expect(issueOf(outcome).diagnostics).toContain('more than 300 resources')
    const first = await call('GET', 'Patient?_id=9&_revinclude=Observation:subject')
    expect([first.status, pageOf(first.body).included.length, linkOf(first.body, 'next')]).toEqual([
      200,
      3,
      expect.anything(),
    ])
  })

  test('are refused where they lead further than 200 steps, each of which is a statement', async () => {
    const wider = await startService({ MAX_INCLUDED: '20' })
    const ask = fhirCaller(() => wider)
    const chain = [...numbers(201).map(index => location(index, index + 1)), location(201)]
    const entry = chain.map(resource => ({ resource, request: { method: 'PUT', url: `Location/${resource.id}` } }))
    await ask('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    const query = (id: string): string => `Location?_id=${id}&_include:iterate=Location:partof`
    const { status, body: outcome } = await ask('GET', query('l0'))
    expect([status, issueOf(outcome).code]).toEqual([400, 'too-costly'])
    expect(issueOf(outcome).diagnostics).toContain('further than 200 steps')
    expect((await ask('GET', query('l2'))).status).toBe(200)
  })
})

describe('the link to the rest of what a match includes', () => {
  const rest = async (query = 'Patient?_id=2&_revinclude=Observation:subject', token = service.token) =>
    linkOf((await call('GET', query, { token })).body, 'next')!

  const changed = (url: string, change: (parts: unknown[]) => unknown[]): string => {
    const address = new URL(url)
    const parts = JSON.parse(Buffer.from(address.searchParams.get('_cursor')!, 'base64url').toString())
    address.searchParams.set('_cursor', Buffer.from(JSON.stringify(change(parts))).toString('base64url'))
    return address.href
  }

  test('leads to nothing of a resource that is no match of the search', async () => {
    const own = await rest()
    const other = await rest('Patient?_id=4&_revinclude=Observation:subject')
    const key = JSON.parse(Buffer.from(new URL(other).searchParams.get('_cursor')!, 'base64url').toString())[1]
    const { status, body } = await call(
      'GET',
      changed(own, ([kind, , within, ...values]) => [kind, key, within, ...values]),
    )
    expect([status, pageOf(body).included.filter(id => id.includes('o4'))]).toEqual([200, []])
  })

  test.each<[what: string, change: (parts: unknown[]) => unknown[]]>([
    ['a place that is no number', ([kind, key, , ...values]) => [kind, key, 'x', ...values]],
    ['no place', ([kind, key, , ...values]) => [kind, key, ...values]],
    ['another kind', ([, ...more]) => [3, ...more]],
    ['one value more', parts => [...parts, 'x']],
  ])('with %s is refused', async (_what, change) => {
    expect((await call('GET', changed(await rest(), change))).status).toBe(400)
  })

  test('goes on with the next match once its own is gone', async () => {
    await store([patient('8'), ...numbers(4).map(index => observation(`o8-${index}`, '8'))])
    const first = await call('GET', 'Patient?_sort=-birthdate&_id=7,8&_revinclude=Observation:subject')
    expect(pageOf(first.body).matches).toEqual(['Patient/8'])
    await call('DELETE', 'Patient/8')
    const next = await call('GET', linkOf(first.body, 'next')!)
    expect(pageOf(next.body)).toEqual({ matches: ['Patient/7'], included: ['Observation/o7-0'] })
  })

  test('shows only types that the token opens', async () => {
    const { id: clientId, organizationId } = demoClient
    const mint = (scopes: string[]) =>
      service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: true }, scopes)
    const query = 'Patient?_id=4&_revinclude=Observation:subject&_revinclude:iterate=Provenance:target'
    const token = await mint(['system/Patient.rs', 'system/Provenance.rs'])
    const pages = await walk(await call('GET', query, { token }), token)
    expect(includedOf(pages)).toEqual(['Provenance/direct'])
    const narrow = await mint(['system/Patient.rs'])
    const answer = await call('GET', await rest(), { token: narrow })
    expect([answer.status, pageOf(answer.body).included]).toEqual([200, []])
  })
})
