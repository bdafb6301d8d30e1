// Batches: entries that know nothing of each other. https://hl7.org/fhir/R4/http.html#transaction
import { beforeAll, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const batch = (...entry: unknown[]) => call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
const patient = (more: object = {}) => ({ resourceType: 'Patient', ...more })

beforeAll(async () => {
  service = await startService()
  await call('PUT', 'Patient/ada', { body: patient({ id: 'ada', name: [{ family: 'Ada' }] }) })
})

describe('a batch', () => {
  test('answers every entry in order, each as a request of its own', async () => {
    await call('PUT', 'Patient/old', { body: patient({ id: 'old' }) })
    const { status, body } = await batch(
      { request: { method: 'GET', url: 'Patient/ada' } },
      { request: { method: 'POST', url: 'Patient' }, resource: patient() },
      { request: { method: 'PUT', url: 'Patient/put' }, resource: patient({ id: 'put' }) },
      { request: { method: 'DELETE', url: 'Patient/old' } },
      { request: { method: 'GET', url: 'Patient?name=ada' } },
      { request: { method: 'GET', url: 'Patient/ada/_history' } },
      { request: { method: 'GET', url: 'Patient/ada/_history/1' } },
      { request: { method: 'GET', url: '/Patient/ada' } },
      { request: { method: 'GET', url: `${service.url}/api/fhir/R4/Patient/ada` } },
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({ resourceType: 'Bundle', type: 'batch-response' })
    expect(body.entry.map((entry: { response: { status: string } }) => entry.response.status)).toEqual([
      '200 OK',
      '201 Created',
      '201 Created',
      '204 No Content',
      '200 OK',
      '200 OK',
      '200 OK',
      '200 OK',
      '200 OK',
    ])
    expect(body.entry[0]).toMatchObject({ resource: { id: 'ada' }, response: { etag: 'W/"1"' } })
    expect(body.entry[0].response.lastModified).toBe(body.entry[0].resource.meta.lastUpdated)
    expect(body.entry[1].response.location).toBe(
      `${service.url}/api/fhir/R4/Patient/${body.entry[1].resource.id}/_history/1`,
    )
    expect(body.entry[3].resource).toBeUndefined()
    expect(body.entry[4].resource).toMatchObject({ type: 'searchset' })
    expect(body.entry[5].resource).toMatchObject({ type: 'history' })
  })

  test('answers the CapabilityStatement, in a transaction too', async () => {
    const own = await call('GET', 'metadata')
    for (const type of ['batch', 'transaction']) {
      const entry = [{ request: { method: 'GET', url: 'metadata' } }]
      const { status, body } = await call('POST', '', { body: { resourceType: 'Bundle', type, entry } })
      expect([status, body.entry[0].response.status]).toEqual([200, '200 OK'])
      expect(body.entry[0].resource).toEqual(own.body)
    }
    const { body } = await batch(
      { request: { method: 'GET', url: 'metadata?_elements=fhirVersion' } },
      { request: { method: 'DELETE', url: 'metadata' } },
      { request: { method: 'GET', url: 'metadata/x' } },
      { request: { method: 'GET', url: '$export' } },
    )
    const statuses = body.entry.map((entry: { response: { status: string } }) => entry.response.status.slice(0, 3))
    expect(statuses).toEqual(['200', '405', '404', '405'])
    expect(body.entry[0].resource.rest).toBeUndefined()
  })

  test('isolates failures: the others happen, each failure says why', async () => {
    const { status, body } = await batch(
      { request: { method: 'GET', url: 'Patient/nobody' } },
      { request: { method: 'PUT', url: 'Patient/good' }, resource: patient({ id: 'good' }) },
      { request: { method: 'POST', url: 'Patient' }, resource: patient({ gender: 'x' }) },
      { request: { method: 'PUT', url: 'Patient/ada', ifMatch: 'W/"9"' }, resource: patient({ id: 'ada' }) },
      { request: { method: 'GET', url: 'Nonsense/1' } },
      { request: { method: 'POST', url: 'Patient/ada' }, resource: patient() },
    )
    expect(status).toBe(200)
    const statuses = body.entry.map((entry: { response: { status: string } }) => entry.response.status)
    expect(statuses).toEqual([
      '404 Not Found',
      '201 Created',
      '400 Bad Request',
      '412 Precondition Failed',
      '404 Not Found',
      '405 Method Not Allowed',
    ])
    expect(issueOf(body.entry[0].response.outcome).diagnostics).toBe('There is no Patient/nobody.')
    expect(issueOf(body.entry[2].response.outcome).expression).toEqual(['Patient.gender'])
    expect((await call('GET', 'Patient/good')).status).toBe(200)
  })

  test('honours the conditions of its entries', async () => {
    const resource = patient({ identifier: [{ value: 'once' }] })
    const create = { request: { method: 'POST', url: 'Patient', ifNoneExist: 'identifier=once' }, resource }
    const { body } = await batch(
      create,
      create,
      { request: { method: 'GET', url: 'Patient/ada', ifNoneMatch: 'W/"1"' } },
      { request: { method: 'PUT', url: 'Patient?identifier=once' }, resource: { ...resource, active: true } },
      { request: { method: 'DELETE', url: 'Patient?identifier=once' } },
    )
    expect(body.entry.map((entry: { response: { status: string } }) => entry.response.status)).toEqual([
      '201 Created',
      '200 OK',
      '304 Not Modified',
      '200 OK',
      '204 No Content',
    ])
  })

  test('patches by a Binary that holds a JSON Patch, and by Parameters', async () => {
    await call('PUT', 'Patient/patched', { body: patient({ id: 'patched' }) })
    const data = Buffer.from(JSON.stringify([{ op: 'add', path: '/active', value: true }])).toString('base64')
    const part = [
      { name: 'type', valueCode: 'add' },
      { name: 'path', valueString: 'Patient' },
      { name: 'name', valueString: 'birthDate' },
      { name: 'value', valueDate: '1970' },
    ]
    const { body } = await batch(
      {
        request: { method: 'PATCH', url: 'Patient/patched' },
        resource: { resourceType: 'Binary', contentType: 'application/json-patch+json', data },
      },
      {
        request: { method: 'PATCH', url: 'Patient/patched' },
        resource: { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] },
      },
    )
    expect(body.entry[1].resource).toMatchObject({ active: true, birthDate: '1970', meta: { versionId: '3' } })
  })

  test('refuses an entry that refers to another entry', async () => {
    const { body } = await batch(
      {
        fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a',
        request: { method: 'POST', url: 'Patient' },
        resource: patient(),
      },
      {
        request: { method: 'POST', url: 'Basic' },
        resource: {
          resourceType: 'Basic',
          code: { text: 'x' },
          subject: { reference: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a' },
        },
      },
    )
    expect(body.entry[0].response.status).toBe('201 Created')
    expect(body.entry[1].response.status).toBe('400 Bad Request')
    expect(issueOf(body.entry[1].response.outcome).diagnostics).toContain('as a transaction')
  })

  test('with nothing in it answers nothing', async () => {
    const { status, body } = await batch()
    expect(status).toBe(200)
    expect(body).toMatchObject({ type: 'batch-response' })
    expect(body.entry).toBeUndefined()
  })

  test.each([
    ['a number', 5],
    ['null', null],
    ['an entry without request', {}],
    ['an entry without method', { request: { url: 'Patient' } }],
    ['an unknown method', { request: { method: 'FETCH', url: 'Patient' } }],
    ['an entry without url', { request: { method: 'GET' } }],
    ['a broken escape', { request: { method: 'GET', url: 'Patient/%zz' } }],
    ['a broken escape in the query', { request: { method: 'GET', url: 'Patient?name=%zz' } }],
    ['an empty If-None-Exist', { request: { method: 'POST', url: 'Patient', ifNoneExist: '' }, resource: patient() }],
    ['a creation without resource', { request: { method: 'POST', url: 'Patient' } }],
    [
      'an If-Match that is none',
      { request: { method: 'PUT', url: 'Patient/x', ifMatch: '1' }, resource: patient({ id: 'x' }) },
    ],
    ['a NUL in a condition', { request: { method: 'PUT', url: 'Patient?name=%00' }, resource: patient() }],
    [
      'lists in lists',
      { fullUrl: 'urn:uuid:1', request: { method: 'POST', url: 'Patient' }, resource: patient({ a: nested(40) }) },
    ],
  ])('answers %s with 400 in its place', async (_what, entry) => {
    const { status, body } = await batch(entry, { request: { method: 'GET', url: 'Patient/ada' } })
    expect(status).toBe(200)
    expect(body.entry[0].response.status).toBe('400 Bad Request')
    expect(body.entry[0].response.outcome.resourceType).toBe('OperationOutcome')
    expect(body.entry[1].response.status).toBe('200 OK')
  })

  test('never answers 5xx for an address with a NUL in it', async () => {
    const { body } = await batch(
      { request: { method: 'GET', url: 'Patient/%00' } },
      { request: { method: 'DELETE', url: 'Patient/%00' } },
    )
    for (const { response } of body.entry) expect(response.status).toBe('404 Not Found')
  })
})

function nested(depth: number): unknown {
  let value: unknown = []
  for (let n = 0; n < depth; n++) value = [value]
  return value
}

describe('what is no batch and no transaction is refused with 400', () => {
  test.each([
    ['a list', '[]'],
    ['null', 'null'],
    ['an object without a type', '{}'],
    ['another resource', '{"resourceType":"Patient"}'],
    ['a Bundle without a type', '{"resourceType":"Bundle"}'],
    ['a collection', '{"resourceType":"Bundle","type":"collection"}'],
    ['entries that are no list', '{"resourceType":"Bundle","type":"batch","entry":5}'],
    ['half a Bundle', '{"resourceType":"Bundle","type":"batch","entry":['],
  ])('%s', async (_what, body) => {
    const answer = await call('POST', '', { body, headers: { 'content-type': 'application/fhir+json' } })
    expect(answer.status).toBe(400)
    expect(answer.body.resourceType).toBe('OperationOutcome')
  })
})
