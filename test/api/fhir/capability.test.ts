// The CapabilityStatement, and that the service does what it says. https://hl7.org/fhir/R4/capabilitystatement.html
import { beforeAll, describe, expect, test } from 'vitest'
import { searchParams } from '../../../src/definitions/r4.ts'
import { fhirPathInvariants } from '../../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../../src/store/validate.ts'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

interface Described {
  readonly type: string
  readonly interaction: { readonly code: string }[]
  readonly searchParam: { readonly name: string; readonly type: string; readonly definition: string }[]
  readonly operation?: { readonly name: string; readonly definition: string }[]
  readonly searchInclude: string[]
  readonly searchRevInclude?: string[]
}

let service: Service
let answer: Answer
let resources: Described[]
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  answer = await call('GET', 'metadata')
  // The audit trail has a surface of its own: test/audit/audit-event.test.ts.
  resources = answer.body.rest[0].resource.filter((each: { type: string }) => each.type !== 'AuditEvent')
})

describe('the CapabilityStatement', () => {
  test('is open to anybody', async () => {
    const response = await fetch(`${service.url}/api/fhir/R4/metadata`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8')
  })

  test('names no endpoint by the extension oauth-uris, which needs one for authorization, but says where they are told', async () => {
    const { extension, description } = answer.body.rest[0].security
    expect(extension).toBeUndefined()
    expect(description).toContain('[base]/.well-known/smart-configuration')
    expect((await call('GET', '.well-known/smart-configuration')).body.token_endpoint).toMatch(/\/auth\/token$/)
  })

  test('says what this server is', () => {
    expect(answer.body).toMatchObject({
      resourceType: 'CapabilityStatement',
      status: 'active',
      kind: 'instance',
      fhirVersion: '4.0.1',
      implementation: { url: `${service.url}/api/fhir/R4` },
    })
    expect(answer.body.format).toContain('application/fhir+json')
    expect(answer.body.patchFormat).toEqual(['application/json-patch+json', 'application/fhir+json'])
    expect(answer.body.rest).toHaveLength(1)
    expect(answer.body.rest[0].mode).toBe('server')
  })

  test('is a valid resource', () => {
    const issues = createValidator({ invariants: fhirPathInvariants })(answer.body)
    expect(issues.filter(issue => issue.severity === 'error')).toEqual([])
  })

  test('names every type once, with what can be done', () => {
    const types = resources.map(resource => resource.type)
    expect(new Set(types).size).toBe(types.length)
    expect(types).toEqual(expect.arrayContaining(['Patient', 'Observation', 'Consent', 'Provenance']))
    expect(resources[0]).toMatchObject({
      versioning: 'versioned-update',
      readHistory: true,
      updateCreate: true,
      conditionalCreate: true,
      conditionalRead: 'full-support',
      conditionalUpdate: true,
      conditionalDelete: 'single',
      referencePolicy: ['literal', 'logical', 'local'],
    })
    const interactions = [
      'create',
      'delete',
      'history-instance',
      'history-type',
      'patch',
      'read',
      'search-type',
      'update',
      'vread',
    ]
    for (const resource of resources) expect(resource.interaction.map(each => each.code).sort()).toEqual(interactions)
    expect(answer.body.rest[0].interaction.map((each: { code: string }) => each.code).sort()).toEqual([
      'batch',
      'history-system',
      'search-system',
      'transaction',
    ])
  })

  test('has a tag, and is not sent again to those who have it', async () => {
    const etag = answer.headers.get('etag')!
    const again = await call('GET', 'metadata', { headers: { 'if-none-match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await call('GET', 'metadata', { headers: { 'if-none-match': 'W/"other"' } })).status).toBe(200)
  })

  test('comes in parts', async () => {
    const elements = await call('GET', 'metadata?_elements=fhirVersion')
    expect(elements.body.fhirVersion).toBe('4.0.1')
    expect(elements.body.rest).toBeUndefined()
    expect(elements.body.meta.tag[0].code).toBe('SUBSETTED')
    const summary = await call('GET', 'metadata?_summary=true')
    expect(summary.body.fhirVersion).toBe('4.0.1')
    expect(summary.body.meta.tag[0].code).toBe('SUBSETTED')
    expect((await call('GET', 'metadata?_summary=short')).status).toBe(400)
  })

  test('answers HEAD', async () => {
    const { status, text } = await call('HEAD', 'metadata')
    expect([status, text]).toEqual([200, ''])
  })
})

/** Sends searches as batches; answers those that did not end with 200 and no warning. */
async function unanswered(urls: readonly string[]): Promise<string[]> {
  const failed: string[] = []
  for (let from = 0; from < urls.length; from += 1000) {
    const slice = urls.slice(from, from + 1000)
    const entry = slice.map(url => ({ request: { method: 'GET', url } }))
    const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
    body.entry.forEach((each: { resource?: { entry?: unknown }; response: { status: string } }, index: number) => {
      if (each.response.status !== '200 OK' || each.resource?.entry)
        failed.push(`${slice[index]}: ${JSON.stringify(each)}`)
    })
  }
  return failed
}

const examples: Readonly<Record<string, string>> = {
  string: 'x',
  token: 'http://s|x',
  date: 'ge2020-01-01',
  number: '5',
  quantity: '5||mg',
  reference: 'x',
  uri: 'http://x',
}

/** Searches of a type by all the queries, ten in each search: one query that is not understood fails its search. */
function together(type: string, queries: readonly string[]): string[] {
  const searches = Array.from({ length: Math.ceil(queries.length / 10) }, (_, at) =>
    queries.slice(at * 10, at * 10 + 10),
  )
  return searches.map(each => `${type}?${each.join('&')}`)
}

describe('what the CapabilityStatement says is so', () => {
  test('every search parameter is answered, and those of one value with :missing too', async () => {
    let asked = 0
    const urls = resources.flatMap(({ type, searchParam }) => {
      const queries = searchParam
        .filter(each => each.type !== 'composite' && each.type !== 'special')
        .flatMap(({ name, type: kind }) => [
          `${name}=${examples[kind]}`,
          ...(name === '_text' || name === '_content' ? [] : [`${name}:missing=true`]),
        ])
      asked += queries.length
      return together(type, queries)
    })
    expect(asked).toBeGreaterThan(2000)
    expect(await unanswered(urls)).toEqual([])
  }, 60_000)

  test('every terminology operation is answered where it is named', async () => {
    const named = resources
      .filter(({ type }) => ['ValueSet', 'CodeSystem', 'ConceptMap'].includes(type))
      .flatMap(({ type, operation = [] }) => operation.map(({ name, definition }) => ({ type, name, definition })))
    expect(named).toEqual(
      expect.arrayContaining([
        { type: 'CodeSystem', name: 'lookup', definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup' },
        ...['expand', 'validate-code'].map(name => ({
          type: 'ValueSet',
          name,
          definition: `http://hl7.org/fhir/OperationDefinition/ValueSet-${name}`,
        })),
        {
          type: 'ConceptMap',
          name: 'translate',
          definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-translate',
        },
      ]),
    )
    const query = 'url=http://hl7.org/fhir/ValueSet/administrative-gender'
    const code = 'system=http://hl7.org/fhir/administrative-gender&code=male'
    expect((await call('GET', `ValueSet/$expand?${query}`)).body.expansion.total).toBe(4)
    expect((await call('GET', `ValueSet/$validate-code?${query}&${code}`)).body.parameter[0].valueBoolean).toBe(true)
    for (const path of ['CodeSystem/$lookup', 'ConceptMap/$translate'])
      expect((await call('GET', path)).status).toBe(400)
  })

  test('every composite parameter is answered', async () => {
    const composites = resources.flatMap(({ type, searchParam }) =>
      searchParam.filter(each => each.type === 'composite').map(({ name }) => `${type}?${name}`),
    )
    const values = ['x$5', 'x$2020', 'x$x', 'Patient/x$x', 'x$5$6']
    const entry = composites.flatMap(query =>
      values.map(value => ({ request: { method: 'GET', url: `${query}=${value}` } })),
    )
    const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
    const statuses = body.entry.map((each: { response: { status: string } }) => each.response.status)
    const answered = composites.filter((_, at) =>
      statuses.slice(at * values.length, (at + 1) * values.length).includes('200 OK'),
    )
    expect(answered).toEqual(composites)
  }, 60_000)

  test('every include is answered', async () => {
    let asked = 0
    const urls = resources.flatMap(({ type, searchInclude, searchRevInclude = [] }) => {
      const queries = [
        ...searchInclude.map(value => `_include=${value}`),
        ...searchRevInclude.map(value => `_revinclude=${value}`),
      ]
      asked += queries.length
      return together(type, queries)
    })
    expect(asked).toBeGreaterThan(1000)
    expect(await unanswered(urls)).toEqual([])
  }, 60_000)

  test('every parameter of all resources is answered across types', async () => {
    const { searchParam } = answer.body.rest[0] as Described
    expect(searchParam.map(each => each.name)).toEqual(
      expect.arrayContaining(['_id', '_lastUpdated', '_tag', '_profile']),
    )
    const urls = searchParam.filter(({ type }) => type !== 'special')
    expect(await unanswered(urls.map(({ name, type }) => `?${name}=${examples[type]}`))).toEqual([])
  })

  test('every parameter of R4 is named, but for named queries and searches by sound, which are refused', async () => {
    const left = new Set<string>()
    for (const { type, searchParam } of resources) {
      const names = new Set(searchParam.map(each => each.name))
      for (const code of searchParams(type).keys()) if (!names.has(code)) left.add(`${type}?${code}=x`)
    }
    const isExpected = (query: string) =>
      /^[A-Z]\w+\?_query=x$|^(InsurancePlan|Organization|Patient|Person|Practitioner|RelatedPerson)\?phonetic=x$/.test(
        query,
      )
    expect([...left].filter(query => !isExpected(query))).toEqual([])
    for (const query of [...left].filter(each => each.includes('phonetic') || each.startsWith('Patient?')))
      expect((await call('GET', query)).status, query).toBe(400)
  })

  test('_list and _filter are answered for every type, and only near is special beside them', async () => {
    await call('PUT', 'List/capability', {
      body: { resourceType: 'List', id: 'capability', status: 'current', mode: 'working' },
    })
    const special = resources.map(each => each.searchParam.filter(({ type }) => type === 'special'))
    expect(new Set(special.map(params => params.map(each => each.name).join()))).toEqual(
      new Set(['_list,_filter', 'near,_list,_filter']),
    )
    expect(await unanswered(resources.map(({ type }) => `${type}?_list=capability`))).toEqual([])
    expect(answer.body.rest[0].searchParam.map((each: { name: string }) => each.name)).toContain('_list')
    expect(await unanswered(resources.map(({ type }) => `${type}?_filter=_id%20eq%20x`))).toEqual([])
    expect(await unanswered(['?_list=capability', '?_filter=_id%20eq%20x'])).toEqual([])
  })

  test('the Bulk Data guide is what it says it is, and each export that it names is taken', async () => {
    expect(answer.body.instantiates).toContain('http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data')
    await call('PUT', 'Group/capability', {
      body: { resourceType: 'Group', id: 'capability', type: 'person', actual: true },
    })
    const definition = (name: string) => ({
      name: 'export',
      definition: `http://hl7.org/fhir/uv/bulkdata/OperationDefinition/${name}`,
    })
    const of = (type: string) => resources.find(each => each.type === type)!.operation
    expect(answer.body.rest[0].operation).toEqual([definition('export')])
    expect(of('Patient')).toContainEqual(definition('patient-export'))
    expect(of('Group')).toContainEqual(definition('group-export'))
    for (const path of ['$export', 'Patient/$export', 'Group/capability/$export'])
      expect((await call('GET', path, { headers: { prefer: 'respond-async' } })).status).toBe(202)
    expect(answer.body.rest[0].documentation).toContain('$import')
    const body = { body: '\n', headers: { 'content-type': 'application/fhir+ndjson' } }
    expect((await call('POST', '$import', body)).status).toBe(202)
  })
})
