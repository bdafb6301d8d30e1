// Searches by way of value sets and code systems. https://hl7.org/fhir/R4/search.html#token
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, finderBy, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
const found = finderBy(call)

const animals = {
  resourceType: 'CodeSystem',
  id: 'animals',
  url: 'http://animals',
  version: '1',
  status: 'active',
  content: 'complete',
  property: [{ code: 'parent', type: 'code' }],
  concept: [
    { code: 'animal', display: 'Animal', concept: [{ code: 'cat', concept: [{ code: 'siamese' }] }, { code: 'dog' }] },
    {
      code: 'catdog',
      property: [
        { code: 'parent', valueCode: 'cat' },
        { code: 'parent', valueCode: 'dog' },
      ],
    },
    { code: 'stone' },
  ],
}
const set = (id: string, compose: unknown, more = {}) => ({
  resourceType: 'ValueSet',
  id,
  url: `http://sets/${id}`,
  status: 'active',
  ...(compose ? { compose } : {}),
  ...more,
})
const filtered = (property: string, op: string, value: string) => ({
  include: [{ system: 'http://animals', filter: [{ property, op, value }] }],
})
const condition = (id: string, code?: string, system = 'http://animals') => ({
  resourceType: 'Condition',
  id,
  subject: { reference: 'Patient/p1' },
  ...(code ? { code: { coding: [{ system, code }] } } : {}),
})
const numbered = (count: number) => Array.from({ length: count }, (_none, index) => ({ code: `c${index}` }))

const resources = [
  animals,
  { ...animals, id: 'empty', url: 'http://empty', content: 'not-present', concept: undefined },
  { ...animals, id: 'many', url: 'http://many', concept: numbered(10_001) },
  set('listed', { include: [{ system: 'http://animals', concept: [{ code: 'cat' }, { code: 'stone' }] }] }),
  set('whole', { include: [{ system: 'http://animals' }] }),
  set('cats', filtered('concept', 'is-a', 'cat')),
  set('below-cats', filtered('concept', 'descendent-of', 'cat')),
  set('children', filtered('parent', '=', 'animal')),
  set('imported', { include: [{ valueSet: ['http://sets/cats'] }] }),
  set('both', { include: [{ valueSet: ['http://sets/cats', 'http://sets/listed'] }] }),
  set('without', {
    include: [{ system: 'http://animals' }],
    exclude: [{ valueSet: ['http://sets/cats'] }],
  }),
  set('expanded', undefined, {
    expansion: { timestamp: '2024-01-01', contains: [{ system: 'http://animals', code: 'dog' }] },
  }),
  set('elsewhere', { include: [{ system: 'http://rocks', concept: [{ code: 'stone' }] }] }),
  set('circle', { include: [{ valueSet: ['http://sets/round'] }] }),
  set('round', { include: [{ valueSet: ['http://sets/circle'] }] }),
  set('nowhere', { include: [{ system: 'http://unknown' }] }),
  set('lost', { include: [{ valueSet: ['http://sets/missing'] }] }),
  set('too-many', { include: [{ system: 'http://many' }] }),
  set('hollow', { include: [{ system: 'http://empty' }] }),
  set('by-regex', filtered('code', 'regex', '.*')),
  set(
    'v1',
    { include: [{ system: 'http://animals', concept: [{ code: 'cat' }] }] },
    { url: 'http://sets/v', version: '1' },
  ),
  set(
    'v2',
    { include: [{ system: 'http://animals', concept: [{ code: 'dog' }] }] },
    { url: 'http://sets/v', version: '2' },
  ),
  { resourceType: 'Patient', id: 'p1', gender: 'female' },
  { resourceType: 'Patient', id: 'p2', gender: 'male' },
  { resourceType: 'Patient', id: 'p3' },
  condition('animal', 'animal'),
  condition('cat', 'cat'),
  condition('catdog', 'catdog'),
  condition('dog', 'dog'),
  condition('none'),
  condition('rock', 'stone', 'http://rocks'),
  condition('siamese', 'siamese'),
  condition('stone', 'stone'),
]

beforeAll(async () => {
  service = await startService()
  await store(...resources)
})

describe('a search by value set finds', () => {
  test.each<[string, string[]]>([
    ['code:in=http://sets/listed', ['cat', 'stone']],
    ['code:in=ValueSet/listed', ['cat', 'stone']],
    ['code:in=http://sets/whole', ['animal', 'cat', 'catdog', 'dog', 'siamese', 'stone']],
    ['code:in=http://sets/cats', ['cat', 'catdog', 'siamese']],
    ['code:in=http://sets/below-cats', ['catdog', 'siamese']],
    ['code:in=http://sets/children', ['cat', 'dog']],
    ['code:in=http://sets/imported', ['cat', 'catdog', 'siamese']],
    ['code:in=http://sets/both', ['cat']],
    ['code:in=http://sets/without', ['animal', 'dog', 'stone']],
    ['code:in=http://sets/expanded', ['dog']],
    ['code:in=http://sets/elsewhere', ['rock']],
    ['code:in=http://sets/expanded,http://sets/elsewhere', ['dog', 'rock']],
    ['code:in=http://sets/v|1', ['cat']],
    ['code:in=http://sets/v', ['dog']],
    ['code:not-in=http://sets/whole', ['none', 'rock']],
    ['code:not-in=ValueSet/cats', ['animal', 'dog', 'none', 'rock', 'stone']],
    ['code:in=http://hl7.org/fhir/ValueSet/administrative-gender', []],
  ])('Condition?%s', async (query, expected) => {
    expect(await found(`Condition?${query}`)).toEqual(expected)
  })

  test('codes whose system is implied, by the value sets of R4 itself', async () => {
    const set = 'http://hl7.org/fhir/ValueSet/administrative-gender'
    expect(await found(`Patient?gender:in=${set}`)).toEqual(['p1', 'p2'])
    expect(await found(`Patient?gender:not-in=${set}`)).toEqual(['p3'])
    expect(await found(`Patient?gender:in=${set}|4.0.1`)).toEqual(['p1', 'p2'])
  })

  test('through chains, and in the condition of a conditional request', async () => {
    const set = 'http://hl7.org/fhir/ValueSet/administrative-gender'
    expect(await found(`Condition?patient.gender:in=${set}&code:below=http://animals|dog`)).toEqual(['catdog', 'dog'])
    expect(await found('Patient?_has:Condition:patient:code:in=http://sets/cats')).toEqual(['p1'])
    const { status } = await call('POST', 'Condition', {
      body: { ...condition('x', 'dog'), id: undefined },
      headers: { 'if-none-exist': 'code:in=http://sets/expanded' },
    })
    expect([status, (await found('Condition?code:in=http://sets/expanded')).length]).toEqual([200, 1])
  })

  test('the last observations of codes in a value set', async () => {
    const code = { coding: [{ system: 'http://animals', code: 'cat' }] }
    const body = { resourceType: 'Observation', status: 'final', code, subject: { reference: 'Patient/p1' } }
    await call('POST', 'Observation', { body })
    expect(await found('Observation/$lastn?patient=p1&code:in=http://sets/expanded')).toEqual([])
    expect(await found('Observation/$lastn?patient=p1&code:in=http://sets/cats')).toHaveLength(1)
  })

  test('what the value set holds now, after it changed', async () => {
    const changing = (code: string) => set('changing', { include: [{ system: 'http://animals', concept: [{ code }] }] })
    await call('PUT', 'ValueSet/changing', { body: changing('cat') })
    expect(await found('Condition?code:in=ValueSet/changing')).toEqual(['cat'])
    await call('PUT', 'ValueSet/changing', { body: changing('dog') })
    expect(await found('Condition?code:in=ValueSet/changing')).toEqual(['dog'])
  })
})

describe('a search along a hierarchy finds', () => {
  test.each<[string, string[]]>([
    ['code:below=http://animals|cat', ['cat', 'catdog', 'siamese']],
    ['code:below=http://animals|animal', ['animal', 'cat', 'catdog', 'dog', 'siamese']],
    ['code:below=http://animals|stone,http://animals|dog', ['catdog', 'dog', 'stone']],
    ['code:above=http://animals|siamese', ['animal', 'cat', 'siamese']],
    ['code:above=http://animals|catdog', ['animal', 'cat', 'catdog', 'dog']],
    ['code:below=http://animals|unicorn', []],
  ])('Condition?%s', async (query, expected) => {
    expect(await found(`Condition?${query}`)).toEqual(expected)
  })
})

test('a large code system is asked as it is now, after it changed and after it was deleted', async () => {
  const padding = Array.from({ length: 2000 }, (_none, index) => ({ code: `p${index}`, display: 'x'.repeat(50) }))
  const large = (...nested: string[]) => ({
    ...animals,
    id: 'large',
    url: 'http://large',
    concept: [{ code: 'top', concept: nested.map(code => ({ code })) }, ...padding],
  })
  const put = async (body: unknown) =>
    expect((await call('PUT', 'CodeSystem/large', { body })).status).toBeLessThan(300)
  for (const code of ['one', 'two']) await call('POST', 'Condition', { body: condition(code, code, 'http://large') })
  const count = async () => (await found('Condition?code:below=http://large|top')).length
  await put(large('one'))
  expect([await count(), await count()]).toEqual([1, 1])
  await put(large('one', 'two'))
  expect([await count(), await count()]).toEqual([2, 2])
  await call('DELETE', 'CodeSystem/large')
  expect((await call('GET', 'Condition?code:below=http://large|top')).status).toBe(400)
  await put(large('two'))
  expect([await count(), await count()]).toEqual([1, 1])
})

describe('a search is refused', () => {
  test.each([
    ['code:in=http://sets/missing', 'http://sets/missing'],
    ['code:not-in=http://sets/missing', 'http://sets/missing'],
    ['code:in=http://sets/v|3', 'http://sets/v|3'],
    ['code:in=ValueSet/missing', 'ValueSet/missing'],
    ['code:in=http://sets/circle', 'imports itself'],
    ['code:in=http://sets/nowhere', 'CodeSystem http://unknown'],
    ['code:in=http://sets/lost', 'http://sets/missing'],
    ['code:in=http://sets/too-many', '10000'],
    ['code:in=http://sets/hollow', 'without its codes'],
    ['code:in=http://sets/by-regex', '"regex"'],
    ['code:below=http://unknown|x', 'CodeSystem http://unknown'],
    ['code:above=http://empty|x', 'without its codes'],
    ['code:below=cat', 'system|code'],
    ['_id:in=http://sets/cats', '_id'],
  ])('Condition?%s', async (query, said) => {
    const { status, body } = await call('GET', `Condition?${query}`)
    expect(status).toBe(400)
    expect(issueOf(body).diagnostics).toContain(said)
  })

  test.each([
    ['code:in=http://sets/cats', ['system/Condition.rs'], 'reading ValueSet'],
    ['code:in=http://sets/cats', ['system/Condition.rs', 'system/ValueSet.r'], 'reading CodeSystem'],
    ['code:below=http://animals|cat', ['system/Condition.rs'], 'reading CodeSystem'],
  ])('%s with the scopes %j', async (query, scopes, said) => {
    const token = await service.application.identity.tokens.mint(
      { clientId: 'demo-client', organizationId: 'o', consentExempt: true },
      scopes,
    )
    const { status, body } = await call('GET', `Condition?${query}`, { token })
    expect(status).toBe(403)
    expect(issueOf(body).diagnostics).toContain(said)
  })
})
