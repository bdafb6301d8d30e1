// The terminology operations. https://hl7.org/fhir/R4/terminology-service.html
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const system = 'http://animals'
const animals = {
  resourceType: 'CodeSystem',
  id: 'animals',
  url: system,
  version: '2024',
  name: 'Animals',
  status: 'active',
  content: 'complete',
  property: [{ code: 'legs', type: 'integer' }],
  concept: [
    {
      code: 'animal',
      display: 'Animal',
      definition: 'What lives and moves',
      concept: [
        {
          code: 'cat',
          display: 'House cat',
          designation: [{ language: 'fr', value: 'Chat domestique' }],
          property: [{ code: 'legs', valueInteger: 4 }],
          concept: [{ code: 'siamese', display: 'Siamese cat' }],
        },
        { code: 'dodo', display: 'Dodo', property: [{ code: 'inactive', valueBoolean: true }] },
      ],
    },
  ],
}
const set = (id: string, include: unknown, more = {}) => ({
  resourceType: 'ValueSet',
  id,
  url: `http://sets/${id}`,
  version: '1',
  status: 'active',
  compose: { include },
  ...more,
})
const diamond = (level: number) =>
  set(`diamond-${level}`, [
    { valueSet: [`http://sets/${level === 0 ? 'all' : `diamond-${level - 1}`}`] },
    { valueSet: [`http://sets/${level === 0 ? 'all' : `diamond-${level - 1}|1`}`] },
  ])
const map = {
  resourceType: 'ConceptMap',
  id: 'to-latin',
  url: 'http://maps/to-latin',
  version: '1',
  status: 'active',
  targetUri: 'http://sets/latin',
  group: [
    {
      source: system,
      target: 'http://latin',
      targetVersion: '1758',
      element: [
        {
          code: 'cat',
          target: [
            {
              code: 'felis',
              display: 'Felis catus',
              equivalence: 'wider',
              product: [{ property: 'http://p', value: 'x' }],
            },
            { code: 'felix', equivalence: 'equivalent', dependsOn: [{ property: 'http://mood', value: 'happy' }] },
          ],
        },
        { code: 'animal', target: [{ equivalence: 'unmatched' }] },
      ],
      unmapped: { mode: 'fixed', code: 'incertae', display: 'Incertae sedis' },
    },
    {
      source: 'http://toys',
      target: 'http://plastic',
      element: [{ code: 'lego', target: [{ code: 'abs', equivalence: 'equal' }] }],
      unmapped: { mode: 'other-map', url: 'http://maps/toys' },
    },
  ],
}
const provided = {
  resourceType: 'ConceptMap',
  id: 'toys',
  url: 'http://maps/toys',
  status: 'active',
  group: [
    {
      source: 'http://toys',
      target: 'http://wood',
      element: [{ code: 'x' }],
      unmapped: { mode: 'provided' },
    },
  ],
}
const resources = [
  animals,
  set('all', [{ system }]),
  set('cats', [{ system, filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }]),
  set('named', [{ system, concept: [{ code: 'cat', display: 'Kitty' }, { code: 'siamese' }] }]),
  set('latin', [{ system: 'http://latin', concept: [{ code: 'felis' }] }]),
  set('huge', [
    { system: 'http://latin', concept: Array.from({ length: 10_001 }, (_none, at) => ({ code: `c${at}` })) },
  ]),
  set('snomed', [{ system: 'http://snomed.info/sct' }]),
  set('broken', [{ system, filter: [{ property: 'concept', op: 'is-a', value: 'unicorn' }] }]),
  set('active', [{ system }], { compose: { inactive: false, include: [{ system }] } }),
  set('mixed', [], {
    compose: {
      include: [{ system, valueSet: ['http://sets/cats', 'http://sets/all'] }],
      exclude: [{ system, concept: [{ code: 'siamese' }] }],
    },
  }),
  set('page', [{ system }], {
    expansion: { timestamp: '2024-01-01', total: 4, contains: [{ system, code: 'dodo' }] },
  }),
  set('whole', [{ system }], { expansion: { timestamp: '2024-01-01', contains: [{ system, code: 'dodo' }] } }),
  set('loop', [{ valueSet: ['http://sets/loop'] }]),
  ...Array.from({ length: 40 }, (_none, level) => diamond(level)),
  map,
  {
    ...map,
    id: 'circle',
    url: 'http://maps/circle',
    group: [{ ...map.group[0], unmapped: { mode: 'other-map', url: 'http://maps/circle' } }],
  },
  provided,
]

beforeAll(async () => {
  service = await startService()
  const entry = resources.map(resource => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  }))
  const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(status, text).toBe(200)
})

type Parameter = { name: string } & Record<string, unknown>

const post = (path: string, ...parameter: Parameter[]): Promise<Answer> =>
  call('POST', path, { body: { resourceType: 'Parameters', parameter } })

/** The first value of each parameter of an answer. */
function valuesOf({ status, text, body }: Answer): Record<string, unknown> {
  expect(status, text).toBe(200)
  return Object.fromEntries(
    body.parameter
      .toReversed()
      .map((each: Parameter) => [
        each.name,
        each['part'] ?? Object.entries(each).find(([name]) => name.startsWith('value'))?.[1],
      ]),
  )
}

describe('ValueSet/$expand', () => {
  const codes = async (path: string): Promise<string[]> => {
    const { status, text, body } = await call('GET', path)
    expect(status, text).toBe(200)
    return (body.expansion.contains ?? []).map((each: { code: string }) => each.code)
  }

  test.each<[string, string[]]>([
    ['ValueSet/$expand?url=http://sets/all', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/$expand?url=http://sets/all|1', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/$expand?url=http://sets/all&valueSetVersion=1', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/all/$expand', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/all/%24expand', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/cats/$expand', ['cat', 'siamese']],
    ['ValueSet/mixed/$expand', ['cat']],
    ['ValueSet/active/$expand', ['animal', 'cat', 'siamese']],
    ['ValueSet/page/$expand', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/whole/$expand', ['dodo']],
    ['ValueSet/all/$expand?filter=HOUSE', ['cat']],
    ['ValueSet/all/$expand?filter=cat%20siam', ['siamese']],
    ['ValueSet/all/$expand?filter=fish', []],
    ['ValueSet/all/$expand?activeOnly=true', ['animal', 'cat', 'siamese']],
    ['ValueSet/all/$expand?count=2', ['animal', 'cat']],
    ['ValueSet/all/$expand?count=2&offset=3', ['dodo']],
    ['ValueSet/all/$expand?offset=1&includeDesignations=true', ['cat', 'siamese', 'dodo']],
    ['ValueSet/all/$expand?count=0', []],
    ['ValueSet/diamond-39/$expand', ['animal', 'cat', 'siamese', 'dodo']],
    ['ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender', ['male', 'female', 'other', 'unknown']],
  ])('%s', async (path, expected) => {
    expect(await codes(path)).toEqual(expected)
  })

  test('says what it was made of, and comes without the definition unless that is asked for', async () => {
    const { body } = await call('GET', 'ValueSet/all/$expand?count=1&offset=1&filter=cat')
    expect(body).toMatchObject({ resourceType: 'ValueSet', id: 'all', url: 'http://sets/all', status: 'active' })
    expect(body.compose).toBeUndefined()
    expect(body.expansion).toMatchObject({
      total: 2,
      offset: 1,
      parameter: [
        { name: 'filter', valueString: 'cat' },
        { name: 'count', valueInteger: 1 },
        { name: 'offset', valueInteger: 1 },
        { name: 'version', valueUri: 'http://animals|2024' },
      ],
      contains: [{ system, version: '2024', code: 'siamese', display: 'Siamese cat' }],
    })
    expect((await call('GET', 'ValueSet/all/$expand?includeDefinition=true')).body.compose.include).toHaveLength(1)
  })

  test('is a resource that can be stored again, as another version', async () => {
    const { body } = await call('GET', 'ValueSet/all/$expand')
    expect((await call('POST', 'ValueSet', { body: { ...body, id: undefined } })).status).toBe(422)
    const { status, text } = await call('POST', 'ValueSet', { body: { ...body, id: undefined, version: '1-expanded' } })
    expect(status, text).toBe(201)
    await call('DELETE', `ValueSet/${JSON.parse(text).id}`)
  })

  test('takes its displays from the definition first, then from the code system', async () => {
    const { body } = await call('GET', 'ValueSet/named/$expand')
    expect(body.expansion.contains.map((each: { display: string }) => each.display)).toEqual(['Kitty', 'Siamese cat'])
  })

  test('takes a value set that comes with the request', async () => {
    const resource = set('inline', [{ system: 'http://x', concept: [{ code: 'y' }] }])
    const { body } = await post('ValueSet/$expand', { name: 'valueSet', resource }, { name: 'count', valueInteger: 5 })
    expect(body.expansion.contains).toEqual([{ system: 'http://x', code: 'y' }])
  })

  test('works in a batch', async () => {
    const resource = { resourceType: 'Parameters', parameter: [{ name: 'url', valueUri: 'http://sets/named' }] }
    const entry = [
      { request: { method: 'GET', url: 'ValueSet/cats/$expand' } },
      { resource, request: { method: 'POST', url: 'ValueSet/$expand' } },
    ]
    const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
    expect(body.entry.map((each: Answer['body']) => each.resource.id)).toEqual(['cats', 'named'])
  })

  test.each<[string, number, string]>([
    ['ValueSet/$expand', 400, 'specify url or'],
    ['ValueSet/$expand?url=http://sets/missing', 404, 'http://sets/missing'],
    ['ValueSet/$expand?url=http://sets/all|9', 404, 'http://sets/all|9'],
    ['ValueSet/missing/$expand', 404, 'ValueSet/missing'],
    ['ValueSet/huge/$expand', 422, '10000'],
    ['ValueSet/snomed/$expand', 404, 'http://snomed.info/sct'],
    ['ValueSet/broken/$expand', 422, 'unicorn'],
    ['ValueSet/loop/$expand', 422, 'imports itself'],
    ['ValueSet/all/$expand?count=some', 400, 'count'],
    ['ValueSet/all/$expand?activeOnly=maybe', 400, 'true or false'],
    ['ValueSet/all/$expand?context=http://x', 400, '"context"'],
    ['ValueSet/$expand?url=a&url=b', 400, 'must not be repeated'],
    ['ValueSet/all/$expand?url=http://sets/cats', 400, 'once'],
    ['ValueSet/$expand?valueSet=a', 400, 'ValueSet'],
    ['ValueSet/all/$shrink', 404, 'at this address'],
    ['CodeSystem/all/$expand', 404, 'at this address'],
  ])('refuses %s with %i', async (path, status, said) => {
    const answer = await call('GET', path)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.body.resourceType).toBe('OperationOutcome')
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })

  test.each<[unknown, string]>([
    [{ resourceType: 'Patient' }, 'Parameters'],
    [{ resourceType: 'Parameters', parameter: {} }, 'array'],
    [{ resourceType: 'Parameters', parameter: [{}] }, 'no name'],
    [{ resourceType: 'Parameters', parameter: [{ name: 'url' }] }, 'no value'],
    [{ resourceType: 'Parameters', parameter: [{ name: 'url', valueCoding: {} }] }, 'simple value'],
    [{ resourceType: 'Parameters', parameter: [{ name: 'valueSet', resource: animals }] }, 'contain a ValueSet'],
  ])('refuses the body %j', async (body, said) => {
    const answer = await call('POST', 'ValueSet/$expand', { body })
    expect(answer.status).toBe(400)
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })

  test('takes GET and POST only', async () => {
    expect((await call('PUT', 'ValueSet/$expand', { body: {} })).status).toBe(405)
    expect((await call('DELETE', 'ValueSet/all/$expand')).status).toBe(405)
    expect((await call('HEAD', 'ValueSet/all/$expand')).status).toBe(200)
  })
})

describe('ValueSet/$validate-code', () => {
  test.each<[string, boolean, string | undefined]>([
    ['url=http://sets/cats&system=http://animals&code=siamese', true, 'Siamese cat'],
    ['url=http://sets/cats&system=http://animals&code=animal', false, undefined],
    ['url=http://sets/cats&system=http://other&code=cat', false, undefined],
    ['url=http://sets/cats&system=http://animals&code=cat&display=house%20CAT', true, 'House cat'],
    ['url=http://sets/cats&system=http://animals&code=cat&display=Dog', false, 'House cat'],
    ['url=http://sets/cats&system=http://animals&code=cat&version=2024', true, 'House cat'],
    ['url=http://sets/cats&system=http://animals&code=cat&version=1999', false, undefined],
  ])('answers %s', async (query, result, display) => {
    const answer = valuesOf(await call('GET', `ValueSet/$validate-code?${query}`))
    expect(answer).toMatchObject({ result })
    expect(answer['display']).toBe(display)
    expect(answer['message'] === undefined).toBe(result)
  })

  test.each<[string, string, boolean]>([
    ['huge', 'http://latin|c10000', true],
    ['huge', 'http://latin|felis', false],
    ['diamond-39', 'http://animals|cat', true],
    ['diamond-39', 'http://animals|fish', false],
    ['mixed', 'http://animals|cat', true],
    ['mixed', 'http://animals|siamese', false],
    ['mixed', 'http://animals|animal', false],
    ['snomed', 'http://animals|cat', false],
    ['active', 'http://animals|dodo', false],
    ['active', 'http://animals|cat', true],
    ['page', 'http://animals|cat', true],
    ['whole', 'http://animals|cat', false],
    ['whole', 'http://animals|dodo', true],
  ])('finds in %s of %s that it is %s', async (id, token, result) => {
    const [url, code] = token.split('|')
    const answer = valuesOf(await call('GET', `ValueSet/${id}/$validate-code?system=${url}&code=${code}`))
    expect(answer).toMatchObject({ result })
  })

  test.each<[string, number, string]>([
    ['loop', 422, 'imports itself'],
    ['broken', 422, 'unicorn'],
  ])('cannot tell of %s', async (id, status, said) => {
    const answer = await call('GET', `ValueSet/${id}/$validate-code?system=${system}&code=cat`)
    expect([answer.status, issueOf(answer.body).diagnostics]).toEqual([status, expect.stringContaining(said)])
  })

  test('takes a coding, or a concept of which one coding suffices', async () => {
    const coding = { system, code: 'cat' }
    const one = await post('ValueSet/cats/$validate-code', { name: 'coding', valueCoding: coding })
    expect(valuesOf(one)).toMatchObject({ result: true })
    const valueCodeableConcept = { coding: [{ system: 'http://other', code: 'x' }, coding] }
    const any = await post('ValueSet/cats/$validate-code', { name: 'codeableConcept', valueCodeableConcept })
    expect(valuesOf(any)).toMatchObject({ result: true })
    const none = await post('ValueSet/cats/$validate-code', {
      name: 'codeableConcept',
      valueCodeableConcept: { coding: [{ system: 'http://other', code: 'x' }] },
    })
    expect(valuesOf(none)).toMatchObject({ result: false, message: expect.stringContaining('http://other|x') })
  })

  test.each<[string, number, string]>([
    ['url=http://sets/cats&code=cat', 400, 'system'],
    ['url=http://sets/cats', 400, 'code with system'],
    ['url=http://sets/missing&system=a&code=b', 404, 'http://sets/missing'],
    ['system=a&code=b', 400, 'specify url or'],
    ['url=http://sets/cats&system=a&code=b&coding=c', 400, 'body'],
  ])('refuses %s with %i', async (query, status, said) => {
    const answer = await call('GET', `ValueSet/$validate-code?${query}`)
    expect(answer.status).toBe(status)
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })
})

describe('CodeSystem/$lookup', () => {
  test('tells name, version, display, designations and properties', async () => {
    const { body } = await call('GET', 'CodeSystem/$lookup?system=http://animals&code=cat')
    const property = (code: string, value: object, description?: string) => ({
      name: 'property',
      part: [
        { name: 'code', valueCode: code },
        { name: 'value', ...value },
        ...(description ? [{ name: 'description', valueString: description }] : []),
      ],
    })
    expect(body.parameter).toEqual([
      { name: 'name', valueString: 'Animals' },
      { name: 'version', valueString: '2024' },
      { name: 'display', valueString: 'House cat' },
      {
        name: 'designation',
        part: [
          { name: 'language', valueCode: 'fr' },
          { name: 'value', valueString: 'Chat domestique' },
        ],
      },
      property('parent', { valueCode: 'animal' }, 'Animal'),
      property('child', { valueCode: 'siamese' }, 'Siamese cat'),
      property('legs', { valueInteger: 4 }),
    ])
  })

  test('takes a coding, a version, and the properties wanted', async () => {
    const valueCoding = { system, version: '2024', code: 'animal' }
    const { body } = await post(
      'CodeSystem/$lookup',
      { name: 'coding', valueCoding },
      { name: 'property', valueCode: 'definition' },
    )
    expect(body.parameter.map((each: Parameter) => each.name)).toEqual(['name', 'version', 'display', 'property'])
    expect(body.parameter[3].part[1]).toEqual({ name: 'value', valueString: 'What lives and moves' })
  })

  test.each<[string, number, string]>([
    ['system=http://animals&code=unicorn', 404, 'unicorn'],
    ['system=http://missing&code=cat', 404, 'http://missing'],
    ['system=http://animals&code=cat&version=1', 404, 'http://animals|1'],
    ['code=cat', 400, 'system'],
    ['system=http://animals', 400, 'code with system'],
  ])('refuses %s with %i', async (query, status, said) => {
    const answer = await call('GET', `CodeSystem/$lookup?${query}`)
    expect(answer.status).toBe(status)
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })
})

describe('ConceptMap/$translate', () => {
  test('finds the code in the other system, what is more to it, and who says so', async () => {
    const answer = valuesOf(
      await call('GET', 'ConceptMap/$translate?url=http://maps/to-latin&system=http://animals&code=cat'),
    )
    expect(answer).toEqual({
      result: true,
      match: [
        { name: 'equivalence', valueCode: 'wider' },
        {
          name: 'concept',
          valueCoding: { system: 'http://latin', version: '1758', code: 'felis', display: 'Felis catus' },
        },
        {
          name: 'product',
          part: [
            { name: 'element', valueUri: 'http://p' },
            { name: 'concept', valueCoding: { code: 'x' } },
          ],
        },
        { name: 'source', valueUri: 'http://maps/to-latin' },
      ],
    })
  })

  const translated = async (query: string): Promise<unknown[]> => {
    const { status, text, body } = await call('GET', `ConceptMap/to-latin/$translate?${query}`)
    expect(status, text).toBe(200)
    const found = body.parameter.filter((each: Parameter) => each.name === 'match')
    return [
      body.parameter[0].valueBoolean,
      ...found.map(({ part }: { part: Parameter[] }) => [
        part[0]!['valueCode'],
        (part[1]!['valueCoding'] as { code: string } | undefined)?.code,
      ]),
    ]
  }

  test.each<[string, unknown[]]>([
    ['system=http://animals&code=cat', [true, ['wider', 'felis']]],
    ['system=http://animals&code=cat&target=http://sets/latin', [true, ['wider', 'felis']]],
    ['system=http://animals&code=cat&target=http://sets/cats', [false]],
    ['system=http://animals&code=cat&targetsystem=http://latin', [true, ['wider', 'felis']]],
    ['system=http://animals&code=cat&targetsystem=http://greek', [false]],
    ['system=http://animals&code=animal', [false, ['unmatched', undefined]]],
    ['system=http://animals&code=unicorn', [true, ['inexact', 'incertae']]],
    ['system=http://other&code=cat', [false]],
    ['system=http://toys&code=lego', [true, ['equal', 'abs']]],
    ['system=http://toys&code=car', [true, ['equal', 'car']]],
    ['system=http://latin&code=felis&reverse=true', [true, ['narrower', 'cat']]],
    ['system=http://latin&code=felis&reverse=true&target=http://sets/cats', [true, ['narrower', 'cat']]],
    ['system=http://latin&code=canis&reverse=true', [false]],
    ['system=http://animals&code=cat&reverse=true', [false]],
  ])('answers %s', async (query, expected) => {
    expect(await translated(query)).toEqual(expected)
  })

  test('takes codings, concepts, and a map that comes with the request', async () => {
    const coding = { system, code: 'cat' }
    const one = await post('ConceptMap/to-latin/$translate', { name: 'coding', valueCoding: coding })
    expect(valuesOf(one)).toMatchObject({ result: true })
    const inline = await post(
      'ConceptMap/$translate',
      { name: 'conceptMap', resource: map },
      { name: 'codeableConcept', valueCodeableConcept: { coding: [coding] } },
    )
    expect(valuesOf(inline)).toMatchObject({ result: true })
  })

  test.each<[string, number, string]>([
    ['ConceptMap/$translate?system=a&code=b', 400, 'specify url or'],
    ['ConceptMap/$translate?url=http://maps/none&system=a&code=b', 404, 'http://maps/none'],
    ['ConceptMap/none/$translate?system=a&code=b', 404, 'ConceptMap/none'],
    ['ConceptMap/to-latin/$translate', 400, 'code with system'],
    ['ConceptMap/to-latin/$translate?system=http://animals&code=cat&target=http://none', 404, 'http://none'],
    ['ConceptMap/circle/$translate?system=http://animals&code=unicorn', 422, 'in a cycle'],
  ])('refuses %s with %i', async (path, status, said) => {
    const answer = await call('GET', path)
    expect(answer.status, answer.text).toBe(status)
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })
})

describe('who may not read the types involved is refused', () => {
  test.each<[string, string[], string]>([
    ['ValueSet/$expand?url=http://sets/named', ['system/CodeSystem.r'], 'ValueSet'],
    ['ValueSet/all/$expand', ['system/ValueSet.r'], 'CodeSystem'],
    ['ValueSet/$validate-code?url=http://sets/named&system=a&code=b', ['system/Patient.r'], 'ValueSet'],
    ['CodeSystem/$lookup?system=http://animals&code=cat', ['system/ValueSet.r'], 'CodeSystem'],
    ['ConceptMap/to-latin/$translate?system=a&code=b', ['system/ValueSet.r'], 'ConceptMap'],
    ['ConceptMap/to-latin/$translate?system=a&code=b&target=http://sets/cats', ['system/ConceptMap.r'], 'ValueSet'],
  ])('%s with %j', async (path, scopes, type) => {
    const client = { clientId: 'demo-client', organizationId: 'demo-organization', consentExempt: true }
    const token = await service.application.identity.tokens.mint(client, scopes)
    const { status, body } = await call('GET', path, { token })
    expect(status).toBe(403)
    expect(issueOf(body).diagnostics).toContain(`reading ${type}`)
  })

  test('but codes named one by one need no code system', async () => {
    const client = { clientId: 'demo-client', organizationId: 'demo-organization', consentExempt: true }
    const token = await service.application.identity.tokens.mint(client, ['system/ValueSet.r'])
    const { status, body } = await call('GET', 'ValueSet/named/$expand', { token })
    expect([status, body.expansion.contains.length]).toEqual([200, 2])
    expect(body.expansion.contains[1].display).toBeUndefined()
  })
})

describe('CodeSystem/$validate-code', () => {
  const coding = { system, code: 'cat', display: 'House cat' }

  test.each<[string, object]>([
    ['CodeSystem/$validate-code?url=http://animals&code=cat', { result: true, display: 'House cat' }],
    ['CodeSystem/$validate-code?url=http://animals|2024&code=cat&display=house%20CAT', { result: true }],
    ['CodeSystem/$validate-code?url=http://animals&version=2024&code=cat&display=Chat%20domestique', { result: true }],
    ['CodeSystem/animals/$validate-code?code=cat&displayLanguage=fr', { result: true, display: 'Chat domestique' }],
    ['CodeSystem/animals/$validate-code?code=dodo', { result: true, display: 'Dodo' }],
    [
      'CodeSystem/animals/$validate-code?code=fish',
      { result: false, message: 'http://animals|fish is not in the code system http://animals.' },
    ],
    [
      'CodeSystem/animals/$validate-code?code=cat&display=Dog',
      { result: false, display: 'House cat', message: 'The display of http://animals|cat is "House cat", not "Dog".' },
    ],
  ])('%s', async (path, expected) => {
    expect(valuesOf(await call('GET', path))).toMatchObject(expected)
  })

  test('takes codings, which name their system, and the system itself', async () => {
    const answers = async (...parameter: object[]) =>
      valuesOf(await call('POST', 'CodeSystem/$validate-code', { body: { resourceType: 'Parameters', parameter } }))
    expect(await answers({ name: 'coding', valueCoding: coding })).toMatchObject({ result: true })
    const other = { ...coding, system: 'http://plants' }
    const concept = { name: 'codeableConcept', valueCodeableConcept: { coding: [other, coding] } }
    expect(await answers({ name: 'url', valueUri: system }, concept)).toMatchObject({ result: true })
    expect(
      await answers({ name: 'codeSystem', resource: animals }, { name: 'code', valueCode: 'siamese' }),
    ).toMatchObject({ result: true })
    expect(await answers({ name: 'url', valueUri: system }, { name: 'coding', valueCoding: other })).toMatchObject({
      result: false,
    })
    expect(await answers({ name: 'coding', valueCoding: { ...coding, version: '2024' } })).toMatchObject({
      result: true,
    })
  })

  test.each<[string, number, string]>([
    ['CodeSystem/$validate-code?code=cat', 400, 'The CodeSystem is missing'],
    ['CodeSystem/$validate-code?url=http://animals', 400, 'requires one of code'],
    ['CodeSystem/$validate-code?url=http://nowhere&code=cat', 404, 'http://nowhere'],
    ['CodeSystem/animals/$validate-code?url=http://animals&code=cat', 400, 'Specify the CodeSystem once'],
  ])('%s is %i', async (path, status, said) => {
    const answer = await call('GET', path)
    expect(answer.status, answer.text).toBe(status)
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })
})

describe('CodeSystem/$subsumes', () => {
  test.each([
    ['animal', 'siamese', 'subsumes'],
    ['siamese', 'animal', 'subsumed-by'],
    ['cat', 'cat', 'equivalent'],
    ['cat', 'dodo', 'not-subsumed'],
  ])('%s and %s: %s', async (codeA, codeB, outcome) => {
    for (const path of ['CodeSystem/$subsumes?system=http://animals&', 'CodeSystem/animals/$subsumes?'])
      expect(valuesOf(await call('GET', `${path}codeA=${codeA}&codeB=${codeB}`))).toEqual({ outcome })
    const parameter = [
      { name: 'codingA', valueCoding: { system, code: codeA } },
      { name: 'codingB', valueCoding: { system, code: codeB } },
    ]
    const body = { resourceType: 'Parameters', parameter }
    expect(valuesOf(await call('POST', 'CodeSystem/$subsumes', { body }))).toEqual({ outcome })
  })

  test.each<[string, number, string]>([
    ['CodeSystem/$subsumes?codeA=cat&codeB=dodo', 400, 'Specify one code system'],
    ['CodeSystem/$subsumes?system=http://animals&codeA=cat', 400, 'requires one of codeB'],
    ['CodeSystem/$subsumes?system=http://animals&codeA=cat&codeB=fish', 404, 'has no code "fish"'],
    ['CodeSystem/animals/$subsumes?system=http://plants&codeA=cat&codeB=cat', 400, 'Specify one code system'],
    ['CodeSystem/$subsumes?system=http://animals&version=1999&codeA=cat&codeB=cat', 404, 'http://animals|1999'],
  ])('%s is %i', async (path, status, said) => {
    const answer = await call('GET', path)
    expect(answer.status, answer.text).toBe(status)
    expect(issueOf(answer.body).diagnostics).toContain(said)
  })
})

describe('names in other languages', () => {
  const french = { language: 'fr', value: 'Paludisme' }
  const formal = { language: 'fr', use: { code: '900000000000003001' }, value: 'Paludisme (trouble)' }
  const regional = { language: 'fr-CM', use: { code: 'display' }, value: 'Palu' }
  const names = [formal, french, regional, { language: 'es', value: 'Malaria (es)' }]

  beforeAll(async () => {
    const body = {
      ...{ resourceType: 'CodeSystem', id: 'ills', url: 'http://ills', status: 'active', content: 'complete' },
      concept: [
        { code: 'malaria', display: 'Malaria', designation: names },
        { code: 'flu', display: 'Influenza' },
      ],
    }
    expect((await call('PUT', 'CodeSystem/ills', { body })).status).toBe(201)
    const listed = [{ code: 'malaria', designation: [{ language: 'de', value: 'Wechselfieber' }] }, { code: 'flu' }]
    for (const valueSet of [
      set('ills', [{ system: 'http://ills' }]),
      set('listed', [{ system: 'http://ills', concept: listed }]),
    ])
      expect((await call('PUT', `ValueSet/${valueSet.id}`, { body: valueSet })).status).toBe(201)
  })

  test.each([
    ['fr', ['Paludisme', 'Influenza']],
    ['FR-cm', ['Palu', 'Influenza']],
    ['fr-CA', ['Paludisme', 'Influenza']],
    ['es-MX', ['Malaria (es)', 'Influenza']],
    ['en', ['Malaria', 'Influenza']],
  ])('an expansion in %s shows %j', async (language, displays) => {
    for (const id of ['ills', 'listed']) {
      const { body } = await call('GET', `ValueSet/${id}/$expand?displayLanguage=${language}`)
      expect(body.expansion.contains.map(({ display }: { display: string }) => display)).toEqual(displays)
      expect(body.expansion.parameter).toContainEqual({ name: 'displayLanguage', valueCode: language })
      expect(body.expansion.contains[0].designation).toBeUndefined()
    }
  })

  test('are part of an expansion if that is asked for, and are found by words', async () => {
    const { body } = await call('GET', 'ValueSet/listed/$expand?includeDesignations=true&filter=PALUD')
    expect(body.expansion.contains).toEqual([
      {
        ...{ system: 'http://ills', code: 'malaria', display: 'Malaria' },
        designation: [{ language: 'de', value: 'Wechselfieber' }, ...names],
      },
    ])
    expect(body.expansion.contains).toHaveLength(1)
    const { body: other } = await call('GET', 'ValueSet/ills/$expand?includeDesignations=true')
    expect(other.expansion.contains[1]).toEqual({ system: 'http://ills', code: 'flu', display: 'Influenza' })
  })

  test.each([
    ['paludisme', true],
    ['Palu', true],
    ['Malaria', true],
    ['Fièvre', false],
  ])('the display %s is right: %s', async (display, result) => {
    const query = `system=http://ills&code=malaria&display=${encodeURIComponent(display)}&displayLanguage=fr`
    for (const id of ['ills', 'listed'])
      expect(valuesOf(await call('GET', `ValueSet/${id}/$validate-code?${query}`))).toMatchObject({
        result,
        display: 'Paludisme',
      })
  })

  test('a look-up shows the display in the language', async () => {
    const path = 'CodeSystem/$lookup?system=http://ills&code=malaria'
    expect(valuesOf(await call('GET', `${path}&displayLanguage=fr`))['display']).toBe('Paludisme')
    expect(valuesOf(await call('GET', path))['display']).toBe('Malaria')
  })
})
