// Searches within a List. https://hl7.org/fhir/R4/search.html#list
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const list = (id: string, ...entry: object[]) => ({
  resourceType: 'List',
  id,
  status: 'current',
  mode: 'changes',
  ...(entry.length > 0 ? { entry } : {}),
})
const item = (reference: string) => ({ item: { reference } })

beforeAll(async () => {
  service = await startService()
  const resources = [
    { resourceType: 'Patient', id: 'a', gender: 'female' },
    { resourceType: 'Patient', id: 'b', gender: 'male' },
    { resourceType: 'Patient', id: 'c', gender: 'female' },
    { resourceType: 'Group', id: 'a', type: 'person', actual: true },
    { resourceType: 'Condition', id: 'k', subject: { reference: 'Patient/a' } },
    list('l1', item('Patient/a'), item(`${service.url}/api/fhir/R4/Patient/b`), item('Patient/gone'), item('Group/a')),
    list('l2', { ...item('Patient/b'), deleted: true }, item('Patient/c'), { item: { display: 'by name only' } }),
    list('none'),
  ]
  for (const body of resources) {
    const { status, text } = await call('PUT', `${body.resourceType}/${body.id}`, { body })
    expect(status, text).toBe(201)
  }
})

describe('a search within lists finds', () => {
  test.each<[string, string[]]>([
    ['Patient?_list=l1', ['a', 'b']],
    ['Patient?_list=List/l1', ['a', 'b']],
    ['Patient?_list=l2', ['c']],
    ['Patient?_list=l1,l2', ['a', 'b', 'c']],
    ['Patient?_list=l1&_list=l2', []],
    ['Patient?_list=l1&gender=female', ['a']],
    ['Patient?_list=none', []],
    ['Group?_list=l1', ['a']],
    ['?_type=Patient,Group&_list=l1', ['a', 'a', 'b']],
    ['Condition?patient._list=l1', ['k']],
    ['Condition?patient._list=l2', []],
  ])('%s', async (query, expected) => {
    const { status, text, body } = await call('GET', query)
    expect(status, text).toBe(200)
    expect(matchIds(body).sort()).toEqual(expected)
  })

  test('page after page, with links that keep the list', async () => {
    const { body } = await call('GET', 'Patient?_list=l1&_count=1&_sort=_id')
    const next = body.link.find((link: { relation: string }) => link.relation === 'next').url
    const second = await call('GET', next)
    expect([matchIds(body), matchIds(second.body)]).toEqual([['a'], ['b']])
  })
})

describe('a search within lists is refused', () => {
  test.each([
    ['_list=missing', 'List/missing'],
    ['_list=$current-problems', 'named lists'],
    ['_list:not=l1', 'not support modifiers'],
  ])('Patient?%s', async (query, said) => {
    const { status, body } = await call('GET', `Patient?${query}`)
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain(said)
  })

  test('to those who may not read lists', async () => {
    const client = { clientId: 'demo-client', organizationId: 'demo-organization', consentExempt: true }
    const token = await service.application.identity.tokens.mint(client, ['system/Patient.rs'])
    const { status, body } = await call('GET', 'Patient?_list=l1', { token })
    expect(status).toBe(403)
    expect(issueOf(body).diagnostics).toContain('reading List')
  })
})
